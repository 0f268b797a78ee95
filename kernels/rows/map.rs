//! Maps of rows that see a value of the row: reductions and maps that other crates define.
//!
//! ```text
//! v = the reduction of the row        y = f(x, v)
//! in two steps, such as a softmax:
//! v = the reduction of the row        t = f(x, v)        w = the reduction of t        y = g(t, w)
//! ```
//!
//! The parts are those of softmax: a row in registers is read once; of a long row, what fits is kept in shared memory,
//! and the rest is read again for each reduction and for the results, alternately from the last section and the first.

use super::element::RowElement;
use super::kept::Kept;
use super::mover::Mover;
use super::place::{Sections, Span};
use super::plan::{LANES_OF_ROW, RowClass, RowPlan};
use super::short::ShortRows;
use super::steps::{
    RowMap, RowSteps, RowValue, ScratchOf, mapped, reduce, replace, value_of_block, values_of_rows,
};
use super::vectors::{Row, Rows, Values};
use crate::reduce::Reduction;
use bytemuck::{Pod, Zeroable};
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Rows to map, as the kernels' parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct MapRowsShape {
    /// Rows of the matrix.
    pub rows: usize,
    /// Elements of a row.
    pub len: usize,
    /// Elements from one row to the next, of the operand.
    pub x_apart: usize,
    /// Elements from one row to the next, of the results.
    pub y_apart: usize,
    /// 1 if rows are moved through shared memory, because they do not consist of whole aligned vectors; otherwise 0.
    pub is_staged: u32,
    /// Elements of a long row that are kept in shared memory: whole vectors of all threads.
    pub kept: u32,
}

/// The operands of a launch.
#[derive(Clone, Copy)]
struct MapRows<'launch, T, O> {
    x: Rows<'launch, T>,
    y: Rows<'launch, T>,
    /// A value for each row, or nothing.
    values: GlobalMut<'launch, O>,
    shape: MapRowsShape,
    /// The launch's dynamic shared memory.
    shared: SharedSlice<'launch, T>,
}

/// Maps the rows of `shape`.
///
/// # Safety
/// 1. The requirements of the kernels that [`maps!`](crate::maps) makes hold.
/// 2. `LANES` elements are a vector, `SLOTS` vectors [`VALUES`](super::VALUES) elements, and `SECTION_SLOTS` half of
///    them.
/// 3. Only this block uses `shared` and `scratch`, and for nothing else.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn map_rows<
    S: RowSteps,
    T: RowElement,
    const LANES: usize,
    const SLOTS: usize,
    const SECTION_SLOTS: usize,
>(
    (x, y): (Global<T>, GlobalMut<T>),
    values: GlobalMut<RowValue<S::Last>>,
    shape: &MapRowsShape,
    shared: SharedSlice<T>,
    scratch: ScratchOf<S>,
) {
    let rows = MapRows {
        // SAFETY: rows of `x` are only read, below.
        x: unsafe { Rows::read(x, y, shape.x_apart) },
        y: Rows::new(y, shape.y_apart),
        values,
        shape: *shape,
        shared,
    };
    // SAFETY: the caller's contract, for the class of the rows.
    unsafe {
        match RowPlan::new(shape.len, size_of::<T>())
            .without_parts()
            .class
        {
            RowClass::Short { lanes, vectors: 1 } => rows.short::<S, 2, 2, LANES>(lanes),
            RowClass::Short { lanes, vectors } if vectors < SLOTS => {
                rows.short::<S, 2, SLOTS, LANES>(lanes)
            }
            RowClass::Short { lanes, .. } => rows.short::<S, 1, SLOTS, LANES>(lanes),
            RowClass::Block { .. } => rows.block::<S, SLOTS, LANES>(scratch),
            RowClass::Parts { .. } | RowClass::Long => {
                rows.long::<S, SECTION_SLOTS, LANES>(scratch)
            }
        }
    }
}

impl<'launch, T: RowElement, O: cuda_std::Pod> MapRows<'launch, T, O> {
    /// What moves rows that groups of `lanes` lanes have neighbouring vectors of.
    #[inline(always)]
    fn mover(&self, lanes: u32) -> Mover<'launch, T> {
        Mover::new(self.shape.is_staged != 0, self.shared, lanes)
    }

    /// Writes the row's value, if values are wanted and the calling thread is the row's first.
    ///
    /// # Safety
    /// 1. The row exists, and one thread is its first.
    #[inline(always)]
    unsafe fn write_value(&self, row: usize, is_first: bool, value: O) {
        if is_first && !self.values.is_empty() {
            // SAFETY: there is a value for each row, which one thread writes: the caller's contract.
            unsafe { self.values.store(row, value) };
        }
    }

    /// Writes the results of a row, or of a section of it, that starts at element `start`.
    ///
    /// # Safety
    /// 1. All lanes of the warp call it. The span is the calling thread's, of a row that exists if the span has
    ///    elements.
    #[inline(always)]
    unsafe fn write<M: RowMap<Output = O>, const SLOTS: usize, const LANES: usize>(
        &self,
        (row, mover): (Row<T>, Mover<T>),
        (values, slots): (&Values<SLOTS, LANES>, (usize, usize)),
        (start, span): (usize, Span),
        value: O,
    ) {
        let (first, vectors) = slots;
        let mut slot = 0;
        while slot < vectors {
            if span.has(slot) {
                let place = span.place(slot);
                let results = mapped::<M, LANES>(values[first + slot], (start, place), value);
                // SAFETY: the row has the vector, which is the thread's own, or of its group if rows are staged: the
                // caller's contract. `has` is the same for all threads.
                unsafe { mover.store::<LANES>(row, place, results) };
            }
            slot += 1;
        }
    }

    /// Rows of up to 1024 elements: `ROWS` rows for each group of lanes, `SLOTS / ROWS` vectors of each.
    ///
    /// # Safety
    /// 1. The requirements of [`map_rows`] hold, for short rows with as many vectors.
    #[inline(always)]
    unsafe fn short<S, const ROWS: usize, const SLOTS: usize, const LANES: usize>(&self, lanes: u32)
    where
        S: RowSteps<Last: Reduction<f32, Output = O>>,
    {
        let MapRowsShape { rows, len, .. } = self.shape;
        let thread = ShortRows::of_thread(ROWS, (rows, len), lanes);
        let (vectors, mover) = (SLOTS / ROWS, self.mover(lanes));
        // SAFETY: the spans have elements of rows that exist. Each has one thread, and vectors are whole if all are.
        let mut values: Values<SLOTS, LANES> = unsafe {
            mover.load(0.0, |slot| {
                let (number, slot) = (slot / vectors, slot % vectors);
                let row = self.x.row(thread.row_or_first(number));
                (row, thread.span(number, LANES).place(slot))
            })
        };
        if S::ARE_TWO {
            let of_rows = values_of_rows::<S::First, ROWS, SLOTS, LANES>(&values, thread, lanes);
            let mut number = 0;
            while number < ROWS {
                let (slots, span) = ((number * vectors, vectors), thread.span(number, LANES));
                let value = of_rows[number];
                replace::<S::First, SLOTS, LANES>(&mut values, slots, (0, span), value);
                number += 1;
            }
        }
        let of_rows = values_of_rows::<S::Last, ROWS, SLOTS, LANES>(&values, thread, lanes);
        let mut number = 0;
        while number < ROWS {
            let (row, span) = (thread.row(number), thread.span(number, LANES));
            let (slots, exists) = ((number * vectors, vectors), thread.has(number));
            let value = of_rows[number];
            let results = (self.y.row(if exists { row } else { 0 }), mover);
            // SAFETY: all lanes call it. The span has elements only if the row exists. A row's first lane writes its
            // value if it exists.
            unsafe {
                self.write_value(row, exists && thread.lane == 0, value);
                self.write::<S::Last, SLOTS, LANES>(results, (&values, slots), (0, span), value);
            }
            number += 1;
        }
    }

    /// Rows of a block each, in registers.
    ///
    /// # Safety
    /// 1. The requirements of [`map_rows`] hold, for rows of a block each.
    #[inline(always)]
    unsafe fn block<S, const SLOTS: usize, const LANES: usize>(&self, scratch: ScratchOf<S>)
    where
        S: RowSteps<Last: Reduction<f32, Output = O>>,
    {
        let row = thread::block_idx_x() as usize;
        let (thread, threads) = (thread::thread_idx_x(), thread::block_dim_x());
        let len = self.shape.len;
        let (all, span) = ((0, SLOTS), Span::new(thread, threads, LANES, len as u32));
        let mover = self.mover(LANES_OF_ROW);
        // SAFETY: the span has elements of the row, which exists: there is a block for each. Vectors are whole if all
        // are. Other threads write only their own elements.
        let mut values: Values<SLOTS, LANES> = unsafe {
            let x = self.x.row(row);
            mover.load(0.0, |slot| (x, span.place(slot)))
        };
        if S::ARE_TWO {
            let of_thread = reduce::<S::First, SLOTS, LANES>(&values, all, (0, span));
            // SAFETY: all threads call it, and the scratch is used once: the caller's contract.
            let value = unsafe { value_of_block::<S::First>(of_thread, len, scratch.0) };
            replace::<S::First, SLOTS, LANES>(&mut values, all, (0, span), value);
        }
        let of_thread = reduce::<S::Last, SLOTS, LANES>(&values, all, (0, span));
        // SAFETY: as above. The row exists, and the span is this thread's of it.
        unsafe {
            let value = value_of_block::<S::Last>(of_thread, len, scratch.1);
            self.write_value(row, thread == 0, value);
            let results = (self.y.row(row), mover);
            self.write::<S::Last, SLOTS, LANES>(results, (&values, all), (0, span), value);
        }
    }

    /// Rows of a block each, section by section.
    ///
    /// # Safety
    /// 1. The requirements of [`map_rows`] hold, for long rows.
    #[inline(always)]
    unsafe fn long<S, const SLOTS: usize, const LANES: usize>(&self, scratch: ScratchOf<S>)
    where
        S: RowSteps<Last: Reduction<f32, Output = O>>,
    {
        let row = thread::block_idx_x() as usize;
        let (thread, threads) = (thread::thread_idx_x(), thread::block_dim_x());
        let (all, len) = ((0, SLOTS), self.shape.len);
        let sections = Sections::new(len);
        let mover = self.mover(LANES_OF_ROW);
        let staged = match self.shape.is_staged {
            0 => 0,
            _ => threads as usize * LANES,
        };
        let shared = (self.shared, staged);
        let kept = Kept::new(self.x.row(row), mover, shared, self.shape.kept);
        let mut of_first = <S::First as Reduction<f32>>::IDENTITY;
        let mut of_last = <S::Last as Reduction<f32>>::IDENTITY;
        let mut number = 0;
        while number < sections.count() {
            let (start, span) = (sections.start(number), sections.span(number, LANES));
            // SAFETY: the section is one of the row, and this is its first load.
            let values: Values<SLOTS, LANES> = unsafe { kept.first_load(0.0, start, span) };
            if S::ARE_TWO {
                let of_section = reduce::<S::First, SLOTS, LANES>(&values, all, (start, span));
                of_first = S::First::combine(of_first, of_section);
            } else {
                let of_section = reduce::<S::Last, SLOTS, LANES>(&values, all, (start, span));
                of_last = S::Last::combine(of_last, of_section);
            }
            number += 1;
        }
        let mut first = RowValue::<S::First>::zeroed();
        if S::ARE_TWO {
            // SAFETY: all threads call it, and the scratch is used once: the caller's contract.
            first = unsafe { value_of_block::<S::First>(of_first, len, scratch.0) };
        }
        let load = |number| {
            let (start, span) = (sections.start(number), sections.span(number, LANES));
            // SAFETY: the section is one of the row, and was loaded before. All threads call it.
            let mut values: Values<SLOTS, LANES> = unsafe { kept.load(0.0, start, span) };
            if S::ARE_TWO {
                replace::<S::First, SLOTS, LANES>(&mut values, all, (start, span), first);
            }
            (values, (start, span))
        };
        // The last sections are still in the cache.
        while S::ARE_TWO && number > 0 {
            number -= 1;
            let (values, section) = load(number);
            let of_section = reduce::<S::Last, SLOTS, LANES>(&values, all, section);
            of_last = S::Last::combine(of_last, of_section);
        }
        // SAFETY: all threads call it, and the scratch is used once: the caller's contract. The row exists, and its
        // block has one first thread.
        let value = unsafe {
            let value = value_of_block::<S::Last>(of_last, len, scratch.1);
            self.write_value(row, thread == 0, value);
            value
        };
        let mut written = 0;
        while written < sections.count() {
            // Where the last loop ended.
            let number = match S::ARE_TWO {
                true => written,
                false => sections.count() - 1 - written,
            };
            let (values, section) = load(number);
            // SAFETY: the section is one of the row. All threads call it.
            unsafe {
                let results = (self.y.row(row).skip(section.0), mover);
                self.write::<S::Last, SLOTS, LANES>(results, (&values, all), section, value);
            }
            written += 1;
        }
    }
}
