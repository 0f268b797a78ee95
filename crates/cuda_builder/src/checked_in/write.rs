//! Writes the manifest of modules that were just built.

use super::error::CheckedInError;
use super::manifest::{LinkedPackage, MANIFEST, hash_of_file, hash_of_source};
use crate::compile::Build;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Writes the manifest for the modules of `build`, which were copied to `folder`.
///
/// `sources` are the folders and files that the modules depend on, relative to `root`, for
/// [`source_hash::source_hash`]. `root` is the folder of the `Cargo.lock`.
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
