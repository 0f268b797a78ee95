//! A reduction of a buffer by a custom operation, which the crate `kernels` defines.
#![deny(missing_docs, clippy::undocumented_unsafe_blocks)]

use custom_reduction_kernels as kernels;
use tilewright::{Device, IntoBufferView, ModuleSource, Result};

/// The PTX from the build script, with the architecture of each image.
#[cfg(feature = "cuda")]
const IMAGES: &[(&str, &str)] = include!(env!("KERNEL_IMAGES"));

/// The simulator needs no PTX: it runs the kernels as compiled for the host.
#[cfg(not(feature = "cuda"))]
const IMAGES: &[(&str, &str)] = &[];

/// The kernels, for devices to load.
//
// SAFETY: the build script compiles the images from the same crate that is used here.
pub static KERNELS: ModuleSource = unsafe { ModuleSource::new("custom_reduction", IMAGES) };

/// ln(sum of e^x) of the elements of a buffer or a slice of one.
///
/// # Errors
/// Those of [`Device::load`] and [`Module::reduce`](tilewright::Module::reduce).
pub fn log_sum_exp<'x>(device: &Device, x: impl IntoBufferView<'x, f32>) -> Result<f64> {
    device.load(&KERNELS)?.reduce(kernels::log_sum_exp, x)
}
