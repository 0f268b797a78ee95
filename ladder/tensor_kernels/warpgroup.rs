//! The first step with `wgmma`: a block is one warpgroup. It brings a tile of each operand to shared memory by
//! ordinary loads and stores, multiplies them, and begins anew.
//!
//! Prediction: the tensor cores wait for memory nearly all of the time.

use crate::DEPTH;
use crate::outputs::store;
use cuda_std::prelude::*;
use cuda_std::shared::SwizzledTile;
use cuda_std::tma;
use cuda_std::wgmma::M64N128;
use half::bf16;

/// Rows of the outputs of a block.
pub const ROWS: usize = 64;
/// Columns of the outputs of a block.
pub const COLUMNS: usize = 128;

/// Threads of a block.
pub const THREADS: usize = 128;

/// Bytes of dynamic shared memory.
pub const SHARED_BYTES: u32 = ((ROWS + COLUMNS) * DEPTH * size_of::<bf16>()) as u32;

/// Elements of a chunk of 16 bytes.
const CHUNK: usize = 8;

/// Brings rows of `source`, whose rows have `depth` elements, to a tile; zeros where it ends.
///
/// # Safety
/// 1. `source` has whole rows of `depth` elements, a multiple of 8.
/// 2. No thread reads the tile meanwhile.
#[inline(always)]
unsafe fn bring<const TILE_ROWS: usize>(
    tile: SwizzledTile<'_, bf16, TILE_ROWS, DEPTH>,
    source: Global<'_, bf16>,
    (row, k): (usize, usize),
    depth: usize,
) {
    let mut chunk = thread::rank_in_block() as usize;
    while chunk < TILE_ROWS * DEPTH / CHUNK {
        let (r, c) = (chunk / (DEPTH / CHUNK), chunk % (DEPTH / CHUNK) * CHUNK);
        let from = (row + r) * depth + k + c;
        let is_inside = from < source.len() && k + c < depth;
        let values = match is_inside {
            // SAFETY: (1) a chunk of a row that is there. (2) Rows are a multiple of 8 elements.
            true => unsafe { source.load_vector::<CHUNK>(from) },
            false => [bf16::from_bits(0); CHUNK],
        };
        // SAFETY: (1) within the tile. (2) Each thread has its chunks. (3) Chunks are whole.
        unsafe { tile.store_vector(r, c, values) };
        chunk += THREADS;
    }
}

/// One block for each 64 x 128 outputs.
///
/// # Safety
/// 1. `a` has rows of `depth` elements and `b` columns of as many, a multiple of 8; `c` has a row for each
///    row of A, and a column for each column of B, of which there are a multiple of 8.
/// 2. The grid is (columns / 128, rows / 64), rounded up, with [`THREADS`] and [`SHARED_BYTES`].
#[kernel(arch = "sm_90a", max_threads = 128)]
pub unsafe fn tensor_warpgroup_nt(
    a: Global<bf16>,
    b: Global<bf16>,
    c: GlobalMut<bf16>,
    columns: u32,
    depth: u32,
) {
    let mut shared = dynamic_shared_allotment!();
    let a_tile = shared.tiles::<bf16, ROWS, DEPTH, 1>().get(0);
    let b_tile = shared.tiles::<bf16, COLUMNS, DEPTH, 1>().get(0);
    let row = thread::block_idx_y() as usize * ROWS;
    let column = thread::block_idx_x() as usize * COLUMNS;
    let mut sums = M64N128::zero();
    let mut k = 0;
    while k < depth as usize {
        // SAFETY: (1) of the kernel. (2) A barrier stands behind the products of the round before. For the
        // products: (1) fences and a barrier stand between. (2) They are waited for. (3) The block is here.
        // Of `accumulate`, (1) so it is: the bound of the loop is the launch's.
        unsafe {
            bring(a_tile, a, (row, k), depth as usize);
            bring(b_tile, b, (column, k), depth as usize);
            tma::fence();
            thread::sync_threads();
            let mut products = sums.accumulate().begin();
            products.multiply(a_tile.k_major(), b_tile.k_major());
            sums = products.commit().wait();
            thread::sync_threads();
        }
        k += DEPTH;
    }
    // SAFETY: (1) of the kernel. (2) Each block has its outputs.
    unsafe { store(&sums, c, (row as u32, column as u32), columns) };
}
