//! What the examples print, and the files that they write.

use super::{Failure, Outcome};
use std::fmt::{self, Display};
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::Path;
use tempfile::{Builder, NamedTempFile};

/// The failure of standard output. `println!` would panic instead.
#[derive(Debug)]
pub struct PrintError(io::Error);

impl PrintError {
    /// Whether the reader of a pipe went away, as `head` does: no failure that a user wants to
    /// read about.
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
pub fn print(text: impl Display) -> Result<(), PrintError> {
    let mut stdout = io::stdout().lock();
    write!(stdout, "{text}")
        .and_then(|()| stdout.flush())
        .map_err(PrintError)
}

/// Prints `text` and a line's end.
pub fn print_line(text: impl Display) -> Result<(), PrintError> {
    print(format_args!("{text}\n"))
}

/// Tells the user something on stderr, where that can be written.
pub fn tell(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Writes `text` to the file `path`, as [`replace`] does, and says so.
pub fn write_text(path: &Path, text: &str) -> Outcome {
    replace(path, |mut file| Ok(file.write_all(text.as_bytes())?))?;
    tell(format_args!("{} is written", path.display()));
    Ok(())
}

/// Gives the file `path` the contents that `write` writes: all of them, or what was there stays.
///
/// The contents go to a new file in the same folder, which takes the place of `path` once the
/// system has stored it. A process that is killed meanwhile leaves the new file, `.NAME.*.part`,
/// behind. What is not a file, such as `/dev/null` or a named pipe, is written directly.
pub fn replace(path: &Path, write: impl FnOnce(&File) -> Outcome) -> Outcome {
    replace_file(path, write)
        .map_err(|error| format!("{} cannot be written: {error}", path.display()).into())
}

fn replace_file(path: &Path, write: impl FnOnce(&File) -> Outcome) -> Outcome {
    // A symbolic link stays one: what it leads to is replaced.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let present = fs::metadata(path).ok();
    if present.as_ref().is_some_and(|present| !present.is_file()) {
        return write(&File::options().write(true).open(path)?);
    }
    let part = part_of(path)?;
    if let Some(present) = present {
        part.as_file().set_permissions(present.permissions())?;
    }
    write(part.as_file())?;
    part.as_file().sync_all()?;
    part.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// A new file beside `path`, readable to whom other new files are.
fn part_of(path: &Path) -> Result<NamedTempFile, Failure> {
    let name = path.file_name().ok_or("it is not the name of a file")?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let prefix = format!(".{}.", name.to_string_lossy());
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(".part");
    if let Some(permissions) = permissions_of_new_files() {
        builder.permissions(permissions);
    }
    Ok(builder.tempfile_in(folder)?)
}

/// What the process's mask is taken from; temporary files are private otherwise.
#[cfg(unix)]
fn permissions_of_new_files() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn permissions_of_new_files() -> Option<Permissions> {
    None
}
