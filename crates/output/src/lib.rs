//! The output of the workspace's programs: standard output that may be closed, files that are
//! replaced as a whole, charts, measured figures.

#[cfg(feature = "chart")]
pub mod chart;
mod columns;
#[cfg(feature = "figures")]
pub mod figures;
#[cfg(feature = "files")]
mod file;
mod standard;

pub use columns::columns;
/// Text in bold or in colour, where standard output is a terminal and NO_COLOR is not set.
pub use console::style;
#[cfg(feature = "files")]
pub use file::{replace, write_text};
pub use standard::{PrintError, print, print_line, tell, terminal_width};

/// The failure of a program: its message is the line that the user sees.
pub type Failure = Box<dyn std::error::Error>;

/// The result of a program, or of a step of one.
pub type Outcome<T = ()> = Result<T, Failure>;
