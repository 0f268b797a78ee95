//! A reduction of a buffer by a custom operation, which the crate `kernels` defines.
#![deny(missing_docs, clippy::undocumented_unsafe_blocks)]

use own_reduction_kernels as kernels;
use tilewright::{BufferView, Device, ModuleSource, Result};

/// The PTX that the build script made, with the architecture of each image.
#[cfg(feature = "cuda")]
const IMAGES: &[(&str, &str)] = include!(env!("KERNEL_IMAGES"));

/// The simulator needs no PTX: it runs the kernels as they were compiled for the host.
#[cfg(not(feature = "cuda"))]
const IMAGES: &[(&str, &str)] = &[];

/// The kernels, ready to be loaded by a device.
//
// SAFETY: (1) the build script compiles the images from the crate that is used here.
pub static KERNELS: ModuleSource = unsafe { ModuleSource::new("own_reduction", IMAGES) };

/// ln(sum of e^x) of the elements of a buffer, or of a part of one.
///
/// # Errors
/// Those of [`Device::load`] and [`Module::reduce`](tilewright::Module::reduce).
pub fn log_sum_exp<'x>(device: &Device, x: impl Into<BufferView<'x, f32>>) -> Result<f64> {
    device.load(&KERNELS)?.reduce(kernels::log_sum_exp, x)
}
