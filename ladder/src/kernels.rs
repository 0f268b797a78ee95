//! The PTX of the steps.

use tilewright::ModuleSource;

/// One image for each architecture, found or built by the build script.
const IMAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/images.rs"));

/// The kernels of `tilewright_ladder_kernels`.
// SAFETY: (1) the build script took images that were compiled from the sources of the kernel crate
// that this crate is compiled with, and of the device library that both use: all are folders of one
// workspace.
pub(crate) static KERNELS: ModuleSource =
    unsafe { ModuleSource::new("tilewright_ladder_kernels", IMAGES) };

/// The images of the kernels for tensor cores.
const TENSOR_IMAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/tensor_images.rs"));

/// The kernels of `tilewright_ladder_tensor_kernels`, for compute capability 9.0 alone.
// SAFETY: (1) as for `KERNELS`.
pub(crate) static TENSOR_KERNELS: ModuleSource =
    unsafe { ModuleSource::new("tilewright_ladder_tensor_kernels", TENSOR_IMAGES) };
