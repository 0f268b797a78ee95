//! Lines that kernels print.

use crate::current::instruction;

/// Adds the line that `line` returns to [`Options::output`](crate::Options::output).
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn print(line: impl FnOnce() -> String) {
    instruction(|_, block, _| block.output.add(line()));
}
