//! Softmax, its logarithm, the logarithm of the sum, and cross entropy.
//!
//! ```text
//! m = the largest element        s = the sum of e^(x - m)
//! softmax:   e^(x - m) / s       logarithm:  x - m - ln s
//! logsumexp: m + ln s            cross entropy of class t: ln s - (x[t] - m)
//! gradient of cross entropy: softmax, less 1 at t
//! ```
//!
//! Rows in registers are read once: the exponentials replace the elements. Long rows take the online form (Milakov and
//! Gimelshein, Online Normalizer Calculation for Softmax, 2018): each thread keeps the largest element so far and the
//! sum relative to it. What fits is kept in shared memory, and the rest is read again, last section first, because
//! the last ones are still in the L2 cache.

use super::class::Class;
use super::combine::{self, Scratch};
use super::element::RowElement;
use super::kept::Kept;
use super::place::{Sections, ShortRows, Span};
use super::shape::SoftmaxShape;
use super::terms::{Finish, Terms, exponentials, largest_of};
use super::vectors::{Rows, Values};
use core::ops::Add;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// The operands of a launch.
#[derive(Clone, Copy)]
pub struct Softmax<'launch, T> {
    x: Rows<'launch, T>,
    /// Without elements if only values are wanted.
    y: Rows<'launch, T>,
    targets: Global<'launch, u32>,
    values: GlobalMut<'launch, f32>,
    shape: SoftmaxShape,
}

impl<'launch, T: RowElement> Softmax<'launch, T> {
    /// # Safety
    /// 1. The requirements of the kernels hold.
    #[inline(always)]
    pub unsafe fn new<const LANES: usize>(
        x: Global<'launch, T>,
        y: GlobalMut<'launch, T>,
        targets: Global<'launch, u32>,
        values: GlobalMut<'launch, f32>,
        shape: &SoftmaxShape,
    ) -> Self {
        // SAFETY: rows of `x` are only read, below.
        let x = unsafe { Rows::read(x, y) };
        Self {
            x: Rows::new(x, shape.x_apart, shape.len, LANES),
            y: Rows::new(y, shape.y_apart, shape.len, LANES),
            targets,
            values,
            shape: *shape,
        }
    }

    /// Whether the lanes of a short row have one vector each.
    #[inline(always)]
    pub fn has_one_vector<const LANES: usize>(&self) -> bool {
        self.shape.len <= self.shape.lanes as usize * LANES
    }

    #[inline(always)]
    fn is_logarithmic(&self) -> bool {
        self.shape.is_logarithmic != 0
    }

    /// The class of a row, as its thread number `thread` of `threads` sees it.
    ///
    /// # Safety
    /// 1. The row exists, and no thread has written its elements, unless a barrier orders the two.
    #[inline(always)]
    #[track_caller]
    unsafe fn class<const LANES: usize>(&self, row: usize, thread: u32, threads: u32) -> Class {
        // SAFETY: there is a class for each row, and the row exists: the contracts of `new` and the caller.
        unsafe {
            let x = (self.x.elements, row * self.x.apart, self.shape.len);
            Class::of_row::<T, LANES>((self.targets, row), x, (thread, threads))
        }
    }

    /// Writes the row's value, if there is one and the class's thread calls. Returns how the row's results follow from
    /// its largest element and its sum.
    ///
    /// # Safety
    /// 1. The row exists, and the class is its own.
    #[inline(always)]
    #[track_caller]
    unsafe fn finish(&self, row: usize, terms: Terms, class: Class) -> Finish {
        let writes_value = class.is_here && !self.values.is_empty();
        if writes_value {
            let value = class.value(terms);
            // SAFETY: there is a value for each row: the contract of `new`. One thread has the class.
            unsafe { self.values.store(row, value.canonical_nan()) };
        }
        let finish = if self.is_logarithmic() {
            terms.logarithmic()
        } else {
            terms.scaled(self.shape.scale)
        };
        class.applied(finish)
    }

    /// Subtracts the scale from the gradient of the row's class, if the calling thread has it.
    ///
    /// # Safety
    /// 1. The row exists, and the class is its own. The calling thread has stored the results that it has.
    #[inline(always)]
    #[track_caller]
    unsafe fn correct(&self, row: usize, class: Class, finish: Finish) {
        if let Some(gradient) = class.gradient(finish, self.shape.scale) {
            let [gradient] = T::narrow([gradient]);
            // SAFETY: the element exists, and this thread has it: `gradient` is of this thread alone.
            unsafe {
                self.y
                    .elements
                    .store(row * self.y.apart + class.index, gradient)
            };
        }
    }
}

impl<T: RowElement> Softmax<'_, T> {
    /// Rows of up to 1024 elements: `ROWS` rows for each group of lanes, `SLOTS / ROWS` vectors of each.
    ///
    /// # Safety
    /// 1. The requirements of the kernels hold, for short rows with as many vectors.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn short<const ROWS: usize, const SLOTS: usize, const LANES: usize>(&self) {
        let SoftmaxShape {
            rows, len, lanes, ..
        } = self.shape;
        let thread = ShortRows::of_thread(ROWS, (rows, len), lanes);
        let vectors = SLOTS / ROWS;
        // SAFETY: the spans have elements of rows that exist. Each has one thread, and vectors are whole if all are.
        let mut values: Values<SLOTS, LANES> = unsafe {
            self.x.load(f32::NEG_INFINITY, |slot| {
                let (number, slot) = (slot / vectors, slot % vectors);
                let start = thread.row(number) * self.x.apart;
                thread.span(number, LANES).place(start, slot, LANES)
            })
        };
        let mut number = 0;
        while number < ROWS {
            let (row, span) = (thread.row(number), thread.span(number, LANES));
            let class = match thread.has(number) {
                // SAFETY: the row exists, and only its threads write its elements, later.
                true => unsafe { self.class::<LANES>(row, thread.lane, lanes) },
                false => Class::NONE,
            };
            let slots = (number * vectors, vectors);
            let largest = combine::lanes(largest_of(&values, slots, span), lanes, f32::max);
            let power = (largest, self.is_logarithmic());
            let sum = exponentials(&mut values, slots, span, power);
            let terms = Terms {
                largest,
                sum: combine::lanes(sum, lanes, f32::add),
            };
            if thread.has(number) {
                // SAFETY: the row exists, and the class is its own. The slots have its exponentials.
                unsafe { self.write(row, (&values, slots.0), span, (terms, class)) };
            }
            number += 1;
        }
    }

    /// Writes the value and the results of a row in registers, whose vectors are those from slot `first` on.
    ///
    /// # Safety
    /// 1. The row exists, and the class and the span are the calling thread's of this row.
    #[inline(always)]
    #[track_caller]
    unsafe fn write<const SLOTS: usize, const LANES: usize>(
        &self,
        row: usize,
        (values, first): (&Values<SLOTS, LANES>, usize),
        span: Span,
        (terms, class): (Terms, Class),
    ) {
        // SAFETY: the row exists, and the class is its own: the caller's contract.
        let finish = unsafe { self.finish(row, terms, class) };
        if self.y.elements.is_empty() {
            return;
        }
        let mut slot = first;
        while slot < SLOTS {
            if span.has(slot - first) {
                let place = span.place(row * self.y.apart, slot - first, LANES);
                // SAFETY: the row has the vector, which is the thread's own: the caller's contract.
                unsafe { self.y.store(place, finish.of(&values[slot])) };
            }
            slot += 1;
        }
        // SAFETY: the row exists, the class is its own, and the results are stored.
        unsafe { self.correct(row, class, finish) };
    }

    /// Rows of a block each, in registers.
    ///
    /// # Safety
    /// 1. The requirements of the kernels hold, for rows of a block each.
    /// 2. Only this block uses `scratch`, and for nothing else.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn block<const SLOTS: usize, const LANES: usize>(&self, scratch: [Scratch; 2]) {
        let row = thread::block_idx_x() as usize;
        let (thread, threads) = (thread::thread_idx_x(), thread::block_dim_x());
        let span = Span::new(thread, threads, LANES, self.shape.len as u32);
        // SAFETY: the span has elements of the row, which exists: there is a block for each. Vectors are whole if all
        // are. Other threads write only their own elements.
        let (mut values, class): (Values<SLOTS, LANES>, _) = unsafe {
            let start = row * self.x.apart;
            (
                self.x
                    .load(f32::NEG_INFINITY, |slot| span.place(start, slot, LANES)),
                self.class::<LANES>(row, thread, threads),
            )
        };
        let slots = (0, SLOTS);
        let largest = largest_of(&values, slots, span);
        // SAFETY: all threads call it, and each scratch is used once: the caller's contract.
        let largest = unsafe { combine::block(largest, f32::NEG_INFINITY, scratch[0], f32::max) };
        let power = (largest, self.is_logarithmic());
        let sum = exponentials(&mut values, slots, span, power);
        // SAFETY: as above.
        let sum = unsafe { combine::block(sum, 0.0, scratch[1], f32::add) };
        // SAFETY: the row exists, and the class and the span are this thread's of it.
        unsafe { self.write(row, (&values, 0), span, (Terms { largest, sum }, class)) };
    }

    /// Rows of a block each, section by section.
    ///
    /// # Safety
    /// 1. The requirements of the kernels hold, for long rows.
    /// 2. Only this block uses `scratch` and `kept`, and for nothing else. `kept` has the shape's elements.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn long<const SLOTS: usize, const LANES: usize>(
        &self,
        scratch: [Scratch; 2],
        kept: SharedSlice<T>,
    ) {
        let row = thread::block_idx_x() as usize;
        let (thread, threads) = (thread::thread_idx_x(), thread::block_dim_x());
        let sections = Sections::new(self.shape.len);
        let kept = Kept::new(self.x, row, kept, self.shape.kept);
        // SAFETY: the row exists: there is a block for each. Other threads write only their own elements.
        let class = unsafe { self.class::<LANES>(row, thread, threads) };
        let mut terms = Terms::NONE;
        let mut number = 0;
        while number < sections.count() {
            let (start, span) = (sections.start(number), sections.span(number, LANES));
            // SAFETY: the section is one of the row, and this is its first load.
            let mut values: Values<SLOTS, LANES> =
                unsafe { kept.first_load(f32::NEG_INFINITY, start, span) };
            terms = terms.with(&mut values, span);
            number += 1;
        }
        // SAFETY: all threads call it, and each scratch is used once: the caller's contract.
        let terms = unsafe {
            let largest = combine::block(terms.largest, f32::NEG_INFINITY, scratch[0], f32::max);
            let sum = terms.relative_to(largest).sum;
            Terms {
                largest,
                sum: combine::block(sum, 0.0, scratch[1], f32::add),
            }
        };
        // SAFETY: the row exists, and the class is this thread's of it.
        let finish = unsafe { self.finish(row, terms, class) };
        if self.y.elements.is_empty() {
            return;
        }
        while number > 0 {
            number -= 1;
            let (start, span) = (sections.start(number), sections.span(number, LANES));
            // SAFETY: the section is one of the row, and was loaded before. Each vector is this thread's own.
            unsafe {
                let values: Values<SLOTS, LANES> = kept.load(f32::NEG_INFINITY, start, span);
                let mut slot = 0;
                while slot < SLOTS {
                    if span.has(slot) {
                        let results = finish.of_elements(&values[slot], self.is_logarithmic());
                        let place = span.place(row * self.y.apart + start, slot, LANES);
                        self.y.store(place, results);
                    }
                    slot += 1;
                }
            }
        }
        // SAFETY: the row exists, the class is its own, and the results are stored.
        unsafe { self.correct(row, class, finish) };
    }
}
