//! Copies matrices with unaligned rows to rows that are aligned to 16 bytes.
//!
//! ```text
//! for each matrix, a tile of 8 x 256 elements, a row for each warp:
//!     each thread: load 8 elements that lie 32 apart, zeros from the end of the row on
//!     store them
//! ```
//!
//! Bulk copies and 16-byte copies need aligned rows.

use crate::copy_shape::CopyShape;
use cuda_std::prelude::*;

/// Threads per block.
pub const ALIGN_THREADS: usize = 256;

const LANES: usize = 32;

/// Elements per thread. All are loaded before the first is stored, so a multiprocessor has 32 KiB of f16 loads in
/// flight.
const EACH: usize = 8;

/// Rows and columns of a block's tile.
const TILE_ROWS: usize = ALIGN_THREADS / LANES;
const TILE_COLUMNS: usize = EACH * LANES;

/// Tiles of one matrix, across and down.
#[must_use]
pub const fn align_tiles(shape: &CopyShape) -> (usize, usize) {
    (
        shape.pitch.div_ceil(TILE_COLUMNS),
        shape.rows.div_ceil(TILE_ROWS),
    )
}

macro_rules! align_kernels {
    ($($name:ident: $word:ident;)*) => {$(
        #[doc = concat!("Copies row-major matrices of `", stringify!($word),
            "`, with zeros from the end of each row to the next row.")]
        ///
        /// # Safety
        /// 1. `source` begins with the first element of `shape`'s first matrix and ends with the last element of its
        ///    last; only elements of the matrices are read.
        /// 2. `result` holds the copies, whose rows are `pitch` elements each.
        /// 3. The launch has blocks of [`ALIGN_THREADS`] threads along x, one for each tile, and any number of
        ///    them along y.
        #[kernel(max_threads = 256)]
        pub unsafe fn $name(
            source: Global<$word>,
            result: GlobalMut<$word>,
            shape: GridConstant<CopyShape>,
        ) {
            let shape = &*shape;
            let (along, _) = align_tiles(shape);
            let (along, block) = ((along as u32).max(1), thread::block_idx_x());
            let thread = thread::thread_idx_x() as usize;
            let row = (block / along) as usize * TILE_ROWS + thread / LANES;
            let first = (block % along) as usize * TILE_COLUMNS + thread % LANES;
            if row >= shape.rows {
                return;
            }
            let mut matrix = thread::block_idx_y() as usize;
            while matrix < shape.matrices {
                let from = matrix * shape.source_stride + row * shape.leading_dimension;
                let to = matrix * shape.result_stride + row * shape.pitch;
                let mut elements = [0; EACH];
                let mut i = 0;
                while i < EACH {
                    let column = first + i * LANES;
                    if column < shape.columns {
                        // SAFETY: row and column were compared with the shape, and the view ends
                        // with the last element: the caller's contract.
                        elements[i] = unsafe { source.load(from + column) };
                    }
                    i += 1;
                }
                i = 0;
                while i < EACH {
                    let column = first + i * LANES;
                    if column < shape.pitch {
                        // SAFETY: row and column were compared with the shape, and `result` holds the copies: the
                        // caller's contract. Each thread writes its own elements.
                        unsafe { result.store(to + column, elements[i]) };
                    }
                    i += 1;
                }
                matrix += thread::grid_dim_y() as usize;
            }
        }
    )*};
}
align_kernels! {
    align_u8: u8;
    align_u16: u16;
    align_u64: u64;
}
