//! The choice between checked-in PTX and PTX that is compiled now.

#[cfg(feature = "compile")]
use std::fs;
use std::path::Path;

use super::error::{CheckedInError, ImagesError};
use super::manifest::Manifest;
use crate::builder::CudaBuilder;
use crate::rust_file::{self, Image};
use crate::surroundings::Surroundings;

/// PTX for a program, as text for `include!`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Images {
    /// The modules, in the form of a build's file: an expression, or a constant for each kernel.
    pub modules: String,
    /// The sources of the modules, an expression of type `&[(&str, &str); N]`: each source with its
    /// [`source_hash::source_hash`].
    pub sources: String,
}

/// Returns the PTX in `folder` if it was compiled from the sources under `root`, otherwise compiles them.
///
/// `builder` compiles them. That needs a device toolchain and the feature `compile`; checked-in PTX that matches
/// needs neither. If `builder` is to add panic locations or line information, the kernels are always compiled, unless
/// the package has none.
///
/// A published package has PTX, but no kernel crate to compare it with. There the PTX is returned as it is, and the
/// program can compare [`Images::sources`].
///
/// The modules are unpacked into a folder `checked_in` in the target folder of `builder`.
///
/// In a build script it also tells cargo to run the script again when the PTX, one of the sources or `Cargo.lock`
/// changes.
///
/// # Errors
/// [`ImagesError`].
pub fn images(builder: &CudaBuilder, folder: &Path, root: &Path) -> Result<Images, ImagesError> {
    let surroundings = Surroundings::of_process()?;
    surroundings.announce_change(folder);
    let manifest = Manifest::read(folder)?;
    if !builder.has_kernel_crate(&surroundings) {
        manifest.verify_archive()?;
        return checked_in(builder, &manifest, &surroundings);
    }
    for (source, _) in &manifest.sources {
        surroundings.announce_change(&root.join(source));
    }
    surroundings.announce_change(&root.join("Cargo.lock"));
    match verify(builder, &manifest, root) {
        Ok(()) => checked_in(builder, &manifest, &surroundings),
        Err(stale) => compiled(builder, &manifest, root, stale),
    }
}

/// Whether the PTX is what `builder` would make from the sources.
fn verify(builder: &CudaBuilder, manifest: &Manifest, root: &Path) -> Result<(), CheckedInError> {
    manifest.verify(root)?;
    match builder.has_debugging() {
        true => Err(CheckedInError::NoDebugging {
            folder: manifest.folder.clone(),
        }),
        false => Ok(()),
    }
}

/// The modules of a verified archive.
fn checked_in(
    builder: &CudaBuilder,
    manifest: &Manifest,
    surroundings: &Surroundings,
) -> Result<Images, ImagesError> {
    let folder = builder.target_folder(surroundings).join("checked_in");
    let files = manifest.unpack(&folder)?.into_iter();
    let images = files.zip(&manifest.modules).map(|(path, module)| Image {
        module: module.name.clone(),
        arch: module.arch.clone(),
        path,
    });
    let images: Vec<_> = images.collect();
    Ok(Images {
        modules: match builder.one_module_per_kernel {
            true => rust_file::constants(&images),
            false => rust_file::expression(&images),
        },
        sources: manifest.sources_expression(),
    })
}

#[cfg(feature = "compile")]
fn compiled(
    builder: &CudaBuilder,
    manifest: &Manifest,
    root: &Path,
    stale: CheckedInError,
) -> Result<Images, ImagesError> {
    let build = builder
        .build()
        .map_err(|error| match error.is_missing_toolchain() {
            true => ImagesError::NoToolchain {
                stale: Box::new(stale),
                error: Box::new(error),
            },
            false => error.into(),
        })?;
    let modules = fs::read_to_string(&build.rust_file).map_err(|source| CheckedInError::Io {
        path: build.rust_file,
        source,
    })?;
    Ok(Images {
        modules,
        sources: manifest.current_sources_expression(root)?,
    })
}

#[cfg(not(feature = "compile"))]
fn compiled(
    _builder: &CudaBuilder,
    _manifest: &Manifest,
    _root: &Path,
    stale: CheckedInError,
) -> Result<Images, ImagesError> {
    Err(ImagesError::NotCompiled {
        stale: Box::new(stale),
    })
}
