//! The fourth step: larger tiles. An element that was brought is used by twice as many products. The
//! accumulators take 128 registers of each thread, which the warpgroup that copies gives back.
//!
//! Prediction: a product of 64 x 128 reads a byte of shared memory for each 43 operations, one of
//! 64 x 256 for each 51, and a block brings a byte for each 64 or 85: both paths have a fifth to a quarter
//! less to do.

use crate::outputs::{is_first_of_warpgroup, store};
use crate::{DEPTH, WARPGROUP_ROWS};
use cuda_std::prelude::*;
use cuda_std::shared::SwizzledTile;
use cuda_std::tma::TensorMap;
use cuda_std::warpgroup;
use cuda_std::wgmma::M64N256;
use half::bf16;

/// Rows of the outputs of a block.
pub const ROWS: usize = 128;
/// Columns of the outputs of a block.
pub const COLUMNS: usize = 256;

/// Stages of the ring.
pub const STAGES: usize = 4;

/// Warpgroups that multiply.
const CONSUMERS: usize = ROWS / WARPGROUP_ROWS;

/// Threads of a block: a warpgroup that copies, and those that multiply.
pub const THREADS: usize = 128 * (1 + CONSUMERS);

type ATile<'a> = SwizzledTile<'a, bf16, ROWS, DEPTH>;
type BTile<'a> = SwizzledTile<'a, bf16, COLUMNS, DEPTH>;

/// Bytes of a stage.
const STAGE_BYTES: u32 = ATile::BYTES + BTile::BYTES;

/// Bytes of dynamic shared memory.
pub const SHARED_BYTES: u32 = STAGES as u32 * (STAGE_BYTES + 16);

/// One block for each 128 x 256 outputs.
///
/// # Safety
/// 1. `a` has rows of `depth` elements and `b` columns of as many; `c` has a row for each row of A, and a
///    column for each column of B, of which there are a multiple of 8.
/// 2. The grid is (columns / 256, rows / 128), rounded up, with [`THREADS`] and [`SHARED_BYTES`].
#[kernel(arch = "sm_90a", max_threads = 384, min_blocks = 1)]
pub unsafe fn tensor_large_nt(
    a: GridConstant<TensorMap<bf16, 128, 64>>,
    b: GridConstant<TensorMap<bf16, 256, 64>>,
    c: GlobalMut<bf16>,
    columns: u32,
    depth: u32,
) {
    let mut shared = dynamic_shared_allotment!();
    let a_tiles = shared.tiles::<bf16, ROWS, DEPTH, STAGES>();
    let b_tiles = shared.tiles::<bf16, COLUMNS, DEPTH, STAGES>();
    let ring = shared.ring::<STAGES>();
    if thread::rank_in_block() == 0 {
        // SAFETY: (1) one thread, and the block's barrier follows.
        unsafe { ring.init(1, CONSUMERS as u32) };
    }
    thread::sync_threads();

    let row = thread::block_idx_y() * ROWS as u32;
    let column = thread::block_idx_x() * COLUMNS as u32;
    let rounds = depth.div_ceil(DEPTH as u32);
    if warpgroup::index() == 0 {
        warpgroup::decrease_registers::<40>();
        if is_first_of_warpgroup() {
            let mut producer = ring.producer();
            let mut round = 0;
            while round < rounds {
                let k = round * DEPTH as u32;
                // SAFETY: (1) the ring is initialised. For the copies: (1) the launch writes neither operand.
                // (2), (3) The slot is ours until consumers have waited for it. (4) They wait for all.
                unsafe {
                    let slot = producer.acquire();
                    slot.expect(STAGE_BYTES);
                    a.load(a_tiles.get(slot.stage()), &slot, (row, k));
                    b.load(b_tiles.get(slot.stage()), &slot, (column, k));
                }
                round += 1;
            }
        }
        return;
    }

    warpgroup::increase_registers::<232>();
    let first = WARPGROUP_ROWS * (warpgroup::index() as usize - 1);
    let mut consumer = ring.consumer();
    let mut sums = M64N256::zero().accumulate();
    let mut before = None;
    let mut round = 0;
    while round < rounds {
        // SAFETY: (1) the ring is initialised. For the products: (1) the stage is full. (2) It is released
        // when they are finished. (3) The whole warpgroup is here.
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
            // The products of this stage run while the next one is waited for.
            sums.wait_all_but::<1>();
            if let (Some(before), true) = (&before, is_first_of_warpgroup()) {
                consumer.release(before);
            }
            before = Some(stage);
        }
        round += 1;
    }
    // SAFETY: (1) of the kernel. (2) Each warpgroup has its outputs.
    unsafe { store(&sums.wait(), c, (row + first as u32, column), columns) };
}
