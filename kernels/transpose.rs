//! Transposes matrices of bytes.
//!
//! ```text
//! for each matrix, a tile of 64 x 64 bytes:
//!     each thread: load 4 x 4 bytes, and store them to shared memory as words of 4 neighbours down
//!     wait
//!     each thread: read 16 bytes that were above one another, and store them side by side
//! ```
//!
//! Tensor cores read 8-bit operands with elements along k contiguous, and CUDA cores multiply words
//! of four of them.

use crate::copy_shape::CopyShape;
use cuda_std::prelude::*;

/// Rows and columns of a block's tile.
pub const TRANSPOSE_TILE: usize = 64;

/// Threads per block.
pub const TRANSPOSE_THREADS: usize = 256;

/// Bytes that a thread reads from a row, and rows that it reads.
const QUAD: usize = 4;
const QUADS: usize = TRANSPOSE_TILE / QUAD;

/// Bytes that a thread writes at a time.
const VECTOR: usize = 16;
const VECTORS: usize = TRANSPOSE_TILE / VECTOR;

/// Tiles of one result, across and down.
#[must_use]
pub const fn transpose_tiles(shape: &CopyShape) -> (usize, usize) {
    (
        shape.pitch.div_ceil(TRANSPOSE_TILE),
        shape.columns.div_ceil(TRANSPOSE_TILE),
    )
}

/// Four neighbouring bytes of a row; zeros outside the matrix.
///
/// # Safety
/// 1. `source` has the matrix of `shape`.
#[inline(always)]
unsafe fn quad(
    source: Global<'_, u8>,
    shape: &CopyShape,
    (row, column): (usize, usize),
) -> [u8; QUAD] {
    if row >= shape.rows {
        return [0; QUAD];
    }
    let at = row * shape.leading_dimension + column;
    let is_aligned =
        source.as_ptr().addr().is_multiple_of(QUAD) && shape.leading_dimension.is_multiple_of(QUAD);
    if is_aligned && column + QUAD <= shape.columns {
        // SAFETY: row and column were compared with the shape, and the view ends with the last element: the caller's
        // contract. Rows and columns are aligned to four bytes.
        return unsafe { source.load_vector(at) };
    }
    let mut bytes = [0; QUAD];
    let mut i = 0;
    while i < QUAD && column + i < shape.columns {
        // SAFETY: row and column were compared with the shape.
        bytes[i] = unsafe { source.load(at + i) };
        i += 1;
    }
    bytes
}

/// Transposes matrices, with zeros between the end of each row and the next.
///
/// # Safety
/// 1. `source` begins with the first element of `shape`'s first matrix and ends with the last element of its last;
///    only elements of the matrices are read.
/// 2. `result` holds the results. It and all its rows are aligned to 16 bytes.
/// 3. The launch has blocks of [`TRANSPOSE_THREADS`] threads along x, one for each tile, and any number of
///    them along y.
#[kernel(max_threads = 256)]
pub unsafe fn transpose_bytes(
    source: Global<u8>,
    result: GlobalMut<u8>,
    shape: GridConstant<CopyShape>,
) {
    let shape = &*shape;
    let (along, _) = transpose_tiles(shape);
    let (along, block) = ((along as u32).max(1), thread::block_idx_x());
    let row = (block % along) as usize * TRANSPOSE_TILE;
    let column = (block / along) as usize * TRANSPOSE_TILE;
    let thread = thread::thread_idx_x() as usize;
    let (down, across) = (QUAD * (thread / QUADS), QUAD * (thread % QUADS));
    let (line, first) = (thread / VECTORS, VECTOR * (thread % VECTORS));
    // Words of four neighbouring bytes of a result's row.
    let tile = shared_tile![u32; TRANSPOSE_TILE, QUADS; pitch = QUADS + 1];
    let mut matrix = thread::block_idx_y() as usize;
    while matrix < shape.matrices {
        let source = source.skip(matrix * shape.source_stride);
        // SAFETY: `source` has the matrix: the caller's contract.
        let rows =
            [0, 1, 2, 3].map(|i| unsafe { quad(source, shape, (row + down + i, column + across)) });
        let mut j = 0;
        while j < QUAD {
            let word = u32::from_ne_bytes([rows[0][j], rows[1][j], rows[2][j], rows[3][j]]);
            // SAFETY: the indices are within the tile. Each thread writes its own words.
            unsafe { tile.store(across + j, down / QUAD, word) };
            j += 1;
        }
        thread::sync_threads();
        if column + line < shape.columns && row + first < shape.pitch {
            let at = matrix * shape.result_stride + (column + line) * shape.pitch + row + first;
            // SAFETY: the tile's words were written before the barrier. Row and column were compared with the shape,
            // and `result` has them: the caller's contract. Rows and the vectors in them are aligned to 16 bytes.
            // Each thread writes its own elements.
            unsafe {
                let words = [0, 1, 2, 3].map(|i| tile.load(line, first / QUAD + i));
                result.store_vector(at, bytemuck::cast::<_, [u8; VECTOR]>(words));
            }
        }
        // Orders these reads before the writes of the next matrix.
        thread::sync_threads();
        matrix += thread::grid_dim_y() as usize;
    }
}
