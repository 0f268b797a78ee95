//! PTX that is kept in a repository beside its sources, for machines without a device toolchain.
//!
//! The folder holds an archive of all modules, `modules.lzma`, and a `MANIFEST`. The manifest lists the inputs of the
//! modules (the sources, each with its hash, and the versions of the linked packages), the hash of the archive, and
//! the length and hash of each module's PTX, so that nothing changes unnoticed.
//!
//! [`write()`] makes both files. [`images`] is for a build script; [`unpack`] shows the PTX.

mod archive;
mod error;
mod images;
mod manifest;
mod names;
#[cfg(feature = "compile")]
mod write;

pub use archive::unpack;
pub use error::{CheckedInError, ImagesError};
pub use images::{Images, images};
pub use manifest::LinkedPackage;
#[cfg(feature = "compile")]
pub use write::write;

use manifest::Manifest;
use std::path::Path;

/// Checks that the archive in `folder` matches its manifest, the sources under `root`, and `Cargo.lock`.
///
/// `Cargo.lock` is the one in `root`. The modules must be linked with its versions of packages.
///
/// # Errors
/// [`CheckedInError::StaleSource`], [`CheckedInError::StalePackage`] or [`CheckedInError::ChangedArchive`] if they do
/// not match; [`CheckedInError::Malformed`] or [`CheckedInError::Io`] if the manifest cannot be read.
pub fn verify(folder: &Path, root: &Path) -> Result<(), CheckedInError> {
    Manifest::read(folder)?.verify(root)
}

#[cfg(test)]
mod tests {
    use super::manifest::{ARCHIVE, MANIFEST, hash_of_source};
    use super::*;
    use crate::builder::CudaBuilder;
    use std::fs;
    use std::path::PathBuf;

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"half\"\nversion = \"2.7.1\"\n";

    const PTX: &str = ".version 7.0\n";

    /// [`PTX`], compressed by `xz --format=lzma`.
    const PACKED: [u8; 37] = [
        93, 0, 0, 128, 0, 255, 255, 255, 255, 255, 255, 255, 255, 0, 23, 29, 136, 167, 86, 35, 237,
        31, 151, 222, 207, 106, 235, 173, 34, 172, 5, 255, 255, 242, 118, 64, 0,
    ];

    /// A root with one source, one linked package, one module, and a manifest written by hand in the form of
    /// [`write`].
    fn checked_in(name: &str) -> (PathBuf, PathBuf) {
        let root = std::env::temp_dir().join(format!("checked_in-{name}-{}", std::process::id()));
        let folder = root.join("ptx");
        fs::create_dir_all(root.join("kernels")).unwrap();
        fs::create_dir_all(&folder).unwrap();
        fs::write(root.join("kernels/lib.rs"), "// a kernel\n").unwrap();
        fs::write(folder.join(ARCHIVE), PACKED).unwrap();
        fs::write(root.join("Cargo.lock"), LOCK).unwrap();
        let manifest = format!(
            "# Comment.\ntoolchain rustc\nsource kernels {}\nlinked half 2.7.1\narchive {}\nmodule sm_80 k {} {}\n",
            hash_of_source(&root, "kernels").unwrap(),
            source_hash::sha256(&PACKED),
            PTX.len(),
            source_hash::sha256(PTX.as_bytes()),
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
    fn modules_are_unpacked_once() {
        let (root, folder) = checked_in("unpacked");
        let to = root.join("unpacked");
        let files = unpack(&folder, &to).unwrap();
        assert_eq!(files, [to.join("k.sm_80.ptx")]);
        assert_eq!(fs::read_to_string(&files[0]).unwrap(), PTX);
        // They are left alone, and written again where one is missing.
        fs::write(&files[0], "kept").unwrap();
        unpack(&folder, &to).unwrap();
        assert_eq!(fs::read_to_string(&files[0]).unwrap(), "kept");
        fs::remove_file(&files[0]).unwrap();
        unpack(&folder, &to).unwrap();
        assert_eq!(fs::read_to_string(&files[0]).unwrap(), PTX);
    }

    #[test]
    fn an_archive_that_is_shorter_than_its_modules_is_refused() {
        let (root, folder) = checked_in("short");
        let manifest = fs::read_to_string(folder.join(MANIFEST)).unwrap();
        let length = format!(" k {} ", PTX.len());
        fs::write(folder.join(MANIFEST), manifest.replace(&length, " k 99 ")).unwrap();
        let error = unpack(&folder, &root.join("unpacked")).unwrap_err();
        assert!(
            matches!(error, CheckedInError::ChangedArchive { .. }),
            "{error}"
        );
    }

    #[test]
    fn lengths_that_no_memory_has_are_refused() {
        let (root, folder) = checked_in("lengths");
        let manifest = fs::read_to_string(folder.join(MANIFEST)).unwrap();
        let length = format!(" k {} ", PTX.len());
        for lengths in [vec![usize::MAX], vec![usize::MAX; 2], vec![usize::MAX / 4]] {
            let longer = |bytes: &usize| format!("module sm_80 k {bytes} 0\n");
            let more: String = lengths.iter().map(longer).collect();
            assert!(manifest.contains(&length));
            fs::write(folder.join(MANIFEST), manifest.clone() + &more).unwrap();
            let error = unpack(&folder, &root.join("unpacked")).unwrap_err();
            assert!(
                matches!(error, CheckedInError::ChangedArchive { .. }),
                "{error}"
            );
        }
    }

    #[test]
    #[cfg(feature = "compile")]
    fn what_is_packed_is_what_is_unpacked() {
        let (root, folder) = checked_in("packed");
        let archive = archive::pack(PTX.as_bytes()).unwrap();
        let manifest = fs::read_to_string(folder.join(MANIFEST)).unwrap();
        let hash = |bytes: &[u8]| format!("archive {}", source_hash::sha256(bytes));
        let manifest = manifest.replace(&hash(&PACKED), &hash(&archive));
        fs::write(folder.join(MANIFEST), manifest).unwrap();
        fs::write(folder.join(ARCHIVE), archive).unwrap();
        let files = unpack(&folder, &root.join("unpacked")).unwrap();
        assert_eq!(fs::read_to_string(&files[0]).unwrap(), PTX);
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
    fn a_changed_archive_is_found() {
        let (root, folder) = checked_in("module");
        fs::write(folder.join(ARCHIVE), "another").unwrap();
        assert!(matches!(
            verify(&folder, &root),
            Err(CheckedInError::ChangedArchive { .. })
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
            images.modules.contains("pub const r#k: "),
            "{}",
            images.modules
        );
        let unpacked = root.join("out/checked_in");
        assert_eq!(
            fs::read_to_string(unpacked.join("k.sm_80.ptx")).unwrap(),
            PTX
        );
        assert_eq!(fs::read_dir(root.join("out")).unwrap().count(), 1);
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
        let builder = CudaBuilder::new(root.join("kernels")).target_dir(root.join("out"));
        assert!(images(&builder, &folder, &root).is_ok());
        fs::write(folder.join(ARCHIVE), "another").unwrap();
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
