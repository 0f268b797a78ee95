//! Products with a row-major X of 8-bit elements: a group of lanes for two rows, or for some parts of two.
//!
//! ```text
//! each lane:   for four rounds at a time:
//!                  load 16 bytes of each round of both rows and of v
//!                  add the products of its accumulator, one round after the other
//! each group:  add the accumulators of a part by shuffles
//!              some parts of its rows: write their sums; take the rows' ticket
//! last group:  add the sums of the rows' parts by shuffles
//! ```
//!
//! A sum has the order of `along.rs`, with accumulators of 16 elements. Departures from the plain version, for speed:
//! 1. Rows and v are whole vectors of 16 bytes, with zeros at the end, and aligned to 16 bytes, so a lane never loads
//!    less. The host copies other operands into this form.
//! 2. A vector of v is unpacked once for both rows.
//! 3. If all lanes have a vector in each of four rounds, one branch guards their loads.
//!
//! All lanes of a warp take part in every shuffle, whatever their group's work: a warp may have 64 lanes.

use super::outputs::Outputs;
use super::parts::{LANES, Parts};
use super::plan::{BYTE_ROWS, LOAD_BYTES, VECTOR_ACCUMULATORS, VECTOR_THREADS};
use super::product::{Product, Workspace};
use super::words::{WORDS, Words};
use crate::epilogue::EpilogueElement;
use crate::finish::{FromSum, Output};
use crate::reduce::lines::{combine_lanes, reduce_partials};
use cuda_std::array;
use cuda_std::hint::opaque_size;
use cuda_std::prelude::*;

/// Rounds whose vectors a lane loads before it adds.
const ROUNDS: usize = 4;

/// Words of a round.
const ROUND: usize = VECTOR_ACCUMULATORS * WORDS;

/// The words of a lane's vectors of both rows and of v.
struct Loaded {
    rows: [[[i32; WORDS]; ROUNDS]; BYTE_ROWS],
    v: [[i32; WORDS]; ROUNDS],
}

/// Writes the outputs of the block's rows, if it has all or the last of their parts.
///
/// # Safety
/// 1. The launch has blocks of `VECTOR_THREADS` threads along x: 32 threads for each `parts_of_group` parts of each
///    `BYTE_ROWS` rows.
/// 2. `product` has the words of its shape: k is a multiple of 4, v is contiguous, and v and all rows are aligned to 16
///    bytes.
/// 3. If a group has only some parts of its rows, `workspace` has a partial result for each part of each row, and a
///    ticket, 0 at the start, for each row. Only this launch accesses them.
/// 4. `outputs` has an element for each row, which only this call's threads access.
#[inline(always)]
pub unsafe fn multiply_bytes<T: Words, O: Output<Sum: FromSum<T::Sum>>>(
    product: Product<i32>,
    workspace: Workspace<T::Sum>,
    outputs: Outputs<O>,
) {
    let Product { shape, plan, .. } = product;
    let thread = thread::thread_idx_x();
    let in_block = (VECTOR_THREADS / LANES) as usize;
    let group = thread::block_idx_x() as usize * in_block + (thread / LANES) as usize;
    let groups = plan.parts.div_ceil(shape.parts_of_group);
    let row = group / groups * BYTE_ROWS;
    let parts = Parts {
        row,
        first: group % groups * shape.parts_of_group,
        is_there: row < shape.rows,
        is_whole: groups == 1,
        lane: thread % LANES,
    };
    // SAFETY: all lanes of the warp call it. The product and the workspace: the caller's contract.
    let mut of_lane = unsafe { sum_parts::<T>(&parts, product, workspace) };
    let mut has_sums = parts.is_there;
    if !parts.is_whole {
        // SAFETY: all lanes of the warp call `is_last`: `is_whole` is the launch's. The workspace has the ticket, which
        // starts at 0, and the partial results: the caller's contract. The group's first lane has written its parts. If
        // it is the last, all parts are written, and visible.
        unsafe {
            has_sums = parts.is_last(workspace, groups);
            if has_sums {
                of_lane = array::from_fn(|number| {
                    let first = parts.row(number, shape.rows) * plan.parts;
                    let partials = workspace.partials;
                    reduce_partials::<T::Addition, T::Sum>(partials, first, plan.parts, parts.lane)
                });
            }
        }
    }
    let sums: [T::Sum; BYTE_ROWS] =
        array::from_fn(|number| combine_lanes::<T::Addition, T::Sum>(of_lane[number], LANES));
    let is_writer = has_sums && parts.lane == 0;
    // Not unrolled, so that the code for outputs exists once.
    let count = opaque_size(if is_writer { BYTE_ROWS } else { 0 });
    let mut number = 0;
    while number < count {
        let sum = if number == 0 { sums[0] } else { sums[1] };
        if row + number < shape.rows {
            // SAFETY: `outputs` has an element for each row: the caller's contract. One lane of one group writes it.
            unsafe { outputs.store(row + number, sum) };
        }
        number += 1;
    }
}

/// Adds up each of the group's parts. If the group has all parts of its rows, the lane returns the sums of its
/// accumulator; otherwise the parts' sums are written.
///
/// # Safety
/// 1. All lanes of the warp call it. `product` is as for [`multiply_bytes`].
/// 2. If the group has only some parts, `workspace` has a partial result for each part of each row.
#[inline(always)]
unsafe fn sum_parts<T: Words>(
    parts: &Parts,
    product: Product<i32>,
    workspace: Workspace<T::Sum>,
) -> [T::Sum; BYTE_ROWS] {
    let Product { shape, plan, .. } = product;
    let start = parts.first * plan.part;
    let end = if parts.is_there {
        shape.k.min(start + shape.parts_of_group * plan.part)
    } else {
        0
    };
    let whole = end.saturating_sub(start) / ROUND;
    // The same in all groups.
    let rounds = shape.parts_of_group * plan.rounds;
    let mut of_row = [T::Sum::ZERO; BYTE_ROWS];
    let mut of_part = [T::Sum::ZERO; BYTE_ROWS];
    let mut round = 0;
    while round < rounds {
        let first = start + round * ROUND + parts.lane as usize * WORDS;
        let end = if round + ROUNDS <= whole {
            usize::MAX
        } else {
            end
        };
        // SAFETY: the product is that of `multiply_bytes`: the caller's contract. It has the vectors: the rounds are
        // whole, or those from `end` on are left out. A group without a row has no whole rounds, and an `end` of 0.
        let loaded = unsafe { load(parts, product, first, end) };
        let mut number = 0;
        while number < ROUNDS {
            let v = T::unpack(loaded.v[number]);
            let mut row = 0;
            while row < BYTE_ROWS {
                of_part[row] = T::add_products(of_part[row], loaded.rows[row][number], &v);
                row += 1;
            }
            let done = round + number + 1;
            // The same in all lanes of the warp.
            if done <= rounds && done & (plan.rounds - 1) == 0 {
                let part = parts.first + (done >> plan.rounds.trailing_zeros()) - 1;
                // SAFETY: all lanes of the warp are here: the condition is the launch's, and the rest the caller's
                // contract, as are the partial results.
                unsafe {
                    finish_part::<T>(parts, product, workspace, (of_part, &mut of_row), part)
                };
                of_part = [T::Sum::ZERO; BYTE_ROWS];
            }
            number += 1;
        }
        round += ROUNDS;
    }
    of_row
}

/// The vectors of [`ROUNDS`] rounds from word `first` on. Those from word `end` on are zeros; with an `end` of
/// `usize::MAX` there are none.
///
/// # Safety
/// 1. `product` is as for [`multiply_bytes`], and has the vectors before `end`. There are none if the group has no row.
#[inline(always)]
unsafe fn load(parts: &Parts, product: Product<i32>, first: usize, end: usize) -> Loaded {
    const { assert!(WORDS * size_of::<i32>() == LOAD_BYTES) };
    let Product { x, v, shape, .. } = product;
    let at = |number: usize| first + number * ROUND;
    let start = |row: usize| parts.row(row, shape.rows) * shape.x_apart;
    if end == usize::MAX {
        // SAFETY: the product has the vectors, and its rows and v are aligned: the caller's contract. Rounds and lanes
        // have whole vectors.
        return unsafe {
            Loaded {
                rows: array::from_fn(|row| {
                    array::from_fn(|number| x.load_streaming(start(row) + at(number)))
                }),
                v: array::from_fn(|number| v.load_vector(at(number))),
            }
        };
    }
    // SAFETY: the product has the vectors before `end`, compared here, and its rows and v are aligned: the caller's
    // contract. Rounds and lanes have whole vectors.
    unsafe {
        Loaded {
            rows: array::from_fn(|row| {
                array::from_fn(|number| match at(number) < end {
                    true => x.load_streaming(start(row) + at(number)),
                    false => [0; WORDS],
                })
            }),
            v: array::from_fn(|number| match at(number) < end {
                true => v.load_vector(at(number)),
                false => [0; WORDS],
            }),
        }
    }
}

/// Adds up the accumulators of part `part` of each row, and keeps the sums or writes them.
///
/// # Safety
/// 1. All lanes of the warp call it.
/// 2. As (2) of [`sum_parts`].
#[inline(always)]
unsafe fn finish_part<T: Words>(
    parts: &Parts,
    Product { shape, plan, .. }: Product<i32>,
    workspace: Workspace<T::Sum>,
    (of_part, of_row): ([T::Sum; BYTE_ROWS], &mut [T::Sum; BYTE_ROWS]),
    part: usize,
) {
    let mut row = 0;
    while row < BYTE_ROWS {
        let total = combine_lanes::<T::Addition, T::Sum>(T::of_part(of_part[row]), LANES);
        let number = parts.row + row;
        if parts.is_whole {
            if part % VECTOR_ACCUMULATORS == parts.lane as usize {
                of_row[row] = of_row[row].plus(total);
            }
        } else if number < shape.rows && parts.lane == 0 && part < plan.parts {
            // SAFETY: the row and the part exist: compared above. The workspace has their partial result: the caller's
            // contract. One lane of one group writes it, and others read it only after they have taken the last ticket.
            unsafe { workspace.partials.store(number * plan.parts + part, total) };
        }
        row += 1;
    }
}
