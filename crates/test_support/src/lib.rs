//! Random numbers, references, error bounds and choices for tests, benchmarks and examples.

pub mod cases;
pub mod exact;
pub mod programs;
pub mod random;
pub mod rounding;
pub mod selection;

use std::io::Write as _;

/// Writes a line to stderr. `eprintln!` would not do: the test harness hides it.
///
/// # Panics
///
/// If stderr is closed.
pub fn say(line: &str) {
    std::io::stderr()
        .write_all(format!("{line}\n").as_bytes())
        .expect("stderr is open");
}

/// Fails, with the error's text, unless the error has this kind.
///
/// ```
/// # use std::num::IntErrorKind;
/// use tilewright_test_support::assert_kind;
///
/// let error = "seven".parse::<u32>().unwrap_err();
/// assert_kind!(error is IntErrorKind::InvalidDigit);
/// ```
#[macro_export]
macro_rules! assert_kind {
    ($error:ident is $kind:pat $(if $condition:expr)?) => {
        assert!(matches!($error.kind(), $kind $(if $condition)?), "{}", $error)
    };
}
