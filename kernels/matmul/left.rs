//! Which blocks and outputs a kernel computes: all, or those that products of residues leave out.

use super::grid::block_position;
use super::shape::ProductShape;
use super::sink::{OutputSink, Sink, StoreFinished, StoreOutput};
use crate::epilogue::EpilogueElement;
use crate::exact::{Line, Lines};
use cuda_std::prelude::*;

/// Skips no block.
///
/// # Safety
/// There is nothing to require.
#[inline(always)]
pub unsafe fn never<const ROWS: usize, const COLUMNS: usize>(
    _shape: &ProductShape,
    (): (),
) -> bool {
    false
}

/// Writes all outputs of a block that is not skipped.
#[inline(always)]
pub fn all<'launch, T, W>(sink: StoreFinished<'launch, T>, _words: W) -> StoreFinished<'launch, T> {
    sink
}

/// Whether products of residues have computed all outputs of the calling block.
///
/// # Safety
/// 1. The lines are those of the m rows of A and the n columns of B.
/// 2. The launch has a block for each `ROWS` x `COLUMNS` tile of m x n outputs, and all threads of a block make the
///    call.
#[inline(always)]
pub unsafe fn are_in_range<const ROWS: usize, const COLUMNS: usize>(
    shape: &ProductShape,
    (a, b): (Global<'_, Line>, Global<'_, Line>),
) -> bool {
    let (m, n) = (shape.m, shape.n);
    let (row, column) =
        block_position(thread::block_idx_x(), m.div_ceil(ROWS), n.div_ceil(COLUMNS));
    let is_out_of_range = |lines: Global<'_, Line>, first: usize, count: usize| {
        let (mut is_any, mut at) = (false, warp::lane() as usize);
        while at < count {
            // The view has a line for each row or column.
            is_any |= lines.get(first + at).is_some_and(|it| it.is_out_of_range());
            at += 32;
        }
        is_any
    };
    let own = is_out_of_range(a, row * ROWS, ROWS) | is_out_of_range(b, column * COLUMNS, COLUMNS);
    !warp::any(LaneMask::all(), own)
}

/// Writes the outputs that are left out.
#[inline(always)]
pub fn left<'launch, T: EpilogueElement>(
    finished: StoreFinished<'launch, T>,
    (a, b): (Global<'launch, Line>, Global<'launch, Line>),
) -> StoreLeft<'launch, T> {
    StoreLeft {
        finished,
        lines: Lines { a, b },
    }
}

/// Writes the outputs of rows and columns that products of residues leave out.
#[derive(Clone, Copy)]
pub struct StoreLeft<'launch, T> {
    pub finished: StoreFinished<'launch, T>,
    pub lines: Lines<'launch>,
}

impl<T: EpilogueElement> Sink<T> for StoreLeft<'_, T> {
    #[inline(always)]
    unsafe fn store(&self, row: usize, column: usize, sum: T) {
        // SAFETY: the result has the output, which no other thread accesses: the caller's contract. There is a line for
        // each of its rows and columns: the contract of `Lines`.
        unsafe {
            if self.lines.leave_out(row, column) {
                self.finished.store(row, column, sum);
            }
        }
    }
}

impl<T: EpilogueElement> OutputSink<T> for StoreLeft<'_, T> {
    #[inline(always)]
    fn plain(&self) -> Option<StoreOutput<'_, T>> {
        None
    }
}
