//! Vectorised: 16 bytes per access of global and shared memory.
//!
//! ```text
//! for each 8 of K:
//!     each thread reads 4 neighbours of a row of A and 4 of a row of B
//!     A's 4 go down a column of A's tile, which is transposed; B's along a row; barrier
//!     for each k of the 8: read 2 + 2 vectors, add 64 products
//!     barrier
//! ```
//!
//! A thread's outputs are 2 x 2 blocks of 4 x 4, so that the elements it reads are contiguous. A's
//! tile is transposed, so that a column of A is contiguous, too.
//!
//! Prediction: a quarter of the loads and stores for the same bytes, so fewer instructions besides
//! the multiply-adds: a fifth faster. Matrices whose rows are not multiples of 16 bytes are read
//! and written element by element.

use super::register_tile::{
    BLOCK, DEPTH, OUTPUTS, SIDE, VECTOR, add_products, fragment, store_vectors,
};
use super::{block_corner, element_or_zero, place_in_block};
use cuda_std::hint::{opaque, opaque_size};
use cuda_std::prelude::*;

/// A's tile: a row for each k. With 4 padding elements per row, the 32 words that a warp writes at
/// once are in 32 banks.
type ATile<'block> = SharedTile<'block, f32, DEPTH, BLOCK, { BLOCK + VECTOR }>;
type BTile<'block> = SharedTile<'block, f32, DEPTH, BLOCK, BLOCK>;

/// Four neighbours of a row, from a column that is a multiple of 4, with zeros outside the matrix.
///
/// # Safety
/// 1. The matrix has rows * columns elements and starts at a multiple of 16 bytes.
#[inline(always)]
#[track_caller]
unsafe fn vector_or_zeros(
    matrix: Global<f32>,
    shape: (usize, usize),
    (row, column): (usize, usize),
) -> [f32; VECTOR] {
    let (rows, columns) = shape;
    if row < rows && column < columns && columns.is_multiple_of(VECTOR) {
        // SAFETY: `columns` and `column` are multiples of 4, so the vector is within its row. The
        // matrix has the row and is aligned: the caller's contract.
        return unsafe { matrix.load_vector(row * columns + column) };
    }
    // SAFETY: the matrix has its elements: the caller's contract.
    unsafe {
        [
            element_or_zero(matrix, shape, (row, column)),
            element_or_zero(matrix, shape, (row, column + 1)),
            element_or_zero(matrix, shape, (row, column + 2)),
            element_or_zero(matrix, shape, (row, column + 3)),
        ]
    }
}

/// C = A B, 8 x 8 outputs per thread, in vectors.
///
/// # Safety
/// 1. The launch has blocks of 16 x 16 threads and a grid of ceil(n / 128) x ceil(m / 128) blocks.
/// 2. `a`, `b`, `c` have m * k, k * n and m * n elements and start at multiples of 16 bytes.
#[kernel(max_threads = 256, min_blocks = 2)]
pub unsafe fn product_vectorised(
    a: Global<f32>,
    b: Global<f32>,
    c: GlobalMut<f32>,
    m: usize,
    n: usize,
    k: usize,
) {
    let a_tile: ATile = shared_tile![f32; DEPTH, BLOCK; pitch = BLOCK + VECTOR];
    let b_tile: BTile = shared_tile![f32; DEPTH, BLOCK];
    let (corner, (down, along)) = (block_corner(BLOCK, BLOCK), place_in_block());
    let mut sums = [[0.0; OUTPUTS]; OUTPUTS];
    for start in (0..k).step_by(DEPTH) {
        // Recomputed for each tile, because the sums need the registers.
        let thread = opaque((down * SIDE + along) as u32) as usize;
        let (m, n, k) = (opaque_size(m), opaque_size(n), opaque_size(k));
        // The thread copies one vector of A, 2 to a row, and one of B, 32 to a row.
        let (a_row, a_k) = (thread / 2, thread % 2 * VECTOR);
        let (b_k, b_column) = (thread / 32, thread % 32 * VECTOR);
        // SAFETY: the matrix has its elements: the caller's contract.
        let (left, right) = unsafe {
            (
                vector_or_zeros(a, (m, k), (corner.0 + a_row, start + a_k)),
                vector_or_zeros(b, (k, n), (start + b_k, corner.1 + b_column)),
            )
        };
        for (v, element) in left.iter().enumerate() {
            // SAFETY: 256 threads cover 128 rows of 2 vectors of 4 k. Barriers separate the writes
            // from the reads of this round and the last.
            unsafe { a_tile.store(a_k + v, a_row, *element) };
        }
        // SAFETY: 256 threads cover 8 rows of 32 vectors. Barriers, as above. Columns and pitch are
        // multiples of 4.
        unsafe { b_tile.store_vector(b_k, b_column, right) };
        thread::sync_threads();
        for i in 0..DEPTH {
            // SAFETY: i < `DEPTH`, and `down` and `along` are below 16. The tiles were written
            // before the barrier.
            let (left, right) = unsafe { (fragment(a_tile, i, down), fragment(b_tile, i, along)) };
            add_products(&mut sums, &left, &right);
        }
        thread::sync_threads();
    }
    // SAFETY: C has m * n elements and is aligned to 16 bytes, and each block has its own outputs:
    // the caller's contract.
    unsafe { store_vectors(c, (m, n), corner, (down, along), &sums) };
}
