//! Rows of parts: of a cluster each, or of a block that takes one part after another, with the same bits.

use super::{RowElement, Scratch, Softmax, Terms, Values};
use crate::rows::parts::{OfParts, Parts, owner};
use crate::rows::plan::{LANES_OF_ROW, PARTS};
use cuda_std::prelude::*;

impl<T: RowElement> Softmax<'_, T> {
    /// Rows of a cluster each, in registers: every block has a part.
    ///
    /// # Safety
    /// 1. The requirements of the kernels hold, for rows of a cluster each.
    /// 2. Only this block uses `scratch`, and for nothing else, and only the cluster `of_parts`.
    #[inline(always)]
    pub unsafe fn cluster<const SLOTS: usize, const LANES: usize>(
        &self,
        scratch: [Scratch; 2],
        of_parts: SharedArray<[f32; 2], PARTS>,
    ) {
        let parts = Parts::<true>::of_block(self.shape.len, LANES);
        let (row, (number, _)) = (parts.row, parts.numbers());
        let (start, span) = (parts.start(number), parts.span(number, LANES));
        let is_first = number == 0 && thread::thread_idx_x() == 0;
        let mover = self.mover(LANES_OF_ROW);
        // SAFETY: as in `block`, of the block's part.
        let (mut values, class): (Values<SLOTS, LANES>, _) = unsafe {
            let x = self.x.row(row).skip(start);
            (
                mover.load_own(f32::NEG_INFINITY, |slot| (x, span.place(slot))),
                self.class(row, is_first, |index| parts.has(number, index, LANES)),
            )
        };
        let of_parts = OfParts::<_, true>(of_parts);
        // From here on, all blocks have started.
        of_parts.meet();
        // SAFETY: all threads call it, and each scratch is used once: the caller's contract. All blocks have started,
        // and meet once more. The row exists, and the class and the span are this thread's of it. The results are
        // stored when the class is corrected.
        unsafe {
            let of_part = self.exponentials(&mut values, span, scratch);
            of_parts.store(number, of_part.into());
            of_parts.meet();
            let terms = Terms::from(of_parts.of_lane()).of_parts(PARTS as u32);
            let finish = self.finish((row, true), terms, class);
            let finish = self.finish_part(finish, terms, of_part);
            let results = self.y.row(row).skip(start);
            self.write_own((results, mover), &values, span, finish);
            self.correct(row, class, finish);
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
        of_parts: SharedArray<[f32; 2], PARTS>,
    ) {
        let parts = Parts::<false>::of_block(self.shape.len, LANES);
        let (row, (_, count)) = (parts.row, parts.numbers());
        let kept = self.kept::<LANES>(row);
        let thread = thread::thread_idx_x();
        let has = |index| {
            let in_part = index % parts.start(1);
            owner(in_part, LANES) == thread
        };
        // SAFETY: the row exists: there is a block for each. Other threads write only their own elements.
        let class = unsafe { self.class(row, thread == 0, has) };
        let of_parts = OfParts::<_, false>(of_parts);
        let mut number = 0;
        while number < count {
            let (start, span) = (parts.start(number), parts.span(number, LANES));
            // SAFETY: the part is one of the row, and this is its first load. All threads call it. Each scratch is
            // used again when a barrier has come since.
            unsafe {
                let mut values: Values<SLOTS, LANES> =
                    kept.first_load(f32::NEG_INFINITY, start, span);
                let of_part = self.exponentials(&mut values, span, scratch);
                of_parts.store(number, of_part.into());
            }
            number += 1;
        }
        of_parts.meet();
        // SAFETY: all values are stored. The row exists, and the class is this thread's of it.
        let (terms, of_row) = unsafe {
            let terms = Terms::from(of_parts.of_lane()).of_parts(PARTS as u32);
            (terms, self.finish((row, true), terms, class))
        };
        if self.y.is_empty() {
            return;
        }
        while number > 0 {
            number -= 1;
            let (start, span) = (parts.start(number), parts.span(number, LANES));
            // SAFETY: the part is one of the row, and was loaded before. All threads call it. The part's results are
            // stored when its class is corrected.
            unsafe {
                let mut values: Values<SLOTS, LANES> = kept.load(f32::NEG_INFINITY, start, span);
                let of_part = Terms::from(of_parts.load(number));
                let finish = self.finish_part(of_row, terms, of_part);
                finish.prepare(&mut values, span, self.is_logarithmic());
                let results = (self.y.row(row).skip(start), kept.mover());
                self.write(results, (&values, (0, SLOTS)), span, finish);
                if parts.has(number, class.index, LANES) {
                    self.correct(row, class, finish);
                }
            }
        }
    }
}
