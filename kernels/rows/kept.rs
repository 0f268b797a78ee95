//! The sections or parts of a row that one block takes: what fits is kept in shared memory, and the rest is loaded
//! again.

use super::element::RowElement;
use super::mover::Mover;
use super::place::Span;
use super::vectors::{Row, Values};
use cuda_std::array;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// A row whose first `elements` elements, whole sections or parts, are kept once they have been loaded.
///
/// A thread keeps and loads its own vectors alone, so no barrier is needed.
#[derive(Clone, Copy)]
pub struct Kept<'a, T> {
    row: Row<'a, T>,
    mover: Mover<'a, T>,
    shared: SharedSlice<'a, T>,
    /// Where the elements start in the shared memory.
    first: usize,
    elements: usize,
}

impl<'a, T: RowElement> Kept<'a, T> {
    /// `row`, of which `shared` keeps `elements` elements from its element `first` on.
    #[inline(always)]
    pub fn new(
        row: Row<'a, T>,
        mover: Mover<'a, T>,
        (shared, first): (SharedSlice<'a, T>, usize),
        elements: u32,
    ) -> Self {
        let elements = elements as usize;
        Self {
            row,
            mover,
            shared,
            first,
            elements,
        }
    }

    /// What moves the row.
    #[cfg(feature = "entries")]
    #[inline(always)]
    pub fn mover(self) -> Mover<'a, T> {
        self.mover
    }

    /// Loads a section, and keeps it if it is one of the first.
    ///
    /// # Safety
    /// 1. The row has the section, from `start` on, and the span is the thread's own. No other thread writes it.
    /// 2. The shared memory has room for all vectors of sections that start before `elements`.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn first_load<const SLOTS: usize, const LANES: usize>(
        self,
        padding: f32,
        start: usize,
        span: Span,
    ) -> Values<SLOTS, LANES> {
        // SAFETY: the row has the section: the caller's contract.
        let values: Values<SLOTS, LANES> = unsafe { self.load_from_row(padding, start, span) };
        // SAFETY: there is room: the caller's contract.
        unsafe { self.keep(&values, start, span) };
        values
    }

    /// Keeps the values of a section if it is one of the first.
    ///
    /// # Safety
    /// 1. As for [`first_load`](Self::first_load).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn keep<const SLOTS: usize, const LANES: usize>(
        self,
        values: &Values<SLOTS, LANES>,
        start: usize,
        span: Span,
    ) {
        if start >= self.elements {
            return;
        }
        let mut slot = 0;
        while slot < SLOTS {
            let place = span.place(slot);
            if place.exists() {
                let vector = T::narrow(values[slot]);
                let at = self.first + start + place.offset as usize;
                // SAFETY: there is room for the section's vectors: the caller's contract. This one is the thread's
                // own. Sections, steps and firsts are whole vectors.
                unsafe { self.shared.store_vector(at, vector) };
            }
            slot += 1;
        }
    }

    /// Loads a section that was loaded before.
    ///
    /// # Safety
    /// 1. The section was loaded by [`first_load`](Self::first_load), by this thread with the same span and padding.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load<const SLOTS: usize, const LANES: usize>(
        self,
        padding: f32,
        start: usize,
        span: Span,
    ) -> Values<SLOTS, LANES> {
        if start >= self.elements {
            // SAFETY: the row has the section: it was loaded before.
            return unsafe { self.load_from_row(padding, start, span) };
        }
        array::from_fn(|slot| {
            let place = span.place(slot);
            if !place.exists() {
                return [padding; LANES];
            }
            let at = self.first + start + place.offset as usize;
            // SAFETY: this thread kept the vector: the caller's contract.
            let vector: [T; LANES] = unsafe { self.shared.load_vector(at) };
            array::from_fn(|lane| vector[lane].widen())
        })
    }

    /// # Safety
    /// 1. The row has the section, and the span is the thread's own. No other thread writes its elements.
    #[inline(always)]
    #[track_caller]
    unsafe fn load_from_row<const SLOTS: usize, const LANES: usize>(
        self,
        padding: f32,
        start: usize,
        span: Span,
    ) -> Values<SLOTS, LANES> {
        let row = self.row.skip(start);
        // SAFETY: the elements exist, and no other thread writes them: the caller's contract. If the row is not
        // staged, its vectors are whole in each section.
        unsafe { self.mover.load(padding, |slot| (row, span.place(slot))) }
    }
}
