//! Lines that kernels print.

/// Prints a line of a kernel as `println!` does: a test harness captures it.
pub(crate) fn print_line(line: &str) {
    println!("{line}");
}
