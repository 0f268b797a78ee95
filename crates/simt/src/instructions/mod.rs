//! The instructions of the simulated machine, executed by the running simulated thread.

mod access;
mod async_copy;
mod at_once;
mod atomic;
mod barrier;
mod bulk;
mod bulk_copy;
mod bulk_counting;
mod cluster;
mod collective;
mod control;
mod converge;
mod counting;
mod dependent_launch;
mod loops;
mod machine;
mod max_registers;
mod mbarrier;
mod mbarrier_words;
mod preempt;
mod print;
mod products;
mod shared;
mod statics;
mod wgmma;

pub use access::{access, access_at, atomic_access, describe_view, write_at};
pub use async_copy::{async_commit, async_copy, async_wait};
pub use atomic::{
    atomic_update_u8, atomic_update_u16, atomic_update_u32, atomic_update_u64, fence,
    fence_acq_rel, fence_acquire, fence_release,
};
pub use barrier::{
    block_barrier, block_barrier_arrive, block_barrier_reduce, check_aligned, grid_barrier,
};
pub use bulk::{
    bulk_commit, bulk_load, bulk_store, bulk_wait, bulk_wait_read, fence_proxy_async, tensor_load,
    tensor_store,
};
pub use cluster::{
    block_idx_in_cluster, cluster_barrier, cluster_barrier_arrive, cluster_barrier_arrive_relaxed,
    cluster_barrier_wait, cluster_blocks, cluster_dim, cluster_rank, map_shared, shared_offset,
    shared_owner,
};
pub use collective::{active_lanes, warp_barrier, warp_collective, warp_exchange};
pub use control::{fail, position, profile, refuse_host_call, uninterrupted, yield_now};
pub use converge::converged_lanes;
pub use counting::{count_arithmetic, count_prefetch};
pub use dependent_launch::dependent_launch_wait;
pub use loops::{LoopRounds, loop_rounds};
pub use max_registers::set_max_registers;
pub use mbarrier::{
    fence_mbarrier_init, mbarrier_arrive, mbarrier_arrive_counted, mbarrier_arrive_expect,
    mbarrier_arrive_relaxed, mbarrier_expect, mbarrier_init, mbarrier_invalidate, mbarrier_parity,
    mbarrier_test, mbarrier_wait,
};
pub use print::print;
pub use shared::{dynamic_shared, static_shared};
pub use statics::static_memory;
pub use wgmma::{
    wgmma, wgmma_begin, wgmma_collect, wgmma_commit, wgmma_fence, wgmma_of_registers, wgmma_wait,
};
