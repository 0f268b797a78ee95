//! Clusters: blocks that run at the same time and reach each other's shared memory.
//!
//! A kernel states the shape of its clusters: `#[kernel(arch = "sm_90", cluster = (2, 1, 1))]`. In other kernels each
//! block is its own cluster.
//!
//! [`SharedSlice::in_block`](crate::shared::SharedSlice::in_block) addresses the same elements of another block's
//! shared memory; [multicasts](crate::tma) fill several blocks at once, and a
//! [ring](crate::mbarrier::Consumer::release_in) accepts arrivals from other blocks. (PTX ISA, 2.2.2, "Cluster of
//! Cooperative Thread Arrays".)

use crate::machine;

/// The calling block's rank in its cluster, x fastest.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn rank() -> u32 {
    machine::cluster_rank()
}

/// The number of blocks in the cluster.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn blocks() -> u32 {
    machine::cluster_blocks()
}

/// Waits for every thread of the cluster, and makes their earlier accesses visible to one another.
///
/// A block must not end while another block of its cluster may still use its shared memory: call this first.
#[inline(always)]
#[track_caller]
pub fn sync() {
    machine::cluster_barrier_arrive();
    machine::cluster_barrier_wait();
}
