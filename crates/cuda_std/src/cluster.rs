//! Clusters: blocks that run at the same time and reach each other's shared memory.
//!
//! A kernel states the shape of its clusters: `#[kernel(arch = "sm_90", cluster = (2, 1, 1))]`. In
//! others each block is a cluster by itself.
//!
//! [`SharedSlice::in_block`](crate::shared::SharedSlice::in_block) is the same place in another block's memory;
//! [multicasts](crate::tma) fill several blocks at once, and a
//! [ring](crate::mbarrier::Consumer::release_in) takes arrivals of other blocks. (PTX ISA, 2.2.2, "Cluster of Cooperative Thread Arrays".)

use crate::machine;

/// The number of the calling block in its cluster, x fastest.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn rank() -> u32 {
    machine::cluster_rank()
}

/// Blocks in the cluster.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn blocks() -> u32 {
    machine::cluster_blocks()
}

/// Waits for every thread of the cluster, which then sees what each has done before.
///
/// A block must not end while another one of its cluster may still use its shared memory: this is the
/// wait for that, too.
#[inline(always)]
#[track_caller]
pub fn sync() {
    machine::cluster_barrier_arrive();
    machine::cluster_barrier_wait();
}
