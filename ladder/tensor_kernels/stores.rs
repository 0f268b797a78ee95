//! The sixth step: asynchronous stores. The outputs are put together in shared memory, and one bulk copy
//! for each 64 x 64 of them writes whole lines.
//!
//! Prediction: a thread's pairs of outputs are 4 bytes of lines that eight rows share, so that each
//! store instruction writes parts of 8 sectors; bulk copies write each line once. A block that computes
//! one tile still waits for them.

use crate::outputs::{barrier_of, is_first_of_warpgroup, store_to_tile};
use crate::{DEPTH, WARPGROUP_ROWS};
use cuda_std::cluster;
use cuda_std::prelude::*;
use cuda_std::shared::SwizzledTile;
use cuda_std::tma::{self, TensorMap, TensorMapMut};
use cuda_std::warpgroup;
use cuda_std::wgmma::M64N256;
use half::bf16;

/// Rows of the outputs of a block.
pub const ROWS: usize = 128;
/// Columns of the outputs of a block.
pub const COLUMNS: usize = 256;

/// Blocks of a cluster, one below the other.
pub const BLOCKS: usize = 2;

/// Columns of a stage that each block brings.
const PART: usize = COLUMNS / BLOCKS;

/// All blocks of a cluster.
const ALL: u16 = (1 << BLOCKS) - 1;

/// Stages of the ring: one fewer, for the outputs' sake.
pub const STAGES: usize = 3;

/// Warpgroups that multiply.
const CONSUMERS: usize = ROWS / WARPGROUP_ROWS;

/// Threads of a block: a warpgroup that copies, and those that multiply.
pub const THREADS: usize = 128 * (1 + CONSUMERS);

type ATile<'a> = SwizzledTile<'a, bf16, ROWS, DEPTH>;
type BTile<'a> = SwizzledTile<'a, bf16, COLUMNS, DEPTH>;

/// Bytes of a stage.
const STAGE_BYTES: u32 = ATile::BYTES + BTile::BYTES;

/// The outputs of a warpgroup.
type CTile<'a> = SwizzledTile<'a, bf16, WARPGROUP_ROWS, COLUMNS>;

/// Bytes of dynamic shared memory.
pub const SHARED_BYTES: u32 = STAGES as u32 * (STAGE_BYTES + 16) + CONSUMERS as u32 * CTile::BYTES;

/// One block for each 128 x 256 outputs.
///
/// # Safety
/// 1. `a` has rows of `depth` elements and `b` columns of as many; `c` has a row for each row of A, and a
///    column for each column of B.
/// 2. The grid is (rows / 128, columns / 256), rounded up, the first to an even number, with [`THREADS`]
///    and [`SHARED_BYTES`].
#[kernel(arch = "sm_90a", max_threads = 384, min_blocks = 1, cluster = (2, 1, 1))]
pub unsafe fn tensor_stores_nt(
    a: GridConstant<TensorMap<bf16, 128, 64>>,
    b: GridConstant<TensorMap<bf16, 128, 64>>,
    c: GridConstant<TensorMapMut<bf16, 64, 64>>,
    depth: u32,
) {
    let mut shared = dynamic_shared_allotment!();
    let a_tiles = shared.tiles::<bf16, ROWS, DEPTH, STAGES>();
    let b_tiles = shared.tiles::<bf16, COLUMNS, DEPTH, STAGES>();
    let c_tiles = shared.tiles::<bf16, WARPGROUP_ROWS, COLUMNS, CONSUMERS>();
    let ring = shared.ring::<STAGES>();
    if thread::rank_in_block() == 0 {
        // SAFETY: (1) one thread, and the cluster's barrier follows.
        unsafe { ring.init(1, (CONSUMERS * BLOCKS) as u32) };
    }
    cluster::sync();

    let row = thread::block_idx_x() * ROWS as u32;
    let column = thread::block_idx_y() * COLUMNS as u32;
    let rounds = depth.div_ceil(DEPTH as u32);
    if warpgroup::index() == 0 {
        warpgroup::decrease_registers::<40>();
        if is_first_of_warpgroup() {
            let first = PART * cluster::rank() as usize;
            let mut producer = ring.producer();
            let mut round = 0;
            while round < rounds {
                let k = round * DEPTH as u32;
                // SAFETY: (1) the ring is initialised. For the copies: (1) the launch writes neither operand.
                // (2), (3) The slot is empty in both blocks, until consumers have waited for it. (4) They
                // wait for all, and the cluster's barrier stands at the end.
                unsafe {
                    let slot = producer.acquire();
                    slot.expect(STAGE_BYTES);
                    a.load(a_tiles.get(slot.stage()), &slot, (row, k));
                    let part = b_tiles.get(slot.stage()).rows::<PART>(first);
                    b.load_multicast(part, &slot, (column + first as u32, k), ALL);
                }
                round += 1;
            }
        }
    } else {
        warpgroup::increase_registers::<232>();
        let first = WARPGROUP_ROWS * (warpgroup::index() as usize - 1);
        let thread = warpgroup::thread_rank();
        let mut consumer = ring.consumer();
        let mut sums = M64N256::zero().accumulate();
        let mut before = None;
        let mut round = 0;
        while round < rounds {
            // SAFETY: (1) the ring is initialised. For the products: (1) the stage is full. (2) It is
            // released, in both blocks, when they are finished. (3) The whole warpgroup is here.
            unsafe {
                let stage = consumer.wait();
                let mut products = sums.begin();
                products.multiply(
                    a_tiles
                        .get(stage.index())
                        .rows::<WARPGROUP_ROWS>(first)
                        .k_major(),
                    b_tiles.get(stage.index()).k_major(),
                );
                sums = products.commit();
                sums.wait_all_but::<1>();
                if let (Some(before), true) = (&before, thread < BLOCKS as u32) {
                    consumer.release_in(before, thread);
                }
                before = Some(stage);
            }
            round += 1;
        }
        let sums = sums.wait();
        // SAFETY: (1) the last stage; its products are finished, and the other block is there.
        unsafe {
            if let (Some(before), true) = (&before, thread < BLOCKS as u32) {
                consumer.release_in(before, thread);
            }
        }
        let number = warpgroup::index() - 1;
        let tile = c_tiles.get(number as usize);
        // SAFETY: (1) each warpgroup has its tile. For the copy: (1) and its outputs. (2) All of the
        // warpgroup call the fence before its barrier. (3) Nothing is written any more.
        unsafe {
            store_to_tile(&sums, tile);
            tma::fence();
            thread::named_barrier_sync(barrier_of(number), warpgroup::THREADS);
            if is_first_of_warpgroup() {
                c.store(tile, (row + first as u32, column));
                tma::commit();
                tma::wait::<0>();
            }
        }
    }
    // No block ends while the other one may still copy to it, or arrive at its barriers.
    cluster::sync();
}
