//! What the blocks of a cluster share: the tile's sizes, the start of their rings, and their work.

use super::schedule::{ClusterTile, Schedule};
use super::shape::{DEPTH_BYTES, TensorShape, WARPGROUP_ROWS};
use cuda_std::mbarrier::Ring;
use cuda_std::prelude::*;
use cuda_std::{cluster, dependent_launch, warpgroup};

/// Blocks of a cluster. Their tiles lie one below the other and share B.
pub const BLOCKS: usize = 2;

/// A bit for each block of a cluster.
pub const ALL: u16 = (1 << BLOCKS) - 1;

/// Bytes of a slice of a stage, for a tile of `rows` x `columns` outputs.
pub const fn slice_bytes(rows: usize, columns: usize) -> usize {
    (rows + columns) * DEPTH_BYTES
}

/// Threads of a block whose tile has `rows` rows: a warpgroup that copies, and one for each 64 rows.
pub const fn threads_of_block(rows: usize) -> u32 {
    warpgroup::THREADS * (1 + rows / WARPGROUP_ROWS) as u32
}

/// Launch parameters for blocks that each compute a `rows` x `columns` tile.
///
/// Elements have `element_bytes`. There are `stages` stages of `slices` slices each, and `output_bytes` of shared
/// memory for the outputs. `resident` blocks share a multiprocessor.
pub const fn cluster_tile(
    (rows, columns): (usize, usize),
    element_bytes: usize,
    (stages, slices): (usize, usize),
    output_bytes: usize,
    resident: u32,
) -> ClusterTile {
    assert!(
        DEPTH_BYTES.is_multiple_of(element_bytes),
        "a slice has whole elements along k"
    );
    assert!(
        match rows {
            WARPGROUP_ROWS => resident <= 2,
            _ => resident == 1,
        },
        "registers are shared out among one warpgroup that multiplies of two resident blocks, or all of one block"
    );
    ClusterTile {
        rows,
        columns,
        depth: DEPTH_BYTES / element_bytes,
        slices,
        stages,
        producers: 1,
        blocks: BLOCKS,
        resident,
        threads: threads_of_block(rows),
        shared_bytes: stages * (slices * slice_bytes(rows, columns) + 16) + output_bytes,
    }
    .checked()
}

/// The sizes of a launch's products, and how clusters divide them.
#[derive(Clone, Copy)]
pub struct Work<'launch> {
    pub shape: GridConstant<'launch, TensorShape>,
    pub schedule: Schedule,
}

impl<'launch> Work<'launch> {
    #[inline(always)]
    pub fn new(shape: GridConstant<'launch, TensorShape>, tile: ClusterTile) -> Self {
        Self {
            shape,
            schedule: Schedule::new(tile, &shape),
        }
    }
}

/// Initialises the ring of each block of the cluster, calls `prefetch`, and waits for the kernel launched before.
///
/// In each block, one thread produces and `consumers` warpgroups consume.
///
/// # Safety
/// 1. All threads of the launch make the call, once, with 1 to 3 consumers. Before it, no thread uses the
///    ring or accesses global memory.
#[inline(always)]
pub unsafe fn start<const STAGES: usize>(
    ring: Ring<'_, STAGES>,
    consumers: usize,
    prefetch: impl FnOnce(),
) {
    if thread::rank_in_block() == 0 {
        // SAFETY: one thread of the block initialises the ring, once and before it is used: the caller's contract.
        // The cluster's barrier follows. There are 1 producer and 2 to 6 consumers.
        unsafe { ring.init(1, (consumers * BLOCKS) as u32) };
        prefetch();
    }
    cluster::sync();
    dependent_launch::wait();
    dependent_launch::trigger();
}
