//! The PTX of the steps.

use tilewright::ModuleSource;

/// One image for each architecture, found or built by the build script.
const IMAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/images.rs"));

/// The kernels of `tilewright_ladder_kernels`.
// SAFETY: the build script chose images compiled from the same sources of the kernel crate and of
// the device library that this crate uses: all are folders of one workspace.
pub(crate) static KERNELS: ModuleSource =
    unsafe { ModuleSource::new("tilewright_ladder_kernels", IMAGES) };

/// The images of the kernels for tensor cores.
const TENSOR_IMAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/tensor_images.rs"));

/// The kernels of `tilewright_ladder_tensor_kernels`, for compute capability 9.0 only.
// SAFETY: as for `KERNELS`.
pub(crate) static TENSOR_KERNELS: ModuleSource =
    unsafe { ModuleSource::new("tilewright_ladder_tensor_kernels", TENSOR_IMAGES) };
