//! A thread's sums over columns of a column-major X.

use super::element::Element;
use super::plan::VECTOR_ACCUMULATORS;
use super::product::Product;
use cuda_std::array;
use cuda_std::float::Float;
use cuda_std::prelude::*;

/// Columns of a turn of a thread's accumulators.
pub const TURN: usize = 8;

/// Columns whose vectors a thread loads before it adds.
const IN_FLIGHT: usize = TURN / 2;

/// A thread's rows among those of its block.
#[derive(Clone, Copy)]
pub struct Place {
    /// The block's first row.
    pub start: usize,
    /// From one lane's first row to the next lane's.
    pub lanes_apart: usize,
    /// From one row of a lane to its next.
    pub apart: usize,
    pub lane: usize,
    /// The thread's number among the threads of its rows.
    pub share: usize,
}

impl Place {
    /// Row `number` of a lane.
    #[inline(always)]
    pub fn row_of(&self, lane: usize, number: usize) -> usize {
        self.start + lane * self.lanes_apart + number * self.apart
    }

    /// Row `number` of the thread.
    #[inline(always)]
    pub fn row(&self, number: usize) -> usize {
        self.row_of(self.lane, number)
    }
}

/// A thread's sums: of each of its accumulators, for each of its rows.
pub type ThreadSums<S, const VECTOR: usize, const OWN: usize> = [[S; VECTOR]; OWN];

/// A thread's sums of a part of its rows, by vectors of neighbouring rows.
///
/// # Safety
/// 1. `product` has the elements of its shape.
/// 2. A thread has all of its rows or none, its rows are neighbours, and their elements of each column are aligned to
///    16 bytes.
#[inline(always)]
pub unsafe fn sum_vectors<T: Element, const VECTOR: usize, const OWN: usize>(
    product: Product<T>,
    place: Place,
    part: usize,
) -> ThreadSums<T::Sum, VECTOR, OWN> {
    let Product { shape, plan, .. } = product;
    let row = place.row(0);
    let mut sums = [[T::Sum::ZERO; VECTOR]; OWN];
    if row >= shape.rows {
        return sums;
    }
    let end = shape.k.min((part + 1) * plan.part);
    let mut first = part * plan.part + place.share * TURN;
    // SAFETY: the product has its elements, and columns have the vectors, aligned: the caller's contract. The thread's
    // rows exist, and all columns before `end`.
    unsafe {
        while first + TURN <= end {
            add_columns::<T, VECTOR, OWN, true>(product, (row, first, end), &mut sums);
            first += VECTOR_ACCUMULATORS * VECTOR;
        }
        if first < end {
            add_columns::<T, VECTOR, OWN, false>(product, (row, first, end), &mut sums);
        }
    }
    sums
}

/// Adds the products of one turn of a thread's accumulators, from column `first` on; those before `end` alone, unless
/// `ARE_ALL`. No load of X has a branch of its own, which would make it wait for the last.
///
/// # Safety
/// 1. Those of [`sum_vectors`]. The rows from `row` on exist, and the columns from `first` to `end`, at least one. With
///    `ARE_ALL`, the turn ends before `end`.
#[inline(always)]
unsafe fn add_columns<T: Element, const VECTOR: usize, const OWN: usize, const ARE_ALL: bool>(
    product: Product<T>,
    (row, first, end): (usize, usize, usize),
    sums: &mut ThreadSums<T::Sum, VECTOR, OWN>,
) {
    let Product { x, shape, .. } = product;
    let mut of_turn = 0;
    while of_turn < TURN {
        let first = first + of_turn;
        // In place of a column that does not exist, the last is loaded.
        let column = |number: usize| match ARE_ALL {
            true => first + number,
            false => (first + number).min(end - 1),
        };
        // SAFETY: X has the vectors, aligned, and v the elements: the caller's contract.
        let (loaded, v): ([[T; VECTOR]; IN_FLIGHT], [T; IN_FLIGHT]) = unsafe {
            (
                array::from_fn(|number| x.load_streaming(column(number) * shape.x_apart + row)),
                array::from_fn(|number| product.load_v_at(column(number))),
            )
        };
        let mut number = 0;
        while number < IN_FLIGHT {
            let (elements, v) = match ARE_ALL || first + number < end {
                true => (loaded[number], v[number]),
                false => ([T::zeroed(); VECTOR], T::zeroed()),
            };
            add_column(&elements, v, &mut sums[(of_turn + number) / VECTOR]);
            number += 1;
        }
        of_turn += IN_FLIGHT;
    }
}

/// Adds the products of a column's elements with `v` to the rows' sums.
#[inline(always)]
fn add_column<T: Element, const VECTOR: usize>(
    column: &[T; VECTOR],
    v: T,
    sums: &mut [T::Sum; VECTOR],
) {
    let mut row = 0;
    while row < VECTOR {
        sums[row] = column[row].widen().mul_add(v.widen(), sums[row]);
        row += 1;
    }
}

/// A thread's sums of a part of its rows, element by element.
///
/// # Safety
/// 1. `product` has the elements of its shape.
#[inline(always)]
pub unsafe fn sum_elements<T: Element, const VECTOR: usize, const OWN: usize>(
    product: Product<T>,
    place: Place,
    part: usize,
) -> ThreadSums<T::Sum, VECTOR, OWN> {
    let Product { shape, plan, .. } = product;
    let end = shape.k.min((part + 1) * plan.part);
    let mut sums = [[T::Sum::ZERO; VECTOR]; OWN];
    let mut first = part * plan.part + place.share * TURN;
    while first < end {
        // SAFETY: the product has its elements: the caller's contract. Nothing past the end of the rows is read:
        // compared.
        let (loaded, v): ([[T; VECTOR]; TURN], [T; TURN]) = unsafe {
            (
                array::from_fn(|number| {
                    let k = first + number;
                    load::<T, VECTOR>(product, place, k, k < end)
                }),
                array::from_fn(|number| {
                    let k = first + number;
                    if k < end {
                        product.load_v_at(k)
                    } else {
                        T::zeroed()
                    }
                }),
            )
        };
        let mut number = 0;
        while number < TURN {
            add_column(&loaded[number], v[number], &mut sums[number / VECTOR]);
            number += 1;
        }
        first += VECTOR_ACCUMULATORS * VECTOR;
    }
    sums
}

/// Element `k` of each of the thread's rows, or zeros unless `is_there`.
///
/// # Safety
/// 1. As for [`sum_elements`]. If `is_there`, rows have the element.
#[inline(always)]
unsafe fn load<T: Element, const VECTOR: usize>(
    product: Product<T>,
    place: Place,
    k: usize,
    is_there: bool,
) -> [T; VECTOR] {
    let Product { x, shape, .. } = product;
    let column = k * shape.x_apart;
    let mut elements = [T::zeroed(); VECTOR];
    let mut number = 0;
    while number < VECTOR {
        let row = place.row(number);
        if is_there && row < shape.rows {
            // SAFETY: X has the element: the row exists, compared above, and has element `k`: the caller's contract.
            elements[number] = unsafe { x.load(column + row) };
        }
        number += 1;
    }
    elements
}
