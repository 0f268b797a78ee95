//! The first step with `wgmma`: a block is one warpgroup. It copies a tile of each operand to shared memory with
//! loads and stores, multiplies them, and repeats.
//!
//! Prediction: the tensor cores wait for memory nearly all the time.

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

/// Threads per block.
pub const THREADS: usize = 128;

/// Dynamic shared memory in bytes.
pub const SHARED_BYTES: u32 = ((ROWS + COLUMNS) * DEPTH * size_of::<bf16>()) as u32;

/// Elements in a 16-byte chunk.
const CHUNK: usize = 8;

/// Copies rows of `source`, which has rows of `depth` elements, to a tile, with zeros past the end.
///
/// # Safety
/// 1. `source` has whole rows of `depth` elements, a multiple of 8, and starts at a multiple of 16 bytes.
/// 2. The tile is in range, and nothing else accesses it until a barrier.
#[inline(always)]
unsafe fn copy_rows<const TILE_ROWS: usize>(
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
            // SAFETY: the chunk is part of an existing row: compared above. The source is aligned, and
            // rows are a multiple of 8 elements: the caller's contract.
            true => unsafe { source.load_vector::<CHUNK>(from) },
            false => [bf16::from_bits(0); CHUNK],
        };
        // SAFETY: the chunk is within the tile, and aligned. Each thread writes its own chunks. The
        // tile is in range, and nothing else accesses it: the caller's contract.
        unsafe { tile.store_vector(r, c, values) };
        chunk += THREADS;
    }
}

/// The kernel: one block for each 64 x 128 outputs.
///
/// # Safety
/// 1. `a` has rows of `depth` elements, and `b` columns of `depth` elements, a multiple of 8. `c` has A's rows and
///    B's columns, a multiple of 8. All three start at multiples of 16 bytes.
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
        // SAFETY: the operands have whole, aligned rows: the kernel's contract. A barrier follows the previous round's
        // products. Fences and a barrier follow the copies, and the products are waited for. The whole block is here,
        // with the same number of rounds. The tiles are in range.
        unsafe {
            copy_rows(a_tile, a, (row, k), depth as usize);
            copy_rows(b_tile, b, (column, k), depth as usize);
            tma::fence();
            thread::sync_threads();
            let mut products = sums.accumulate().begin();
            products.multiply(a_tile.k_major(), b_tile.k_major());
            sums = products.commit().wait();
            thread::sync_threads();
        }
        k += DEPTH;
    }
    // SAFETY: C has whole, even rows and is aligned: the kernel's contract. Each block has its own outputs.
    unsafe { store(&sums, c, (row as u32, column as u32), columns) };
}
