//! The map of elements.

use super::{MAP_THREADS, MOST_OPERANDS, Map, MapShape};
use crate::outputs::StoreWay;
use cuda_std::Pod;
use cuda_std::array;
use cuda_std::prelude::*;

/// Vectors of each operand that a thread loads before it maps the first.
#[doc(hidden)]
#[must_use]
pub const fn slots_of(operands: usize) -> usize {
    assert!(
        operands >= 1 && operands <= MOST_OPERANDS,
        "a map has one to four operands"
    );
    if operands > 2 { 2 } else { 4 }
}

/// The first place of a thread's vector.
#[derive(Clone, Copy)]
struct Place {
    row: usize,
    column: usize,
    /// Elements from there to the end of the row; 0 if the row does not exist.
    left: usize,
}

impl Place {
    /// Vector number `vector` of all rows.
    #[inline(always)]
    fn new<const LANES: usize>(vector: usize, shape: &MapShape) -> Self {
        let of_row = shape.cols.div_ceil(LANES);
        let (row, number) = if shape.rows == 1 {
            (0, vector)
        } else if (vector | of_row) >> 32 == 0 {
            // A division of 32 bits takes a quarter of the instructions.
            let (vector, of_row) = (vector as u32, of_row as u32);
            ((vector / of_row) as usize, (vector % of_row) as usize)
        } else {
            (vector / of_row, vector % of_row)
        };
        let column = number * LANES;
        Self {
            row,
            column,
            left: if row < shape.rows {
                shape.cols.saturating_sub(column)
            } else {
                0
            },
        }
    }
}

/// Maps the elements of the operands to `y`.
///
/// # Safety
/// 1. The launch has blocks of [`MAP_THREADS`] threads along x, one for each `SLOTS * MAP_THREADS` vectors of `LANES`
///    elements of all rows.
/// 2. The first `OPERANDS` of `x` have the elements of `shape`, and `y` has its results, no two of which are one.
/// 3. If `shape` has vectors, they are as it says.
/// 4. `LANES` elements are 16 bytes. `W` and `OUTPUTS` are what `outputs.rs` says for elements and results.
#[inline(always)]
pub unsafe fn map_elements<
    M: Map<T, OPERANDS>,
    T: Pod,
    W: StoreWay,
    const OPERANDS: usize,
    const SLOTS: usize,
    const LANES: usize,
    const OUTPUTS: usize,
>(
    x: [Global<T>; MOST_OPERANDS],
    y: GlobalMut<M::Output>,
    shape: &MapShape,
) {
    let threads = MAP_THREADS as usize;
    let first = thread::block_idx_x() as usize * SLOTS * threads + thread::thread_idx_x() as usize;
    let places: [Place; SLOTS] =
        array::from_fn(|slot| Place::new::<LANES>(first + slot * threads, shape));
    let loaded: [[[T; LANES]; OPERANDS]; SLOTS] = array::from_fn(|slot| {
        array::from_fn(|operand| {
            // SAFETY: the operand has the elements: the caller's contract.
            unsafe { load(x[operand], places[slot], shape.strides[operand], shape) }
        })
    });
    let mut slot = 0;
    while slot < SLOTS {
        let (place, vectors) = (places[slot], &loaded[slot]);
        let at = place.row * shape.cols + place.column;
        let result_of =
            |lane: usize| M::map(array::from_fn(|operand| vectors[operand][lane]), at + lane);
        let to = place.row * shape.apart + place.column;
        if W::IS_VECTOR && shape.has_vectors != 0 {
            let mut lane = 0;
            while lane < LANES && place.left > 0 {
                let results: [M::Output; OUTPUTS] =
                    array::from_fn(|number| result_of(lane + number));
                // SAFETY: `y` has the whole, aligned vector, which only this thread writes: the caller's contract.
                unsafe { W::store(y, to + lane, results) };
                lane += OUTPUTS;
            }
        } else {
            let mut lane = 0;
            while lane < LANES {
                if lane < place.left {
                    // SAFETY: `y` has the element, which only this thread writes: the caller's contract.
                    unsafe { y.store(to + lane, result_of(lane)) };
                }
                lane += 1;
            }
        }
        slot += 1;
    }
}

/// The elements of an operand at a place, with zeros past the end.
///
/// # Safety
/// 1. `x` has the elements, by the strides. If `shape` has vectors, they are as it says.
#[inline(always)]
unsafe fn load<T: Pod, const LANES: usize>(
    x: Global<T>,
    place: Place,
    [row_stride, column_stride]: [usize; 2],
    shape: &MapShape,
) -> [T; LANES] {
    let at = place.row * row_stride + place.column * column_stride;
    if place.left == 0 {
        return [T::zeroed(); LANES];
    }
    if shape.has_vectors != 0 {
        if column_stride == 1 {
            // SAFETY: the vector is whole and aligned: the caller's contract.
            return unsafe { x.load_vector(at) };
        }
        // SAFETY: the operand has the element: the caller's contract.
        return [unsafe { x.load(at) }; LANES];
    }
    array::from_fn(|lane| {
        if lane >= place.left {
            return T::zeroed();
        }
        // SAFETY: the operand has the element: the caller's contract.
        unsafe { x.load(at + lane * column_stride) }
    })
}
