//! PTX that is kept in a repository beside its sources, for machines without a device toolchain.
//!
//! The folder holds `<module>.<arch>.ptx` files and a `MANIFEST`. The manifest lists the inputs of the modules (the
//! sources, each with its hash, and the versions of the linked packages) and a hash of each module, so that neither
//! can change unnoticed.

mod error;
mod images;
mod manifest;
#[cfg(feature = "compile")]
mod write;

pub use error::{CheckedInError, ImagesError};
pub use images::{Images, images};
pub use manifest::LinkedPackage;
#[cfg(feature = "compile")]
pub use write::write_manifest;

use manifest::Manifest;
use std::path::Path;

/// Checks that the modules in `folder` match their manifest, the sources under `root`, and `Cargo.lock`.
///
/// `Cargo.lock` is the one in `root`. The modules must be linked with its versions of packages.
///
/// # Errors
/// [`CheckedInError::StaleSource`], [`CheckedInError::StalePackage`] or [`CheckedInError::ChangedModule`] if they do
/// not match; [`CheckedInError::Malformed`] or [`CheckedInError::Io`] if the manifest cannot be read.
pub fn verify(folder: &Path, root: &Path) -> Result<(), CheckedInError> {
    Manifest::read(folder)?.verify(root)
}

#[cfg(test)]
mod tests {
    use super::manifest::{MANIFEST, hash_of_file, hash_of_source};
    use super::*;
    use crate::builder::CudaBuilder;
    use std::fs;
    use std::path::PathBuf;

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"half\"\nversion = \"2.7.1\"\n";

    /// A root with one source, one linked package, one module, and a manifest written by hand in the form of
    /// `write_manifest`.
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
        let manifest = Manifest::read(&folder).unwrap();
        let sources = manifest.sources_expression();
        assert!(sources.starts_with("&[(\"kernels\", \""), "{sources}");
        assert_eq!(manifest.current_sources_expression(&root).unwrap(), sources);
    }

    #[test]
    fn a_changed_source_is_stale() {
        let (root, folder) = checked_in("stale");
        fs::write(root.join("kernels/lib.rs"), "// another kernel\n").unwrap();
        assert!(matches!(
            verify(&folder, &root),
            Err(CheckedInError::StaleSource { .. })
        ));
        let manifest = Manifest::read(&folder).unwrap();
        let current = manifest.current_sources_expression(&root).unwrap();
        assert_ne!(current, manifest.sources_expression());
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
    }

    /// A builder whose kernel crate does not compile, so a call that succeeds has compiled nothing.
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
        assert_eq!(
            images.sources,
            Manifest::read(&folder).unwrap().sources_expression()
        );
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
            assert!(is_of_a_build(&error), "{error}");
        }
    }

    /// Whether the error is that of compiling the kernels.
    fn is_of_a_build(error: &ImagesError) -> bool {
        match error {
            ImagesError::Build(_) => cfg!(feature = "compile"),
            ImagesError::NotCompiled { .. } => !cfg!(feature = "compile"),
            _ => false,
        }
    }

    #[test]
    fn changed_sources_are_compiled_again() {
        let (root, folder) = checked_in("differs");
        let builder = builder(&root);
        fs::write(root.join("kernels/lib.rs"), "// another kernel\n").unwrap();
        let error = images(&builder, &folder, &root).unwrap_err();
        match error {
            ImagesError::NoToolchain { .. } | ImagesError::NotCompiled { .. } => {
                assert!(error.to_string().contains("has changed"), "{error}");
            }
            error => assert!(is_of_a_build(&error), "{error}"),
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
