//! Which vectors of a row, or of a section of one, a thread has.

use super::plan::VALUES;
use super::vectors::Place;
use cuda_std::prelude::*;

/// The vectors of a thread in a row or a section: every `step` elements from `first` on.
#[derive(Clone, Copy)]
pub struct Span {
    first: u32,
    step: u32,
    /// Elements of the row or the section.
    left: u32,
}

impl Span {
    /// The vectors of `lanes` elements that thread `thread` of `threads` has among `left` elements.
    #[inline(always)]
    pub fn new(thread: u32, threads: u32, lanes: usize, left: u32) -> Self {
        Self {
            first: thread * lanes as u32,
            step: threads * lanes as u32,
            left,
        }
    }

    /// Whether any thread has elements in its vector `slot`: the same for all threads of the row.
    #[inline(always)]
    pub fn has(self, slot: usize) -> bool {
        slot as u32 * self.step < self.left
    }

    /// Where vector `slot` begins.
    #[inline(always)]
    pub fn offset(self, slot: usize) -> usize {
        (self.first + slot as u32 * self.step) as usize
    }

    /// The place of vector `slot` in a view in which the row, or the section, starts at `start`.
    #[inline(always)]
    pub fn place(self, start: usize, slot: usize, lanes: usize) -> Place {
        let offset = self.offset(slot);
        Place {
            at: start + offset,
            count: (self.left as usize).saturating_sub(offset).min(lanes),
        }
    }
}

/// The rows of a thread that shares short rows with `lanes` lanes of its warp.
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
    /// `of_group` of `rows` rows of `len` elements for each group of `lanes` threads of the block.
    #[inline(always)]
    pub fn of_thread(of_group: usize, (rows, len): (usize, usize), lanes: u32) -> Self {
        let thread = thread::thread_idx_x();
        let groups = (thread::block_dim_x() / lanes) as usize;
        let first = thread::block_idx_x() as usize * (groups * of_group);
        Self {
            lane: thread % lanes,
            lanes,
            first: first + (thread / lanes) as usize,
            apart: groups,
            rows,
            len: len as u32,
        }
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

    /// The thread's vectors of that row: none if the matrix does not have it.
    #[inline(always)]
    pub fn span(self, number: usize, lanes: usize) -> Span {
        let left = if self.has(number) { self.len } else { 0 };
        Span::new(self.lane, self.lanes, lanes, left)
    }
}

/// The sections of a long row, each in the registers of the block.
#[derive(Clone, Copy)]
pub struct Sections {
    len: usize,
}

impl Sections {
    /// The sections of a row of `len` elements.
    #[inline(always)]
    pub fn new(len: usize) -> Self {
        Self { len }
    }

    /// Elements of a section.
    #[inline(always)]
    fn section() -> usize {
        thread::block_dim_x() as usize * VALUES
    }

    /// The number of sections.
    #[inline(always)]
    pub fn count(self) -> usize {
        self.len.div_ceil(Self::section())
    }

    /// Where section `number` starts in the row.
    #[inline(always)]
    pub fn start(self, number: usize) -> usize {
        number * Self::section()
    }

    /// The calling thread's vectors of section `number`.
    #[inline(always)]
    pub fn span(self, number: usize, lanes: usize) -> Span {
        let left = (self.len - self.start(number)).min(Self::section());
        Span::new(
            thread::thread_idx_x(),
            thread::block_dim_x(),
            lanes,
            left as u32,
        )
    }
}
