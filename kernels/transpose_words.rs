//! Transposes matrices of f32 and f64.

use crate::copy_shape::CopyShape;
use cuda_std::prelude::*;

/// Rows and columns of a block's tile.
pub const WORDS_TILE: usize = 32;

/// Threads of a block: a warp for each of eight rows.
pub const TRANSPOSE_WORDS_THREADS: u32 = 256;

const WARPS: usize = TRANSPOSE_WORDS_THREADS as usize / 32;

/// Tiles of one result, across and down.
#[must_use]
pub const fn word_tiles(shape: &CopyShape) -> (usize, usize) {
    (
        shape.rows.div_ceil(WORDS_TILE),
        shape.columns.div_ceil(WORDS_TILE),
    )
}

macro_rules! kernels {
    ($($name:ident: $word:ident;)*) => {$(
        #[doc = concat!("Transposes matrices of `", stringify!($word), "`.")]
        ///
        /// # Safety
        /// 1. `source` begins with the first element of `shape`'s first matrix and ends with the last element of its
        ///    last; only elements of the matrices are read.
        /// 2. `result` holds the results, of which only elements of the matrices are written.
        /// 3. The launch has blocks of [`TRANSPOSE_WORDS_THREADS`] threads along x, one for each tile, and any number
        ///    of them along y.
        #[kernel(max_threads = TRANSPOSE_WORDS_THREADS)]
        pub unsafe fn $name(
            source: Global<$word>,
            result: GlobalMut<$word>,
            shape: GridConstant<CopyShape>,
        ) {
            let shape = &*shape;
            let (along, _) = word_tiles(shape);
            let (along, block) = ((along as u32).max(1), thread::block_idx_x());
            let row = (block % along) as usize * WORDS_TILE;
            let column = (block / along) as usize * WORDS_TILE;
            let (lane, warp) = (warp::lane() as usize, warp::warp_in_block() as usize);
            let tile = shared_tile![$word; WORDS_TILE, WORDS_TILE; pitch = WORDS_TILE + 1];
            let mut matrix = thread::block_idx_y() as usize;
            while matrix < shape.matrices {
                let mut i = warp;
                while i < WORDS_TILE {
                    if row + i < shape.rows && column + lane < shape.columns {
                        let at = matrix * shape.source_stride
                            + (row + i) * shape.leading_dimension
                            + column
                            + lane;
                        // SAFETY: row and column were compared with the shape, and the source has the matrix: the
                        // caller's contract. The indices are within the tile; each thread writes its own words.
                        unsafe { tile.store(i, lane, source.load(at)) };
                    }
                    i += WARPS;
                }
                thread::sync_threads();
                let mut i = warp;
                while i < WORDS_TILE {
                    if column + i < shape.columns && row + lane < shape.rows {
                        let at = matrix * shape.result_stride + (column + i) * shape.pitch + row + lane;
                        // SAFETY: row and column were compared with the shape, so the word was written before the
                        // barrier, and the result has it: the caller's contract. Each thread writes its own elements.
                        unsafe { result.store(at, tile.load(lane, i)) };
                    }
                    i += WARPS;
                }
                // Orders these reads before the writes of the next matrix.
                thread::sync_threads();
                matrix += thread::grid_dim_y() as usize;
            }
        }
    )*};
}
kernels! {
    transpose_u32: u32;
    transpose_u64: u64;
}
