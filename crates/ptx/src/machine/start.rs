//! The values that a thread begins with.

use super::lines::Lines;
use super::storage::Storage;
use crate::decode::{Axis, Program, Special};
use simt::{DefectKind, Dim3, OutOfMemory, Position};
use std::sync::Arc;

/// The address of the first byte of the running block's shared memory.
pub(super) fn shared_start() -> usize {
    let (start, _) = simt::dynamic_shared();
    start.expose_provenance() - simt::shared_offset(start.addr())
}

/// The launch ends, because the host has no memory for a thread.
#[cold]
pub(super) fn no_memory(error: OutOfMemory) -> ! {
    simt::fail(DefectKind::HostResources, error.to_string())
}

/// The slots of the running thread at its start, and the end of the block's last shared array, in bytes.
pub(super) fn slots(
    program: &Program,
    globals: &[Arc<Storage>],
    lines: &Lines,
    shared_start: usize,
) -> (Box<[u64]>, usize) {
    let mut slots = Vec::new();
    if slots.try_reserve_exact(program.slots.len()).is_err() {
        no_memory(OutOfMemory);
    }
    slots.extend_from_slice(&program.slots);
    let mut shared_bytes = simt::dynamic_shared().1;
    for (array, line) in program.shared.iter().zip(lines.of_shared()) {
        simt::execute_at(*line);
        let start = match array.bytes {
            Some(bytes) => {
                let key = std::ptr::from_ref(array).addr();
                simt::static_shared(key, bytes, array.alignment).addr()
            }
            None => simt::dynamic_shared().0.addr(),
        };
        let offset = start - shared_start;
        shared_bytes = shared_bytes.max(offset + array.bytes.unwrap_or_default());
        slots[array.slot as usize] = offset as u64;
    }
    for (slot, number) in &program.global_slots {
        slots[*slot as usize] = globals[*number].address() as u64;
    }
    let position = simt::position();
    for (slot, special) in &program.special {
        slots[*slot as usize] = value(*special, &position);
    }
    (slots.into_boxed_slice(), shared_bytes)
}

fn value(special: Special, position: &Position) -> u64 {
    let lane = position.lane;
    let own: u64 = 1 << lane;
    let warps = position
        .block_dim
        .count()
        .div_ceil(position.warp_width.into());
    let all = u64::from(u32::MAX);
    match special {
        Special::Thread(axis) => component(position.thread_idx, axis),
        Special::BlockSize(axis) => component(position.block_dim, axis),
        Special::Block(axis) => component(position.block_idx, axis),
        Special::GridSize(axis) => component(position.grid_dim, axis),
        Special::BlockInCluster(axis) => component(simt::block_idx_in_cluster(), axis),
        Special::ClusterSize(axis) => component(simt::cluster_dim(), axis),
        Special::Cluster(axis) => {
            component(position.block_idx, axis) / component(simt::cluster_dim(), axis)
        }
        Special::Clusters(axis) => {
            component(position.grid_dim, axis) / component(simt::cluster_dim(), axis)
        }
        Special::Lane => lane.into(),
        Special::Warp => position.warp.into(),
        Special::Warps => warps,
        Special::WarpWidth => position.warp_width.into(),
        Special::LanesBelow => own - 1,
        Special::LanesUpTo => own | (own - 1),
        Special::OwnLane => own,
        Special::LanesFrom => all & !(own - 1),
        Special::LanesAbove => all & !(own | (own - 1)),
        Special::RankInCluster => simt::cluster_rank().into(),
        Special::BlocksInCluster => simt::cluster_blocks().into(),
        Special::DynamicSharedBytes => simt::dynamic_shared().1 as u64,
    }
}

fn component(extent: Dim3, axis: Axis) -> u64 {
    u64::from(match axis {
        Axis::X => extent.x,
        Axis::Y => extent.y,
        Axis::Z => extent.z,
    })
}
