//! Lines that are contiguous: a group of lanes for each line, or for some parts of one.
//!
//! ```text
//! each lane:   add the products of its accumulator, 16 bytes at a time
//! each group:  add the accumulators of a part by shuffles
//!              some parts of a line: write their sums; take the line's ticket
//! last group:  add the sums of the line's parts by shuffles
//! ```
//!
//! Departures from the plain version, for speed:
//! 1. A line of at most one round has no more lanes than it takes, a power of two, and a group loads eight
//!    lines before it adds.
//! 2. A group loads the vectors of four rounds before it adds, whatever the parts, then of two of those that
//!    are left. Where there are many lines, it adds four at the same time, and loads two rounds of each
//!    before it adds. If it has all parts of a line, their sums stay in registers: lane p mod 32 adds that of
//!    part p.
//! 3. The lines, which are read once, are the first to be evicted from the caches, and v stays.
//!
//! Every lane of a warp takes part in every shuffle, whatever its group has to do: warps may have 64
//! lanes.

use super::element::{Element, add_products};
use super::outputs::Outputs;
use super::parts::{LANES, Parts};
use super::plan::{LINES_OF_GROUP, SHORT_LINES, VECTOR_THREADS};
use super::product::{Product, Workspace};
use crate::reduce::lines::{combine_lanes, reduce_partials};
use cuda_std::array;
use cuda_std::float::Float;
use cuda_std::hint::opaque_size;
use cuda_std::prelude::*;

/// The sums that the first lane of a group has.
struct Sums<S> {
    sums: [S; SHORT_LINES],
    /// The line of the first one, and from each to the next.
    line: usize,
    apart: usize,
    /// How many of them are lines' sums: none in the other lanes.
    count: usize,
}

/// # Safety
/// 1. The launch has blocks of `VECTOR_THREADS` threads along x, and enough for all lines: `SHORT_LINES`
///    lines for each `lanes` threads where `lanes` is not 0, otherwise 32 for each `parts_of_group` parts of
///    each `lines_of_group` lines.
/// 2. `product` has the elements of its shape. `lanes` is 0, or a power of two up to 32 that is not less
///    than the vectors of a line.
/// 3. Where a group has some parts of a line alone, `workspace` has a partial result for each part of each
///    line, and a ticket for each line, which is 0; the launch has it for itself.
/// 4. `outputs` has an element for each line.
#[inline(always)]
pub unsafe fn multiply_along<T: Element, O: Element<Sum = T::Sum>, const VECTOR: usize>(
    product: Product<T>,
    workspace: Workspace<T::Sum>,
    outputs: Outputs<O>,
) {
    // SAFETY: (1) to (3) are the caller's.
    let sums = unsafe {
        if product.shape.lanes > 0 {
            sum_short::<T, VECTOR>(product)
        } else if product.shape.lines_of_group > 1 {
            sum_parts::<T, VECTOR, LINES_OF_GROUP>(product, workspace)
        } else {
            sum_parts::<T, VECTOR, 1>(product, workspace)
        }
    };
    // A loop that is not unrolled: what the outputs take stands here once.
    let count = opaque_size(sums.count);
    let mut number = 0;
    while number < count {
        let mut sum = T::Sum::ZERO;
        let mut known = 0;
        while known < SHORT_LINES {
            // Not by `number`, for which the sums would leave registers.
            if known == number {
                sum = sums.sums[known];
            }
            known += 1;
        }
        let line = sums.line + number * sums.apart;
        if line < product.shape.lines {
            // SAFETY: (1) is (4). (2) One lane of one group has the line.
            unsafe { outputs.store(line, sum) };
        }
        number += 1;
    }
}

/// Lines of at most a vector for each lane.
///
/// # Safety
/// As for [`multiply_along`].
#[inline(always)]
unsafe fn sum_short<T: Element, const VECTOR: usize>(product: Product<T>) -> Sums<T::Sum> {
    let shape = product.shape;
    let (thread, lanes) = (thread::thread_idx_x(), shape.lanes as u32);
    let groups = (VECTOR_THREADS / lanes) as usize;
    let first = thread::block_idx_x() as usize * (groups * SHORT_LINES) + (thread / lanes) as usize;
    let offset = (thread % lanes) as usize * VECTOR;
    let here = shape.k.saturating_sub(offset).min(VECTOR);
    let line = |number: usize| first + number * groups;
    let is_whole = here == VECTOR && line(SHORT_LINES - 1) < shape.lines && product.has_vectors();
    // One branch around all loads: behind a branch of its own each waits for those before it.
    let (v, loaded): ([T; VECTOR], [[T; VECTOR]; SHORT_LINES]) = if is_whole {
        // SAFETY: (1) v and the lines have whole vectors, by (2) and the comparisons.
        unsafe {
            (
                product.load_v_vector(offset),
                array::from_fn(|number| product.load_line_vector(line(number), offset)),
            )
        }
    } else {
        // SAFETY: (1) v and the lines have them, by (2).
        unsafe {
            (
                product.load_v(offset, here),
                array::from_fn(|number| {
                    let count = if line(number) < shape.lines { here } else { 0 };
                    product.load_line(line(number), offset, count)
                }),
            )
        }
    };
    let mut sums = [T::Sum::ZERO; SHORT_LINES];
    let mut number = 0;
    while number < SHORT_LINES {
        let of_lane = add_products(T::Sum::ZERO, &loaded[number], &v);
        sums[number] = combine_lanes::<T::Addition, T::Sum>(of_lane, lanes);
        number += 1;
    }
    Sums {
        sums,
        line: first,
        apart: groups,
        count: if offset == 0 { SHORT_LINES } else { 0 },
    }
}

/// Some parts of a line, or all parts of `LINES` lines, of each group of 32 lanes.
///
/// # Safety
/// As for [`multiply_along`]; if `LINES` is not 1, a group has all parts.
#[inline(always)]
unsafe fn sum_parts<T: Element, const VECTOR: usize, const LINES: usize>(
    product: Product<T>,
    workspace: Workspace<T::Sum>,
) -> Sums<T::Sum> {
    let Product { shape, plan, .. } = product;
    let thread = thread::thread_idx_x();
    let in_block = (VECTOR_THREADS / LANES) as usize;
    let group = thread::block_idx_x() as usize * in_block + (thread / LANES) as usize;
    let groups = match LINES {
        1 => plan.parts.div_ceil(shape.parts_of_group),
        _ => 1,
    };
    let (line, number) = (group / groups * LINES, group % groups);
    let parts = Parts {
        line,
        first: number * shape.parts_of_group,
        is_there: line < shape.lines,
        is_whole: groups == 1,
        lane: thread % LANES,
    };
    // SAFETY: (1), (2) are the caller's.
    let mut of_lane = unsafe { parts.sum::<T, VECTOR, LINES>(product, workspace) };
    let mut has_sum = parts.is_there;
    if !parts.is_whole {
        // SAFETY: (1) is (3), and the parts' sums are written.
        unsafe {
            has_sum = parts.is_last(workspace, groups);
            if has_sum {
                let first = line * plan.parts;
                let partials = workspace.partials;
                of_lane[0] =
                    reduce_partials::<T::Addition, T::Sum>(partials, first, plan.parts, parts.lane);
            }
        }
    }
    let mut sums = [T::Sum::ZERO; SHORT_LINES];
    let mut number = 0;
    while number < LINES {
        sums[number] = combine_lanes::<T::Addition, T::Sum>(of_lane[number], LANES);
        number += 1;
    }
    let is_writer = has_sum && parts.lane == 0;
    Sums {
        sums,
        line,
        apart: 1,
        count: if is_writer { LINES } else { 0 },
    }
}
