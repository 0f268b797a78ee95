//! The calling thread's position, block barriers and fences.
//!
//! Names follow the `cuda_std` of the Rust CUDA project: `thread_idx_x` is CUDA C++'s
//! `threadIdx.x`, and so on.

mod unique;

pub use unique::{
    UniqueIndex, UniqueIndex2d, UniqueIndices, unique_index, unique_index_2d, unique_indices,
};

use crate::machine::{self, MemoryScope};

macro_rules! coordinates {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[inline(always)]
        #[track_caller]
        #[must_use]
        pub fn $name() -> u32 {
            machine::$name()
        }
    )*};
}

coordinates! {
    /// The thread's index in its block along x.
    thread_idx_x;
    /// The thread's index in its block along y.
    thread_idx_y;
    /// The thread's index in its block along z.
    thread_idx_z;
    /// The block's index in the grid along x.
    block_idx_x;
    /// The block's index in the grid along y.
    block_idx_y;
    /// The block's index in the grid along z.
    block_idx_z;
    /// The number of threads in a block along x.
    block_dim_x;
    /// The number of threads in a block along y.
    block_dim_y;
    /// The number of threads in a block along z.
    block_dim_z;
    /// The number of blocks in the grid along x.
    grid_dim_x;
    /// The number of blocks in the grid along y.
    grid_dim_y;
    /// The number of blocks in the grid along z.
    grid_dim_z;
}

/// The thread's rank in its block, x fastest: warps are runs of consecutive ranks.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn rank_in_block() -> u32 {
    thread_idx_x() + block_dim_x() * (thread_idx_y() + block_dim_y() * thread_idx_z())
}

/// The number of threads in a block.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn block_size() -> u32 {
    block_dim_x() * block_dim_y() * block_dim_z()
}

/// The block's rank in the grid, x fastest.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn block_rank() -> u64 {
    let row = u64::from(block_idx_y()) + u64::from(grid_dim_y()) * u64::from(block_idx_z());
    u64::from(block_idx_x()) + u64::from(grid_dim_x()) * row
}

/// The thread's index in a launch of one dimension and at most 2^32 threads. In other launches it
/// is not unique: see [`unique_index`].
#[inline(always)]
#[track_caller]
#[must_use]
pub fn index_1d() -> u32 {
    block_idx_x() * block_dim_x() + thread_idx_x()
}

/// The thread's x and y index in a launch of two dimensions.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn index_2d() -> (u32, u32) {
    (index_1d(), block_idx_y() * block_dim_y() + thread_idx_y())
}

/// The thread's x, y and z index in a launch of three dimensions.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn index_3d() -> (u32, u32, u32) {
    let (x, y) = index_2d();
    (x, y, block_idx_z() * block_dim_z() + thread_idx_z())
}

/// Waits for every thread of the block, and makes their earlier memory accesses visible to one another (CUDA C++'s
/// `__syncthreads`).
///
/// Every thread of the block must make the same call in the source. Otherwise a GPU may wait forever, or not at all. In
/// the simulator the launch fails if threads wait at a barrier that others never reach, including those that have
/// returned, or if threads of a block wait at two lines, as with a barrier in each branch of an `if`.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// Writes the first element of each block's part of `x` to the whole part.
/// #[kernel]
/// pub fn spread_first(x: GlobalMut<f32>) {
///     let first = shared_array![f32; 1];
///     let x = x.own(thread::unique_index());
///     if let (Some(x), 0) = (&x, thread::rank_in_block()) {
///         // SAFETY: the array has one element, and only the first thread writes it.
///         unsafe { first.store(0, x.get()) };
///     }
///     // Outside any branch: threads without an element must arrive, too.
///     thread::sync_threads();
///     if let Some(x) = x {
///         // SAFETY: if the block has an element, the first thread wrote its own, before the barrier.
///         x.set(unsafe { first.load(0) });
///     }
/// }
/// ```
#[inline(always)]
#[track_caller]
pub fn sync_threads() {
    machine::block_barrier();
}

/// [`sync_threads`] that returns the number of threads of the block with a true `predicate`.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn sync_threads_count(predicate: bool) -> u32 {
    machine::block_barrier_count(predicate)
}

/// [`sync_threads`] that returns whether `predicate` is true for every thread of the block.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn sync_threads_and(predicate: bool) -> bool {
    machine::block_barrier_count(!predicate) == 0
}

/// [`sync_threads`] that returns whether `predicate` is true for any thread of the block.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn sync_threads_or(predicate: bool) -> bool {
    machine::block_barrier_count(predicate) != 0
}

/// Waits at named barrier `id` until `threads` threads of the block have arrived, and makes their
/// earlier memory accesses visible to one another.
///
/// `id` is 1 to 14: 0 is the barrier of [`sync_threads`], and 15 that of [`sync_threads_count`].
/// `threads` is a multiple of the warp's width, and whole warps arrive; otherwise a GPU may wait
/// forever, and the simulator reports it.
#[inline(always)]
#[track_caller]
pub fn named_barrier_sync(id: u32, threads: u32) {
    machine::block_barrier_part(id, threads);
}

/// Arrives at named barrier `id` without waiting: for producers, while consumers wait.
///
/// The thread counts towards `threads`, and its earlier accesses are visible to threads that wait there
/// ([`named_barrier_sync`] with the same `threads`).
///
/// ```text
/// producers: write; named_barrier_arrive(FULL, ALL);  named_barrier_sync(EMPTY, ALL)  before the next write
/// consumers: named_barrier_sync(FULL, ALL); read;     named_barrier_arrive(EMPTY, ALL)
/// ```
///
/// `id` is 1 to 14, as for [`named_barrier_sync`]. `threads` is a multiple of the warp's width, and whole warps
/// arrive; otherwise a GPU may wait forever, and the simulator reports it. No warp arrives twice before the barrier
/// is complete. (PTX ISA, `bar.arrive`)
#[inline(always)]
#[track_caller]
pub fn named_barrier_arrive(id: u32, threads: u32) {
    machine::block_barrier_arrive(id, threads);
}

/// Orders this thread's accesses for the block: earlier writes are visible before later ones (CUDA C++'s
/// `__threadfence_block`).
///
/// This and the fences below are sequentially consistent; [`atomic::fence`](crate::atomic::fence) also has weaker
/// ones.
#[inline(always)]
pub fn fence_block() {
    machine::fence_seq_cst(MemoryScope::Block);
}

/// [`fence_block`] for the cluster, in kernels for compute capability 9.0 and later. (`fence.sc.cluster`)
#[inline(always)]
pub fn fence_cluster() {
    machine::fence_seq_cst(MemoryScope::Cluster);
}

/// [`fence_block`] for the whole device (CUDA C++'s `__threadfence`).
#[inline(always)]
pub fn fence_device() {
    machine::fence_seq_cst(MemoryScope::Device);
}

/// [`fence_block`] for all devices and the host (CUDA C++'s `__threadfence_system`).
#[inline(always)]
pub fn fence_system() {
    machine::fence_seq_cst(MemoryScope::System);
}

/// Lets other warps run. Call it in a loop that waits for another thread.
///
/// A GPU's scheduler is fair without it. Under its default seed, the simulator switches warps only at barriers, here,
/// and in a loop of atomic operations that change nothing.
#[inline(always)]
#[track_caller]
pub fn yield_now() {
    machine::yield_now();
}
