//! The manifest beside checked-in PTX.

use super::error::CheckedInError;
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the manifest in the folder.
pub(super) const MANIFEST: &str = "MANIFEST";

/// The name of the archive beside it.
pub(super) const ARCHIVE: &str = "modules.lzma";

/// A package from a registry that was compiled into a module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct LinkedPackage {
    /// The package's name.
    pub name: String,
    /// The version in the workspace's `Cargo.lock`.
    pub version: String,
}

/// The contents of a manifest.
pub(super) struct Manifest {
    pub(super) folder: PathBuf,
    /// Folder or file, hash.
    pub(super) sources: Vec<(String, String)>,
    linked: Vec<LinkedPackage>,
    /// The SHA-256 of the archive.
    pub(super) archive_hash: String,
    /// In the order of the archive.
    pub(super) modules: Vec<ManifestModule>,
}

/// A module in the archive.
pub(super) struct ManifestModule {
    pub(super) arch: String,
    pub(super) name: String,
    /// The length of its PTX.
    pub(super) bytes: usize,
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
            archive_hash: String::new(),
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
            "archive" => value.clone_into(&mut self.archive_hash),
            "module" => {
                let mut words = value.split(' ');
                self.modules.push(ManifestModule {
                    arch: words.next()?.to_owned(),
                    name: words.next()?.to_owned(),
                    bytes: words.next()?.parse().ok()?,
                });
                // The hash of the PTX, for readers.
                words.next()?;
            }
            _ => return None,
        }
        Some(())
    }

    /// As [`verify`](super::verify).
    pub(super) fn verify(&self, root: &Path) -> Result<(), CheckedInError> {
        self.verify_sources(root)?;
        self.verify_linked(root)?;
        self.verify_archive()
    }

    /// An expression of type `&[(&str, &str); N]`: the sources of the modules, each with its
    /// [`source_hash::source_hash`].
    pub(super) fn sources_expression(&self) -> String {
        expression(&self.sources)
    }

    /// The [`sources_expression`](Self::sources_expression) for the sources that are now under `root`.
    #[cfg(any(feature = "compile", test))]
    pub(super) fn current_sources_expression(&self, root: &Path) -> Result<String, CheckedInError> {
        let current = |(source, _): &(String, String)| {
            let hash = hash_of_source(root, source)?;
            Ok((source.clone(), hash))
        };
        let sources: Result<Vec<_>, CheckedInError> = self.sources.iter().map(current).collect();
        Ok(expression(&sources?))
    }

    fn verify_sources(&self, root: &Path) -> Result<(), CheckedInError> {
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

    fn verify_linked(&self, root: &Path) -> Result<(), CheckedInError> {
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

    /// Checks that the archive is the one that was written with the manifest.
    pub(super) fn verify_archive(&self) -> Result<(), CheckedInError> {
        let archive = read(&self.folder.join(ARCHIVE))?;
        match source_hash::sha256(&archive) == self.archive_hash {
            true => Ok(()),
            false => Err(self.changed_archive()),
        }
    }

    pub(super) fn changed_archive(&self) -> CheckedInError {
        CheckedInError::ChangedArchive {
            path: self.folder.join(ARCHIVE),
        }
    }
}

fn expression(sources: &[(String, String)]) -> String {
    format!("&{sources:?}\n")
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, CheckedInError> {
    fs::read(path).map_err(|source| CheckedInError::Io {
        path: path.to_owned(),
        source,
    })
}

pub(super) fn hash_of_source(root: &Path, source: &str) -> Result<String, CheckedInError> {
    let path = root.join(source);
    source_hash::source_hash(&path).map_err(|source| CheckedInError::Io { path, source })
}
