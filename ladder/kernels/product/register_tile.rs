//! Code shared by the steps with a block of outputs per thread.

use cuda_std::prelude::*;

/// Rows and columns of C that a block of 16 x 16 threads computes.
pub const BLOCK: usize = 128;

/// Threads of a block, down and along.
pub const SIDE: usize = 16;

/// Rows and columns of outputs per thread.
pub(super) const OUTPUTS: usize = BLOCK / SIDE;

/// K of a tile.
pub(super) const DEPTH: usize = 8;

/// Elements in a 16-byte vector.
pub(super) const VECTOR: usize = 4;

/// A thread's sums.
pub(super) type Sums = [[f32; OUTPUTS]; OUTPUTS];

/// Adds the products of a column of A and a row of B.
#[inline(always)]
#[track_caller]
pub(super) fn add_products(sums: &mut Sums, a: &[f32; OUTPUTS], b: &[f32; OUTPUTS]) {
    for i in 0..OUTPUTS {
        for j in 0..OUTPUTS {
            sums[i][j] = Float::mul_add(a[i], b[j], sums[i][j]);
        }
    }
}

/// The position in the block of output row or column `i` of a thread, if its outputs are two
/// vectors, half a block apart.
#[inline(always)]
pub(super) fn place_of_vectors(thread: usize, i: usize) -> usize {
    thread * VECTOR + i / VECTOR * (BLOCK / 2) + i % VECTOR
}

/// The elements of row `row` of a tile for a thread's outputs, as two vectors.
///
/// # Safety
/// 1. `row` lies within the tile, `thread` is below [`SIDE`], and the row has been written, before
///    a barrier.
#[inline(always)]
#[track_caller]
pub(super) unsafe fn fragment<const ROWS: usize, const PITCH: usize>(
    tile: SharedTile<f32, ROWS, BLOCK, PITCH>,
    row: usize,
    thread: usize,
) -> [f32; OUTPUTS] {
    // SAFETY: the row is in the tile, and was written before a barrier: the caller's contract. The
    // columns are multiples of 4; so is the pitch, or it would not compile.
    let ([a, b, c, d], [e, f, g, h]) = unsafe {
        (
            tile.load_vector::<VECTOR>(row, place_of_vectors(thread, 0)),
            tile.load_vector::<VECTOR>(row, place_of_vectors(thread, VECTOR)),
        )
    };
    [a, b, c, d, e, f, g, h]
}

/// Writes a thread's outputs within C: in vectors if the rows of C are multiples of 16 bytes,
/// otherwise one by one.
///
/// # Safety
/// 1. C has m * n elements and starts at a multiple of 16 bytes.
/// 2. `corner` is the first output of the thread's block, `thread` its row and column there. No
///    other block has these outputs.
#[inline(always)]
pub(super) unsafe fn store_vectors(
    c: GlobalMut<f32>,
    (m, n): (usize, usize),
    corner: (usize, usize),
    thread: (usize, usize),
    sums: &Sums,
) {
    for (i, sums) in sums.iter().enumerate() {
        let row = corner.0 + place_of_vectors(thread.0, i);
        for half in 0..OUTPUTS / VECTOR {
            let j = half * VECTOR;
            let column = corner.1 + place_of_vectors(thread.1, j);
            if row < m && column < n && n.is_multiple_of(VECTOR) {
                let vector = [sums[j], sums[j + 1], sums[j + 2], sums[j + 3]];
                // SAFETY: row < m, and n and the column are multiples of 4, so the vector is within
                // C and aligned. These outputs are this thread's: the caller's contract.
                unsafe { c.store_vector(row * n + column, vector) };
            } else {
                for v in 0..VECTOR {
                    // SAFETY: C has m * n elements, and these outputs are this thread's: the
                    // caller's contract.
                    unsafe {
                        super::store_output(c, (m, n), (row, column + v), sums[j + v]);
                    }
                }
            }
        }
    }
}
