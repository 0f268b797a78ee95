//! Rows of a block that takes several: the next one is copied to shared memory while the block computes.

use super::element::RowElement;
use super::place::Span;
use super::vectors::{Row, Values};
use cuda_std::array;
use cuda_std::pipeline::Pipeline;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// The copies of a thread's own vectors of the next row.
///
/// A thread copies and reads its own vectors alone, so no barrier is needed.
pub struct Ahead<'block, T> {
    /// A row.
    buffer: SharedSlice<'block, T>,
    pipeline: Pipeline<1>,
}

impl<'block, T: RowElement> Ahead<'block, T> {
    /// Rows are copied to `buffer`.
    #[inline(always)]
    pub fn new(buffer: SharedSlice<'block, T>) -> Self {
        Self {
            buffer,
            pipeline: Pipeline::new(),
        }
    }

    /// Starts to copy the calling thread's vectors of `row`.
    ///
    /// # Safety
    /// 1. The row has the span's elements, which no thread writes until they are taken. The buffer has room for them.
    /// 2. They are whole vectors at multiples of 16 bytes. Those copied before were taken.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn start<const SLOTS: usize, const LANES: usize>(
        &mut self,
        row: Row<'_, T>,
        span: Span,
    ) {
        let mut slot = 0;
        while slot < SLOTS {
            let place = span.place(slot);
            if place.exists() {
                let at = place.offset as usize;
                let to = (self.buffer, at);
                // SAFETY: both have the vector, aligned, which no other thread touches: the caller's contract.
                unsafe { row.copy_vector::<LANES>(at, &mut self.pipeline, to) };
            }
            slot += 1;
        }
        self.pipeline.commit();
    }

    /// The calling thread's vectors of the row that was started, with `padding` for elements that do not exist. Starts
    /// to copy `next`, if there is one.
    ///
    /// # Safety
    /// 1. A row was [started](Self::start), with the same span.
    /// 2. Those of [`start`](Self::start), for the next row.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn take<const SLOTS: usize, const LANES: usize>(
        &mut self,
        padding: f32,
        next: Option<Row<'_, T>>,
        span: Span,
    ) -> Values<SLOTS, LANES> {
        self.pipeline.wait_prior::<0>();
        let values = array::from_fn(|slot| {
            let place = span.place(slot);
            if !place.exists() {
                return [padding; LANES];
            }
            // SAFETY: the thread has copied the vector, and waited.
            let vector: [T; LANES] = unsafe { self.buffer.load_vector(place.offset as usize) };
            array::from_fn(|lane| vector[lane].widen())
        });
        if let Some(next) = next {
            // SAFETY: the caller's contract. The vectors have been read.
            unsafe { self.start::<SLOTS, LANES>(next, span) };
        }
        values
    }
}
