//! Custom operations, which the crate `kernels` defines, and the module to launch them from.
#![deny(missing_docs, clippy::undocumented_unsafe_blocks)]

pub use custom_operations_kernels as kernels;
use tilewright::ModuleSource;

/// The PTX from the build script, with the architecture of each image.
#[cfg(feature = "cuda")]
const IMAGES: &[(&str, &str)] = include!(env!("KERNEL_IMAGES"));

/// The simulator needs no PTX: it runs the kernels as compiled for the host.
#[cfg(not(feature = "cuda"))]
const IMAGES: &[(&str, &str)] = &[];

/// The kernels, for devices to load.
//
// SAFETY: the build script compiles the images from the same crate that is used here.
pub static KERNELS: ModuleSource = unsafe { ModuleSource::new("custom_operations", IMAGES) };
