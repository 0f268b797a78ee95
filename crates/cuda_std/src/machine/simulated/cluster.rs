//! Clusters of blocks.

/// The number of the block in its cluster.
#[track_caller]
pub fn cluster_rank() -> u32 {
    simt::cluster_rank()
}

/// Blocks in the cluster.
#[track_caller]
pub fn cluster_blocks() -> u32 {
    simt::cluster_blocks()
}

/// Arrives at the barrier of the cluster: what the thread has done is released to its threads.
#[track_caller]
pub fn cluster_barrier_arrive() {
    simt::cluster_barrier_arrive();
}

/// Waits until all threads of the cluster have arrived at its barrier.
#[track_caller]
pub fn cluster_barrier_wait() {
    simt::cluster_barrier_wait();
}
