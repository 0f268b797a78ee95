//! The second step: bulk copies and a ring. One thread of the warpgroup starts the copies of the stages
//! ahead, and all of it multiplies.
//!
//! Prediction: memory is no longer waited for, so that the tensor cores are busy most of the time that
//! one warpgroup can give them work.

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

/// Threads of a block.
pub const THREADS: usize = 128;

type ATile<'a> = SwizzledTile<'a, bf16, ROWS, DEPTH>;
type BTile<'a> = SwizzledTile<'a, bf16, COLUMNS, DEPTH>;

/// Bytes of a stage.
const STAGE_BYTES: u32 = ATile::BYTES + BTile::BYTES;

/// Bytes of dynamic shared memory.
pub const SHARED_BYTES: u32 = STAGES as u32 * (STAGE_BYTES + 16);

/// One block for each 64 x 128 outputs.
///
/// # Safety
/// 1. `a` has rows of `depth` elements and `b` columns of as many; `c` has a row for each row of A, and a
///    column for each column of B, of which there are a multiple of 8.
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
        // SAFETY: (1) one thread, and the block's barrier follows.
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
            // SAFETY: (1) the ring is initialised. For the copies: (1) the launch writes neither operand.
            // (2), (3) The slot is ours until it has been waited for. (4) All stages are waited for.
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

    // SAFETY: (1) the block is one warpgroup, and the loop's bound is the launch's.
    let mut sums = unsafe { M64N128::zero().accumulate() };
    let mut round = 0;
    while round < rounds {
        start(round + STAGES as u32 - 1);
        // SAFETY: (1) the ring is initialised. For the products: (1) the stage is full. (2) It is released
        // when they are finished. (3) The whole warpgroup is here.
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
    // SAFETY: (1) of the kernel. (2) Each block has its outputs.
    unsafe { store(&sums.wait(), c, (row, column), columns) };
}
