//! Clusters of blocks.

use super::memory::{Space, load, store};
use bytemuck::Pod;

/// The block's rank in its cluster.
#[track_caller]
pub fn cluster_rank() -> u32 {
    simt::cluster_rank()
}

/// The number of blocks in the cluster.
#[track_caller]
pub fn cluster_blocks() -> u32 {
    simt::cluster_blocks()
}

/// Arrives at the cluster's barrier, and releases the thread's earlier accesses to the cluster.
#[track_caller]
pub fn cluster_barrier_arrive() {
    simt::cluster_barrier_arrive();
}

/// Waits until all threads of the cluster have arrived at its barrier.
#[track_caller]
pub fn cluster_barrier_wait() {
    simt::cluster_barrier_wait();
}

/// Loads elements `index..index + N` at `base` in the block of rank `rank`.
///
/// # Safety
/// 1. `base` is the address of `len` elements in shared memory of the block. (The rest is checked.)
#[track_caller]
pub unsafe fn load_in_block<T: Pod, const N: usize>(
    base: *const T,
    len: usize,
    index: usize,
    rank: u32,
) -> [T; N] {
    let base = std::ptr::with_exposed_provenance(simt::map_shared(base.addr(), rank));
    // SAFETY: `base` has the elements: the caller's contract. The blocks of a cluster lay out
    // shared memory alike, on one host thread.
    unsafe { load(Space::Shared, base, len, index) }
}

/// Writes elements `index..index + N` at `base` in the block of rank `rank`.
///
/// # Safety
/// 1. `base` is the address of `len` elements in shared memory of the block. (The rest is checked.)
#[track_caller]
pub unsafe fn store_in_block<T: Pod, const N: usize>(
    base: *mut T,
    len: usize,
    index: usize,
    rank: u32,
    values: [T; N],
) {
    let base = std::ptr::with_exposed_provenance_mut(simt::map_shared(base.addr(), rank));
    // SAFETY: as in `load_in_block`.
    unsafe { store(Space::Shared, base, len, index, values) };
}
