//! Products with a row-major X: a group of lanes for each row, or for some parts of one.
//!
//! ```text
//! each lane:   add the products of its accumulator, 16 bytes at a time
//! each group:  add the accumulators of a part by shuffles
//!              some parts of a row: write their sums; take the row's ticket
//! last group:  add the sums of the row's parts by shuffles
//! ```
//!
//! Departures from the plain version, for speed:
//! 1. A row of at most one round has only as many lanes as it needs, a power of two, and a group loads eight rows
//!    before it adds.
//! 2. A group loads the vectors of four rounds before it adds, across parts, then those of two at the end. If there are
//!    many rows, it adds four together, and loads two rounds of each before it adds. If it has all parts of a row,
//!    their sums stay in registers: lane p mod 32 adds the sum of part p.
//! 3. Lanes share out the sums of a group's rows, and the rest of the work on the outputs.
//! 4. Rows are read once, and evicted from the caches first, so that v stays.
//!
//! All lanes of a warp take part in every shuffle, whatever their group's work: a warp may have 64 lanes.

use super::element::{Element, add_products};
use super::outputs::Outputs;
use super::parts::{LANES, Parts};
use super::plan::{ROWS_OF_GROUP, SHORT_ROWS, VECTOR_THREADS};
use super::product::{Product, Workspace};
use crate::reduce::Reduction;
use crate::reduce::lines::{combine_lanes, reduce_partials};
use cuda_std::array;
use cuda_std::float::Float;
use cuda_std::hint::opaque_size;
use cuda_std::prelude::*;
use cuda_std::warp::Exchange;

/// The sums of rows whose outputs a lane writes.
struct Sums<S> {
    sums: [S; SHORT_ROWS],
    /// The row of the first sum, and the distance from each row to the next.
    row: usize,
    apart: usize,
    /// The number of sums.
    count: usize,
}

/// Writes the outputs of the block's rows, if it has all or the last of their parts.
///
/// # Safety
/// 1. The launch has blocks of `VECTOR_THREADS` threads along x, enough for all rows: `lanes` threads for each
///    `SHORT_ROWS` rows if `lanes` is not 0, otherwise 32 for each `parts_of_group` parts of each `rows_of_group` rows.
///    `rows_of_group` is 1, or `ROWS_OF_GROUP` with all of their parts.
/// 2. `product` has the elements of its shape, of which `VECTOR` are 16 bytes. `lanes` is 0, or a power of two up to 32
///    and not less than the vectors of a row.
/// 3. If a group has only some parts of a row, `workspace` has a partial result for each part of each row, and a
///    ticket, 0 at the start, for each row. Only this launch accesses them.
/// 4. `outputs` has an element for each row, which only this call's threads access.
#[inline(always)]
pub unsafe fn multiply_along<T: Element, O: Element<Sum = T::Sum>, const VECTOR: usize>(
    product: Product<T>,
    workspace: Workspace<T::Sum>,
    outputs: Outputs<O>,
) {
    // SAFETY: the launch, the product and the workspace: the caller's contract. A group with several rows has all of
    // their parts: the caller's contract.
    let sums = unsafe {
        if product.shape.lanes > 0 {
            sum_short::<T, VECTOR>(product)
        } else if product.shape.rows_of_group > 1 {
            sum_parts::<T, VECTOR, ROWS_OF_GROUP>(product, workspace)
        } else {
            sum_parts::<T, VECTOR, 1>(product, workspace)
        }
    };
    // Not unrolled, so that the code for outputs exists once.
    let count = opaque_size(sums.count);
    let mut number = 0;
    while number < count {
        let row = sums.row + number * sums.apart;
        if row < product.shape.rows {
            let sum = element_of(&sums.sums, number);
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

/// Sums of rows of at most a vector for each lane.
///
/// # Safety
/// 1. (1) and (2) of [`multiply_along`], with `lanes` not 0.
#[inline(always)]
unsafe fn sum_short<T: Element, const VECTOR: usize>(product: Product<T>) -> Sums<T::Sum> {
    let shape = product.shape;
    let (thread, lanes) = (thread::thread_idx_x(), shape.lanes as u32);
    let groups = (VECTOR_THREADS / lanes) as usize;
    let first = thread::block_idx_x() as usize * (groups * SHORT_ROWS) + (thread / lanes) as usize;
    let offset = (thread % lanes) as usize * VECTOR;
    let here = shape.k.saturating_sub(offset).min(VECTOR);
    let row = |number: usize| first + number * groups;
    let is_whole = here == VECTOR && row(SHORT_ROWS - 1) < shape.rows && product.has_vectors();
    // One branch for all loads: with a branch of its own, each load would wait for the last.
    let (v, loaded): ([T; VECTOR], [[T; VECTOR]; SHORT_ROWS]) = if is_whole {
        // SAFETY: v and the rows have the vectors, which are whole and aligned: compared above, and the product has its
        // elements, the caller's contract. `offset` counts vectors.
        unsafe {
            (
                product.load_v_vector(offset),
                array::from_fn(|number| product.load_row_vector(row(number), offset)),
            )
        }
    } else {
        // SAFETY: v and the rows have the elements: `here` counts those up to k, none of rows that do not exist, and
        // the product has its elements, the caller's contract. `offset` counts vectors.
        unsafe {
            (
                product.load_v(offset, here),
                array::from_fn(|number| {
                    let count = if row(number) < shape.rows { here } else { 0 };
                    product.load_row(row(number), offset, count)
                }),
            )
        }
    };
    let sums = array::from_fn(|number| add_products(T::Sum::ZERO, &loaded[number], &v));
    let (sums, number, count) = share_out::<T>(sums, (thread % lanes, lanes));
    Sums {
        sums,
        row: row(number),
        apart: groups,
        count,
    }
}

/// Adds the rows' sums of groups of `lanes` lanes as [`combine_lanes`] does, and shares them out: a lane gets the number
/// of its first row, and of how many rows it has the sums.
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

/// Sums of a row, or of `ROWS` rows, by groups of 32 lanes.
///
/// # Safety
/// 1. (1) to (3) of [`multiply_along`], with `lanes` 0.
/// 2. If `ROWS` is not 1, a group has all parts of its rows.
#[inline(always)]
unsafe fn sum_parts<T: Element, const VECTOR: usize, const ROWS: usize>(
    product: Product<T>,
    workspace: Workspace<T::Sum>,
) -> Sums<T::Sum> {
    let Product { shape, plan, .. } = product;
    let thread = thread::thread_idx_x();
    let in_block = (VECTOR_THREADS / LANES) as usize;
    let group = thread::block_idx_x() as usize * in_block + (thread / LANES) as usize;
    let groups = match ROWS {
        1 => plan.parts.div_ceil(shape.parts_of_group),
        _ => 1,
    };
    let (row, number) = (group / groups * ROWS, group % groups);
    let parts = Parts {
        row,
        first: number * shape.parts_of_group,
        is_there: row < shape.rows,
        is_whole: groups == 1,
        lane: thread % LANES,
    };
    // SAFETY: all lanes of the warp call it. The product has its elements, and a group with only some parts has one row
    // and partial results: the caller's contract.
    let mut of_lane = unsafe { parts.sum::<T, VECTOR, ROWS>(product, workspace) };
    let mut has_sum = parts.is_there;
    if !parts.is_whole {
        // SAFETY: all lanes of the warp call `is_last`: `is_whole` is the launch's. The workspace has the ticket, which
        // starts at 0, and the partial results: the caller's contract. The group's first lane has written its parts. If
        // it is the last, all parts are written, and visible.
        unsafe {
            has_sum = parts.is_last(workspace, groups);
            if has_sum {
                let first = row * plan.parts;
                let partials = workspace.partials;
                of_lane[0] =
                    reduce_partials::<T::Addition, T::Sum>(partials, first, plan.parts, parts.lane);
            }
        }
    }
    let mut sums = [T::Sum::ZERO; SHORT_ROWS];
    let mut number = 0;
    while number < ROWS {
        sums[number] = combine_lanes::<T::Addition, T::Sum>(of_lane[number], LANES);
        number += 1;
    }
    // All lanes have all sums: each writes one.
    let lane = parts.lane as usize;
    sums[0] = element_of(&sums, lane);
    Sums {
        sums,
        row: row + lane,
        apart: 1,
        count: if has_sum && lane < ROWS { 1 } else { 0 },
    }
}
