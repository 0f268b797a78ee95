//! PTX that is kept in a repository beside the sources it was built from, for machines that have
//! no device toolchain.
//!
//! The folder holds `<crate>.<arch>.ptx` files and a `MANIFEST`: the source folders with one hash
//! over all of them, and a hash of each module, so that neither can change unnoticed.

use crate::builder::Build;
use crate::source_hash;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The name of the manifest in the folder.
const MANIFEST: &str = "MANIFEST";

/// Why checked-in PTX cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckedInError {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },

    /// The manifest is not one that [`write_manifest`] made.
    #[error("{path}: line {line} is no line of a PTX manifest: `{text}`")]
    Malformed {
        /// The manifest.
        path: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// The line.
        text: String,
    },

    /// The sources have changed since the PTX was built.
    #[error(
        "the PTX in {folder} was built from other sources than those in {sources}: build it again"
    )]
    StaleSources {
        /// The folder of the PTX.
        folder: PathBuf,
        /// The source folders, as the manifest names them.
        sources: String,
    },

    /// A module is not the one that was built.
    #[error("{path} has changed since it was built: build it again")]
    ChangedModule {
        /// The module's file.
        path: PathBuf,
    },
}

/// What the manifest says.
struct Manifest {
    folder: PathBuf,
    sources: Vec<String>,
    sources_hash: String,
    /// Architecture, file name, hash.
    modules: Vec<(String, String, String)>,
}

/// Writes the manifest for the modules of `build`, which were copied to `folder`. `sources` are
/// the folders, relative to `root`, of everything that the modules depend on.
///
/// # Errors
/// [`CheckedInError::Io`].
pub fn write_manifest(
    folder: &Path,
    root: &Path,
    sources: &[&str],
    build: &Build,
) -> Result<(), CheckedInError> {
    let mut text = String::from("# The PTX beside this file, and what it was built from.\n");
    let toolchain = &build.toolchain;
    let _ = writeln!(
        text,
        "toolchain rustc {}, LLVM {}",
        toolchain.rustc_version(),
        toolchain.llvm_version()
    );
    for source in sources {
        let _ = writeln!(text, "source {source}");
    }
    let _ = writeln!(text, "sources-sha256 {}", hash_of_sources(root, sources)?);
    for module in &build.modules {
        let file = module
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let hash = hash_of_file(&module.path)?;
        let _ = writeln!(text, "module {} {file} {hash}", module.arch);
    }
    let path = folder.join(MANIFEST);
    fs::write(&path, text).map_err(|source| CheckedInError::Io { path, source })
}

/// Checks that the modules in `folder` are those that were built, and from the sources that now
/// stand under `root`.
///
/// # Errors
/// [`CheckedInError::StaleSources`] or [`CheckedInError::ChangedModule`] if they are not;
/// [`CheckedInError::Malformed`] or [`CheckedInError::Io`].
pub fn verify(folder: &Path, root: &Path) -> Result<(), CheckedInError> {
    let manifest = Manifest::read(folder)?;
    let sources: Vec<&str> = manifest.sources.iter().map(String::as_str).collect();
    if hash_of_sources(root, &sources)? != manifest.sources_hash {
        return Err(CheckedInError::StaleSources {
            folder: folder.to_owned(),
            sources: sources.join(", "),
        });
    }
    manifest.verify_modules()
}

/// An expression for `include!` like that of [`Build::rust_file`], of the checked-in modules.
///
/// # Errors
/// [`CheckedInError::ChangedModule`] if a module is not the one that was built;
/// [`CheckedInError::Malformed`] or [`CheckedInError::Io`].
pub fn rust_expression(folder: &Path) -> Result<String, CheckedInError> {
    let manifest = Manifest::read(folder)?;
    manifest.verify_modules()?;
    let mut text = String::from("&[\n");
    for (arch, file, _) in &manifest.modules {
        let _ = writeln!(
            text,
            "    ({arch:?}, include_str!({:?})),",
            folder.join(file)
        );
    }
    text.push_str("]\n");
    Ok(text)
}

impl Manifest {
    fn read(folder: &Path) -> Result<Self, CheckedInError> {
        let path = folder.join(MANIFEST);
        let text = read(&path)?;
        let text = String::from_utf8_lossy(&text);
        let mut manifest = Self {
            folder: folder.to_owned(),
            sources: Vec::new(),
            sources_hash: String::new(),
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
            "source" => self.sources.push(value.to_owned()),
            "sources-sha256" => self.sources_hash = value.to_owned(),
            "module" => {
                let mut words = value.split(' ').map(str::to_owned);
                self.modules
                    .push((words.next()?, words.next()?, words.next()?));
            }
            _ => return None,
        }
        Some(())
    }

    fn verify_modules(&self) -> Result<(), CheckedInError> {
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

fn hash_of_sources(root: &Path, sources: &[&str]) -> Result<String, CheckedInError> {
    let folders: Vec<PathBuf> = sources.iter().map(|source| root.join(source)).collect();
    let folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
    source_hash(&folders).map_err(|source| CheckedInError::Io {
        path: root.to_owned(),
        source,
    })
}

fn hash_of_file(path: &Path) -> Result<String, CheckedInError> {
    let content = read(path)?;
    // A checkout may have turned the line ends; PTX itself has none but LF.
    let content: Vec<u8> = content.into_iter().filter(|&byte| byte != b'\r').collect();
    Ok(Sha256::digest(&content)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root with one source and one module, and a manifest written by hand as `write_manifest`
    /// writes it.
    fn checked_in(name: &str) -> (PathBuf, PathBuf) {
        let root = std::env::temp_dir().join(format!("checked_in-{name}-{}", std::process::id()));
        let folder = root.join("ptx");
        fs::create_dir_all(root.join("kernels")).unwrap();
        fs::create_dir_all(&folder).unwrap();
        fs::write(root.join("kernels/lib.rs"), "// a kernel\n").unwrap();
        fs::write(folder.join("k.sm_80.ptx"), ".version 7.0\n").unwrap();
        let manifest = format!(
            "# Comment.\ntoolchain rustc\nsource kernels\nsources-sha256 {}\nmodule sm_80 k.sm_80.ptx {}\n",
            hash_of_sources(&root, &["kernels"]).unwrap(),
            hash_of_file(&folder.join("k.sm_80.ptx")).unwrap(),
        );
        fs::write(folder.join(MANIFEST), manifest).unwrap();
        (root, folder)
    }

    #[test]
    fn what_was_built_passes() {
        let (root, folder) = checked_in("pass");
        verify(&folder, &root).unwrap();
        assert!(
            rust_expression(&folder)
                .unwrap()
                .contains("(\"sm_80\", include_str!(")
        );
    }

    #[test]
    fn a_changed_source_is_stale() {
        let (root, folder) = checked_in("stale");
        fs::write(root.join("kernels/lib.rs"), "// another kernel\n").unwrap();
        assert!(matches!(
            verify(&folder, &root),
            Err(CheckedInError::StaleSources { .. })
        ));
    }

    #[test]
    fn a_changed_module_is_found() {
        let (root, folder) = checked_in("module");
        fs::write(folder.join("k.sm_80.ptx"), ".version 7.1\n").unwrap();
        assert!(matches!(
            verify(&folder, &root),
            Err(CheckedInError::ChangedModule { .. })
        ));
        assert!(matches!(
            rust_expression(&folder),
            Err(CheckedInError::ChangedModule { .. })
        ));
    }

    #[test]
    fn nonsense_names_its_line() {
        let (root, folder) = checked_in("nonsense");
        fs::write(folder.join(MANIFEST), "toolchain x\nwhatever this is\n").unwrap();
        assert!(matches!(
            verify(&folder, &root),
            Err(CheckedInError::Malformed { line: 2, .. })
        ));
    }
}
