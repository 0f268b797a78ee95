//! The kernels of tilewright's ladder of products on Hopper's tensor cores. Each step is a kernel that shows one
//! technique, from warp-level products to cuBLAS's speed.
//!
//! All compute C = A B of bf16 with f32 accumulators: `a` holds the rows of A, `b` the columns of B (`_nt`), or its
//! rows (`_nn`), and C is row-major. Rows of all three are aligned to 16 bytes; the sizes are otherwise arbitrary.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

/// The fingerprint of this crate's sources, made by the build script.
#[doc(hidden)]
pub const SOURCE_HASH: &str = env!("SOURCE_HASH");

pub mod bulk;
pub mod clusters;
pub mod large;
pub mod lines;
pub mod operands;
pub mod outputs;
pub mod persistent;
pub mod roles;
pub mod specialised;
pub mod stores;
pub mod tiles;
pub mod warpgroup;
pub mod warps;

/// Elements along k in a stage: 128 bytes of each row.
pub const DEPTH: usize = 64;

/// Rows that a warpgroup multiplies with one instruction.
pub const WARPGROUP_ROWS: usize = 64;
