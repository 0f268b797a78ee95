//! Symmetric results: tiles on and below the diagonal are computed, and mirrored to the elements above it.
//!
//! ```text
//! for each matrix, a tile of 64 x 64 below or on the diagonal:
//!     load it to shared memory, row by row
//!     wait
//!     store its columns as rows above the diagonal
//! ```
//!
//! Tile (`row`, `column`) of `rows` x `columns` outputs has an output on or below the diagonal if `column * columns <
//! (row + 1) * rows`.

use bytemuck::{Pod, Zeroable};
use cuda_std::prelude::*;

/// The number of `rows` x `columns` tiles of an `n` x `n` result with an output on or below the diagonal.
#[must_use]
pub const fn lower_tiles(n: usize, rows: usize, columns: usize) -> usize {
    let (down, along) = (n.div_ceil(rows), n.div_ceil(columns));
    let (mut tiles, mut row) = (0, 0);
    while row < down {
        let reached = ((row + 1) * rows).div_ceil(columns);
        tiles += if reached < along { reached } else { along };
        row += 1;
    }
    tiles
}

/// Rows and columns of a block's tile.
pub const MIRROR_TILE: usize = 64;

/// Threads per block.
pub const MIRROR_THREADS: usize = 256;

/// Rows of a tile that a block reads at a time.
const ROWS: usize = MIRROR_THREADS / MIRROR_TILE;

/// The sizes of a batch of square matrices, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct MirrorShape {
    /// Rows and columns of a matrix.
    pub n: usize,
    /// Elements from one row to the next.
    pub leading_dimension: usize,
    /// Elements from one matrix to the next.
    pub stride: usize,
    /// Matrices of the batch.
    pub matrices: usize,
}

impl MirrorShape {
    /// Tiles along each side of a matrix.
    #[must_use]
    pub const fn tiles(&self) -> usize {
        self.n.div_ceil(MIRROR_TILE)
    }
}

#[cfg(feature = "entries")]
macro_rules! mirror_kernels {
    ($($name:ident: $word:ident, pitch = $pitch:literal;)*) => {$(
        #[doc = concat!("Overwrites the elements above the diagonals of row-major matrices of `", stringify!($word),
            "` with their mirror images below.")]
        ///
        /// # Safety
        /// 1. `matrices` begins with the first element of `shape`'s first matrix and ends with the last element of
        ///    its last. The matrices do not overlap, and only their elements are accessed.
        /// 2. The launch has blocks of [`MIRROR_THREADS`] threads along x, the square of [`MirrorShape::tiles`]
        ///    of them, and any number of them along y.
        #[kernel(max_threads = 256)]
        pub unsafe fn $name(matrices: GlobalMut<$word>, shape: GridConstant<MirrorShape>) {
            let shape = &*shape;
            let (tiles, block) = ((shape.tiles() as u32).max(1), thread::block_idx_x());
            let (row, column) = (block / tiles, block % tiles);
            if column > row {
                return;
            }
            let (row, column) = (row as usize * MIRROR_TILE, column as usize * MIRROR_TILE);
            let thread = thread::thread_idx_x() as usize;
            let (first, along) = (thread / MIRROR_TILE, thread % MIRROR_TILE);
            let is_below = |(row, column)| column < row && row < shape.n;
            let tile = shared_tile![$word; MIRROR_TILE, MIRROR_TILE; pitch = $pitch];
            let mut matrix = thread::block_idx_y() as usize;
            while matrix < shape.matrices {
                // SAFETY: the kernel owns no elements by unique index.
                let elements = unsafe { matrices.skip(matrix * shape.stride) };
                let mut down = first;
                while down < MIRROR_TILE {
                    let (row, column) = (row + down, column + along);
                    if is_below((row, column)) {
                        // SAFETY: row and column were compared with n. The launch only reads elements below the
                        // diagonal. The indices are within the tile, and each thread writes its own elements of it.
                        unsafe {
                            tile.store(down, along, elements.load(row * shape.leading_dimension + column));
                        }
                    }
                    down += ROWS;
                }
                thread::sync_threads();
                let mut down = first;
                while down < MIRROR_TILE {
                    let (row, column) = (row + along, column + down);
                    if is_below((row, column)) {
                        // SAFETY: the tile's element was written before the barrier, under the same condition. Row
                        // and column were compared with n. The launch only writes elements above the diagonal, each
                        // by one thread.
                        unsafe {
                            elements.store(column * shape.leading_dimension + row, tile.load(along, down));
                        }
                    }
                    down += ROWS;
                }
                // Orders these reads before the writes of the next matrix.
                thread::sync_threads();
                matrix += thread::grid_dim_y() as usize;
            }
        }
    )*};
}
// Pitches that place the elements of a column in different banks.
#[cfg(feature = "entries")]
mirror_kernels! {
    mirror_u16: u16, pitch = 66;
    mirror_u32: u32, pitch = 65;
    mirror_u64: u64, pitch = 65;
}
