//! Lines that kernels print.

use crate::current::{instruction, line_or};
use std::panic::Location;

/// Adds the line that `line` returns to [`Options::output`](crate::Options::output).
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn print(line: impl FnOnce() -> String) {
    instruction(line_or(Location::caller()), |_, block| {
        block.output.add(line())
    });
}
