//! The kernels of tilewright's ladders. Each step is a kernel that shows one technique, from the
//! plain version to the fast one.
//!
//! Each kernel has its own file, which states what the step changes and predicts its effect. The
//! measured effect, in the simulator's counters and in time on a GPU, is in ladder/pages/.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

/// The fingerprint of this crate's sources, made by the build script.
#[doc(hidden)]
pub const SOURCE_HASH: &str = env!("SOURCE_HASH");

pub mod divergence;
pub mod histogram;
pub mod memory;
pub mod prefetch;
pub mod product;
pub mod sum;
