//! Rows of up to 1024 elements, each of some lanes of a warp.

use super::{
    Class, RowElement, Softmax, SoftmaxShape, Terms, Values, combine, exponentials, largest_of,
};
use crate::rows::short::{OfShortRows, ShortRows, run_short};
use core::ops::Add;
use cuda_std::array;
use cuda_std::float::larger_or_nan;

impl<T: RowElement> Softmax<'_, T> {
    /// Rows of up to 1024 elements, of which a lane has at most `MOST` vectors.
    ///
    /// # Safety
    /// 1. The requirements of the kernels hold, for short rows.
    #[inline(always)]
    pub unsafe fn short<const MOST: usize, const LANES: usize>(&self) {
        // SAFETY: the caller's contract.
        unsafe { run_short::<MOST, LANES>(self, (self.shape.len, self.shape.lanes)) };
    }
}

impl<T: RowElement> OfShortRows for Softmax<'_, T> {
    #[inline(always)]
    unsafe fn run<const ROWS: usize, const SLOTS: usize, const LANES: usize>(&self) {
        let SoftmaxShape {
            rows, len, lanes, ..
        } = self.shape;
        let thread = ShortRows::of_thread(ROWS, (rows, len), lanes);
        let (vectors, mover) = (SLOTS / ROWS, self.mover(lanes));
        // SAFETY: the spans have elements of rows that exist. Each has one thread, and vectors are whole if all are.
        let mut values: Values<SLOTS, LANES> = unsafe {
            mover.load(f32::NEG_INFINITY, |slot| {
                let (number, slot) = (slot / vectors, slot % vectors);
                let row = self.x.row(thread.row_or_first(number));
                (row, thread.span(number, LANES).place(slot))
            })
        };
        let of_row = |number| {
            let slots = (number * vectors, vectors);
            (slots, thread.span(number, LANES))
        };
        let largest: [f32; ROWS] = array::from_fn(|number| {
            let (slots, span) = of_row(number);
            largest_of(&values, slots, span)
        });
        let largest = combine::lanes_of_rows(largest, lanes, larger_or_nan);
        let sums: [f32; ROWS] = array::from_fn(|number| {
            let (slots, span) = of_row(number);
            let power = (largest[number], self.is_logarithmic());
            exponentials(&mut values, slots, span, power)
        });
        let sums = combine::lanes_of_rows(sums, lanes, f32::add);
        let mut number = 0;
        while number < ROWS {
            let (row, (slots, span)) = (thread.row(number), of_row(number));
            let class = match thread.has(number) && !self.is_plain() {
                // SAFETY: the row exists, and only its threads write its elements, below.
                true => unsafe {
                    let has = |index: usize| (index / LANES) as u32 & (lanes - 1) == thread.lane;
                    self.class(row, thread.lane == 0, has)
                },
                false => Class::NONE,
            };
            let terms = Terms {
                largest: largest[number],
                sum: sums[number],
            };
            let exists = thread.has(number);
            // SAFETY: the class and the span are this thread's of the row, and the slots have its exponentials.
            let finish = unsafe { self.finish((row, exists), terms, class) };
            let results = self.y.row(if exists { row } else { 0 });
            // SAFETY: all lanes call it. The span has elements only if the row exists.
            unsafe { self.write((results, mover), (&values, slots), span, finish) };
            if exists {
                // SAFETY: the row exists, the class is its own, and its results are stored.
                unsafe { self.correct(row, class, finish) };
            }
            number += 1;
        }
    }
}
