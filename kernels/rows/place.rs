//! Which vectors of a row, or of a section of one, a thread has.

use super::plan::SECTION_VALUES;
#[cfg(feature = "entries")]
use super::plan::part_of;
use cuda_std::hint::opaque;
use cuda_std::prelude::*;

/// A vector of a thread: its first element, counted from the start of the row or the section, and the number of
/// elements from there to the end: negative past the end.
#[derive(Clone, Copy)]
pub struct Place {
    pub offset: u32,
    pub left: i32,
}

impl Place {
    /// Whether the vector has an element.
    #[inline(always)]
    pub fn exists(self) -> bool {
        self.left > 0
    }
}

/// The vectors of a thread in a row or a section: every `step` elements from `first` on.
#[derive(Clone, Copy)]
pub struct Span {
    first: u32,
    step: u32,
    /// Elements of the row or the section.
    len: u32,
    /// `len`, or 0 if the matrix does not have the row.
    left: u32,
}

impl Span {
    /// The vectors of `lanes` elements that thread `thread` of `threads` has among `len` elements.
    #[inline(always)]
    pub fn new(thread: u32, threads: u32, lanes: usize, len: u32) -> Self {
        Self {
            first: thread * lanes as u32,
            step: threads * lanes as u32,
            len,
            left: len,
        }
    }

    /// The vectors of the calling thread among `len` elements that a block has.
    ///
    /// Their places are hidden from the optimiser, which would keep them in registers for all rows.
    #[inline(always)]
    pub fn of_thread(lanes: usize, len: u32) -> Self {
        let (thread, threads) = (thread::thread_idx_x(), thread::block_dim_x());
        Self::new(opaque(thread), opaque(threads), lanes, len)
    }

    /// The same vectors, which do not exist unless `exists`.
    #[inline(always)]
    pub fn only_if(self, exists: bool) -> Self {
        Self {
            left: if exists { self.left } else { 0 },
            ..self
        }
    }

    /// Elements of the row or the section.
    #[cfg(feature = "entries")]
    #[inline(always)]
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether any thread of a row has elements in its vector `slot`: the same for all threads of the block.
    #[inline(always)]
    pub fn has(self, slot: usize) -> bool {
        slot as u32 * self.step < self.len
    }

    /// Vector `slot`.
    #[inline(always)]
    pub fn place(self, slot: usize) -> Place {
        let offset = self.first + slot as u32 * self.step;
        Place {
            offset,
            left: self.left as i32 - offset as i32,
        }
    }
}

/// The sections or parts of a row, each in the registers of a block.
#[derive(Clone, Copy)]
pub struct Sections {
    len: usize,
    /// Elements of a section.
    section: usize,
}

impl Sections {
    /// The sections of a row of `len` elements, for the calling block.
    #[inline(always)]
    pub fn new(len: usize) -> Self {
        let section = thread::block_dim_x() as usize * SECTION_VALUES;
        Self { len, section }
    }

    /// The parts of a row of `len` elements, in vectors of `lanes`.
    #[cfg(feature = "entries")]
    #[inline(always)]
    pub fn parts(len: usize, lanes: usize) -> Self {
        let section = part_of(len, lanes);
        Self { len, section }
    }

    /// The number of sections.
    #[inline(always)]
    pub fn count(self) -> usize {
        self.len.div_ceil(self.section)
    }

    /// Where section `number` starts in the row.
    #[inline(always)]
    pub fn start(self, number: usize) -> usize {
        number * self.section
    }

    /// The calling thread's vectors of section `number`.
    #[inline(always)]
    pub fn span(self, number: usize, lanes: usize) -> Span {
        let len = (self.len - self.start(number)).min(self.section);
        Span::of_thread(lanes, len as u32)
    }
}
