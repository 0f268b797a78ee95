//! Clusters: their ranks, their barrier, and the shared memory of their blocks (`%cluster_ctarank`,
//! `barrier.cluster`, `mapa` of the PTX ISA).

use crate::basics::{DefectKind, Dim3, MemoryScope};
use crate::block::Wait;
use crate::current::{instruction, live_instruction, with_current};
use crate::state::ATOMIC_WEIGHT;

/// The extent of the cluster, in blocks; (1, 1, 1) where the launch has none.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn cluster_dim() -> Dim3 {
    with_current(|_, block| block.cluster.dim)
}

/// The running block's index in its cluster.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn block_idx_in_cluster() -> Dim3 {
    with_current(|_, block| block.cluster.dim.index_of(u64::from(block.rank.get())))
}

/// The running block's number in its cluster, x fastest.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn cluster_rank() -> u32 {
    with_current(|_, block| block.rank.get())
}

/// How many blocks the cluster has.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn cluster_blocks() -> u32 {
    with_current(|_, block| block.cluster_blocks())
}

/// Maps an address of the running block's shared memory to the same offset in block `rank` of the cluster.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn map_shared(address: usize, rank: u32) -> usize {
    instruction(|thread, block, site| {
        let Some((_, offset)) = block.owner_of(address) else {
            let message = format!("address {address:#x} is not in shared memory");
            block.fail(thread, DefectKind::OutOfBounds, message, site);
        };
        let Some(peer) = block.peer(rank) else {
            let blocks = block.cluster_blocks();
            let message = format!("block {rank} of a cluster of {blocks}");
            block.fail(thread, DefectKind::InvalidArgument, message, site);
        };
        peer.shared.start_pointer().expose_provenance() + offset
    })
}

/// The rank in the cluster of the block whose shared memory holds `address`, and the offset there in bytes; `None` if no
/// block's does.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn shared_owner(address: usize) -> Option<(u32, usize)> {
    with_current(|_, block| {
        let (owner, offset) = block.owner_of(address)?;
        Some((owner.rank.get(), offset))
    })
}

/// The offset of `address` from the start of the running block's shared memory, in bytes.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn shared_offset(address: usize) -> usize {
    instruction(|thread, block, site| {
        let Some(offset) = block.shared.offset_of(address) else {
            let message = format!("address {address:#x} is not in the block's shared memory");
            block.fail(thread, DefectKind::OutOfBounds, message, site);
        };
        offset
    })
}

/// [`cluster_barrier_arrive`] and then [`cluster_barrier_wait`]: sees the earlier writes of all threads of the cluster.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn cluster_barrier() {
    cluster_barrier_arrive();
    cluster_barrier_wait();
}

/// Arrives at the barrier of the cluster, without waiting.
///
/// The thread's earlier accesses come before those of other threads after their waits.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn cluster_barrier_arrive() {
    arrive(true);
}

/// [`cluster_barrier_arrive`] that passes on what the thread's fences have released, and no other accesses
/// (`barrier.cluster.arrive.relaxed`).
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn cluster_barrier_arrive_relaxed() {
    arrive(false);
}

#[track_caller]
fn arrive(releases: bool) {
    live_instruction(|thread, block, site| {
        block.before_visible_step(thread, ATOMIC_WEIGHT);
        let barrier = &block.cluster.barrier;
        if thread.machine.cluster_arrival.get().is_some() {
            let message = "the thread arrives at the barrier of the cluster for a second time, \
                           without waiting there"
                .to_owned();
            block.fail(thread, DefectKind::BarrierDivergence, message, site);
        }
        thread.machine.cluster_arrival.set(Some(barrier.phase()));
        if let Some(check) = block.active_check() {
            let handed = match releases {
                true => check.release(&thread.position),
                false => check.released(&thread.position, MemoryScope::Cluster),
            };
            block.cluster.gather(&handed);
        }
        block.arrive_at_cluster();
    });
}

/// Waits until all threads of the cluster have arrived at its barrier; this one must have arrived before.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn cluster_barrier_wait() {
    live_instruction(|thread, block, site| {
        let Some(phase) = thread.machine.cluster_arrival.get() else {
            let message = "the thread waits at the barrier of the cluster, at which it has not \
                           arrived"
                .to_owned();
            block.fail(thread, DefectKind::BarrierDivergence, message, site);
        };
        if block.cluster.barrier.phase() == phase {
            thread.wait_for(Wait::ClusterBarrier, site);
        }
        thread.machine.cluster_arrival.set(None);
        if let Some(check) = block.active_check() {
            check.acquire(thread.position.thread(), &block.cluster.handed());
        }
    });
}
