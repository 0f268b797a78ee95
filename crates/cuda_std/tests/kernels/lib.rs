//! Kernels that use every function of `cuda_std`, to be compared with plain code on both machines.
//!
//! Kernels are as plain as the function under test allows: each thread writes what it got to a
//! place of its own. What is expected stands in the tests, `tests/device_library`, not here.
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
// Never on a GPU: some of them are not even accepted by `ptxas`.
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

/// The PTX of this crate, with the name of each architecture; none without the feature `cuda`, without a device
/// toolchain, or where there is no GPU and `TILEWRIGHT_TEST_PTX` does not ask for it.
#[cfg(all(feature = "cuda", not(target_arch = "nvptx64")))]
pub const IMAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/images.rs"));

/// None.
#[cfg(not(all(feature = "cuda", not(target_arch = "nvptx64"))))]
pub const IMAGES: &[(&str, &str)] = &[];

/// Writes `value` to element `index` of `out`.
///
/// # Safety
/// 1. No other thread touches the element.
#[inline(always)]
#[track_caller]
unsafe fn put<T: cuda_std::Pod>(out: cuda_std::global::GlobalMut<T>, index: usize, value: T) {
    // SAFETY: (1) A view that is too short is reported by the simulator; the tests make it long
    // enough. (2) is (1).
    unsafe { out.store(index, value) }
}
