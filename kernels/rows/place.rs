//! Which vectors of a row, or of a section of one, a thread has.

use super::plan::SECTION_VALUES;
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

    /// The same vectors, which do not exist unless `exists`.
    #[inline(always)]
    pub fn only_if(self, exists: bool) -> Self {
        Self {
            left: if exists { self.left } else { 0 },
            ..self
        }
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
        thread::block_dim_x() as usize * SECTION_VALUES
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
    ///
    /// Their places are hidden from the optimiser, which would keep them in registers for all sections.
    #[inline(always)]
    pub fn span(self, number: usize, lanes: usize) -> Span {
        let len = (self.len - self.start(number)).min(Self::section());
        let (thread, threads) = (thread::thread_idx_x(), thread::block_dim_x());
        Span::new(opaque(thread), opaque(threads), lanes, len as u32)
    }
}
