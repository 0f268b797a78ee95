//! PTX that is kept in a repository beside the sources it was built from, for machines that have
//! no device toolchain.
//!
//! The folder holds `<module>.<arch>.ptx` files and a `MANIFEST`: what the modules were compiled
//! from (the sources, each with its hash, and the versions of the packages linked in), and a hash
//! of each module, so that neither can change unnoticed.

mod error;
mod images;
mod manifest;

pub use error::{CheckedInError, ImagesError};
pub use images::{Images, images};

use crate::builder::Build;
use crate::cargo::LinkedPackage;
use crate::rust_file;
use manifest::{MANIFEST, Manifest, hash_of_file, hash_of_source};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

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
    Manifest::read(folder)?.verify(root)
}

/// The text for `include!` of the checked-in modules, like [`Build::rust_file`] of one module for
/// the crate: an expression.
///
/// # Errors
/// [`CheckedInError::ChangedModule`] if a module is not the one that was built;
/// [`CheckedInError::Malformed`] or [`CheckedInError::Io`].
pub fn rust_expression(folder: &Path) -> Result<String, CheckedInError> {
    Ok(rust_file::expression(&verified(folder)?.images()))
}

/// The text for `include!` of the checked-in modules, like [`Build::rust_file`] of one module for
/// each kernel: constants.
///
/// # Errors
/// Those of [`rust_expression`].
pub fn rust_constants(folder: &Path) -> Result<String, CheckedInError> {
    Ok(rust_file::constants(&verified(folder)?.images()))
}

fn verified(folder: &Path) -> Result<Manifest, CheckedInError> {
    let manifest = Manifest::read(folder)?;
    manifest.verify_modules()?;
    Ok(manifest)
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
    Ok(Manifest::read(folder)?.sources_expression())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::CudaBuilder;
    use std::path::PathBuf;

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

    /// A builder whose kernel crate does not compile: a call that succeeds cannot have compiled it.
    fn builder(root: &Path) -> CudaBuilder {
        fs::write(root.join("kernels/Cargo.toml"), "no manifest").unwrap();
        CudaBuilder::new(root.join("kernels")).target_dir(root.join("out"))
    }

    #[test]
    fn unchanged_sources_are_not_compiled() {
        let (root, folder) = checked_in("fits");
        let builder = builder(&root);
        let images = images(&builder, &folder, &root).unwrap();
        assert!(
            images.modules.starts_with("&[\n    (\"sm_80\", "),
            "{}",
            images.modules
        );
        assert_eq!(images.sources, sources_expression(&folder).unwrap());
        let images = super::images(&builder.one_module_per_kernel(), &folder, &root).unwrap();
        assert!(
            images.modules.contains("pub const k: "),
            "{}",
            images.modules
        );
        assert!(!root.join("out").exists());
    }

    #[test]
    fn lines_and_places_are_compiled_in_though_the_sources_are_unchanged() {
        let (root, folder) = checked_in("debugging");
        let builder = builder(&root);
        for builder in [
            builder.clone().line_information(true),
            builder.panic_locations(true),
        ] {
            let error = images(&builder, &folder, &root).unwrap_err();
            assert!(matches!(error, ImagesError::Build(_)), "{error}");
        }
    }

    #[test]
    fn changed_sources_are_compiled_again() {
        let (root, folder) = checked_in("differs");
        let builder = builder(&root);
        fs::write(root.join("kernels/lib.rs"), "// another kernel\n").unwrap();
        let error = images(&builder, &folder, &root).unwrap_err();
        match error {
            ImagesError::Build(_) => {}
            ImagesError::NoToolchain { .. } => assert!(error.to_string().contains("has changed")),
            ImagesError::CheckedIn(_) => panic!("{error}"),
        }
    }

    #[test]
    fn a_package_without_kernels_keeps_its_ptx() {
        let (root, folder) = checked_in("package");
        fs::remove_dir_all(root.join("kernels")).unwrap();
        let builder = CudaBuilder::new(root.join("kernels"));
        assert!(images(&builder, &folder, &root).is_ok());
        fs::write(folder.join("k.sm_80.ptx"), ".version 7.1\n").unwrap();
        let error = images(&builder, &folder, &root).unwrap_err();
        assert!(matches!(error, ImagesError::CheckedIn(_)), "{error}");
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
