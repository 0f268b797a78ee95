//! Which tiles of C a cluster computes, in which order.

use crate::matmul::BlockTile;
use cuda_std::{cluster, thread};

/// Rows of tiles that are computed together: their parts of A and B stay in the second-level cache.
const GROUP_ROWS: u32 = 8;

/// The part of C that a cluster computes at a time: its blocks' tiles lie one below the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterTile {
    /// Rows of C that one block computes.
    pub rows: usize,
    /// Columns of C that the cluster computes.
    pub columns: usize,
    /// Elements along k of a stage.
    pub depth: usize,
    /// Blocks of the cluster.
    pub blocks: usize,
    /// Blocks that are on a multiprocessor together.
    pub resident: usize,
    /// Threads of each block.
    pub threads: usize,
    /// Bytes of dynamic shared memory of each block.
    pub shared_bytes: usize,
}

impl ClusterTile {
    /// The part of C that one block computes.
    #[must_use]
    pub const fn block_tile(&self) -> BlockTile {
        BlockTile {
            rows: self.rows,
            columns: self.columns,
            threads: self.threads as u32,
        }
    }

    /// Clusters' tiles of an `m` x `n` result: rows of them, and columns.
    #[must_use]
    pub const fn count(&self, m: usize, n: usize) -> (usize, usize) {
        (
            m.div_ceil(self.rows * self.blocks),
            n.div_ceil(self.columns),
        )
    }
}

/// The tiles of C, and which of them the calling cluster computes: clusters stay, and compute one
/// tile after the other.
#[derive(Clone, Copy)]
pub struct Schedule {
    /// Rows and columns of clusters' tiles of each matrix.
    tiles: (u32, u32),
    /// Matrices of the batch.
    matrices: u32,
    /// Rows and columns of a block's tile.
    block: (u32, u32),
    blocks: u32,
    /// Stages of each tile.
    pub rounds: u32,
}

impl Schedule {
    /// The schedule of `matrices` results of `m` x `n` products of length `k`.
    #[inline(always)]
    pub fn new(tile: ClusterTile, (m, n, k): (u32, u32, u32), matrices: u32) -> Self {
        let (rows, blocks) = (tile.rows as u32, tile.blocks as u32);
        let columns = tile.columns as u32;
        Self {
            tiles: (m.div_ceil(rows * blocks), n.div_ceil(columns)),
            matrices,
            block: (rows, columns),
            blocks,
            rounds: k.div_ceil(tile.depth as u32),
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

    /// The row and the column of tile number `number` of a matrix: groups of [`GROUP_ROWS`] rows, in each of them
    /// column after column.
    #[inline(always)]
    fn place(self, number: u32) -> (u32, u32) {
        let (rows, columns) = self.tiles;
        let first = number / (GROUP_ROWS * columns) * GROUP_ROWS;
        let height = (rows - first).min(GROUP_ROWS);
        let within = number - first * columns;
        (first + within % height, within / height)
    }
}

/// Where a tile of outputs begins.
#[derive(Clone, Copy)]
pub struct TilePlace {
    /// The matrix of the batch.
    pub matrix: u32,
    pub row: u32,
    pub column: u32,
}

/// The tiles of a cluster, one after the other.
pub struct Tiles {
    schedule: Schedule,
    next: u32,
}

impl Tiles {
    /// Where the block's part of the next tile begins.
    #[inline(always)]
    pub fn next(&mut self) -> Option<TilePlace> {
        let Schedule {
            tiles,
            matrices,
            block,
            blocks,
            ..
        } = self.schedule;
        let of_matrix = tiles.0 * tiles.1;
        if self.next >= matrices * of_matrix {
            return None;
        }
        let matrix = self.next / of_matrix;
        let (row, column) = self.schedule.place(self.next - matrix * of_matrix);
        self.next += thread::grid_dim_x() / blocks;
        let row = row * blocks + cluster::rank();
        Some(TilePlace {
            matrix,
            row: row * block.0,
            column: column * block.1,
        })
    }
}
