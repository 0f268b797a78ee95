//! PTX that is kept in a repository beside the sources it was built from, for machines that have
//! no device toolchain.
//!
//! The folder holds `<module>.<arch>.ptx` files and a `MANIFEST`: what the modules were compiled
//! from (the sources, each with its hash, and the versions of the packages linked in), and a hash
//! of each module, so that neither can change unnoticed.

use crate::builder::Build;
use crate::cargo::LinkedPackage;
use crate::rust_file::{self, Image};
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

    /// A source has changed since the PTX was built.
    #[error("{source_path} has changed since the PTX in {folder} was built: build it again")]
    StaleSource {
        /// The folder of the PTX.
        folder: PathBuf,
        /// The source, as the manifest names it.
        source_path: String,
    },

    /// `Cargo.lock` has another version of a package that is compiled into the modules.
    #[error(
        "the PTX in {folder} was built with {package} {version}, which Cargo.lock does not have: \
         build it again"
    )]
    StalePackage {
        /// The folder of the PTX.
        folder: PathBuf,
        /// The package's name.
        package: String,
        /// The version in the modules.
        version: String,
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
    /// Folder or file, hash.
    sources: Vec<(String, String)>,
    linked: Vec<LinkedPackage>,
    /// Architecture, file name, hash.
    modules: Vec<(String, String, String)>,
}

/// Writes the manifest for the modules of `build`, which were copied to `folder`. `sources` are
/// the folders and files, relative to `root`, of everything that the modules depend on, as
/// [`source_hash::source_hash`] takes them; `root` is the folder of the `Cargo.lock`.
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
        let _ = writeln!(text, "source {source} {}", hash_of_source(root, source)?);
    }
    for LinkedPackage { name, version } in &build.linked {
        let _ = writeln!(text, "linked {name} {version}");
    }
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

/// Checks that the modules in `folder` are those that were built, from the sources that now stand
/// under `root` and with the versions of packages that its `Cargo.lock` has.
///
/// # Errors
/// [`CheckedInError::StaleSource`], [`CheckedInError::StalePackage`] or
/// [`CheckedInError::ChangedModule`] if they are not; [`CheckedInError::Malformed`] or
/// [`CheckedInError::Io`].
pub fn verify(folder: &Path, root: &Path) -> Result<(), CheckedInError> {
    let manifest = Manifest::read(folder)?;
    manifest.verify_sources(root)?;
    manifest.verify_linked(root)?;
    manifest.verify_modules()
}

/// The text for `include!` of the checked-in modules, like [`Build::rust_file`] of one module for
/// the crate: an expression.
///
/// # Errors
/// [`CheckedInError::ChangedModule`] if a module is not the one that was built;
/// [`CheckedInError::Malformed`] or [`CheckedInError::Io`].
pub fn rust_expression(folder: &Path) -> Result<String, CheckedInError> {
    Ok(rust_file::expression(&verified_images(folder)?))
}

/// The text for `include!` of the checked-in modules, like [`Build::rust_file`] of one module for
/// each kernel: constants.
///
/// # Errors
/// Those of [`rust_expression`].
pub fn rust_constants(folder: &Path) -> Result<String, CheckedInError> {
    Ok(rust_file::constants(&verified_images(folder)?))
}

fn verified_images(folder: &Path) -> Result<Vec<Image>, CheckedInError> {
    let manifest = Manifest::read(folder)?;
    manifest.verify_modules()?;
    let image = |(arch, file, _): &(String, String, String)| Image {
        module: file
            .strip_suffix(&format!(".{arch}.ptx"))
            .unwrap_or(file)
            .to_owned(),
        arch: arch.clone(),
        path: folder.join(file),
    };
    Ok(manifest.modules.iter().map(image).collect())
}

/// The sources that the modules in `folder` were compiled from, as [`write_manifest`] was given
/// them.
///
/// # Errors
/// [`CheckedInError::Malformed`] or [`CheckedInError::Io`].
pub fn sources(folder: &Path) -> Result<Vec<String>, CheckedInError> {
    let sources = Manifest::read(folder)?.sources.into_iter();
    Ok(sources.map(|(source, _)| source).collect())
}

/// An expression for `include!` of type `&[(&str, &str); N]`: what the modules in `folder` were
/// compiled from, each source with its [`source_hash::source_hash`].
///
/// # Errors
/// [`CheckedInError::Malformed`] or [`CheckedInError::Io`].
pub fn sources_expression(folder: &Path) -> Result<String, CheckedInError> {
    Ok(format!("&{:?}\n", Manifest::read(folder)?.sources))
}

/// The expression that [`sources_expression`] will make once the modules have been compiled from
/// the sources that now stand under `root`.
///
/// # Errors
/// [`CheckedInError::Malformed`] or [`CheckedInError::Io`].
pub fn current_sources_expression(folder: &Path, root: &Path) -> Result<String, CheckedInError> {
    let mut sources = Manifest::read(folder)?.sources;
    for (source, hash) in &mut sources {
        *hash = hash_of_source(root, source)?;
    }
    Ok(format!("&{sources:?}\n"))
}

impl Manifest {
    fn read(folder: &Path) -> Result<Self, CheckedInError> {
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

fn hash_of_source(root: &Path, source: &str) -> Result<String, CheckedInError> {
    let path = root.join(source);
    source_hash::source_hash(&path).map_err(|source| CheckedInError::Io { path, source })
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

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"half\"\nversion = \"2.7.1\"\n";

    /// A root with one source, one linked package and one module, and a manifest written by hand as `write_manifest`
    /// writes it.
    fn checked_in(name: &str) -> (PathBuf, PathBuf) {
        let root = std::env::temp_dir().join(format!("checked_in-{name}-{}", std::process::id()));
        let folder = root.join("ptx");
        fs::create_dir_all(root.join("kernels")).unwrap();
        fs::create_dir_all(&folder).unwrap();
        fs::write(root.join("kernels/lib.rs"), "// a kernel\n").unwrap();
        fs::write(folder.join("k.sm_80.ptx"), ".version 7.0\n").unwrap();
        fs::write(root.join("Cargo.lock"), LOCK).unwrap();
        let manifest = format!(
            "# Comment.\ntoolchain rustc\nsource kernels {}\nlinked half 2.7.1\nmodule sm_80 k.sm_80.ptx {}\n",
            hash_of_source(&root, "kernels").unwrap(),
            hash_of_file(&folder.join("k.sm_80.ptx")).unwrap(),
        );
        fs::write(folder.join(MANIFEST), manifest).unwrap();
        (root, folder)
    }

    #[test]
    fn what_was_built_passes() {
        let (root, folder) = checked_in("pass");
        verify(&folder, &root).unwrap();
        let sources = sources_expression(&folder).unwrap();
        assert!(sources.starts_with("&[(\"kernels\", \""), "{sources}");
        assert_eq!(current_sources_expression(&folder, &root).unwrap(), sources);
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
            Err(CheckedInError::StaleSource { .. })
        ));
        let current = current_sources_expression(&folder, &root).unwrap();
        assert_ne!(current, sources_expression(&folder).unwrap());
    }

    #[test]
    fn another_version_of_a_linked_package_is_stale() {
        let (root, folder) = checked_in("linked");
        fs::write(root.join("Cargo.lock"), LOCK.replace("2.7.1", "2.7.10")).unwrap();
        let error = verify(&folder, &root).unwrap_err();
        assert!(matches!(error, CheckedInError::StalePackage { .. }));
        assert!(error.to_string().contains("half 2.7.1,"), "{error}");
    }

    #[test]
    fn a_package_inside_the_sources_is_not_among_them() {
        let (root, folder) = checked_in("inner");
        fs::create_dir_all(root.join("kernels/ladder")).unwrap();
        fs::write(root.join("kernels/ladder/Cargo.toml"), "[package]\n").unwrap();
        fs::write(root.join("kernels/ladder/lib.rs"), "// a step\n").unwrap();
        verify(&folder, &root).unwrap();
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
