#![doc = include_str!("../README.md")]
#![deny(missing_docs, clippy::undocumented_unsafe_blocks)]

use custom_kernel_kernels as kernels;
use tilewright::{Buffer, Device, LaunchConfig, ModuleSource, Result};

/// The PTX from the build script, with the architecture of each image.
#[cfg(feature = "cuda")]
const IMAGES: &[(&str, &str)] = include!(env!("KERNEL_IMAGES"));

/// The simulator needs no PTX: it runs the kernels as compiled for the host.
#[cfg(not(feature = "cuda"))]
const IMAGES: &[(&str, &str)] = &[];

/// The kernels, for devices to load.
//
// SAFETY: the build script compiles the images from the same crate that is used here.
pub static KERNELS: ModuleSource = unsafe { ModuleSource::new("custom_kernel", IMAGES) };

/// Threads in a block: several warps, so that few elements are read by two blocks.
const BLOCK_THREADS: u32 = kernels::MAX_THREADS as u32;

/// `y += a * x`, for the indices that both have.
///
/// # Errors
/// Those of [`Device::load`] and of [`Module::launch`](tilewright::Module::launch).
pub fn axpy(device: &Device, a: f32, x: &Buffer<f32>, y: &mut Buffer<f32>) -> Result<()> {
    let config = LaunchConfig::for_elements(y.len(), BLOCK_THREADS);
    device
        .load(&KERNELS)?
        .launch(kernels::axpy, config, (a, x, y))
}

/// Replaces each element of `x` by the weighted mean of itself and its neighbours.
///
/// # Errors
/// Those of [`Device::uninit`], [`Device::load`] and
/// [`Module::launch`](tilewright::Module::launch).
pub fn smooth(device: &Device, x: &Buffer<f32>) -> Result<Buffer<f32>> {
    let mut y = device.uninit(x.len())?;
    let config = LaunchConfig::for_elements(x.len(), BLOCK_THREADS);
    device
        .load(&KERNELS)?
        .launch(kernels::smooth, config, (x, &mut y))?;
    Ok(y)
}
