//! The PTX of this crate's own kernels.

use crate::module::ModuleSource;

/// One image for each architecture, built or found by the build script.
#[cfg(feature = "cuda")]
const IMAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/images.rs"));

/// Without CUDA there is nothing to load: the simulator runs the kernels as they were compiled
/// for the host.
#[cfg(not(feature = "cuda"))]
const IMAGES: &[(&str, &str)] = &[];

/// The kernels of `tilewright_kernels`.
///
// SAFETY: (1) the build script compiles the images from the sources of the very crate that this
// one depends on, or compares their hash with that of the sources they were built from.
pub(crate) static KERNELS: ModuleSource =
    unsafe { ModuleSource::new("tilewright_kernels", IMAGES) };
