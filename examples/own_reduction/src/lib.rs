//! Reduces a buffer by an operation that the library does not have: `kernels/lib.rs` says what it is in
//! four functions, and the library's generic kernel does the rest, in one launch and with the same bits in
//! every run and on every device.
#![deny(missing_docs, clippy::undocumented_unsafe_blocks)]

use own_reduction_kernels as kernels;
use tilewright::{Buffer, Device, LaunchConfig, ModuleSource, Result};
use tilewright_kernels::reduce::own::{BLOCK_THREADS, Plan, Reduction};

/// The PTX that the build script made, with the architecture of each image.
#[cfg(feature = "cuda")]
const IMAGES: &[(&str, &str)] = include!(env!("KERNEL_IMAGES"));

/// The simulator needs no PTX: it runs the kernels as they were compiled for the host.
#[cfg(not(feature = "cuda"))]
const IMAGES: &[(&str, &str)] = &[];

// SAFETY: (1) the build script compiles the images from the crate that is used here.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("own_reduction", IMAGES) };

/// What an accumulator of the operation is.
type Accumulator = <kernels::LogSumExp as Reduction<f32>>::Accumulator;

/// The logarithm of the sum of e^x over all elements of `x`; -inf of none. It waits for the value.
///
/// # Errors
/// Those of [`Device::uninit`], [`Device::load`] and [`tilewright::Module::launch`].
pub fn log_sum_exp(device: &Device, x: &Buffer<f32>) -> Result<f32> {
    // An array without elements has a value, too: one block writes it.
    let blocks = Plan::new(x.len(), size_of::<f32>()).blocks.max(1);
    let mut partials = device.uninit::<Accumulator>(blocks as usize)?;
    let mut ticket = device.zeros::<u32>(1)?;
    let mut value = device.uninit::<f32>(1)?;
    let config = LaunchConfig::new(blocks, BLOCK_THREADS);
    let arguments = (x, &mut partials, &mut ticket, &mut value);
    // SAFETY: (1) the kernel's (1): the blocks are the plan's, and `partials` has an element for each. Its
    // (2): both have one element. Its (3): the ticket is new, 0, and this launch's alone.
    unsafe {
        device
            .load(&KERNELS)?
            .launch_unsafe(kernels::log_sum_exp_f32, config, arguments)?;
    }
    Ok(value.to_vec()?[0])
}
