//! Softmax, its logarithm, the logarithm of the sum, and cross entropy.
//!
//! ```text
//! m = the largest element        s = the sum of e^(x - m)
//! softmax:   e^(x - m) / s       logarithm:  x - m - ln s
//! logsumexp: m + ln s            cross entropy of class t: ln s - (x[t] - m)
//! gradient of cross entropy: softmax, less 1 at t
//! ```
//!
//! Rows in registers are read once: the exponentials replace the elements. So it is with rows in the registers of a
//! cluster, whose exponentials are relative to the largest element of their block; at the end, the blocks exchange these
//! elements and their sums, and each result is multiplied by a power for its block.
//!
//! Long rows take the online form (Milakov and Gimelshein, Online Normalizer Calculation for Softmax, 2018): each thread
//! keeps the largest element so far and the sum relative to it. What fits is kept in shared memory, and the rest is read
//! again, last section first, because the last ones are still in the L2 cache.

mod parts;
mod short;

use super::ahead::Ahead;
use super::class::Class;
use super::combine::{self, Scratch};
use super::element::RowElement;
use super::kept::Kept;
use super::mover::Mover;
use super::parts::owner;
use super::place::{Sections, Span};
use super::plan::LANES_OF_ROW;
use super::shape::SoftmaxShape;
use super::terms::{Finish, Terms, exponentials, largest_of};
use super::vectors::{Row, Rows, Values};
use core::ops::Add;
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

    /// The class of a row, as its first thread or another one sees it, which has the elements of which `has` is true.
    ///
    /// # Safety
    /// 1. The row exists, and no thread has written its elements, unless a barrier orders the two.
    #[inline(always)]
    unsafe fn class(&self, row: usize, is_first: bool, has: impl FnOnce(usize) -> bool) -> Class {
        // SAFETY: there is a class for each row, and the row exists: the contracts of `new` and the caller.
        unsafe {
            let x = (self.x.row(row), self.shape.len);
            Class::of_row((self.targets, row), x, (is_first, has))
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

    /// How the results of a part of a row follow, from `finish` of the row.
    #[inline(always)]
    fn finish_part(&self, finish: Finish, row: Terms, part: Terms) -> Finish {
        if self.is_logarithmic() {
            finish.of_part_of_logarithms(part)
        } else {
            finish.of_part(row, part)
        }
    }

    /// Replaces the elements of a row, or of a part of one, by exponentials. Returns the largest element and the sum.
    ///
    /// # Safety
    /// 1. All threads of the block call it, with their own elements. Nothing else uses `scratch`.
    #[inline(always)]
    unsafe fn exponentials<const SLOTS: usize, const LANES: usize>(
        &self,
        values: &mut Values<SLOTS, LANES>,
        span: Span,
        scratch: [Scratch; 2],
    ) -> Terms {
        let slots = (0, SLOTS);
        let largest = largest_of(values, slots, span);
        // SAFETY: all threads call it, with scratch of its own: the caller's contract.
        let largest =
            unsafe { combine::block(largest, f32::NEG_INFINITY, scratch[0], larger_or_nan) };
        let sum = exponentials(values, slots, span, (largest, self.is_logarithmic()));
        // SAFETY: as above.
        let sum = unsafe { combine::block(sum, 0.0, scratch[1], f32::add) };
        Terms { largest, sum }
    }

    /// Writes the results of a row, or of a part of one, that the block has in registers.
    ///
    /// # Safety
    /// 1. All threads of the block call it. The span is the calling thread's, of `len` elements.
    #[inline(always)]
    unsafe fn write_own<const SLOTS: usize, const LANES: usize>(
        &self,
        (row, mover): (Row<T>, Mover<T>),
        values: &Values<SLOTS, LANES>,
        span: Span,
        finish: Finish,
    ) {
        if self.shape.has_room == 0 {
            // SAFETY: the caller's contract.
            unsafe { self.write((row, mover), (values, (0, SLOTS)), span, finish) };
            return;
        }
        if self.y.is_empty() {
            return;
        }
        let mut slot = 0;
        while slot < SLOTS {
            // SAFETY: shared memory has room for what the block has in registers: the requirements of the kernels.
            unsafe { mover.put(span.place(slot), finish.of(&values[slot])) };
            slot += 1;
        }
        // SAFETY: the row has the span's elements, which are the block's. All threads call it: the caller's contract.
        unsafe { mover.unload::<LANES>(row, span.len()) };
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
        let (thread, row) = (thread::thread_idx_x(), thread::block_idx_x() as usize);
        let span = Span::of_thread(LANES, self.shape.len as u32);
        let mover = self.mover(LANES_OF_ROW);
        // SAFETY: the row exists: there is a block for each. The span has elements of it, and vectors are whole if all
        // are. Other threads write only their own elements. All threads call it, and each scratch is used once.
        unsafe {
            let x = self.x.row(row);
            let mut values: Values<SLOTS, LANES> =
                mover.load_own(f32::NEG_INFINITY, |slot| (x, span.place(slot)));
            let class = self.class(row, thread == 0, |index| owner(index, LANES) == thread);
            let terms = self.exponentials(&mut values, span, scratch);
            let finish = self.finish((row, true), terms, class);
            self.write_own((self.y.row(row), mover), &values, span, finish);
            self.correct(row, class, finish);
        }
    }

    /// Rows of blocks that take several each, in registers: the next row is copied to shared memory meanwhile.
    ///
    /// # Safety
    /// 1. The requirements of the kernels hold, for rows that are copied ahead.
    /// 2. Only this block uses `scratch`, and for nothing else.
    #[inline(always)]
    pub unsafe fn ahead<const SLOTS: usize, const LANES: usize>(&self, scratch: [Scratch; 2]) {
        let thread = thread::thread_idx_x();
        let span = || Span::of_thread(LANES, self.shape.len as u32);
        let mover = Mover::new(false, self.shared, LANES_OF_ROW);
        let mut ahead = Ahead::new(self.shared);
        let (mut row, apart) = (
            thread::block_idx_x() as usize,
            thread::grid_dim_x() as usize,
        );
        // SAFETY: the row exists. The span has elements of it, and is the thread's own.
        unsafe { ahead.start::<SLOTS, LANES>(self.x.row(row), span()) };
        while row < self.shape.rows {
            let (next, span) = (row + apart, span());
            let x_of_next = (next < self.shape.rows).then(|| self.x.row(next));
            // SAFETY: as in `block`, of both rows. Each scratch is used again when a barrier has come since.
            unsafe {
                let mut values: Values<SLOTS, LANES> =
                    ahead.take(f32::NEG_INFINITY, x_of_next, span);
                let class = self.class(row, thread == 0, |index| owner(index, LANES) == thread);
                let terms = self.exponentials(&mut values, span, scratch);
                let finish = self.finish((row, true), terms, class);
                let results = (self.y.row(row), mover);
                self.write(results, (&values, (0, SLOTS)), span, finish);
                self.correct(row, class, finish);
            }
            row = next;
        }
    }

    /// The row of a block that takes it piece by piece.
    #[inline(always)]
    fn kept<const LANES: usize>(&self, row: usize) -> Kept<'_, T> {
        let staged = match self.shape.is_staged {
            0 => 0,
            _ => thread::block_dim_x() as usize * LANES,
        };
        let shared = (self.shared, staged);
        let mover = self.mover(LANES_OF_ROW);
        Kept::new(self.x.row(row), mover, shared, self.shape.kept)
    }

    /// Rows of a block each, section by section.
    ///
    /// # Safety
    /// 1. The requirements of the kernels hold, for long rows.
    /// 2. Only this block uses `scratch`, and for nothing else.
    #[inline(always)]
    pub unsafe fn long<const SLOTS: usize, const LANES: usize>(&self, scratch: [Scratch; 2]) {
        let row = thread::block_idx_x() as usize;
        let thread = thread::thread_idx_x();
        let sections = Sections::new(self.shape.len);
        let kept = self.kept::<LANES>(row);
        // SAFETY: the row exists: there is a block for each. Other threads write only their own elements.
        let class = unsafe { self.class(row, thread == 0, |index| owner(index, LANES) == thread) };
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
                let results = (results, kept.mover());
                self.write(results, (&values, (0, SLOTS)), span, finish);
            }
        }
        // SAFETY: the row exists, the class is its own, and the results are stored.
        unsafe { self.correct(row, class, finish) };
    }
}
