//! The outputs that a thread keeps in registers.

use super::element::FmaElement;
use super::sink::Sink;
use super::tile::Tile;
use cuda_std::hint::opaque_size;
use cuda_std::shared::SharedSlice;
use cuda_std::thread;

/// The outputs of one thread.
pub trait Accumulators {
    /// The type of the operands and of the sums.
    type Element: FmaElement;

    /// Where the calling thread's outputs lie among its block's.
    type Position;

    /// Rows of outputs of a thread.
    const ROWS: usize;

    /// Columns of outputs of a thread.
    const COLUMNS: usize;

    /// Threads of the block, along x.
    const THREADS: usize;

    /// Outputs to which nothing has been added.
    fn zero() -> Self;

    /// The position of the calling thread.
    fn position() -> Self::Position;

    /// The row and the column, among the block's outputs, of the thread's output in row `i` and column `j`
    /// of its own.
    fn place(position: &Self::Position, i: usize, j: usize) -> (usize, usize);

    /// The output in row `i` and column `j` of the thread's, which are known when compiled.
    fn output(&self, i: usize, j: usize) -> Self::Element;

    /// Hands each output that lies within the result of `shape` (rows, columns) to `sink`.
    /// `origin` is the row and the column of the block's first output.
    ///
    /// # Safety
    /// 1. No other block of the launch has the block's outputs.
    #[inline(always)]
    unsafe fn store(
        &self,
        position: &Self::Position,
        origin: (usize, usize),
        (m, n): (usize, usize),
        sink: &impl Sink<Self::Element>,
    ) {
        for i in 0..Self::ROWS {
            for j in 0..Self::COLUMNS {
                let (row, column) = Self::place(position, i, j);
                let (row, column) = (origin.0 + row, origin.1 + column);
                if row < m && column < n {
                    // SAFETY: (1) the comparison. (2) No other block has the output, by (1), and no
                    // other thread of this block, by `place`.
                    unsafe { sink.store(row, column, self.output(i, j)) };
                }
            }
        }
    }

    /// [`Self::store`] by a loop, for a sink that takes many instructions: the loop reads the outputs from
    /// shared memory.
    ///
    /// # Safety
    /// 1. As for `store`.
    /// 2. No thread but those of the block, in this call, accesses `way`, which has an element for each
    ///    of them and each column.
    #[inline(always)]
    unsafe fn store_through(
        &self,
        way: SharedSlice<'_, Self::Element>,
        position: &Self::Position,
        origin: (usize, usize),
        (m, n): (usize, usize),
        sink: &impl Sink<Self::Element>,
    ) {
        let thread = thread::thread_idx_x() as usize;
        // Loops that are not unrolled: what the sink does stands here once.
        let rows = opaque_size(Self::ROWS);
        let mut i = 0;
        while i < rows {
            for known in 0..Self::ROWS {
                // Not by `i`, for which the sums would leave registers.
                if known == i {
                    for j in 0..Self::COLUMNS {
                        // SAFETY: (1), (2) are (2): the place is the thread's.
                        unsafe { way.store(j * Self::THREADS + thread, self.output(known, j)) };
                    }
                }
            }
            let columns = opaque_size(Self::COLUMNS);
            let mut j = 0;
            while j < columns {
                let (row, column) = Self::place(position, i, j);
                let (row, column) = (origin.0 + row, origin.1 + column);
                if row < m && column < n {
                    // SAFETY: (1) the place is the thread's, and was written. (2) By (2). For the sink, as
                    // in `store`.
                    unsafe { sink.store(row, column, way.load(j * Self::THREADS + thread)) };
                }
                j += 1;
            }
            i += 1;
        }
    }
}

/// Outputs of a thread to which it adds products itself.
pub trait AddProducts: Accumulators {
    /// Elements of 16 bytes, which a thread reads at once.
    const VECTOR: usize;

    /// Rows of outputs of the block.
    const BLOCK_ROWS: usize;

    /// Columns of outputs of the block.
    const BLOCK_COLUMNS: usize;

    /// Adds the products of the rows of one stage of both tiles, which have `STAGES`.
    ///
    /// # Safety
    /// 1. The stage of both tiles has been written, before a barrier.
    /// 2. The tiles have the rows and columns of the block's outputs, and pitches that are multiples
    ///    of [`Self::VECTOR`].
    unsafe fn add_products<A, B, const STAGES: usize>(
        &mut self,
        position: &Self::Position,
        a: A,
        b: B,
        stage: usize,
    ) where
        A: Tile<Element = Self::Element>,
        B: Tile<Element = Self::Element>;
}
