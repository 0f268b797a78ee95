//! The kernels of tilewright's ladders: each step of a ladder is a kernel that shows one
//! technique, from the plain version to the fast one.
//!
//! Each kernel stands in one file, which says what the step changes and what that should bring.
//! What it did bring is in ladder/pages/, for the simulator's counters and for time on a GPU.
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
