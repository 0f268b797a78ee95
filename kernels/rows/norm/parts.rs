//! Rows of parts: of a cluster each, or of a block that takes one part after another, with the same bits.

use super::{Norm, RowElement, Scratch, Values, combine, squares_of, sum_of};
use crate::rows::parts::{OfParts, Parts};
use crate::rows::place::Span;
use crate::rows::plan::{LANES_OF_ROW, PARTS};
use core::ops::Add;
use cuda_std::array;
use cuda_std::prelude::*;

impl<T: RowElement> Norm<'_, T> {
    /// Rows of a cluster each, in registers: every block has a part.
    ///
    /// # Safety
    /// 1. The requirements of the kernels hold, for rows of a cluster each.
    /// 2. Only this block uses `scratch`, and for nothing else, and only the cluster `of_parts`.
    #[inline(always)]
    pub unsafe fn cluster<const SLOTS: usize, const LANES: usize>(
        &self,
        scratch: [Scratch; 2],
        of_parts: [SharedArray<f32, PARTS>; 2],
    ) {
        let parts = Parts::<true>::of_block(self.shape.len, LANES);
        let (row, (number, _)) = (parts.row, parts.numbers());
        let (start, span) = (parts.start(number), parts.span(number, LANES));
        let mover = self.mover(LANES_OF_ROW);
        // SAFETY: the span has elements of the row, which exists: there is a cluster for each. All threads call it.
        let values: Values<SLOTS, LANES> = unsafe {
            let x = self.x.row(row).skip(start);
            let values = mover.load_own(0.0, |slot| (x, span.place(slot)));
            self.with_residual(values, mover, start, |slot| (row, span.place(slot)))
        };
        let of_parts = of_parts.map(OfParts::<_, true>);
        // From here on, all blocks have started.
        of_parts[0].meet();
        let slots = (0, SLOTS);
        let mut mean = 0.0;
        if self.is_centred() {
            let sum = sum_of(&values, slots, span);
            // SAFETY: all threads call it, and each scratch is used once: the caller's contract. All blocks have
            // started, and meet again.
            unsafe {
                let sum = combine::block(sum, 0.0, scratch[0], f32::add);
                of_parts[0].store(number, sum);
                of_parts[0].meet();
                mean = self.mean(of_parts[0].combined(f32::add));
            }
        }
        let squares = squares_of(&values, slots, span, mean);
        // SAFETY: as above. The row exists.
        unsafe {
            let squares = combine::block(squares, 0.0, scratch[1], f32::add);
            of_parts[1].store(number, squares);
            of_parts[1].meet();
            let scale = self.scale(mean, of_parts[1].combined(f32::add));
            self.write_own((self.y.row(row), start, mover), &values, span, scale);
        }
    }

    /// Rows of a block each, part by part, with the bits of a cluster.
    ///
    /// # Safety
    /// 1. The requirements of the kernels hold, for rows of parts.
    /// 2. Only this block uses `scratch` and `of_parts`, and for nothing else.
    #[inline(always)]
    pub unsafe fn parts<const SLOTS: usize, const LANES: usize>(
        &self,
        scratch: [Scratch; 2],
        of_parts: [SharedArray<f32, PARTS>; 2],
    ) {
        let parts = Parts::<false>::of_block(self.shape.len, LANES);
        let (row, (_, count)) = (parts.row, parts.numbers());
        let kept = self.kept::<LANES>(row);
        let of_parts = of_parts.map(OfParts::<_, false>);
        let slots = (0, SLOTS);
        let [mut of_part, mut other] = scratch;
        let mut number = 0;
        while number < count {
            let (start, span) = (parts.start(number), parts.span(number, LANES));
            // SAFETY: the part is one of the row, and all threads call it. Shared memory has room for what is kept. A
            // scratch is used again when a barrier has come since.
            unsafe {
                let places = |slot| (row, span.place(slot));
                let values: Values<SLOTS, LANES> = self.load(kept.mover(), start, places);
                let values = padded(values, span);
                kept.keep(&values, start, span);
                let (value, of_parts) = match self.is_centred() {
                    true => (sum_of(&values, slots, span), of_parts[0]),
                    false => (squares_of(&values, slots, span, 0.0), of_parts[1]),
                };
                let value = combine::block(value, 0.0, of_part, f32::add);
                of_parts.store(number, value);
            }
            (of_part, other) = (other, of_part);
            number += 1;
        }
        let mut mean = 0.0;
        if self.is_centred() {
            of_parts[0].meet();
            // SAFETY: all values are stored, and all threads call it.
            mean = self.mean(unsafe { of_parts[0].combined(f32::add) });
            // Backwards: the last parts are still in the cache.
            while number > 0 {
                number -= 1;
                let (start, span) = (parts.start(number), parts.span(number, LANES));
                // SAFETY: the part was loaded before, and all threads call it. A scratch is used again when a
                // barrier has come since.
                unsafe {
                    let values: Values<SLOTS, LANES> = kept.load(0.0, start, span);
                    let squares = squares_of(&values, slots, span, mean);
                    let squares = combine::block(squares, 0.0, of_part, f32::add);
                    of_parts[1].store(number, squares);
                }
                (of_part, other) = (other, of_part);
            }
        }
        of_parts[1].meet();
        // SAFETY: all values are stored, and all threads call it.
        let scale = self.scale(mean, unsafe { of_parts[1].combined(f32::add) });
        let mut written = 0;
        while written < count {
            // Where the last loop ended.
            let number = if self.is_centred() {
                written
            } else {
                count - 1 - written
            };
            let (start, span) = (parts.start(number), parts.span(number, LANES));
            let results = (self.y.row(row).skip(start), start, kept.mover());
            // SAFETY: the part was loaded before, and all threads call it.
            unsafe {
                let values: Values<SLOTS, LANES> = kept.load(0.0, start, span);
                self.write(results, (&values, slots), span, scale);
            }
            written += 1;
        }
    }
}

/// The values of a span, with zeros for vectors that do not exist: with those, no register is spilled.
#[inline(always)]
fn padded<const SLOTS: usize, const LANES: usize>(
    values: Values<SLOTS, LANES>,
    span: Span,
) -> Values<SLOTS, LANES> {
    array::from_fn(|slot| {
        let exists = span.place(slot).exists();
        array::from_fn(|lane| if exists { values[slot][lane] } else { 0.0 })
    })
}
