//! The PTX of this crate's own kernels: one module for sums and products, one for the ladders.

use crate::module::ModuleSource;

/// One image for each architecture, built or found by the build script.
#[cfg(feature = "cuda")]
const IMAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/images.rs"));
#[cfg(feature = "cuda")]
const LADDER_IMAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/ladder_images.rs"));

/// Without CUDA there is nothing to load: the simulator runs the kernels as they were compiled
/// for the host.
#[cfg(not(feature = "cuda"))]
const IMAGES: &[(&str, &str)] = &[];
#[cfg(not(feature = "cuda"))]
const LADDER_IMAGES: &[(&str, &str)] = &[];

/// The kernels of `tilewright_kernels`.
///
// SAFETY: (1) the build script compiles the images from the sources of the very crate that this
// one depends on, or compares their hash with that of the sources they were built from.
pub(crate) static KERNELS: ModuleSource =
    unsafe { ModuleSource::new("tilewright_kernels", IMAGES) };

/// The kernels of `tilewright_ladder_kernels`: loaded when a step of a ladder is first launched.
///
// SAFETY: (1) as for `KERNELS`.
pub(crate) static LADDER_KERNELS: ModuleSource =
    unsafe { ModuleSource::new("tilewright_ladder_kernels", LADDER_IMAGES) };
