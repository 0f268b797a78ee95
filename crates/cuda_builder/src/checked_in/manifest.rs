//! The manifest beside checked-in PTX.

use super::error::CheckedInError;
use crate::cargo::LinkedPackage;
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the manifest in the folder.
pub(super) const MANIFEST: &str = "MANIFEST";

/// What the manifest says.
pub(super) struct Manifest {
    folder: PathBuf,
    /// Folder or file, hash.
    pub(super) sources: Vec<(String, String)>,
    linked: Vec<LinkedPackage>,
    /// Architecture, file name, hash.
    pub(super) modules: Vec<(String, String, String)>,
}

impl Manifest {
    pub(super) fn read(folder: &Path) -> Result<Self, CheckedInError> {
        let path = folder.join(MANIFEST);
        let text = read(&path)?;
        let text = String::from_utf8_lossy(&text);
        let mut manifest = Self {
            folder: folder.to_owned(),
            sources: Vec::new(),
            linked: Vec::new(),
            modules: Vec::new(),
        };
        for (number, line) in text.lines().enumerate() {
            if manifest.take_line(line).is_none() {
                return Err(CheckedInError::Malformed {
                    path,
                    line: number + 1,
                    text: line.to_owned(),
                });
            }
        }
        Ok(manifest)
    }

    fn take_line(&mut self, line: &str) -> Option<()> {
        let (key, value) = line.split_once(' ')?;
        match key {
            "#" | "toolchain" => {}
            "source" => {
                let (source, hash) = value.rsplit_once(' ')?;
                self.sources.push((source.to_owned(), hash.to_owned()));
            }
            "linked" => {
                let (name, version) = value.split_once(' ')?;
                self.linked.push(LinkedPackage {
                    name: name.to_owned(),
                    version: version.to_owned(),
                });
            }
            "module" => {
                let mut words = value.split(' ').map(str::to_owned);
                self.modules
                    .push((words.next()?, words.next()?, words.next()?));
            }
            _ => return None,
        }
        Some(())
    }

    pub(super) fn verify_sources(&self, root: &Path) -> Result<(), CheckedInError> {
        for (source, hash) in &self.sources {
            if hash_of_source(root, source)? != *hash {
                return Err(CheckedInError::StaleSource {
                    folder: self.folder.clone(),
                    source_path: source.clone(),
                });
            }
        }
        Ok(())
    }

    pub(super) fn verify_linked(&self, root: &Path) -> Result<(), CheckedInError> {
        let lock = read(&root.join("Cargo.lock"))?;
        let lock = String::from_utf8_lossy(&lock).replace("\r\n", "\n");
        for LinkedPackage { name, version } in &self.linked {
            let entry = format!("\nname = {name:?}\nversion = {version:?}\n");
            if !lock.contains(&entry) {
                return Err(CheckedInError::StalePackage {
                    folder: self.folder.clone(),
                    package: name.clone(),
                    version: version.clone(),
                });
            }
        }
        Ok(())
    }

    pub(super) fn verify_modules(&self) -> Result<(), CheckedInError> {
        for (_, file, hash) in &self.modules {
            let path = self.folder.join(file);
            if hash_of_file(&path)? != *hash {
                return Err(CheckedInError::ChangedModule { path });
            }
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<Vec<u8>, CheckedInError> {
    fs::read(path).map_err(|source| CheckedInError::Io {
        path: path.to_owned(),
        source,
    })
}

pub(super) fn hash_of_source(root: &Path, source: &str) -> Result<String, CheckedInError> {
    let path = root.join(source);
    source_hash::source_hash(&path).map_err(|source| CheckedInError::Io { path, source })
}

pub(super) fn hash_of_file(path: &Path) -> Result<String, CheckedInError> {
    let content = read(path)?;
    // A checkout may have turned the line ends; PTX itself has none but LF.
    let content: Vec<u8> = content.into_iter().filter(|&byte| byte != b'\r').collect();
    Ok(source_hash::sha256(&content))
}
