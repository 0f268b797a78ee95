//! The second step: bulk copies and a ring. One thread of the warpgroup starts copies some stages ahead, and the
//! whole warpgroup multiplies.
//!
//! Prediction: the warpgroup no longer waits for memory, so the tensor cores are as busy as one warpgroup can keep
//! them.

use crate::DEPTH;
use crate::outputs::{is_first_of_warpgroup, store};
use cuda_std::prelude::*;
use cuda_std::shared::SwizzledTile;
use cuda_std::tma::TensorMap;
use cuda_std::wgmma::M64N128;
use half::bf16;

/// Rows of the outputs of a block.
pub const ROWS: usize = 64;
/// Columns of the outputs of a block.
pub const COLUMNS: usize = 128;

/// Stages of the ring.
pub const STAGES: usize = 4;

/// Threads per block.
pub const THREADS: usize = 128;

type ATile<'a> = SwizzledTile<'a, bf16, ROWS, DEPTH>;
type BTile<'a> = SwizzledTile<'a, bf16, COLUMNS, DEPTH>;

/// Bytes of a stage.
const STAGE_BYTES: u32 = ATile::BYTES + BTile::BYTES;

/// Dynamic shared memory in bytes.
pub const SHARED_BYTES: u32 = STAGES as u32 * (STAGE_BYTES + 16);

/// The kernel: one block for each 64 x 128 outputs.
///
/// # Safety
/// 1. `a` has rows of `depth` elements, and `b` columns of `depth` elements. `c` has A's rows and B's columns, a
///    multiple of 8, and starts at a multiple of 16 bytes.
/// 2. The grid is (columns / 128, rows / 64), rounded up, with [`THREADS`] and [`SHARED_BYTES`].
#[kernel(arch = "sm_90a", max_threads = 128)]
pub unsafe fn tensor_bulk_nt(
    a: GridConstant<TensorMap<bf16, 64, 64>>,
    b: GridConstant<TensorMap<bf16, 128, 64>>,
    c: GlobalMut<bf16>,
    columns: u32,
    depth: u32,
) {
    let mut shared = dynamic_shared_allotment!();
    let a_tiles = shared.tiles::<bf16, ROWS, DEPTH, STAGES>();
    let b_tiles = shared.tiles::<bf16, COLUMNS, DEPTH, STAGES>();
    let ring = shared.ring::<STAGES>();
    if is_first_of_warpgroup() {
        // SAFETY: one thread calls it, once, for 1 producer and 1 consumer, and the block's barrier follows.
        unsafe { ring.init(1, 1) };
    }
    thread::sync_threads();

    let row = thread::block_idx_y() * ROWS as u32;
    let column = thread::block_idx_x() * COLUMNS as u32;
    let rounds = depth.div_ceil(DEPTH as u32);
    let mut producer = ring.producer();
    let mut consumer = ring.consumer();
    let mut start = |round: u32| {
        if is_first_of_warpgroup() && round < rounds {
            let k = round * DEPTH as u32;
            // SAFETY: the ring is initialised. The launch does not write the operands: the kernel's contract. The slot
            // is empty, and threads access the stage, and end, only after they have waited for it. It expects the bytes
            // of both tiles, fewer than 2^20. The tiles are in range: those of a stage.
            unsafe {
                let slot = producer.acquire();
                slot.expect(STAGE_BYTES);
                a.load(a_tiles.get(slot.stage()), &slot, (row, k));
                b.load(b_tiles.get(slot.stage()), &slot, (column, k));
            }
        }
    };
    let mut round = 0;
    while round + 1 < STAGES as u32 {
        start(round);
        round += 1;
    }

    // SAFETY: the block is one warpgroup, and all its threads execute the same number of rounds.
    let mut sums = unsafe { M64N128::zero().accumulate() };
    let mut round = 0;
    while round < rounds {
        start(round + STAGES as u32 - 1);
        // SAFETY: the ring is initialised. The copies to the stage have been waited for, and it is released when the
        // products are finished. The whole warpgroup is here, the tiles are in range, and the products are waited for.
        unsafe {
            let stage = consumer.wait();
            let mut products = sums.begin();
            products.multiply(
                a_tiles.get(stage.index()).k_major(),
                b_tiles.get(stage.index()).k_major(),
            );
            sums = products.commit();
            sums.wait_all_but::<0>();
            thread::sync_threads();
            if is_first_of_warpgroup() {
                consumer.release(&stage);
            }
        }
        round += 1;
    }
    // SAFETY: C has whole, even rows and is aligned: the kernel's contract. Each block has its own outputs.
    unsafe { store(&sums.wait(), c, (row, column), columns) };
}
