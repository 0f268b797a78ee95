//! Contiguous lines of elements of 8 bits: a group of lanes for two lines, or for some parts of two.
//!
//! ```text
//! each lane:   for four rounds at a time:
//!                  load 16 bytes of each round of both lines and of v
//!                  add the products of its accumulator, one round after the other
//! each group:  add the accumulators of a part by shuffles
//!              some parts of its lines: write their sums; take the lines' ticket
//! last group:  add the sums of the lines' parts by shuffles
//! ```
//!
//! The order of a sum is that of `along.rs`, for accumulators of 16 elements. Departures from the plain version, for
//! speed:
//! 1. Lines and v consist of whole vectors of 16 bytes, zeros at the end, which start at multiples of 16: a lane
//!    never loads less. The host brings other operands into this form.
//! 2. A vector of v is unpacked once for both lines.
//! 3. Where all lanes have a vector in each of four rounds, their loads follow one branch.
//!
//! Every lane of a warp takes part in every shuffle, whatever its group has to do: warps may have 64
//! lanes.

use super::outputs::Outputs;
use super::parts::{LANES, Parts};
use super::plan::{LINES_OF_BYTES, STRAND_BYTES, VECTOR_STRANDS, VECTOR_THREADS};
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
const ROUND: usize = VECTOR_STRANDS * WORDS;

/// The words of a lane's vectors: of both lines, and of v.
struct Loaded {
    lines: [[[i32; WORDS]; ROUNDS]; LINES_OF_BYTES],
    v: [[i32; WORDS]; ROUNDS],
}

/// # Safety
/// 1. The launch has blocks of `VECTOR_THREADS` threads along x, 32 for each `parts_of_group` parts of each
///    `LINES_OF_BYTES` lines.
/// 2. `product` has the words of its shape: k is a multiple of 4, v is contiguous, and it and all lines start at
///    multiples of 16 bytes.
/// 3. Where a group has some parts of its lines alone, `workspace` has a partial result for each part of each
///    line, and a ticket for each line, which is 0; the launch has it for itself.
/// 4. `outputs` has an element for each line.
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
    let line = group / groups * LINES_OF_BYTES;
    let parts = Parts {
        line,
        first: group % groups * shape.parts_of_group,
        is_there: line < shape.lines,
        is_whole: groups == 1,
        lane: thread % LANES,
    };
    // SAFETY: (1), (2) are (2) and (3).
    let mut of_lane = unsafe { sum_parts::<T>(&parts, product, workspace) };
    let mut has_sums = parts.is_there;
    if !parts.is_whole {
        // SAFETY: (1) is (3), and the parts' sums are written.
        unsafe {
            has_sums = parts.is_last(workspace, groups);
            if has_sums {
                of_lane = array::from_fn(|number| {
                    let first = parts.line(number, shape.lines) * plan.parts;
                    let partials = workspace.partials;
                    reduce_partials::<T::Addition, T::Sum>(partials, first, plan.parts, parts.lane)
                });
            }
        }
    }
    let sums: [T::Sum; LINES_OF_BYTES] =
        array::from_fn(|number| combine_lanes::<T::Addition, T::Sum>(of_lane[number], LANES));
    let is_writer = has_sums && parts.lane == 0;
    // A loop that is not unrolled: what the outputs take stands here once.
    let count = opaque_size(if is_writer { LINES_OF_BYTES } else { 0 });
    let mut number = 0;
    while number < count {
        let sum = if number == 0 { sums[0] } else { sums[1] };
        if line + number < shape.lines {
            // SAFETY: (1) is (4). (2) One lane of one group has the line.
            unsafe { outputs.store(line + number, sum) };
        }
        number += 1;
    }
}

/// Adds up each part of the group's lines. If they are all of the lines, the lane has those of its accumulator;
/// otherwise they are written.
///
/// # Safety
/// 1. All lanes of the warp call it. `product` is as for [`multiply_bytes`].
/// 2. If they are not all, `workspace` has a partial result for each part of each line.
#[inline(always)]
unsafe fn sum_parts<T: Words>(
    parts: &Parts,
    product: Product<i32>,
    workspace: Workspace<T::Sum>,
) -> [T::Sum; LINES_OF_BYTES] {
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
    let mut of_line = [T::Sum::ZERO; LINES_OF_BYTES];
    let mut of_part = [T::Sum::ZERO; LINES_OF_BYTES];
    let mut round = 0;
    while round < rounds {
        let first = start + round * ROUND + parts.lane as usize * WORDS;
        let end = if round + ROUNDS <= whole {
            usize::MAX
        } else {
            end
        };
        // SAFETY: (1) is (1); all rounds are whole, or vectors past the end are left out.
        let loaded = unsafe { load(parts, product, first, end) };
        let mut number = 0;
        while number < ROUNDS {
            let v = T::operand(loaded.v[number]);
            let mut line = 0;
            while line < LINES_OF_BYTES {
                of_part[line] = T::add_products(of_part[line], loaded.lines[line][number], &v);
                line += 1;
            }
            let done = round + number + 1;
            // The same in all lanes of the warp.
            if done <= rounds && done & (plan.rounds - 1) == 0 {
                let part = parts.first + (done >> plan.rounds.trailing_zeros()) - 1;
                // SAFETY: (1) is (1). (2) is (2).
                unsafe {
                    finish_part::<T>(parts, product, workspace, (of_part, &mut of_line), part)
                };
                of_part = [T::Sum::ZERO; LINES_OF_BYTES];
            }
            number += 1;
        }
        round += ROUNDS;
    }
    of_line
}

/// The vectors of [`ROUNDS`] rounds from word `first` on, and zeros in place of those from word `end` on; an `end`
/// of `usize::MAX` says that all are there.
///
/// # Safety
/// 1. `product` is as for [`multiply_bytes`], and has the vectors before `end`, of which there are none if the
///    group has no line.
#[inline(always)]
unsafe fn load(parts: &Parts, product: Product<i32>, first: usize, end: usize) -> Loaded {
    const { assert!(WORDS * size_of::<i32>() == STRAND_BYTES) };
    let Product { x, v, shape, .. } = product;
    let at = |number: usize| first + number * ROUND;
    let start = |line: usize| parts.line(line, shape.lines) * shape.x_apart;
    if end == usize::MAX {
        // SAFETY: (1), (2) are (1).
        return unsafe {
            Loaded {
                lines: array::from_fn(|line| {
                    array::from_fn(|number| x.load_streaming(start(line) + at(number)))
                }),
                v: array::from_fn(|number| v.load_vector(at(number))),
            }
        };
    }
    // SAFETY: (1), (2) are (1) and the comparisons.
    unsafe {
        Loaded {
            lines: array::from_fn(|line| {
                array::from_fn(|number| match at(number) < end {
                    true => x.load_streaming(start(line) + at(number)),
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

/// Adds up the accumulators of part `part` of each line, and keeps the sums or writes them.
///
/// # Safety
/// 1. All lanes of the warp call it.
/// 2. (2) of [`sum_parts`].
#[inline(always)]
unsafe fn finish_part<T: Words>(
    parts: &Parts,
    Product { shape, plan, .. }: Product<i32>,
    workspace: Workspace<T::Sum>,
    (of_part, of_line): ([T::Sum; LINES_OF_BYTES], &mut [T::Sum; LINES_OF_BYTES]),
    part: usize,
) {
    let mut line = 0;
    while line < LINES_OF_BYTES {
        let total = combine_lanes::<T::Addition, T::Sum>(T::of_part(of_part[line]), LANES);
        let number = parts.line + line;
        if parts.is_whole {
            if part % VECTOR_STRANDS == parts.lane as usize {
                of_line[line] = of_line[line].plus(total);
            }
        } else if number < shape.lines && parts.lane == 0 && part < plan.parts {
            // SAFETY: (1) there is one for each part, by (2). (2) One group has the part.
            unsafe { workspace.partials.store(number * plan.parts + part, total) };
        }
        line += 1;
    }
}
