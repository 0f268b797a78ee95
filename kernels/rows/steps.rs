//! The steps of a row map: reductions of the elements that a thread has, and what replaces them.

use super::combine::{self, Scratch};
use super::place::{Place, Span};
use super::short::ShortRows;
use super::vectors::Values;
use crate::reduce::Reduction;
use crate::reduce::lines::combine_neighbours;
use bytemuck::Zeroable;
use core::marker::PhantomData;
use cuda_std::array;

/// A map of the elements of a row that sees the row's value, by the operation's [`Reduction`].
///
/// Elements are f32, or f16 and bf16 in f32. `finish` is called by every thread of a row. With
/// [`IS_TOTAL`](Reduction::IS_TOTAL), `map` may also be called for elements that do not exist.
pub trait RowMap: Reduction<f32> {
    /// The result of an element, of the row's value and of the element's index in its row.
    #[must_use]
    fn map(element: f32, value: Self::Output, index: usize) -> f32;
}

/// The value of a row.
pub type RowValue<M> = <M as Reduction<f32>>::Output;

/// The steps of a kernel: a row map, or [`Then`].
#[doc(hidden)]
pub trait RowSteps {
    /// Whether there is a first step.
    const ARE_TWO: bool;
    /// The first step of two, or the only one.
    type First: RowMap;
    /// The last step, whose values are a row's.
    type Last: RowMap;
}

/// Two row maps: the second is of the results of the first, in f32.
#[doc(hidden)]
pub struct Then<A, B>(PhantomData<(A, B)>);

impl<M: RowMap> RowSteps for M {
    const ARE_TWO: bool = false;
    type First = M;
    type Last = M;
}

impl<A: RowMap, B: RowMap> RowSteps for Then<A, B> {
    const ARE_TWO: bool = true;
    type First = A;
    type Last = B;
}

/// What lanes exchange of a row map.
type AccumulatorOf<M> = <M as Reduction<f32>>::Accumulator;

/// Scratch of the steps.
pub type ScratchOf<'block, S> = (
    Scratch<'block, AccumulatorOf<<S as RowSteps>::First>>,
    Scratch<'block, AccumulatorOf<<S as RowSteps>::Last>>,
);

/// Reduces `vectors` vectors from `first` on, of a row or of a section that starts at its element `start`: the elements
/// of a vector as neighbours, then pairs of neighbours, and so on, and the vectors in order.
#[inline(always)]
#[track_caller]
pub fn reduce<M: Reduction<f32>, const SLOTS: usize, const LANES: usize>(
    values: &Values<SLOTS, LANES>,
    (first, vectors): (usize, usize),
    (start, span): (usize, Span),
) -> M::Accumulator {
    let mut total = M::IDENTITY;
    let mut slot = 0;
    while slot < vectors {
        if span.has(slot) {
            let (place, elements) = (span.place(slot), values[first + slot]);
            let mut lanes = [M::IDENTITY; LANES];
            let mut lane = 0;
            while lane < LANES {
                if (lane as i32) < place.left {
                    lanes[lane] = M::lift(elements[lane], start + place.offset as usize + lane);
                }
                lane += 1;
            }
            total = M::combine(total, combine_neighbours::<M, f32, LANES>(lanes));
        }
        slot += 1;
    }
    total
}

/// The results of the vector at a place, of a row or of a section that starts at its element `start`.
#[inline(always)]
#[track_caller]
pub fn mapped<M: RowMap, const LANES: usize>(
    elements: [f32; LANES],
    (start, place): (usize, Place),
    value: M::Output,
) -> [f32; LANES] {
    let mut results = elements;
    let mut lane = 0;
    while lane < LANES {
        if M::IS_TOTAL || (lane as i32) < place.left {
            let index = start + place.offset as usize + lane;
            results[lane] = M::map(elements[lane], value, index);
        }
        lane += 1;
    }
    results
}

/// Maps `vectors` vectors from `first` on, of a row or of a section that starts at its element `start`.
#[inline(always)]
#[track_caller]
pub fn replace<M: RowMap, const SLOTS: usize, const LANES: usize>(
    values: &mut Values<SLOTS, LANES>,
    (first, vectors): (usize, usize),
    (start, span): (usize, Span),
    value: M::Output,
) {
    let mut slot = 0;
    while slot < vectors {
        if span.has(slot) {
            let elements = &mut values[first + slot];
            *elements = mapped::<M, LANES>(*elements, (start, span.place(slot)), value);
        }
        slot += 1;
    }
}

/// The values of a thread's short rows; unspecified for those that do not exist.
#[inline(always)]
#[track_caller]
pub fn values_of_rows<M: RowMap, const ROWS: usize, const SLOTS: usize, const LANES: usize>(
    values: &Values<SLOTS, LANES>,
    thread: ShortRows,
    lanes: u32,
) -> [M::Output; ROWS] {
    let vectors = SLOTS / ROWS;
    let of_thread = array::from_fn(|number| {
        let (slots, span) = ((number * vectors, vectors), thread.span(number, LANES));
        reduce::<M, SLOTS, LANES>(values, slots, (0, span))
    });
    let totals: [M::Accumulator; ROWS] = combine::lanes_of_rows(of_thread, lanes, M::combine);
    array::from_fn(|number| match thread.has(number) || M::IS_TOTAL {
        true => M::finish(totals[number], thread.len()),
        false => M::Output::zeroed(),
    })
}

/// The value of a row of `len` elements that a block has.
///
/// # Safety
/// 1. All threads of the block call it. Nothing else uses `scratch`.
#[inline(always)]
#[track_caller]
pub unsafe fn value_of_block<M: RowMap>(
    of_thread: M::Accumulator,
    len: usize,
    scratch: Scratch<M::Accumulator>,
) -> M::Output {
    // SAFETY: the caller's contract.
    let total = unsafe { combine::block(of_thread, M::IDENTITY, scratch, M::combine) };
    M::finish(total, len)
}
