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
//! 1. A group loads the vectors of six rounds before it adds, across parts, then those of two at the end. If there are
//!    many rows, it adds four together, and loads two rounds of each before it adds. If it has all parts of a row,
//!    their sums stay in registers: lane p mod 32 adds the sum of part p.
//! 2. Lanes share out the sums of a group's rows, and the rest of the work on the outputs.
//! 3. Rows are read once, and evicted from the caches first, so that v stays.
//!
//! All lanes of a warp take part in every shuffle, whatever their group's work: a warp may have 64 lanes.

use super::element::Element;
use super::outputs::Outputs;
use super::parts::{LANES, Parts};
use super::plan::{ROWS_OF_GROUP, VECTOR_THREADS};
use super::product::{Product, Workspace};
use crate::reduce::lines::{combine_lanes, reduce_partials};
use cuda_std::float::Float;
use cuda_std::prelude::*;

/// Writes the outputs of the block's rows, if it has all or the last of their parts.
///
/// # Safety
/// 1. The launch has blocks of `VECTOR_THREADS` threads along x, enough for all rows: 32 threads for each
///    `parts_of_group` parts of each `rows_of_group` rows. `rows_of_group` is 1, or `ROWS_OF_GROUP` with all of their
///    parts.
/// 2. `product` has the elements of its shape, of which `VECTOR` are 16 bytes.
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
    let own = unsafe {
        if product.shape.rows_of_group > 1 {
            sum_parts::<T, VECTOR, ROWS_OF_GROUP>(product, workspace)
        } else {
            sum_parts::<T, VECTOR, 1>(product, workspace)
        }
    };
    if let Some((row, sum)) = own {
        // SAFETY: `outputs` has an element for each row: the caller's contract. One lane of one group writes it.
        unsafe { outputs.store(row, sum) };
    }
}

/// Sums of a row, or of `ROWS` rows, by groups of 32 lanes: the row that the lane writes, if there is one, and its sum.
///
/// # Safety
/// 1. (1) to (3) of [`multiply_along`].
/// 2. If `ROWS` is not 1, a group has all parts of its rows.
#[inline(always)]
unsafe fn sum_parts<T: Element, const VECTOR: usize, const ROWS: usize>(
    product: Product<T>,
    workspace: Workspace<T::Sum>,
) -> Option<(usize, T::Sum)> {
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
    // All lanes have all sums: each writes one.
    let lane = parts.lane as usize;
    let mut own = T::Sum::ZERO;
    let mut number = 0;
    while number < ROWS {
        let sum = combine_lanes::<T::Addition, T::Sum>(of_lane[number], LANES);
        own = if number == lane { sum } else { own };
        number += 1;
    }
    (has_sum && lane < ROWS && row + lane < shape.rows).then_some((row + lane, own))
}
