//! The outputs that a thread keeps in registers, and where they lie among its block's.
//!
//! A block is 8 warps, 4 down its outputs and 2 along; a warp is 4 lanes down and 8 along
//! (`block.rs`). For each k a thread reads its rows of A, like its columns of B, as 16-byte vectors: the lanes of a warp
//! read 4 neighbouring vectors of A's tile and 8 of B's, without bank conflicts.

use super::block::{LANES, LANES_ALONG, LANES_DOWN, STAGES, THREADS, WARPS_ALONG};
use super::sink::Sink;
use super::tile::Tile;
use cuda_std::float::Float;
use cuda_std::hint::opaque_size;
use cuda_std::shared::SharedSlice;
use cuda_std::thread;

/// The outputs of one thread.
pub trait Accumulators {
    /// The type of the operands and of the sums.
    type Element: Float;

    /// Rows of outputs of a thread.
    const ROWS: usize;

    /// Columns of outputs of a thread.
    const COLUMNS: usize;

    /// Elements of 16 bytes, which a thread reads at once.
    const VECTOR: usize;

    /// Outputs to which nothing has been added.
    fn zero() -> Self;

    /// Adds the products of the rows of one stage of both tiles.
    ///
    /// # Safety
    /// 1. The stage of both tiles has been written, before a barrier.
    /// 2. The tiles have the rows and columns of the block's outputs, and pitches that are multiples
    ///    of [`Self::VECTOR`].
    unsafe fn add_products<A, B>(&mut self, position: &ThreadPosition, a: A, b: B, stage: usize)
    where
        A: Tile<Element = Self::Element>,
        B: Tile<Element = Self::Element>;

    /// Hands each output that lies within the result of `shape` (rows, columns) to `sink`.
    /// `origin` is the row and the column of the block's first output.
    ///
    /// # Safety
    /// 1. No other block of the launch has the block's outputs.
    unsafe fn store(
        &self,
        position: &ThreadPosition,
        origin: (usize, usize),
        shape: (usize, usize),
        sink: &impl Sink<Self::Element>,
    );

    /// [`Self::store`] by a loop, for a sink that takes many instructions: the loop reads the outputs from
    /// shared memory.
    ///
    /// # Safety
    /// 1. As for `store`.
    /// 2. No thread but those of the block, in this call, accesses `way`, which has an element for each
    ///    of them and each column.
    unsafe fn store_through(
        &self,
        way: SharedSlice<'_, Self::Element>,
        position: &ThreadPosition,
        origin: (usize, usize),
        shape: (usize, usize),
        sink: &impl Sink<Self::Element>,
    );
}

/// Where the calling thread's outputs lie among its block's.
pub struct ThreadPosition {
    /// The first row; further vectors of rows follow `LANES_DOWN` vectors apart.
    row: usize,
    /// The first column; further vectors of columns follow `LANES_ALONG` vectors apart.
    column: usize,
}

impl ThreadPosition {
    /// The position of the calling thread, which has the outputs `S`.
    #[inline(always)]
    pub fn of_thread<S: Accumulators>() -> Self {
        let thread = thread::thread_idx_x() as usize;
        let (warp, lane) = (thread / LANES, thread % LANES);
        // Neighbours share a column, so that each half of the warp reads only 2 vectors of A and 8
        // of B: a 16-byte read then takes 2 passes of shared memory instead of 4. The lane order
        // is that of the SGEMM notes of the maxas assembler.
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

/// `ROWS` x `COLUMNS` sums of a thread, whose operands are read `VECTOR` elements at a time.
pub struct RegisterTile<T, const ROWS: usize, const COLUMNS: usize, const VECTOR: usize> {
    sums: [[T; COLUMNS]; ROWS],
}

impl<T: Float, const ROWS: usize, const COLUMNS: usize, const VECTOR: usize> Accumulators
    for RegisterTile<T, ROWS, COLUMNS, VECTOR>
{
    type Element = T;
    const ROWS: usize = ROWS;
    const COLUMNS: usize = COLUMNS;
    const VECTOR: usize = VECTOR;

    #[inline(always)]
    fn zero() -> Self {
        Self {
            sums: [[T::ZERO; COLUMNS]; ROWS],
        }
    }

    #[inline(always)]
    unsafe fn add_products<A, B>(
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
            // SAFETY: (1) the stage has been written, by (1); the thread's vectors lie within its
            // rows, by (2) and `ThreadPosition`. (2) Vectors divide the pitches, by (2).
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
                    // There and back again: neighbouring products share an operand at the turns, too.
                    let j = if i % 2 == 0 { step } else { COLUMNS - 1 - step };
                    self.sums[i][j] = a[i].mul_add(b[j], self.sums[i][j]);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn store(
        &self,
        position: &ThreadPosition,
        origin: (usize, usize),
        (m, n): (usize, usize),
        sink: &impl Sink<T>,
    ) {
        for (i, sums) in self.sums.iter().enumerate() {
            let row = origin.0 + position.row_of::<VECTOR>(i);
            for (j, sum) in sums.iter().enumerate() {
                let column = origin.1 + position.column_of::<VECTOR>(j);
                if row < m && column < n {
                    // SAFETY: (1) the comparison. (2) No other block has the output, by (1), and no
                    // other thread of this block, by `ThreadPosition`.
                    unsafe { sink.store(row, column, *sum) };
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn store_through(
        &self,
        way: SharedSlice<'_, T>,
        position: &ThreadPosition,
        origin: (usize, usize),
        (m, n): (usize, usize),
        sink: &impl Sink<T>,
    ) {
        let thread = thread::thread_idx_x() as usize;
        // Loops that are not unrolled: what the sink does stands here once.
        let rows = opaque_size(ROWS);
        let mut i = 0;
        while i < rows {
            for (known, sums) in self.sums.iter().enumerate() {
                // Not by `i`, for which the sums would leave registers.
                if known == i {
                    for (j, sum) in sums.iter().enumerate() {
                        // SAFETY: (1), (2) are (2): the place is the thread's.
                        unsafe { way.store(j * THREADS + thread, *sum) };
                    }
                }
            }
            let row = origin.0 + position.row_of::<VECTOR>(i);
            let columns = if row < m { opaque_size(COLUMNS) } else { 0 };
            let mut j = 0;
            while j < columns {
                let column = origin.1 + position.column_of::<VECTOR>(j);
                if column < n {
                    // SAFETY: (1) the place is the thread's, and was written. (2) By (2). For the sink, as
                    // in `store`.
                    unsafe { sink.store(row, column, way.load(j * THREADS + thread)) };
                }
                j += 1;
            }
            i += 1;
        }
    }
}
