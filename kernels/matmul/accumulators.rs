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

    /// The row and the column, among the block's outputs, of the thread's output (`i`, `j`). Outputs of a block's
    /// threads have different places.
    fn place(position: &Self::Position, i: usize, j: usize) -> (usize, usize);

    /// The thread's output (`i`, `j`), which are compile-time constants.
    fn output(&self, i: usize, j: usize) -> Self::Element;

    /// Hands the outputs within an m x n result to `sink`. `origin` is the row and the column of the block's first
    /// output.
    ///
    /// # Safety
    /// 1. `sink` takes an m x n result, and no other block of the launch has the block's outputs.
    /// 2. The block has [`Self::THREADS`] threads along x, and `position` is the calling thread's.
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
                    // SAFETY: the result has the output: compared above. No other block has it: the caller's
                    // contract. No other thread of the block has it: `place`.
                    unsafe { sink.store(row, column, self.output(i, j)) };
                }
            }
        }
    }

    /// [`Self::store`] by a loop that reads the outputs from shared memory, for a sink of many instructions.
    ///
    /// # Safety
    /// 1. (1) and (2) of [`Self::store`].
    /// 2. `staging` has [`Self::THREADS`] elements for each column of a thread. Only the block's threads access it
    ///    meanwhile, and only in this call.
    #[inline(always)]
    unsafe fn store_through(
        &self,
        staging: SharedSlice<'_, Self::Element>,
        position: &Self::Position,
        origin: (usize, usize),
        (m, n): (usize, usize),
        sink: &impl Sink<Self::Element>,
    ) {
        let thread = thread::thread_idx_x() as usize;
        // Not unrolled, so that the sink's code exists once.
        let rows = opaque_size(Self::ROWS);
        let mut i = 0;
        while i < rows {
            for known in 0..Self::ROWS {
                // Compares with constants: indexing by `i` would move the sums out of registers.
                if known == i {
                    for j in 0..Self::COLUMNS {
                        // SAFETY: `staging` has the element, and nothing else accesses it: the caller's
                        // contract. It is this thread's alone.
                        unsafe { staging.store(j * Self::THREADS + thread, self.output(known, j)) };
                    }
                }
            }
            let columns = opaque_size(Self::COLUMNS);
            let mut j = 0;
            while j < columns {
                let (row, column) = Self::place(position, i, j);
                let (row, column) = (origin.0 + row, origin.1 + column);
                if row < m && column < n {
                    // SAFETY: this thread wrote the element above, and no other accesses it. The result has the
                    // output: compared above. No other thread has it: as in `store`.
                    unsafe { sink.store(row, column, staging.load(j * Self::THREADS + thread)) };
                }
                j += 1;
            }
            i += 1;
        }
    }
}

/// Outputs of a thread on the CUDA cores, to which it adds products.
pub trait AddProducts: Accumulators {
    /// Elements in 16 bytes, which a thread reads at once.
    const VECTOR: usize;

    /// Rows of outputs of the block.
    const BLOCK_ROWS: usize;

    /// Columns of outputs of the block.
    const BLOCK_COLUMNS: usize;

    /// Adds the products of one stage's rows of both tiles, which have `STAGES` stages.
    ///
    /// # Safety
    /// 1. Both tiles have the stage. It has been written, before a barrier, and no thread writes it before the next
    ///    one.
    /// 2. A's tile has [`Self::BLOCK_ROWS`] columns, B's [`Self::BLOCK_COLUMNS`], and their pitches are multiples of
    ///    [`Self::VECTOR`].
    /// 3. The block has [`Accumulators::THREADS`] threads along x, and `position` is the calling thread's.
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
