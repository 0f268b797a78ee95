//! What is read and written: elements with their residual, and results with weight and bias.

use super::{Mover, Norm, Place, Row, RowElement, Scale, Span, Values, exists};
use cuda_std::prelude::*;

impl<T: RowElement> Norm<'_, T> {
    /// Loads the vectors at `places` of a row number, from element `start` of each row on, and adds the residual, if
    /// there is one, whose sums it stores.
    ///
    /// # Safety
    /// 1. The places are the calling thread's, with elements only if the row exists. The row of a place without
    ///    elements has the first place's.
    /// 2. All lanes of the warp call it.
    #[inline(always)]
    pub(super) unsafe fn load<const SLOTS: usize, const LANES: usize>(
        &self,
        mover: Mover<T>,
        start: usize,
        places: impl Fn(usize) -> (usize, Place),
    ) -> Values<SLOTS, LANES> {
        // SAFETY: the caller's contract.
        unsafe {
            let values = mover.load(0.0, |slot| {
                let (row, place) = places(slot);
                (self.x.row(row).skip(start), place)
            });
            self.with_residual(values, mover, start, places)
        }
    }

    /// Adds the residual to `values`, if there is one, and stores the sums.
    ///
    /// # Safety
    /// 1. Those of [`load`](Self::load).
    #[inline(always)]
    pub(super) unsafe fn with_residual<const SLOTS: usize, const LANES: usize>(
        &self,
        mut values: Values<SLOTS, LANES>,
        mover: Mover<T>,
        start: usize,
        places: impl Fn(usize) -> (usize, Place),
    ) -> Values<SLOTS, LANES> {
        if self.residual.is_empty() {
            return values;
        }
        // One vector at a time: all of them beside those of the operand would not fit in registers.
        let mut slot = 0;
        while slot < SLOTS {
            let (row, place) = places(slot);
            // SAFETY: the caller's contract. The sums have the same shape. Each place is this thread's, or its group's
            // if rows are staged.
            unsafe {
                let residual = self.residual.row(row).skip(start);
                let [residual]: Values<1, LANES> = mover.load(0.0, |_| (residual, place));
                let mut lane = 0;
                while lane < LANES {
                    values[slot][lane] += residual[lane];
                    lane += 1;
                }
                values[slot] = T::narrow(values[slot]).map(T::widen);
                mover.store(self.sums.row(row).skip(start), place, values[slot]);
            }
            slot += 1;
        }
        values
    }

    /// Elements of `columns` at a place, from element `start` on, or `otherwise` if there are no columns.
    ///
    /// # Safety
    /// 1. `columns` are empty, or have the place's elements, in whole aligned vectors unless rows are staged.
    #[inline(always)]
    pub(super) unsafe fn of_columns<const LANES: usize>(
        &self,
        columns: Global<T>,
        start: usize,
        place: Place,
        otherwise: f32,
    ) -> [f32; LANES] {
        let mut values = [otherwise; LANES];
        if columns.is_empty() || !place.exists() {
            return values;
        }
        let first = start + place.offset as usize;
        if self.shape.is_staged == 0 {
            // SAFETY: the columns have the vector: the caller's contract.
            let loaded: [T; LANES] = unsafe { columns.load_vector(first) };
            return loaded.map(T::widen);
        }
        let mut lane = 0;
        while lane < LANES {
            if exists(place, lane) {
                // SAFETY: the columns have the element: the caller's contract.
                values[lane] = unsafe { columns.load(first + lane) }.widen();
            }
            lane += 1;
        }
        values
    }

    /// Writes the results of a row, from element `start` on, whose elements are in `vectors` slots from `first` on.
    ///
    /// # Safety
    /// 1. All lanes of the warp call it. The span is the calling thread's, of a row that exists if the span has
    ///    elements.
    #[inline(always)]
    pub(super) unsafe fn write<const SLOTS: usize, const LANES: usize>(
        &self,
        (row, start, mover): (Row<T>, usize, Mover<T>),
        (values, (first, vectors)): (&Values<SLOTS, LANES>, (usize, usize)),
        span: Span,
        scale: Scale,
    ) {
        let mut slot = 0;
        while slot < vectors {
            if span.has(slot) {
                let place = span.place(slot);
                // SAFETY: the row has the vector, which is the thread's own, or of its group if rows are staged: the
                // caller's contract. `has` is the same for all threads.
                unsafe {
                    let results = self.results(values[first + slot], (start, place), scale);
                    mover.store(row, place, results);
                }
            }
            slot += 1;
        }
    }

    /// The results of the vector at a place, from element `start` of the row on.
    ///
    /// # Safety
    /// 1. The row has the place's elements.
    #[inline(always)]
    pub(super) unsafe fn results<const LANES: usize>(
        &self,
        values: [f32; LANES],
        (start, place): (usize, Place),
        scale: Scale,
    ) -> [f32; LANES] {
        // SAFETY: weight and bias have an element for each column, aligned like rows.
        let (weight, bias) = unsafe {
            (
                self.of_columns::<LANES>(self.weight, start, place, 1.0),
                self.of_columns::<LANES>(self.bias, start, place, 0.0),
            )
        };
        let mut results = values;
        let mut lane = 0;
        while lane < LANES {
            let normal = (results[lane] - scale.mean) * scale.factor;
            results[lane] = Float::mul_add(normal, weight[lane], bias[lane]);
            lane += 1;
        }
        results
    }

    /// Writes the results of a row, or of a part of one, that the block has in registers.
    ///
    /// # Safety
    /// 1. All threads of the block call it. The span is the calling thread's, from element `start` of the row on.
    #[inline(always)]
    pub(super) unsafe fn write_own<const SLOTS: usize, const LANES: usize>(
        &self,
        (row, start, mover): (Row<T>, usize, Mover<T>),
        values: &Values<SLOTS, LANES>,
        span: Span,
        scale: Scale,
    ) {
        let row = row.skip(start);
        if self.shape.has_room == 0 {
            // SAFETY: the caller's contract.
            unsafe { self.write((row, start, mover), (values, (0, SLOTS)), span, scale) };
            return;
        }
        let mut slot = 0;
        while slot < SLOTS {
            let place = span.place(slot);
            // SAFETY: the place is of the row. Shared memory has room for what a block has in registers: the
            // requirements of the kernels.
            unsafe { mover.put(place, self.results(values[slot], (start, place), scale)) };
            slot += 1;
        }
        // SAFETY: the row has the span's elements, which are the block's. All threads call it: the caller's contract.
        unsafe { mover.unload::<LANES>(row, span.len()) };
    }
}
