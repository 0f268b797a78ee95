//! Outputs on the CUDA cores: a thread has a rectangle of them, in registers.
//!
//! Warps divide a block's outputs as a grid, and lanes a warp's: 4 down, 8 along (`block.rs`). For each k, a thread
//! reads its rows of A and its columns of B as 16-byte vectors. A warp reads 4 neighbouring vectors of A's tile and 8
//! of B's, without bank conflicts.

use super::accumulators::{Accumulators, AddProducts};
use super::block::{LANES, LANES_ALONG, LANES_DOWN};
use super::element::FmaElement;
use super::tile::Tile;
use cuda_std::thread;

/// Where the calling thread's outputs lie among its block's.
pub struct ThreadPosition {
    /// The first row; further vectors of rows follow `LANES_DOWN` vectors apart.
    row: usize,
    /// The first column; further vectors of columns follow `LANES_ALONG` vectors apart.
    column: usize,
}

impl ThreadPosition {
    /// The calling thread's position. Its outputs are `S`, and a block has `WARPS_ALONG` warps along a row.
    #[inline(always)]
    fn of_thread<S: AddProducts, const WARPS_ALONG: usize>() -> Self {
        let thread = thread::thread_idx_x() as usize;
        let (warp, lane) = (thread / LANES, thread % LANES);
        // Neighbours share a column, so that half a warp reads only 2 vectors of A and 8 of B: a 16-byte read then
        // takes 2 passes of shared memory instead of 4. The order is from the SGEMM notes of the maxas assembler.
        let (lane_down, lane_along) = (lane / 16 * 2 + lane % 2, lane / 2 % LANES_ALONG);
        Self {
            row: warp / WARPS_ALONG * (LANES_DOWN * S::ROWS) + lane_down * S::VECTOR,
            column: warp % WARPS_ALONG * (LANES_ALONG * S::COLUMNS) + lane_along * S::VECTOR,
        }
    }

    /// The row of the thread's output row `i`.
    #[inline(always)]
    fn row_of<const VECTOR: usize>(&self, i: usize) -> usize {
        self.row + i / VECTOR * (LANES_DOWN * VECTOR) + i % VECTOR
    }

    /// The column of the thread's output column `j`.
    #[inline(always)]
    fn column_of<const VECTOR: usize>(&self, j: usize) -> usize {
        self.column + j / VECTOR * (LANES_ALONG * VECTOR) + j % VECTOR
    }
}

/// A thread's `ROWS` x `COLUMNS` sums, in a block of `WARPS_DOWN` x `WARPS_ALONG` warps.
///
/// The thread reads its operands `VECTOR` elements at a time.
pub struct RegisterTile<
    T,
    const ROWS: usize,
    const COLUMNS: usize,
    const VECTOR: usize,
    const WARPS_DOWN: usize,
    const WARPS_ALONG: usize,
> {
    sums: [[T; COLUMNS]; ROWS],
}

impl<
    T: FmaElement,
    const ROWS: usize,
    const COLUMNS: usize,
    const VECTOR: usize,
    const WARPS_DOWN: usize,
    const WARPS_ALONG: usize,
> Accumulators for RegisterTile<T, ROWS, COLUMNS, VECTOR, WARPS_DOWN, WARPS_ALONG>
{
    type Element = T;
    type Position = ThreadPosition;
    const ROWS: usize = ROWS;
    const COLUMNS: usize = COLUMNS;
    const THREADS: usize = WARPS_DOWN * WARPS_ALONG * LANES;

    #[inline(always)]
    fn zero() -> Self {
        Self {
            sums: [[T::ZERO; COLUMNS]; ROWS],
        }
    }

    #[inline(always)]
    fn position() -> ThreadPosition {
        ThreadPosition::of_thread::<Self, WARPS_ALONG>()
    }

    #[inline(always)]
    fn place(position: &ThreadPosition, i: usize, j: usize) -> (usize, usize) {
        (
            position.row_of::<VECTOR>(i),
            position.column_of::<VECTOR>(j),
        )
    }

    #[inline(always)]
    fn output(&self, i: usize, j: usize) -> T {
        self.sums[i][j]
    }
}

impl<
    T: FmaElement,
    const ROWS: usize,
    const COLUMNS: usize,
    const VECTOR: usize,
    const WARPS_DOWN: usize,
    const WARPS_ALONG: usize,
> AddProducts for RegisterTile<T, ROWS, COLUMNS, VECTOR, WARPS_DOWN, WARPS_ALONG>
{
    const VECTOR: usize = VECTOR;
    const BLOCK_ROWS: usize = WARPS_DOWN * LANES_DOWN * ROWS;
    const BLOCK_COLUMNS: usize = WARPS_ALONG * LANES_ALONG * COLUMNS;

    #[inline(always)]
    unsafe fn add_products<A, B, const STAGES: usize>(
        &mut self,
        position: &ThreadPosition,
        a_tile: A,
        b_tile: B,
        stage: usize,
    ) where
        A: Tile<Element = T>,
        B: Tile<Element = T>,
    {
        let depth = A::ROWS / STAGES;
        for k in 0..depth {
            let row = stage * depth + k;
            // SAFETY: the tiles have the vectors: they have the stage, and columns for all outputs of the block's
            // threads, of which this is one: the caller's contract. They were written before a barrier, and are not
            // written before the next one: the caller's contract. `VECTOR` elements are 16 bytes. They divide
            // columns and strides: `ThreadPosition`; and pitches: the caller's contract.
            let (a, b): ([T; ROWS], [T; COLUMNS]) = unsafe {
                (
                    a_tile.fragment::<VECTOR, ROWS>(row, position.row, LANES_DOWN * VECTOR),
                    b_tile.fragment::<VECTOR, COLUMNS>(row, position.column, LANES_ALONG * VECTOR),
                )
            };
            #[expect(
                clippy::needless_range_loop,
                reason = "the row is an index of two arrays and decides the direction"
            )]
            for i in 0..ROWS {
                for step in 0..COLUMNS {
                    // Serpentine order: neighbouring products share an operand at the turns, too.
                    let j = if i % 2 == 0 { step } else { COLUMNS - 1 - step };
                    self.sums[i][j] = a[i].multiply_add(b[j], self.sums[i][j]);
                }
            }
        }
    }
}
