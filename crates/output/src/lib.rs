//! The output of the workspace's programs: standard output that may be closed, files that are
//! replaced as a whole, charts.

#[cfg(feature = "chart")]
pub mod chart;
mod file;
mod standard;

pub use file::{replace, write_text};
pub use standard::{PrintError, print, print_line, tell};

/// The failure of a program: its message is the line that the user sees.
pub type Failure = Box<dyn std::error::Error>;

/// The result of a program, or of a step of one.
pub type Outcome<T = ()> = Result<T, Failure>;
