//! Tiles of groups of rows whose sizes are in device memory.
//!
//! ```text
//! masked:      group g is the first counts[g] rows of matrix g
//! contiguous:  the groups are rows of one matrix, one below the other
//! ```
//!
//! Each cluster walks through the groups and takes every tile that is its own. A count is cut off where the rows end,
//! so no count leads outside the matrices.

use super::schedule::{ALL_ROWS, ClusterTile, TilePlace, TileSequence, place_of_tile};
use super::shape::TensorShape;
use cuda_std::hint::opaque;
use cuda_std::prelude::*;
use cuda_std::{cluster, thread};

/// The tiles of the calling cluster.
#[derive(Clone, Copy)]
pub struct CountedTiles<'launch> {
    /// The rows of each group. If there are none, each matrix is a group.
    counts: Global<'launch, u32>,
    shape: GridConstant<'launch, TensorShape>,
    tile: ClusterTile,
    /// The current group, its first row, and the number of its rows.
    group: u32,
    first: u32,
    rows: u32,
    /// The number of the next tile, counted from the group's first.
    next: u32,
}

impl<'launch> CountedTiles<'launch> {
    /// The tiles of a result of `shape`, whose batch has a matrix B for each group.
    #[inline(always)]
    pub fn new(
        counts: Global<'launch, u32>,
        shape: GridConstant<'launch, TensorShape>,
        tile: ClusterTile,
    ) -> Self {
        let mut tiles = Self {
            counts,
            shape,
            tile,
            group: 0,
            first: 0,
            rows: 0,
            next: thread::block_idx_x() / tile.blocks as u32,
        };
        tiles.count_rows();
        tiles
    }

    /// Whether the groups are rows of one matrix.
    #[inline(always)]
    fn is_contiguous(&self) -> bool {
        self.shape.a_step == 0 && !self.counts.is_empty()
    }

    /// Sets the rows of the current group: no more than there are.
    #[inline(always)]
    fn count_rows(&mut self) {
        let left = self.shape.m - self.first;
        let count = self.counts.get(self.group as usize);
        self.rows = count.unwrap_or(left).min(left);
    }

    /// Goes to the next group.
    #[inline(always)]
    fn advance(&mut self) {
        if self.is_contiguous() {
            self.first += self.rows;
        }
        self.group += 1;
        self.count_rows();
    }
}

impl TileSequence for CountedTiles<'_> {
    #[inline(always)]
    fn next(&mut self) -> Option<TilePlace> {
        let (rows, blocks) = (self.tile.rows as u32, self.tile.blocks as u32);
        let columns = self.shape.n.div_ceil(self.tile.columns as u32);
        while self.group < self.shape.matrices {
            let tiles = (self.rows.div_ceil(rows * blocks), columns);
            let of_group = tiles.0 * tiles.1;
            if self.next < of_group {
                let (row, column) = place_of_tile(self.next, tiles);
                self.next += thread::grid_dim_x() / blocks;
                return Some(TilePlace {
                    matrix: self.group,
                    result: self.group,
                    row: self.first + (row * blocks + cluster::rank()) * rows,
                    column: column * self.tile.columns as u32,
                    end: ALL_ROWS,
                });
            }
            self.next -= of_group;
            self.advance();
        }
        None
    }

    #[inline(always)]
    fn outputs(&self, place: TilePlace) -> TilePlace {
        TilePlace {
            result: if self.is_contiguous() { 0 } else { self.group },
            end: self.first + self.rows,
            ..place
        }
    }

    #[inline(always)]
    fn writer(number: u32) -> u32 {
        opaque(number)
    }
}
