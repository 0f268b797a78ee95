//! Standard output and standard error.

use std::fmt::{self, Display};
use std::io::{self, Write as _};

/// The failure of standard output. `println!` would panic instead.
#[derive(Debug)]
pub struct PrintError(io::Error);

impl PrintError {
    /// Whether the reader of a pipe closed it, as `head` does: the user expects no message then.
    #[must_use]
    pub fn is_closed_pipe(&self) -> bool {
        self.0.kind() == io::ErrorKind::BrokenPipe
    }
}

impl Display for PrintError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "standard output cannot be written: {}", self.0)
    }
}

impl std::error::Error for PrintError {}

/// Prints `text`.
///
/// # Errors
/// Standard output is closed or full.
pub fn print(text: impl Display) -> Result<(), PrintError> {
    let mut stdout = io::stdout().lock();
    write!(stdout, "{text}")
        .and_then(|()| stdout.flush())
        .map_err(PrintError)
}

/// Prints `text` and a line's end.
///
/// # Errors
/// Standard output is closed or full.
pub fn print_line(text: impl Display) -> Result<(), PrintError> {
    print(format_args!("{text}\n"))
}

/// Writes a line to standard error, if that is possible.
pub fn tell(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// The columns of the terminal that standard output is; as many as a line needs where it is none.
#[must_use]
pub fn terminal_width() -> usize {
    let size = console::Term::stdout().size_checked();
    size.map_or(usize::MAX, |(_, columns)| usize::from(columns))
}
