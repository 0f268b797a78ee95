//! Writes the archive and the manifest of modules that were just built.

use super::archive::pack;
use super::error::CheckedInError;
use super::manifest::{ARCHIVE, LinkedPackage, MANIFEST, hash_of_source, read};
use crate::compile::Build;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

/// Writes the modules of `build` to `folder`: their archive, and its manifest.
///
/// `sources` are the folders and files that the modules depend on, relative to `root`, for
/// [`source_hash::source_hash`]. `root` is the folder of the `Cargo.lock`.
///
/// # Errors
/// [`CheckedInError::Io`].
pub fn write(
    folder: &Path,
    root: &Path,
    sources: &[&str],
    build: &Build,
) -> Result<(), CheckedInError> {
    let mut manifest =
        String::from("# The PTX in the archive beside this file, and its sources.\n");
    let toolchain = &build.toolchain;
    let _ = writeln!(
        manifest,
        "toolchain rustc {}, LLVM {}",
        toolchain.rustc_version(),
        toolchain.llvm_version()
    );
    for source in sources {
        let _ = writeln!(
            manifest,
            "source {source} {}",
            hash_of_source(root, source)?
        );
    }
    for LinkedPackage { name, version } in &build.linked {
        let _ = writeln!(manifest, "linked {name} {version}");
    }
    let mut modules: Vec<_> = build.modules.iter().collect();
    // The modules of one kernel are alike, and near ones compress better.
    modules.sort_by_key(|module| (&module.name, module.arch));
    let (mut text, mut lines) = (Vec::new(), String::new());
    for module in modules {
        let ptx = read(&module.path)?;
        let hash = source_hash::sha256(&ptx);
        let _ = writeln!(
            lines,
            "module {} {} {} {hash}",
            module.arch,
            module.name,
            ptx.len()
        );
        text.extend(ptx);
    }
    let at = |name: &str| {
        let path = folder.join(name);
        move |source: io::Error| CheckedInError::Io { path, source }
    };
    let archive = pack(&text).map_err(at(ARCHIVE))?;
    let _ = writeln!(manifest, "archive {}", source_hash::sha256(&archive));
    manifest.push_str(&lines);
    fs::create_dir_all(folder).map_err(at(""))?;
    fs::write(folder.join(ARCHIVE), archive).map_err(at(ARCHIVE))?;
    fs::write(folder.join(MANIFEST), manifest).map_err(at(MANIFEST))
}
