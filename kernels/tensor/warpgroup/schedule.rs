//! Which tiles of C a cluster computes, and in which order.

use super::shape::{TensorShape, WARPGROUP_ROWS};
use crate::matmul::BlockTile;
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::{OperandLayout, ProductDescriptor};
use crate::triangle::lower_tiles;
use cuda_std::{cluster, thread, warpgroup};

/// Threads of a warpgroup.
const WARPGROUP_THREADS: usize = warpgroup::THREADS as usize;

/// Rows of tiles that are computed together, so that their parts of A and B stay in the L2 cache.
const GROUP_ROWS: u32 = 8;

/// The part of C that a cluster computes at a time. Its blocks' tiles lie one below the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterTile {
    /// Rows of C that one block computes.
    pub rows: usize,
    /// Columns of C that the cluster computes.
    pub columns: usize,
    /// Elements along k of a slice, which are 128 bytes.
    pub depth: usize,
    /// Slices of a stage, which are waited for together.
    pub slices: usize,
    /// Stages in shared memory.
    pub stages: usize,
    /// Threads of a block that fill the stages, in turn.
    pub producers: usize,
    /// Blocks of the cluster.
    pub blocks: usize,
    /// Blocks that share a multiprocessor.
    pub resident: u32,
    /// Threads of each block: a warpgroup that copies, and those that multiply.
    pub threads: u32,
    /// Bytes of dynamic shared memory of each block.
    pub shared_bytes: usize,
}

/// Bytes of shared memory of a multiprocessor.
const SHARED_BYTES: usize = 228 << 10;

/// Bytes of shared memory that the system reserves in each block.
const SHARED_BYTES_OF_SYSTEM: usize = 1 << 10;

impl ClusterTile {
    /// Returns the tile if its sizes are consistent.
    ///
    /// # Panics
    /// If they are not. A constant then fails to compile.
    pub(super) const fn checked(self) -> Self {
        assert!(
            self.rows.is_multiple_of(WARPGROUP_ROWS) && self.rows > 0,
            "a warpgroup multiplies 64 rows, so a block's tile has a multiple of 64"
        );
        assert!(
            self.columns.is_multiple_of(8 * self.blocks) && self.columns <= 256,
            "a product has up to 256 columns; each block of the cluster loads a multiple of 8"
        );
        assert!(
            self.stages >= 2 && self.slices >= 1,
            "one stage is filled while another is multiplied"
        );
        assert!(
            self.producers >= 1 && self.producers <= WARPGROUP_THREADS / 32,
            "one thread copies in each warp of the warpgroup that copies"
        );
        assert!(
            self.stages.is_multiple_of(self.producers),
            "the threads that copy take turns: each fills as many stages"
        );
        assert!(self.threads <= 1024, "a block has 1024 threads at most");
        assert!(
            self.resident as usize * (self.shared_bytes + SHARED_BYTES_OF_SYSTEM) <= SHARED_BYTES,
            "a multiprocessor has shared memory for the stages and outputs of all resident blocks"
        );
        self
    }

    /// Warpgroups of a block that multiply. Each has 64 rows.
    #[must_use]
    pub const fn consumers(&self) -> usize {
        self.rows / WARPGROUP_ROWS
    }

    /// Slices of all stages.
    #[must_use]
    pub const fn all_slices(&self) -> usize {
        self.stages * self.slices
    }

    /// Elements along k of a stage.
    #[must_use]
    pub const fn stage_depth(&self) -> usize {
        self.depth * self.slices
    }

    /// Columns of B that each block loads to all blocks of the cluster.
    #[must_use]
    pub const fn part(&self) -> usize {
        self.columns / self.blocks
    }

    /// Sums of each thread that multiplies.
    #[must_use]
    pub const fn count(&self) -> usize {
        WARPGROUP_ROWS * self.columns / WARPGROUP_THREADS
    }

    /// The part of C that one block computes.
    #[must_use]
    pub const fn block_tile(&self) -> BlockTile {
        BlockTile {
            rows: self.rows,
            columns: self.columns,
            threads: self.threads,
        }
    }

    /// The host's description of a kernel with this tile, for operands in these layouts.
    #[cfg(not(target_arch = "nvptx64"))]
    pub(super) const fn descriptor(
        &self,
        a: OperandLayout,
        b: OperandLayout,
        b_row_alignment: usize,
    ) -> ProductDescriptor {
        ProductDescriptor {
            tile: self.block_tile(),
            a,
            b,
            b_row_alignment,
            dynamic_shared_bytes: self.shared_bytes,
        }
    }

    /// Tiles of an `m` x `n` result. If `is_lower`, only those with an output on or below the diagonal of a square
    /// result.
    #[must_use]
    pub const fn tiles(&self, (m, n): (usize, usize), is_lower: bool) -> usize {
        let rows = self.rows * self.blocks;
        match is_lower {
            true => lower_tiles(n, rows, self.columns),
            false => m.div_ceil(rows).saturating_mul(n.div_ceil(self.columns)),
        }
    }
}

/// The tiles of C, and which of them the calling cluster computes.
///
/// Clusters are persistent: each computes one tile after another.
#[derive(Clone, Copy)]
pub struct Schedule {
    /// Rows and columns of clusters' tiles of each matrix.
    tiles: (u32, u32),
    /// Tiles of each matrix that are computed.
    of_matrix: u32,
    /// Whether they are those on and below the diagonal.
    is_lower: bool,
    /// Matrices of the batch.
    matrices: u32,
    /// Rows and columns of a block's tile.
    block: (u32, u32),
    blocks: u32,
    /// Stages of each tile.
    pub rounds: u32,
}

impl Schedule {
    /// The schedule for results of `shape`.
    #[inline(always)]
    pub fn new(tile: ClusterTile, shape: &TensorShape) -> Self {
        let (rows, blocks) = (tile.rows as u32, tile.blocks as u32);
        let columns = tile.columns as u32;
        Self {
            tiles: (shape.m.div_ceil(rows * blocks), shape.n.div_ceil(columns)),
            of_matrix: shape.tiles,
            is_lower: shape.is_lower != 0,
            matrices: shape.matrices,
            block: (rows, columns),
            blocks,
            rounds: shape.k_of_product().div_ceil(tile.stage_depth() as u32),
        }
    }

    /// The tiles of the calling cluster.
    #[inline(always)]
    pub fn tiles(self) -> Tiles {
        Tiles {
            schedule: self,
            next: thread::block_idx_x() / self.blocks,
        }
    }

    /// The row and the column, counted in tiles, of tile number `number` of a matrix.
    #[inline(always)]
    fn place(self, number: u32) -> (u32, u32) {
        if self.is_lower {
            return self.place_in_triangle(number);
        }
        place_of_tile(number, self.tiles)
    }

    /// [`place`](Self::place) among the tiles with an output on or below the diagonal.
    #[inline(always)]
    fn place_in_triangle(self, mut number: u32) -> (u32, u32) {
        let (rows, columns) = self.tiles;
        let (tile_rows, tile_columns) = (self.block.0 * self.blocks, self.block.1);
        // Columns of tiles that reach the diagonal in row `row` of tiles, or lie left of it.
        let reached = |row: u32| ((row + 1) * tile_rows).div_ceil(tile_columns).min(columns);
        let mut first = 0;
        while first < rows {
            let height = (rows - first).min(GROUP_ROWS);
            let whole = reached(first);
            if number < whole * height {
                return (first + number % height, number / height);
            }
            number -= whole * height;
            // Columns whose first tile lies further down.
            let mut column = whole;
            while column < reached(first + height - 1) {
                let top = column * tile_columns / tile_rows;
                if number < first + height - top {
                    return (top + number, column);
                }
                number -= first + height - top;
                column += 1;
            }
            first += height;
        }
        (rows, columns)
    }
}

/// The row and the column of tile number `number` of `rows` x `columns` tiles.
///
/// Groups of [`GROUP_ROWS`] rows follow one another. Within a group, tiles are numbered column by column.
#[inline(always)]
pub fn place_of_tile(number: u32, (rows, columns): (u32, u32)) -> (u32, u32) {
    let first = number / (GROUP_ROWS * columns) * GROUP_ROWS;
    let height = (rows - first).min(GROUP_ROWS);
    let within = number - first * columns;
    (first + within % height, within / height)
}

/// Where a tile of outputs begins.
#[derive(Clone, Copy)]
pub struct TilePlace {
    /// The product of the batch, which has the number of its operands.
    pub matrix: u32,
    /// The matrix C of the batch.
    pub result: u32,
    pub row: u32,
    pub column: u32,
    /// Rows from here on are not written: [`ALL_ROWS`], or where a group of rows ends.
    pub end: u32,
}

/// The end of a tile that is cut off by the end of C alone.
pub const ALL_ROWS: u32 = u32::MAX;

/// The tiles that the calling cluster computes, one after another.
pub trait TileSequence {
    /// Where the calling block's part of the next tile begins, as if C had all rows of its matrix.
    fn next(&mut self) -> Option<TilePlace>;

    /// The place of the tile's outputs, from the last one that [`next`](Self::next) returned: its matrix C, and where the
    /// rows end. It is computed when the sums are, so that no registers hold it before.
    #[inline(always)]
    fn outputs(&self, place: TilePlace) -> TilePlace {
        place
    }

    /// The number of the calling warpgroup, from which its writer is made. Opaque if no registers are to hold the writer
    /// while sums are computed.
    #[inline(always)]
    fn writer(number: u32) -> u32 {
        number
    }
}

/// An iterator over the tiles of a cluster.
pub struct Tiles {
    schedule: Schedule,
    next: u32,
}

impl TileSequence for Tiles {
    #[inline(always)]
    fn next(&mut self) -> Option<TilePlace> {
        let Schedule {
            of_matrix,
            matrices,
            block,
            blocks,
            ..
        } = self.schedule;
        if self.next >= matrices * of_matrix {
            return None;
        }
        let matrix = self.next / of_matrix;
        let (row, column) = self.schedule.place(self.next - matrix * of_matrix);
        self.next += thread::grid_dim_x() / blocks;
        let row = row * blocks + cluster::rank();
        Some(TilePlace {
            matrix,
            result: matrix,
            row: row * block.0,
            column: column * block.1,
            end: ALL_ROWS,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TILE: ClusterTile = ClusterTile {
        rows: 64,
        columns: 128,
        depth: 64,
        slices: 1,
        stages: 4,
        producers: 1,
        blocks: 2,
        resident: 1,
        threads: 256,
        shared_bytes: 0,
    };

    /// The rows and columns of all tiles that are computed in an `n` x `n` result.
    fn places(tile: ClusterTile, n: usize, is_lower: bool) -> impl Iterator<Item = (u32, u32)> {
        let shape = TensorShape {
            m: n as u32,
            n: n as u32,
            tiles: tile.tiles((n, n), is_lower) as u32,
            is_lower: u32::from(is_lower),
            ..bytemuck::Zeroable::zeroed()
        };
        let schedule = Schedule::new(tile, &shape);
        (0..shape.tiles).map(move |number| schedule.place(number))
    }

    #[test]
    #[should_panic = "a warpgroup multiplies 64 rows"]
    fn a_tile_with_rows_that_no_warpgroup_multiplies_is_refused() {
        let _ = ClusterTile { rows: 144, ..TILE }.checked();
    }

    #[test]
    #[should_panic = "a multiprocessor has shared memory"]
    fn a_tile_beyond_shared_memory_is_refused() {
        let shared_bytes = 100 << 10;
        let _ = ClusterTile {
            shared_bytes,
            resident: 3,
            ..TILE
        }
        .checked();
    }

    #[test]
    #[should_panic = "take turns"]
    fn a_tile_whose_stages_are_not_shared_out_is_refused() {
        let _ = ClusterTile {
            stages: 5,
            producers: 2,
            ..TILE
        }
        .checked();
    }

    #[test]
    fn each_tile_on_or_below_the_diagonal_has_a_number() {
        for (rows, columns) in [(64, 64), (64, 128), (64, 256), (192, 128)] {
            let tile = ClusterTile {
                rows,
                columns,
                ..TILE
            };
            for n in [1, 127, 128, 129, 300, 1024, 1025, 2600] {
                let rows = tile.rows * tile.blocks;
                let is_computed = |&(row, column): &(u32, u32)| {
                    column as usize * columns < (row as usize + 1) * rows
                };
                let (mut found, mut expected) = ([[0; 64]; 64], [[0; 64]; 64]);
                for (row, column) in places(tile, n, true) {
                    found[row as usize][column as usize] += 1;
                }
                for (row, column) in places(tile, n, false).filter(is_computed) {
                    expected[row as usize][column as usize] += 1;
                }
                assert_eq!(found, expected, "{n}, tiles of {rows} x {columns}");
            }
        }
    }
}
