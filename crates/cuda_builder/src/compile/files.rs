//! Files and folders of a build, with errors that name them.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::error::BuildError;

pub(super) fn create_folder(folder: &Path) -> Result<(), BuildError> {
    fs::create_dir_all(folder).map_err(BuildError::io("create", folder))
}

/// Makes the folder, without what it had.
pub(super) fn recreate_folder(folder: &Path) -> Result<(), BuildError> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(BuildError::io("remove", folder))?;
    }
    create_folder(folder)
}

/// Has the folder, which it makes, for itself until the file is closed.
pub(super) fn locked(folder: &Path) -> Result<File, BuildError> {
    create_folder(folder)?;
    let path = folder.join("lock");
    let file = File::create(&path).map_err(BuildError::io("create", &path))?;
    match file.lock() {
        // Some network file systems have no locks; cargo goes on without them, too.
        Err(error) if error.kind() != io::ErrorKind::Unsupported => {
            Err(BuildError::io("lock", &path)(error))
        }
        _ => Ok(file),
    }
}

pub(super) fn read(path: &Path) -> Result<String, BuildError> {
    fs::read_to_string(path).map_err(BuildError::io("read", path))
}

pub(super) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), BuildError> {
    fs::write(path, content).map_err(BuildError::io("write", path))
}

/// Replaces a file at once, for readers that no lock keeps away. One with the same content is left alone, so that its
/// dependents are not built again.
pub(super) fn write_if_changed(path: &Path, content: &str) -> Result<(), BuildError> {
    if fs::read(path).is_ok_and(|present| present == content.as_bytes()) {
        return Ok(());
    }
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    write(Path::new(&new), content)?;
    fs::rename(&new, path).map_err(BuildError::io("write", path))
}
