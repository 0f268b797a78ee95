//! Maps of rows that see a value of the row: reductions and maps that other crates define.
//!
//! ```text
//! v = the reduction of the row        y = f(x, v)
//! ```
//!
//! The parts are those of softmax: a row in registers is read once; of a long row, what fits is kept in shared memory,
//! and the rest is read again, last section first.

use super::combine::{self, Scratch};
use super::element::RowElement;
use super::kept::Kept;
use super::mover::Mover;
use super::place::{Sections, Span};
use super::plan::{LANES_OF_ROW, RowClass, RowPlan};
use super::short::ShortRows;
use super::vectors::{Row, Rows, Values};
use crate::reduce::Reduction;
use bytemuck::{Pod, Zeroable};
use cuda_std::array;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// A map of the elements of a row that sees the row's value, by the operation's [`Reduction`].
///
/// Elements are f32, or f16 and bf16 in f32. `finish` is called by every thread of a row.
pub trait RowMap: Reduction<f32> {
    /// The result of an element, of the row's value and of the element's index in its row.
    #[must_use]
    fn map(element: f32, value: Self::Output, index: usize) -> f32;
}

/// The value of a row.
pub type RowValue<M> = <M as Reduction<f32>>::Output;

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
    M: RowMap,
    T: RowElement,
    const LANES: usize,
    const SLOTS: usize,
    const SECTION_SLOTS: usize,
>(
    (x, y): (Global<T>, GlobalMut<T>),
    values: GlobalMut<M::Output>,
    shape: &MapRowsShape,
    shared: SharedSlice<T>,
    scratch: Scratch<M::Accumulator>,
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
            RowClass::Short { lanes, vectors: 1 } => rows.short::<M, 2, 2, LANES>(lanes),
            RowClass::Short { lanes, vectors } if vectors < SLOTS => {
                rows.short::<M, 2, SLOTS, LANES>(lanes)
            }
            RowClass::Short { lanes, .. } => rows.short::<M, 1, SLOTS, LANES>(lanes),
            RowClass::Block { .. } => rows.block::<M, SLOTS, LANES>(scratch),
            RowClass::Parts { .. } | RowClass::Long => {
                rows.long::<M, SECTION_SLOTS, LANES>(scratch)
            }
        }
    }
}

/// Reduces `vectors` vectors from `first` on, of a row or of a section that starts at its element `start`: the elements
/// of a vector as neighbours, then pairs of neighbours, and so on, and the vectors in order.
#[inline(always)]
#[track_caller]
fn reduce<M: RowMap, const SLOTS: usize, const LANES: usize>(
    values: &Values<SLOTS, LANES>,
    (first, vectors): (usize, usize),
    (start, span): (usize, Span),
) -> M::Accumulator {
    let mut total = M::IDENTITY;
    let mut slot = 0;
    while slot < vectors {
        if span.has(slot) {
            let place = span.place(slot);
            let mut lanes: [M::Accumulator; LANES] = array::from_fn(|lane| {
                if (lane as i32) < place.left {
                    M::lift(
                        values[first + slot][lane],
                        start + place.offset as usize + lane,
                    )
                } else {
                    M::IDENTITY
                }
            });
            let mut distance = 1;
            while distance < LANES {
                let mut lane = 0;
                while lane < LANES {
                    lanes[lane] = M::combine(lanes[lane], lanes[lane + distance]);
                    lane += 2 * distance;
                }
                distance *= 2;
            }
            total = M::combine(total, lanes[0]);
        }
        slot += 1;
    }
    total
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
        (values, (first, vectors)): (&Values<SLOTS, LANES>, (usize, usize)),
        (start, span): (usize, Span),
        value: O,
    ) {
        let mut slot = 0;
        while slot < vectors {
            if span.has(slot) {
                let place = span.place(slot);
                let results = array::from_fn(|lane| {
                    if (lane as i32) < place.left {
                        let index = start + place.offset as usize + lane;
                        M::map(values[first + slot][lane], value, index)
                    } else {
                        0.0
                    }
                });
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
    unsafe fn short<M, const ROWS: usize, const SLOTS: usize, const LANES: usize>(&self, lanes: u32)
    where
        M: RowMap<Output = O>,
    {
        let MapRowsShape { rows, len, .. } = self.shape;
        let thread = ShortRows::of_thread(ROWS, (rows, len), lanes);
        let (vectors, mover) = (SLOTS / ROWS, self.mover(lanes));
        // SAFETY: the spans have elements of rows that exist. Each has one thread, and vectors are whole if all are.
        let values: Values<SLOTS, LANES> = unsafe {
            mover.load(0.0, |slot| {
                let (number, slot) = (slot / vectors, slot % vectors);
                let row = self.x.row(thread.row_or_first(number));
                (row, thread.span(number, LANES).place(slot))
            })
        };
        let of_thread = array::from_fn(|number| {
            let (slots, span) = ((number * vectors, vectors), thread.span(number, LANES));
            reduce::<M, SLOTS, LANES>(&values, slots, (0, span))
        });
        let totals: [M::Accumulator; ROWS] = combine::lanes_of_rows(of_thread, lanes, M::combine);
        let mut number = 0;
        while number < ROWS {
            let (row, span) = (thread.row(number), thread.span(number, LANES));
            let slots = (number * vectors, vectors);
            let exists = thread.has(number);
            let value = if exists || M::IS_TOTAL {
                M::finish(totals[number], len)
            } else {
                O::zeroed()
            };
            let results = self.y.row(if exists { row } else { 0 });
            // SAFETY: all lanes call it. The span has elements only if the row exists. A row's first lane writes its
            // value if it exists.
            unsafe {
                self.write_value(row, exists && thread.lane == 0, value);
                self.write::<M, SLOTS, LANES>((results, mover), (&values, slots), (0, span), value);
            }
            number += 1;
        }
    }

    /// Rows of a block each, in registers.
    ///
    /// # Safety
    /// 1. The requirements of [`map_rows`] hold, for rows of a block each.
    #[inline(always)]
    unsafe fn block<M, const SLOTS: usize, const LANES: usize>(
        &self,
        scratch: Scratch<M::Accumulator>,
    ) where
        M: RowMap<Output = O>,
    {
        let row = thread::block_idx_x() as usize;
        let (thread, threads) = (thread::thread_idx_x(), thread::block_dim_x());
        let len = self.shape.len;
        let span = Span::new(thread, threads, LANES, len as u32);
        let mover = self.mover(LANES_OF_ROW);
        // SAFETY: the span has elements of the row, which exists: there is a block for each. Vectors are whole if all
        // are. Other threads write only their own elements.
        let values: Values<SLOTS, LANES> = unsafe {
            let x = self.x.row(row);
            mover.load(0.0, |slot| (x, span.place(slot)))
        };
        let of_thread = reduce::<M, SLOTS, LANES>(&values, (0, SLOTS), (0, span));
        // SAFETY: all threads call it, and the scratch is used once: the caller's contract.
        let total = unsafe { combine::block(of_thread, M::IDENTITY, scratch, M::combine) };
        let value = M::finish(total, len);
        // SAFETY: the row exists, and the span is this thread's of it. All threads call it.
        unsafe {
            self.write_value(row, thread == 0, value);
            let results = (self.y.row(row), mover);
            self.write::<M, SLOTS, LANES>(results, (&values, (0, SLOTS)), (0, span), value);
        }
    }

    /// Rows of a block each, section by section.
    ///
    /// # Safety
    /// 1. The requirements of [`map_rows`] hold, for long rows.
    #[inline(always)]
    unsafe fn long<M, const SLOTS: usize, const LANES: usize>(
        &self,
        scratch: Scratch<M::Accumulator>,
    ) where
        M: RowMap<Output = O>,
    {
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
        let mut of_thread = M::IDENTITY;
        let mut number = 0;
        while number < sections.count() {
            let (start, span) = (sections.start(number), sections.span(number, LANES));
            // SAFETY: the section is one of the row, and this is its first load.
            let values: Values<SLOTS, LANES> = unsafe { kept.first_load(0.0, start, span) };
            let of_section = reduce::<M, SLOTS, LANES>(&values, (0, SLOTS), (start, span));
            of_thread = M::combine(of_thread, of_section);
            number += 1;
        }
        // SAFETY: all threads call it, and the scratch is used once: the caller's contract.
        let total = unsafe { combine::block(of_thread, M::IDENTITY, scratch, M::combine) };
        let value = M::finish(total, self.shape.len);
        // SAFETY: the row exists, and its block has one first thread.
        unsafe { self.write_value(row, thread == 0, value) };
        while number > 0 {
            number -= 1;
            let (start, span) = (sections.start(number), sections.span(number, LANES));
            // SAFETY: the section is one of the row, and was loaded before. All threads call it.
            unsafe {
                let values: Values<SLOTS, LANES> = kept.load(0.0, start, span);
                let results = (self.y.row(row).skip(start), mover);
                self.write::<M, SLOTS, LANES>(results, (&values, (0, SLOTS)), (start, span), value);
            }
        }
    }
}
