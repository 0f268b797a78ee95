//! Kernels that use every function of `cuda_std`, for comparison with plain code on the GPU and in
//! the simulator.
//!
//! Kernels are as plain as the function under test allows: each thread writes its result to its own
//! elements. The expected results are in the tests, `tests/device_library`.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

pub mod arithmetic;
pub mod atomics;
pub mod barriers;
pub mod blocks;
pub mod bulk_copies;
pub mod by_value;
pub mod cluster_orders;
pub mod clusters;
// Never on a GPU: `ptxas` rejects some of them.
#[cfg(not(target_arch = "nvptx64"))]
pub mod defects;
pub mod dependent_launches;
pub mod fences;
pub mod functions;
pub mod global_memory;
pub mod groups;
pub mod orders;
pub mod output;
pub mod own;
pub mod pipelines;
pub mod positions;
pub mod products;
pub mod shared_memory;
pub mod symbols;
pub mod textures;
pub mod warpgroups;
pub mod warps;

/// The PTX of this crate for each architecture, with its name. Empty without the feature `cuda`, without a device
/// toolchain, or without a GPU unless `TILEWRIGHT_TEST_PTX` requests it.
#[cfg(all(feature = "cuda", not(target_arch = "nvptx64")))]
pub const IMAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/images.rs"));

/// None.
#[cfg(not(all(feature = "cuda", not(target_arch = "nvptx64"))))]
pub const IMAGES: &[(&str, &str)] = &[];

/// Writes `value` to element `index` of `out`.
///
/// # Safety
/// 1. No other thread accesses the element.
#[inline(always)]
#[track_caller]
unsafe fn put<T: cuda_std::Pod>(out: cuda_std::global::GlobalMut<T>, index: usize, value: T) {
    // SAFETY: the tests make the view long enough, and the simulator reports one that is too short.
    // No other thread accesses the element: the caller's contract.
    unsafe { out.store(index, value) }
}
