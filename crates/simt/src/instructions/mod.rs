//! The instructions of the simulated machine: each answers for the thread that is running now.

mod access;
mod async_copy;
mod atomic;
mod barrier;
mod collective;
mod control;
mod converge;
mod counting;
mod loops;
mod preempt;
mod shared;
mod statics;

pub use access::access;
pub use async_copy::{async_commit, async_copy, async_wait, async_wait_all};
pub use atomic::{atomic_update_u16, atomic_update_u32, atomic_update_u64, fence};
pub use barrier::{block_barrier, block_barrier_reduce, grid_barrier};
pub use collective::{active_lanes, warp_barrier, warp_collective};
pub use control::{fail, is_cooperative, position, refuse_host_call, uninterrupted, yield_now};
pub use converge::converged_lanes;
pub use counting::{count_arithmetic, count_prefetch};
pub use loops::{LoopRounds, loop_rounds};
pub use shared::{dynamic_shared, static_shared};
pub use statics::static_memory;
