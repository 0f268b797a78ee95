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
use super::place::{Sections, Span};
use super::plan::LANES_OF_ROW;
use super::shape::SoftmaxShape;
use super::short::{OfShortRows, ShortRows, run_short};
use super::terms::{Finish, Terms, exponentials, largest_of};
use super::vectors::{Mover, Row, Rows, Values};
use core::ops::Add;
use cuda_std::array;
use cuda_std::float::larger_or_nan;
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
    /// The launch's dynamic shared memory.
    shared: SharedSlice<'launch, T>,
}

impl<'launch, T: RowElement> Softmax<'launch, T> {
    /// # Safety
    /// 1. The requirements of the kernels hold.
    #[inline(always)]
    pub unsafe fn new(
        (x, y): (Global<'launch, T>, GlobalMut<'launch, T>),
        targets: Global<'launch, u32>,
        values: GlobalMut<'launch, f32>,
        shape: &SoftmaxShape,
        shared: SharedSlice<'launch, T>,
    ) -> Self {
        Self {
            // SAFETY: rows of `x` are only read, below.
            x: unsafe { Rows::read(x, y, shape.x_apart) },
            y: Rows::new(y, shape.y_apart),
            targets,
            values,
            shape: *shape,
            shared,
        }
    }

    /// What moves rows that groups of `lanes` lanes have neighbouring vectors of.
    #[inline(always)]
    fn mover(&self, lanes: u32) -> Mover<'launch, T> {
        Mover::new(self.shape.is_staged != 0, self.shared, lanes)
    }

    #[inline(always)]
    fn is_logarithmic(&self) -> bool {
        self.shape.is_logarithmic != 0
    }

    /// Whether rows have neither classes nor values.
    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.targets.is_empty() && self.values.is_empty()
    }

    /// The class of a row, as its thread number `thread` of `threads` sees it.
    ///
    /// # Safety
    /// 1. The row exists, and no thread has written its elements, unless a barrier orders the two.
    #[inline(always)]
    unsafe fn class<const LANES: usize>(&self, row: usize, thread: u32, threads: u32) -> Class {
        // SAFETY: there is a class for each row, and the row exists: the contracts of `new` and the caller.
        unsafe {
            let x = (self.x.row(row), self.shape.len);
            Class::of_row::<T, LANES>((self.targets, row), x, (thread, threads))
        }
    }

    /// Writes the row's value, if there is one, the row exists and the class's thread calls. Returns how the row's
    /// results follow from its largest element and its sum.
    ///
    /// # Safety
    /// 1. The class is the row's own.
    #[inline(always)]
    unsafe fn finish(&self, (row, exists): (usize, bool), terms: Terms, class: Class) -> Finish {
        let finish = if self.is_logarithmic() {
            terms.logarithmic()
        } else {
            terms.scaled(self.shape.scale)
        };
        if self.is_plain() {
            return finish;
        }
        let writes_value = exists && class.is_here && !self.values.is_empty();
        if writes_value {
            let value = class.value(terms);
            // SAFETY: there is a value for each row: the contract of `new`. One thread has the class.
            unsafe { self.values.store(row, value.canonical_nan()) };
        }
        class.applied(finish)
    }

    /// Subtracts the scale from the gradient of the row's class, if the calling thread has it.
    ///
    /// # Safety
    /// 1. The row exists, and the class is its own. The calling thread has stored the results that it has.
    #[inline(always)]
    unsafe fn correct(&self, row: usize, class: Class, finish: Finish) {
        if self.targets.is_empty() || self.y.is_empty() {
            return;
        }
        if let Some(gradient) = class.gradient(finish, self.shape.scale) {
            let [gradient] = T::narrow([gradient]);
            // SAFETY: the element exists. This thread has it: `gradient` is of this thread alone. If another lane
            // stored it, a barrier of the warp came after.
            unsafe { self.y.row(row).store(class.index, gradient) };
        }
    }
}

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

    /// Writes the results of a row, or of a section of it, whose exponentials are in `vectors` slots from `first` on.
    ///
    /// # Safety
    /// 1. All lanes of the warp call it. The span is the calling thread's, of a row that exists if the span has
    ///    elements.
    #[inline(always)]
    unsafe fn write<const SLOTS: usize, const LANES: usize>(
        &self,
        (row, mover): (Row<T>, Mover<T>),
        (values, (first, vectors)): (&Values<SLOTS, LANES>, (usize, usize)),
        span: Span,
        finish: Finish,
    ) {
        if self.y.is_empty() {
            return;
        }
        let mut slot = 0;
        while slot < vectors {
            if span.has(slot) {
                // SAFETY: the row has the vector, which is the thread's own, or of its group if rows are staged: the
                // caller's contract. `has` is the same for all threads.
                unsafe { mover.store(row, span.place(slot), finish.of(&values[first + slot])) };
            }
            slot += 1;
        }
    }

    /// Rows of a block each, in registers.
    ///
    /// # Safety
    /// 1. The requirements of the kernels hold, for rows of a block each.
    /// 2. Only this block uses `scratch`, and for nothing else.
    #[inline(always)]
    pub unsafe fn block<const SLOTS: usize, const LANES: usize>(&self, scratch: [Scratch; 2]) {
        let row = thread::block_idx_x() as usize;
        let (thread, threads) = (thread::thread_idx_x(), thread::block_dim_x());
        let span = Span::new(thread, threads, LANES, self.shape.len as u32);
        let mover = self.mover(LANES_OF_ROW);
        // SAFETY: the span has elements of the row, which exists: there is a block for each. Vectors are whole if all
        // are. Other threads write only their own elements.
        let (mut values, class): (Values<SLOTS, LANES>, _) = unsafe {
            let x = self.x.row(row);
            (
                mover.load(f32::NEG_INFINITY, |slot| (x, span.place(slot))),
                self.class::<LANES>(row, thread, threads),
            )
        };
        let slots = (0, SLOTS);
        let largest = largest_of(&values, slots, span);
        // SAFETY: all threads call it, and each scratch is used once: the caller's contract.
        let largest =
            unsafe { combine::block(largest, f32::NEG_INFINITY, scratch[0], larger_or_nan) };
        let power = (largest, self.is_logarithmic());
        let sum = exponentials(&mut values, slots, span, power);
        // SAFETY: as above.
        let sum = unsafe { combine::block(sum, 0.0, scratch[1], f32::add) };
        // SAFETY: the row exists, and the class and the span are this thread's of it. All threads call it. The results
        // are stored when the class is corrected.
        unsafe {
            let finish = self.finish((row, true), Terms { largest, sum }, class);
            self.write((self.y.row(row), mover), (&values, slots), span, finish);
            self.correct(row, class, finish);
        }
    }

    /// Rows of a block each, section by section.
    ///
    /// # Safety
    /// 1. The requirements of the kernels hold, for long rows.
    /// 2. Only this block uses `scratch`, and for nothing else.
    #[inline(always)]
    pub unsafe fn long<const SLOTS: usize, const LANES: usize>(&self, scratch: [Scratch; 2]) {
        let row = thread::block_idx_x() as usize;
        let (thread, threads) = (thread::thread_idx_x(), thread::block_dim_x());
        let sections = Sections::new(self.shape.len);
        let mover = self.mover(LANES_OF_ROW);
        let staged = if self.shape.is_staged != 0 {
            threads as usize * LANES
        } else {
            0
        };
        let kept = Kept::new(
            self.x.row(row),
            mover,
            (self.shared, staged),
            self.shape.kept,
        );
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
            let largest =
                combine::block(terms.largest, f32::NEG_INFINITY, scratch[0], larger_or_nan);
            let sum = terms.relative_to(largest).sum;
            Terms {
                largest,
                sum: combine::block(sum, 0.0, scratch[1], f32::add),
            }
        };
        // SAFETY: the row exists, and the class is this thread's of it.
        let finish = unsafe { self.finish((row, true), terms, class) };
        if self.y.is_empty() {
            return;
        }
        while number > 0 {
            number -= 1;
            let (start, span) = (sections.start(number), sections.span(number, LANES));
            // SAFETY: the section is one of the row, and was loaded before. All threads call it.
            unsafe {
                let mut values: Values<SLOTS, LANES> = kept.load(f32::NEG_INFINITY, start, span);
                finish.prepare(&mut values, span, self.is_logarithmic());
                let results = self.y.row(row).skip(start);
                self.write((results, mover), (&values, (0, SLOTS)), span, finish);
            }
        }
        // SAFETY: the row exists, the class is its own, and the results are stored.
        unsafe { self.correct(row, class, finish) };
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
                true => unsafe { self.class::<LANES>(row, thread.lane, lanes) },
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
