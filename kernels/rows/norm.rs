//! Normalisation of rows: by the root of the mean square (RMSNorm), or to mean 0 and variance 1 (LayerNorm).
//!
//! ```text
//! x = x + residual, rounded and written          if there is a residual
//! m = the mean of x, or 0                        r = 1 / sqrt(the mean of (x - m)^2 + epsilon)
//! y = ((x - m) r) weight + bias
//! ```
//!
//! Rows in the registers of a block or of a cluster are read once. Others are read again for the mean, the squares and
//! the results, as far as shared memory does not keep them.

mod moves;
mod parts;

use super::ahead::Ahead;
use super::combine::{self, Scratch};
use super::element::RowElement;
use super::kept::Kept;
use super::moments::{exists, squares_of, sum_of};
use super::mover::Mover;
use super::place::{Place, Sections, Span};
use super::plan::LANES_OF_ROW;
use super::shape::NormShape;
use super::short::{OfShortRows, ShortRows, run_short};
use super::vectors::{Row, Rows, Values};
use core::ops::Add;
use cuda_std::array;
use cuda_std::math::rsqrt;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// The operands of a launch.
#[derive(Clone, Copy)]
pub struct Norm<'launch, T> {
    x: Rows<'launch, T>,
    y: Rows<'launch, T>,
    /// Without elements if there is no residual.
    residual: Rows<'launch, T>,
    /// The sums with the residual.
    sums: Rows<'launch, T>,
    /// A factor for each column, or nothing.
    weight: Global<'launch, T>,
    /// A summand for each column, or nothing.
    bias: Global<'launch, T>,
    shape: NormShape,
    /// The launch's dynamic shared memory.
    shared: SharedSlice<'launch, T>,
}

/// What is subtracted from a row's elements, and what the differences are multiplied by.
#[derive(Clone, Copy)]
struct Scale {
    mean: f32,
    factor: f32,
}

/// The operands of a launch, as the kernels have them.
pub struct Operands<'launch, T> {
    pub x: Global<'launch, T>,
    pub residual: Global<'launch, T>,
    pub sums: GlobalMut<'launch, T>,
    pub y: GlobalMut<'launch, T>,
    pub weight: Global<'launch, T>,
    pub bias: Global<'launch, T>,
}

impl<'launch, T: RowElement> Norm<'launch, T> {
    /// # Safety
    /// 1. The requirements of the kernels hold.
    #[inline(always)]
    pub unsafe fn new(
        operands: Operands<'launch, T>,
        shape: &NormShape,
        shared: SharedSlice<'launch, T>,
    ) -> Self {
        let Operands {
            x,
            residual,
            sums,
            y,
            weight,
            bias,
        } = operands;
        Self {
            // SAFETY: rows of `x` and of the residual are only read, below.
            x: unsafe { Rows::read(x, y, shape.x_apart) },
            y: Rows::new(y, shape.y_apart),
            // SAFETY: as above.
            residual: unsafe { Rows::read(residual, sums, shape.residual_apart) },
            sums: Rows::new(sums, shape.sums_apart),
            weight,
            bias,
            shape: *shape,
            shared,
        }
    }

    #[inline(always)]
    fn is_centred(&self) -> bool {
        self.shape.is_centred != 0
    }

    /// What moves rows that groups of `lanes` lanes have neighbouring vectors of.
    #[inline(always)]
    fn mover(&self, lanes: u32) -> Mover<'launch, T> {
        Mover::new(self.shape.is_staged != 0, self.shared, lanes)
    }

    /// The mean of a row, from the sum of its elements.
    #[inline(always)]
    fn mean(&self, sum: f32) -> f32 {
        sum / self.shape.len as f32
    }

    /// What the differences from `mean` are multiplied by, from the sum of their squares.
    #[inline(always)]
    fn scale(&self, mean: f32, squares: f32) -> Scale {
        let factor = rsqrt(self.mean(squares) + self.shape.epsilon);
        Scale { mean, factor }
    }

    /// Rows of up to 1024 elements, of which a lane has at most `MOST` vectors.
    ///
    /// # Safety
    /// 1. The requirements of the kernels hold, for short rows.
    #[inline(always)]
    pub unsafe fn short<const MOST: usize, const LANES: usize>(&self) {
        // SAFETY: the caller's contract.
        unsafe { run_short::<MOST, LANES>(self, (self.shape.len, self.shape.lanes)) };
    }

    /// Rows of a block each, in registers.
    ///
    /// # Safety
    /// 1. The requirements of the kernels hold, for rows of a block each.
    /// 2. Only this block uses `scratch`, and for nothing else.
    #[inline(always)]
    pub unsafe fn block<const SLOTS: usize, const LANES: usize>(&self, scratch: [Scratch; 2]) {
        let row = thread::block_idx_x() as usize;
        let span = Span::of_thread(LANES, self.shape.len as u32);
        let mover = self.mover(LANES_OF_ROW);
        // SAFETY: the row exists: there is a block for each. The span has elements of it. All threads call it, and each
        // scratch is used once.
        unsafe {
            let x = self.x.row(row);
            let values: Values<SLOTS, LANES> = mover.load_own(0.0, |slot| (x, span.place(slot)));
            let values = self.with_residual(values, mover, 0, |slot| (row, span.place(slot)));
            let scale = self.scale_of_block(&values, span, scratch);
            self.write_own((self.y.row(row), 0, mover), &values, span, scale);
        }
    }

    /// Rows of blocks that take several each, in registers: the next row is copied to shared memory meanwhile.
    ///
    /// # Safety
    /// 1. The requirements of the kernels hold, for rows that are copied ahead.
    /// 2. Only this block uses `scratch`, and for nothing else.
    #[inline(always)]
    pub unsafe fn ahead<const SLOTS: usize, const LANES: usize>(&self, scratch: [Scratch; 2]) {
        let span = || Span::of_thread(LANES, self.shape.len as u32);
        let mover = Mover::new(false, self.shared, LANES_OF_ROW);
        let mut ahead = Ahead::new(self.shared);
        let (mut row, apart) = (
            thread::block_idx_x() as usize,
            thread::grid_dim_x() as usize,
        );
        let mut scratch = scratch;
        // SAFETY: the row exists. The span has elements of it, and is the thread's own.
        unsafe { ahead.start::<SLOTS, LANES>(self.x.row(row), span()) };
        while row < self.shape.rows {
            let (next, span) = (row + apart, span());
            let x_of_next = (next < self.shape.rows).then(|| self.x.row(next));
            // SAFETY: as in `block`, of both rows. Each scratch is used again when a barrier has come since.
            unsafe {
                let values: Values<SLOTS, LANES> = ahead.take(0.0, x_of_next, span);
                let values = self.with_residual(values, mover, 0, |slot| (row, span.place(slot)));
                let scale = self.scale_of_block(&values, span, scratch);
                let results = (self.y.row(row), 0, mover);
                self.write(results, (&values, (0, SLOTS)), span, scale);
            }
            if !self.is_centred() {
                // Only the second is used.
                scratch.swap(0, 1);
            }
            row = next;
        }
    }

    /// The scale of a row whose elements are in the registers of the block.
    ///
    /// # Safety
    /// 1. All threads of the block call it, with their own elements. Nothing else uses `scratch`.
    #[inline(always)]
    unsafe fn scale_of_block<const SLOTS: usize, const LANES: usize>(
        &self,
        values: &Values<SLOTS, LANES>,
        span: Span,
        [of_sum, of_squares]: [Scratch; 2],
    ) -> Scale {
        let slots = (0, SLOTS);
        let mut mean = 0.0;
        if self.is_centred() {
            let sum = sum_of(values, slots, span);
            // SAFETY: all threads call it, with scratch of its own: the caller's contract.
            mean = self.mean(unsafe { combine::block(sum, 0.0, of_sum, f32::add) });
        }
        let squares = squares_of(values, slots, span, mean);
        // SAFETY: as above.
        let squares = unsafe { combine::block(squares, 0.0, of_squares, f32::add) };
        self.scale(mean, squares)
    }

    /// The row of a block that takes it piece by piece, with the residual, if there is one.
    #[inline(always)]
    fn kept<const LANES: usize>(&self, row: usize) -> Kept<'_, T> {
        let again = if self.residual.is_empty() {
            self.x
        } else {
            self.sums
        };
        let staged = match self.shape.is_staged {
            0 => 0,
            _ => thread::block_dim_x() as usize * LANES,
        };
        let shared = (self.shared, staged);
        let mover = self.mover(LANES_OF_ROW);
        Kept::new(again.row(row), mover, shared, self.shape.kept)
    }

    /// Rows of a block each, section by section.
    ///
    /// # Safety
    /// 1. The requirements of the kernels hold, for long rows.
    /// 2. Only this block uses `scratch`, and for nothing else.
    #[inline(always)]
    pub unsafe fn long<const SLOTS: usize, const LANES: usize>(&self, scratch: [Scratch; 2]) {
        let row = thread::block_idx_x() as usize;
        let sections = Sections::new(self.shape.len);
        let kept = self.kept::<LANES>(row);
        let mover = kept.mover();
        let (mut sum, mut squares) = (0.0, 0.0);
        let mut number = 0;
        while number < sections.count() {
            let (start, span) = (sections.start(number), sections.span(number, LANES));
            // SAFETY: the section is one of the row, and all threads call it. Shared memory has room for what is kept.
            unsafe {
                let values: Values<SLOTS, LANES> =
                    self.load(mover, start, |slot| (row, span.place(slot)));
                kept.keep(&values, start, span);
                if self.is_centred() {
                    sum += sum_of(&values, (0, SLOTS), span);
                } else {
                    squares += squares_of(&values, (0, SLOTS), span, 0.0);
                }
            }
            number += 1;
        }
        let mut mean = 0.0;
        if self.is_centred() {
            // SAFETY: all threads call it, and each scratch is used once: the caller's contract.
            mean = self.mean(unsafe { combine::block(sum, 0.0, scratch[0], f32::add) });
            // Backwards: the last sections are still in the cache.
            while number > 0 {
                number -= 1;
                let (start, span) = (sections.start(number), sections.span(number, LANES));
                // SAFETY: the section was loaded before, and all threads call it.
                let values: Values<SLOTS, LANES> = unsafe { kept.load(0.0, start, span) };
                squares += squares_of(&values, (0, SLOTS), span, mean);
            }
        }
        // SAFETY: all threads call it, and each scratch is used once: the caller's contract.
        let squares = unsafe { combine::block(squares, 0.0, scratch[1], f32::add) };
        let scale = self.scale(mean, squares);
        let mut written = 0;
        while written < sections.count() {
            // Where the last loop ended.
            let number = if self.is_centred() {
                written
            } else {
                sections.count() - 1 - written
            };
            let (start, span) = (sections.start(number), sections.span(number, LANES));
            let results = self.y.row(row).skip(start);
            // SAFETY: the section was loaded before, and all threads call it.
            unsafe {
                let values: Values<SLOTS, LANES> = kept.load(0.0, start, span);
                self.write((results, start, mover), (&values, (0, SLOTS)), span, scale);
            }
            written += 1;
        }
    }
}

impl<T: RowElement> OfShortRows for Norm<'_, T> {
    #[inline(always)]
    unsafe fn run<const ROWS: usize, const SLOTS: usize, const LANES: usize>(&self) {
        let NormShape {
            rows, len, lanes, ..
        } = self.shape;
        let thread = ShortRows::of_thread(ROWS, (rows, len), lanes);
        let (vectors, mover) = (SLOTS / ROWS, self.mover(lanes));
        // SAFETY: the spans have elements of rows that exist. All threads call it.
        let values: Values<SLOTS, LANES> = unsafe {
            self.load(mover, 0, |slot| {
                let (number, slot) = (slot / vectors, slot % vectors);
                let row = thread.row_or_first(number);
                (row, thread.span(number, LANES).place(slot))
            })
        };
        let of_row = |number| {
            let slots = (number * vectors, vectors);
            (slots, thread.span(number, LANES))
        };
        let mut means = [0.0; ROWS];
        if self.is_centred() {
            let sums = array::from_fn(|number| {
                let (slots, span) = of_row(number);
                sum_of(&values, slots, span)
            });
            means = combine::lanes_of_rows(sums, lanes, f32::add).map(|sum| self.mean(sum));
        }
        let squares: [f32; ROWS] = array::from_fn(|number| {
            let (slots, span) = of_row(number);
            squares_of(&values, slots, span, means[number])
        });
        let squares = combine::lanes_of_rows(squares, lanes, f32::add);
        let mut number = 0;
        while number < ROWS {
            let (slots, span) = of_row(number);
            let scale = self.scale(means[number], squares[number]);
            let row = self.y.row(thread.row_or_first(number));
            // SAFETY: all threads call it. The span has elements only if the row exists.
            unsafe { self.write((row, 0, mover), (&values, slots), span, scale) };
            number += 1;
        }
    }
}
