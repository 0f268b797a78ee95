//! The manifest beside checked-in PTX.

use super::error::CheckedInError;
use crate::rust_file::Image;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::{fs, thread};

/// The name of the manifest in the folder.
pub(super) const MANIFEST: &str = "MANIFEST";

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
    /// Architecture, file name, hash.
    modules: Vec<(String, String, String)>,
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

    /// As [`verify`](super::verify).
    pub(super) fn verify(&self, root: &Path) -> Result<(), CheckedInError> {
        self.verify_sources(root)?;
        self.verify_linked(root)?;
        self.verify_modules()
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

    /// The modules, as images for a program.
    pub(super) fn images(&self) -> Vec<Image> {
        let image = |(arch, file, _): &(String, String, String)| Image {
            module: file
                .strip_suffix(&format!(".{arch}.ptx"))
                .unwrap_or(file)
                .to_owned(),
            arch: arch.clone(),
            path: self.folder.join(file),
        };
        self.modules.iter().map(image).collect()
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

    pub(super) fn verify_modules(&self) -> Result<(), CheckedInError> {
        let verify = |(_, file, hash): &(String, String, String)| {
            let path = self.folder.join(file);
            match hash_of_file(&path)? == *hash {
                true => Ok(()),
                false => Err(CheckedInError::ChangedModule { path }),
            }
        };
        // A build script is not optimised, and there are tens of megabytes.
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let modules_of_thread = self.modules.len().div_ceil(threads).max(1);
        thread::scope(|scope| {
            let threads: Vec<_> = (self.modules.chunks(modules_of_thread))
                .map(|modules| scope.spawn(move || modules.iter().try_for_each(verify)))
                .collect();
            (threads.into_iter())
                .try_for_each(|thread| thread.join().expect("hashing does not panic"))
        })
    }
}

fn expression(sources: &[(String, String)]) -> String {
    format!("&{sources:?}\n")
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
    let mut content = read(path)?;
    // A checkout may have converted line endings; PTX itself has only LF.
    if content.contains(&b'\r') {
        content.retain(|&byte| byte != b'\r');
    }
    Ok(source_hash::sha256(&content))
}
