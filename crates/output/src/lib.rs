//! What the programs of the workspace share: standard output that may be closed, files that are
//! replaced as a whole, charts.

#[cfg(feature = "chart")]
pub mod chart;
mod file;
mod standard;

pub use file::{replace, write_text};
pub use standard::{PrintError, print, print_line, tell};

/// Why a program ends: its message is the line that the user sees.
pub type Failure = Box<dyn std::error::Error>;

/// What a program, or a step of one, ends with.
pub type Outcome<T = ()> = Result<T, Failure>;
