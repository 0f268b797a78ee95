//! The machine layer for GPUs. Each function is one instruction or a few.
//!
//! The folder `simulated` has the same files with the same functions, signatures and semantics.
//! Nothing outside this folder contains `asm!` or an LLVM intrinsic.
//!
//! LLVM's intrinsics are preferred, because they are convergent: LLVM neither moves nor duplicates
//! them across a branch. The builder marks every `asm!` without `pure` as convergent, so `pure` is
//! only for instructions that do not synchronise lanes.
//!
//! Section numbers refer to PTX ISA 8.0, the version that modules for compute capability 9.0 need.

mod arithmetic;
mod async_copy;
mod atomic;
mod barrier;
mod bulk;
mod cluster;
mod dependent_launch;
mod intrinsics;
mod mbarrier;
mod memory;
mod mma;
mod output;
mod position;
mod texture;
mod warp;
mod warpgroup;
mod wgmma;

pub use arithmetic::{
    ceil_f32, ceil_f64, dot_product_i8, f16_to_f32, f32_pair_to_bf16, f32_pair_to_e4m3,
    f32_pair_to_f16, f32_to_f16, floor_f32, floor_f64, maximum_f32, mul_add_f32, mul_add_f64,
    round_ties_even_f32, round_ties_even_f64, sqrt_f32, sqrt_f64, trunc_f32, trunc_f64,
};
pub use async_copy::{async_commit, async_copy, async_copy_whole, async_wait, async_wait_in_ring};
pub use atomic::{AtomicInteger, AtomicSpace, AtomicWord, MemoryOrder, MemoryScope, Ordering};
pub use barrier::{
    block_barrier, block_barrier_arrive, block_barrier_count, block_barrier_part, fence_acq_rel,
    fence_seq_cst, grid_barrier, warp_barrier, yield_now,
};
pub use bulk::{
    Eviction, bulk_commit, bulk_load, bulk_store, bulk_wait, bulk_wait_read, cache_policy,
    fence_proxy_async, prefetch_tensor_map, tensor_load, tensor_load_multicast, tensor_store,
};
pub use cluster::{
    cluster_barrier_arrive, cluster_barrier_wait, cluster_blocks, cluster_rank, load_in_block,
    store_in_block,
};
pub use dependent_launch::{dependent_launch_trigger, dependent_launch_wait};
pub use mbarrier::{
    fence_mbarrier_init, mbarrier_arrive, mbarrier_arrive_expect, mbarrier_arrive_in,
    mbarrier_init, mbarrier_wait,
};
pub use memory::{
    Cache, Space, check_in_tile, dynamic_shared, dynamic_shared_of_tiles, load, load_cached,
    load_read_only, prefetch_l2, shared_address, static_array, store,
};
pub use output::print;
pub use position::{
    block_dim_x, block_dim_y, block_dim_z, block_idx_x, block_idx_y, block_idx_z, grid_dim_x,
    grid_dim_y, grid_dim_z, lane_index, thread_idx_x, thread_idx_y, thread_idx_z, warp_width,
};
pub use texture::{texture_1d, texture_2d};
pub use warp::{
    Shuffle, active_lanes, ballot, converged_lanes, match_any, reduce_add_u32, shuffle,
    with_own_lane,
};
pub use warpgroup::{decrease_registers, increase_registers};
pub use wgmma::{wgmma_commit, wgmma_fence, wgmma_wait};

/// A panic stops the launch with an error on the host. With `CudaBuilder::panic_locations` the
/// error has the location and the message.
#[panic_handler]
fn panic(_info: &core::panic::PanicInfo<'_>) -> ! {
    #[cfg(cuda_panic_locations)]
    output::record_panic(_info);
    // SAFETY: `trap` (PTX ISA, 9.7.18.4) ends the launch, so it does not return.
    unsafe { core::arch::asm!("trap;", options(noreturn, nomem, nostack)) }
}
