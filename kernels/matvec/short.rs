//! Products with a row-major X of short rows, of at most one vector of 16 bytes for each lane of a group.
//!
//! ```text
//! each group:  as many lanes as the row has vectors, rounded up to a power of two; eight rows
//! each lane:   load its vector of each row; multiply, and add
//! each group:  add the lanes' sums by shuffles, which share out the rows among the lanes
//! ```
//!
//! All lanes of a warp take part in every shuffle, whatever their group's work: a warp may have 64 lanes.

use super::element::{Element, add_products};
use super::outputs::Outputs;
use super::plan::{SHORT_ROWS, VECTOR_THREADS};
use super::product::Product;
use crate::reduce::Reduction;
use cuda_std::array;
use cuda_std::float::Float;
use cuda_std::hint::opaque_size;
use cuda_std::prelude::*;
use cuda_std::warp::Exchange;

/// Writes the outputs of the block's rows.
///
/// # Safety
/// 1. The launch has blocks of `VECTOR_THREADS` threads along x, enough for all rows: `lanes` threads for each
///    `SHORT_ROWS` rows.
/// 2. `product` has the elements of its shape, of which `VECTOR` are 16 bytes. `lanes` is a power of two up to 32, and
///    not less than the vectors of a row.
/// 3. `outputs` has an element for each row, which only this call's threads access.
#[inline(always)]
pub unsafe fn multiply_short<T: Element, O: Element<Sum = T::Sum>, const VECTOR: usize>(
    product: Product<T>,
    outputs: Outputs<O>,
) {
    let shape = product.shape;
    let (thread, lanes) = (thread::thread_idx_x(), shape.lanes as u32);
    let groups = (VECTOR_THREADS / lanes) as usize;
    let first = thread::block_idx_x() as usize * (groups * SHORT_ROWS) + (thread / lanes) as usize;
    let offset = (thread % lanes) as usize * VECTOR;
    let here = shape.k.saturating_sub(offset).min(VECTOR);
    let row = |number: usize| first + number * groups;
    let is_whole = here == VECTOR && row(SHORT_ROWS - 1) < shape.rows && product.has_vectors();
    let sums = if is_whole {
        // SAFETY: v and the rows have the vectors, which are whole and aligned: compared above, and the product has its
        // elements, the caller's contract. `offset` counts vectors.
        let (v, loaded): ([T; VECTOR], [[T; VECTOR]; SHORT_ROWS]) = unsafe {
            (
                product.load_v_vector(offset),
                array::from_fn(|number| product.load_row_vector(row(number), offset)),
            )
        };
        array::from_fn(|number| add_products(T::Sum::ZERO, &loaded[number], &v))
    } else {
        // SAFETY: the product has its elements, the caller's contract, and `here` counts those of v up to k.
        let v: [T; VECTOR] = unsafe { product.load_v(offset, here) };
        let mut sums = [T::Sum::ZERO; SHORT_ROWS];
        // Not unrolled: the loads of all rows together would take more registers than whole vectors.
        let rows = opaque_size(SHORT_ROWS);
        let mut number = 0;
        while number < rows {
            let count = if row(number) < shape.rows { here } else { 0 };
            // SAFETY: the row has `here` elements from `offset` on, and none are loaded of rows that do not exist.
            let loaded: [T; VECTOR] = unsafe { product.load_row(row(number), offset, count) };
            let sum = add_products(T::Sum::ZERO, &loaded, &v);
            let mut known = 0;
            while known < SHORT_ROWS {
                // Compares with constants: an index would move the sums out of registers.
                if known == number {
                    sums[known] = sum;
                }
                known += 1;
            }
            number += 1;
        }
        sums
    };
    let (sums, first, count) = share_out::<T>(sums, (thread % lanes, lanes));
    // Not unrolled, so that the code for outputs exists once.
    let count = opaque_size(count);
    let mut number = 0;
    while number < count {
        let row = row(first + number);
        if row < shape.rows {
            let sum = element_of(&sums, number);
            // SAFETY: `outputs` has an element for each row: the caller's contract. One lane of one group writes it.
            unsafe { outputs.store(row, sum) };
        }
        number += 1;
    }
}

/// Element `index`, by comparisons with constants: an index would move the elements out of registers.
#[inline(always)]
fn element_of<S: Float>(elements: &[S; SHORT_ROWS], index: usize) -> S {
    let mut element = S::ZERO;
    let mut known = 0;
    while known < SHORT_ROWS {
        if known == index {
            element = elements[known];
        }
        known += 1;
    }
    element
}

/// Adds the rows' sums of groups of `lanes` lanes as neighbours, then as pairs of neighbours, and so on, and shares them
/// out: a lane gets the number of its first row, and of how many rows it has the sums.
///
/// Of two lanes, each hands over half of its rows, and adds the other's sums to the other half. So 8 rows of 32 lanes
/// take 9 exchanges, in place of 5 for each row.
#[inline(always)]
fn share_out<T: Element>(
    sums: [T::Sum; SHORT_ROWS],
    (lane, lanes): (u32, u32),
) -> ([T::Sum; SHORT_ROWS], usize, usize) {
    let (mut sums, mut first, mut count) = (sums, 0, SHORT_ROWS);
    let mut distance = 1;
    while distance < SHORT_ROWS as u32 {
        if distance < lanes {
            let half = SHORT_ROWS / 2 / distance as usize;
            let is_upper = lane & distance != 0;
            let mut number = 0;
            while number < half {
                let (low, high) = (sums[number], sums[number + half]);
                let (own, other) = if is_upper { (high, low) } else { (low, high) };
                let others = other.exchange_xor(LaneMask::all(), distance);
                sums[number] = T::Addition::combine(own, others);
                number += 1;
            }
            first += if is_upper { half } else { 0 };
            count = half;
        }
        distance *= 2;
    }
    while distance < lanes {
        let others = sums[0].exchange_xor(LaneMask::all(), distance);
        sums[0] = T::Addition::combine(sums[0], others);
        distance *= 2;
    }
    // Of the lanes with the same sums, the first writes them.
    let is_writer = lane < SHORT_ROWS as u32;
    (sums, first, if is_writer { count } else { 0 })
}
