//! Files that are replaced as a whole.

use crate::{Failure, Outcome, tell};
use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::path::Path;
use tempfile::{Builder, NamedTempFile};

/// Writes `text` to the file `path`, as [`replace`] does, and says so on standard error.
///
/// # Errors
/// Those of [`replace`].
pub fn write_text(path: &Path, text: &str) -> Outcome {
    replace(path, |mut file| Ok(file.write_all(text.as_bytes())?))?;
    tell(format_args!("{} is written", path.display()));
    Ok(())
}

/// Gives the file `path` the contents that `write` writes: all of them, or what was there stays.
///
/// The contents go to a new file in the same folder, which takes the place of `path` once the
/// system has stored it. A process that is killed before leaves the new file, `.NAME.*.part`,
/// behind. A device or a named pipe is written directly.
///
/// # Errors
/// A failure of the system, with the path, and any other one of `write` as it is.
pub fn replace(path: &Path, write: impl FnOnce(&File) -> Outcome) -> Outcome {
    replace_file(path, write).map_err(|error| match error.is::<io::Error>() {
        true => format!("{} cannot be written: {error}", path.display()).into(),
        false => error,
    })
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

/// A new file beside `path`, with the permissions of other new files.
fn part_of(path: &Path) -> Result<NamedTempFile, Failure> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::other("it is not the name of a file"))?;
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

/// The permissions from which the system takes the process's mask. Without them, a temporary file is
/// private.
#[cfg(unix)]
fn permissions_of_new_files() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn permissions_of_new_files() -> Option<Permissions> {
    None
}
