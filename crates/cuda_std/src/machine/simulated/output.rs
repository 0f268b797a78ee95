//! Lines that kernels print.

use crate::output::{Value, line};

/// Adds a line to those of the launch.
#[track_caller]
pub fn print(text: &'static str, values: &[Value]) {
    simt::print(|| line(text, values));
}
