//! Outputs on tensor cores: products of 16 x 8 outputs for each warp, in f64.
//!
//! A block is 8 warps, 4 down its outputs and 2 along (`block.rs`). For each 8 k a warp reads a fragment of A
//! for each of its 16 rows and one of B for each of its 8 columns, element by element. The lanes of half a
//! warp read 4 k of 4 neighbours: with rows 4 elements longer than a multiple of 16 these are 16 different
//! pairs of banks.
//!
//! A product of f64 adds up in order of k, by a fused multiply-add each (`docs/tensor_cores.md`): the
//! bits are those of the ordinary units.

use super::accumulators::Accumulators;
use super::block::{LANES, STAGES, WARPS_ALONG, WARPS_DOWN};
use super::tile::Tile;
use cuda_std::mma::{A, B, C};
use cuda_std::thread;

/// Rows, columns and k of one product.
const ROWS_OF_PRODUCT: usize = 16;
const COLUMNS_OF_PRODUCT: usize = 8;
const STEP: usize = 8;

type Sum = C<f64, ROWS_OF_PRODUCT, COLUMNS_OF_PRODUCT>;

/// Outputs that a lane has of one product, in as many rows of its own as there are.
const OF_LANE: usize = 4;

/// The sums of a warp: `DOWN` products above one another, `ALONG` side by side.
pub struct WarpTile<const DOWN: usize, const ALONG: usize> {
    sums: [[Sum; ALONG]; DOWN],
}

/// Where a warp's outputs begin among its block's.
pub struct WarpPosition {
    row: usize,
    column: usize,
}

impl<const DOWN: usize, const ALONG: usize> Accumulators for WarpTile<DOWN, ALONG> {
    type Element = f64;
    type Position = WarpPosition;
    const ROWS: usize = OF_LANE * DOWN;
    const COLUMNS: usize = ALONG;
    const VECTOR: usize = 2;
    const PADDING_VECTORS: usize = 2;

    #[inline(always)]
    fn zero() -> Self {
        Self {
            sums: [[Sum::zero(); ALONG]; DOWN],
        }
    }

    #[inline(always)]
    fn position() -> WarpPosition {
        let warp = thread::thread_idx_x() as usize / LANES;
        const { assert!(WARPS_DOWN * ROWS_OF_PRODUCT * DOWN == super::block::THREADS_DOWN * Self::ROWS) };
        WarpPosition {
            row: warp / WARPS_ALONG * (ROWS_OF_PRODUCT * DOWN),
            column: warp % WARPS_ALONG * (COLUMNS_OF_PRODUCT * ALONG),
        }
    }

    #[inline(always)]
    fn place(position: &WarpPosition, i: usize, j: usize) -> (usize, usize) {
        let (row, column) = Sum::place(i % OF_LANE);
        (
            position.row + i / OF_LANE * ROWS_OF_PRODUCT + row,
            position.column + j * COLUMNS_OF_PRODUCT + column,
        )
    }

    #[inline(always)]
    fn output(&self, i: usize, j: usize) -> f64 {
        self.sums[i / OF_LANE][j].get(i % OF_LANE)
    }

    #[inline(always)]
    unsafe fn add_products<S, U>(
        &mut self,
        position: &WarpPosition,
        a_tile: S,
        b_tile: U,
        stage: usize,
    ) where
        S: Tile<Element = f64>,
        U: Tile<Element = f64>,
    {
        let depth = S::ROWS / STAGES;
        let mut k = stage * depth;
        let end = k + depth;
        while k < end {
            let mut a = [A::<f64, ROWS_OF_PRODUCT, STEP>::zero(); DOWN];
            let mut i = 0;
            while i < DOWN {
                // SAFETY: (1) the stage has been written, by (1), and the place lies within it, by (2). (2)
                // An element divides everything.
                a[i] = A::from_fn(|row, of_k| unsafe {
                    let row = position.row + i * ROWS_OF_PRODUCT + row;
                    a_tile.fragment::<1, 1>(k + of_k, row, 0)[0]
                });
                i += 1;
            }
            let mut j = 0;
            while j < ALONG {
                // SAFETY: as for A.
                let b = B::<f64, STEP, COLUMNS_OF_PRODUCT>::from_fn(|of_k, column| unsafe {
                    let column = position.column + j * COLUMNS_OF_PRODUCT + column;
                    b_tile.fragment::<1, 1>(k + of_k, column, 0)[0]
                });
                let mut i = 0;
                while i < DOWN {
                    self.sums[i][j] = self.sums[i][j].add_product(a[i], b);
                    i += 1;
                }
                j += 1;
            }
            k += STEP;
        }
    }
}
