//! Rows of up to 1024 elements, each of some lanes of a warp.

use super::place::Span;
use cuda_std::prelude::*;

/// The rows of a thread that shares short rows with some lanes of its warp.
#[derive(Clone, Copy)]
pub struct ShortRows {
    /// The thread's place among the lanes of a row.
    pub lane: u32,
    lanes: u32,
    first: usize,
    apart: usize,
    rows: usize,
    len: u32,
}

impl ShortRows {
    /// `of_group` of `rows` rows of `len` elements for each group of `lanes` threads of the block, a power of two.
    #[inline(always)]
    pub fn of_thread(of_group: usize, (rows, len): (usize, usize), lanes: u32) -> Self {
        let thread = thread::thread_idx_x();
        let log_lanes = lanes.trailing_zeros();
        let groups = (thread::block_dim_x() >> log_lanes) as usize;
        let first = thread::block_idx_x() as usize * (groups * of_group);
        Self {
            lane: thread & (lanes - 1),
            lanes,
            first: first + (thread >> log_lanes) as usize,
            apart: groups,
            rows,
            len: len as u32,
        }
    }

    /// Elements of a row.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// The matrix's number of the thread's row `number`.
    #[inline(always)]
    pub fn row(self, number: usize) -> usize {
        self.first + number * self.apart
    }

    /// Whether the matrix has that row.
    #[inline(always)]
    pub fn has(self, number: usize) -> bool {
        self.row(number) < self.rows
    }

    /// That row, or the thread's first if the matrix does not have it.
    #[inline(always)]
    pub fn row_or_first(self, number: usize) -> usize {
        self.row(if self.has(number) { number } else { 0 })
    }

    /// The thread's vectors of that row, which do not exist if the matrix does not have it.
    #[inline(always)]
    pub fn span(self, number: usize, lanes: usize) -> Span {
        Span::new(self.lane, self.lanes, lanes, self.len).only_if(self.has(number))
    }
}

/// An operation on short rows.
#[cfg(feature = "entries")]
pub trait OfShortRows {
    /// Runs it on `ROWS` rows for each group of lanes, `SLOTS / ROWS` vectors of each.
    ///
    /// # Safety
    /// 1. The requirements of the kernels hold, for short rows with as many vectors.
    unsafe fn run<const ROWS: usize, const SLOTS: usize, const LANES: usize>(&self);
}

/// Runs `operation` on rows of `len` elements, each of `lanes` lanes. A lane has one vector of each of two rows, half of
/// `MOST` of each, or `MOST` of one.
///
/// # Safety
/// 1. The requirements of the kernels hold, for short rows.
#[cfg(feature = "entries")]
#[inline(always)]
pub unsafe fn run_short<const MOST: usize, const LANES: usize>(
    operation: &impl OfShortRows,
    (len, lanes): (usize, u32),
) {
    // SAFETY: the caller's contract. The cases are those of the plan.
    unsafe {
        if len <= LANES {
            operation.run::<2, 2, LANES>();
        } else if len <= lanes as usize * LANES * (MOST / 2) {
            operation.run::<2, MOST, LANES>();
        } else {
            operation.run::<1, MOST, LANES>();
        }
    }
}
