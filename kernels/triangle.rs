//! Square results that are symmetric: tiles on and below the diagonal are computed, and their outputs
//! copied to the places above it.
//!
//! ```text
//! for each matrix, a tile of 64 x 64 below or on the diagonal:
//!     load it to shared memory, row by row
//!     wait
//!     store its columns as rows above the diagonal
//! ```
//!
//! A tile of `rows` x `columns` outputs in the row `row` and the column `column` of tiles has an output on or
//! below the diagonal where `column * columns < (row + 1) * rows`.

use bytemuck::{Pod, Zeroable};
use cuda_std::prelude::*;

/// Tiles of `rows` x `columns` outputs of an `n` x `n` result that have an output on or below the diagonal.
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

/// Threads of a block.
pub const MIRROR_THREADS: usize = 256;

/// Rows of a tile that a block reads at a time.
const ROWS: usize = MIRROR_THREADS / MIRROR_TILE;

/// The sizes of a batch of square matrices, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct MirrorShape {
    /// Rows and columns of a matrix.
    pub n: usize,
    /// From row to row.
    pub leading_dimension: usize,
    /// From matrix to matrix.
    pub stride: usize,
    /// Matrices of the batch.
    pub matrices: usize,
}

impl MirrorShape {
    /// Rows of tiles of one matrix, and columns.
    #[must_use]
    pub const fn tiles(&self) -> usize {
        self.n.div_ceil(MIRROR_TILE)
    }
}

macro_rules! mirror_kernels {
    ($($name:ident: $word:ident, pitch = $pitch:literal;)*) => {$(
        #[doc = concat!("Overwrites the elements above the diagonals of row-major matrices of `", stringify!($word),
            "` with those at the mirrored places below.")]
        ///
        /// # Safety
        /// 1. `matrices` starts with the first element of the first matrix of `shape` and reaches to the last of
        ///    the last, none of which have a common element; the launch touches no other elements of it.
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
                // SAFETY: (1) no element is an own one.
                let elements = unsafe { matrices.skip(matrix * shape.stride) };
                let mut down = first;
                while down < MIRROR_TILE {
                    let (row, column) = (row + down, column + along);
                    if is_below((row, column)) {
                        // SAFETY: for the matrix, (1) compared. (2) Elements below the diagonal are read alone.
                        // For the tile, (1) it is within. (2) Each thread has its places.
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
                        // SAFETY: for the tile, (1) the element was written before the barrier, by the same
                        // comparison. (2) So it is read alone. For the matrix, (1) compared. (2) Elements above
                        // the diagonal are written alone, each by the thread that has its mirrored place.
                        unsafe {
                            elements.store(column * shape.leading_dimension + row, tile.load(along, down));
                        }
                    }
                    down += ROWS;
                }
                // The tile is read before that of the next matrix comes.
                thread::sync_threads();
                matrix += thread::grid_dim_y() as usize;
            }
        }
    )*};
}
// Pitches for which the elements of a column lie in different banks.
mirror_kernels! {
    mirror_u16: u16, pitch = 66;
    mirror_u32: u32, pitch = 65;
    mirror_u64: u64, pitch = 65;
}
