//! Lines that are contiguous: a group of lanes for each line, or for some parts of one.
//!
//! ```text
//! each lane:   add the products of its strand, 16 bytes at a time
//! each group:  add the strands of a part by shuffles
//!              some parts of a line: write their sums; take the line's ticket
//! last group:  add the sums of the line's parts by shuffles
//! ```
//!
//! Departures from the plain version, for speed:
//! 1. A line of at most one round has no more lanes than it takes, a power of two, and a group loads four
//!    lines before it adds.
//! 2. A group loads the vectors of eight rounds before it adds, whatever the parts, then of four and of two
//!    of those that are left. If it has all parts of a line, their sums stay in registers: lane p mod 32 adds
//!    that of part p.
//! 3. The lines, which are read once, are the first to be evicted from the caches, and v stays.
//!
//! Every lane of a warp takes part in every shuffle, whatever its group has to do: warps may have 64
//! lanes.

use super::element::{Element, add_products};
use super::outputs::Outputs;
use super::plan::{SHORT_LINES, VECTOR_STRANDS, VECTOR_THREADS};
use super::{Product, Workspace};
use crate::reduce::lines::{combine_lanes, reduce_partials};
use cuda_std::array;
use cuda_std::float::Float;
use cuda_std::hint::opaque_size;
use cuda_std::prelude::*;

/// Rounds that a lane loads before it adds where all lanes have whole vectors, and where some may have none.
const IN_FLIGHT: usize = 8;
const IN_FLIGHT_AT_END: usize = 4;

/// Lanes of a group with some parts of a line.
const LANES: u32 = VECTOR_STRANDS as u32;

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
/// 1. The launch has blocks of `VECTOR_THREADS` threads along x, and enough for all lines: 4 lines for each
///    `lanes` threads where `lanes` is not 0, otherwise 32 for each `parts_of_group` parts of each line.
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
        } else {
            sum_parts::<T, VECTOR>(product, workspace)
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

/// Some parts of a line, or all, of each group of 32 lanes.
///
/// # Safety
/// As for [`multiply_along`].
#[inline(always)]
unsafe fn sum_parts<T: Element, const VECTOR: usize>(
    product: Product<T>,
    workspace: Workspace<T::Sum>,
) -> Sums<T::Sum> {
    let Product { shape, plan, .. } = product;
    let thread = thread::thread_idx_x();
    let in_block = (VECTOR_THREADS / LANES) as usize;
    let group = thread::block_idx_x() as usize * in_block + (thread / LANES) as usize;
    let groups = plan.parts.div_ceil(shape.parts_of_group);
    let (line, number) = (group / groups, group % groups);
    let parts = Parts {
        line,
        first: number * shape.parts_of_group,
        is_there: line < shape.lines,
        is_whole: groups == 1,
        lane: thread % LANES,
    };
    // SAFETY: (1), (2) are the caller's.
    let mut of_lane = unsafe { parts.sum::<T, VECTOR>(product, workspace) };
    let mut has_sum = parts.is_there;
    if !parts.is_whole {
        // SAFETY: (1) is (3), and the parts' sums are written.
        unsafe {
            has_sum = parts.is_last(workspace, groups);
            if has_sum {
                let first = line * plan.parts;
                let partials = workspace.partials;
                of_lane =
                    reduce_partials::<T::Addition, T::Sum>(partials, first, plan.parts, parts.lane);
            }
        }
    }
    let total = combine_lanes::<T::Addition, T::Sum>(of_lane, LANES);
    let mut sums = [T::Sum::ZERO; SHORT_LINES];
    sums[0] = total;
    Sums {
        sums,
        line,
        apart: 0,
        count: usize::from(has_sum && parts.lane == 0),
    }
}

/// What a lane has added so far.
struct RunningSums<S> {
    /// Its strand of the parts of a line.
    of_line: S,
    /// Its strand of the products of a part.
    of_part: S,
}

/// Parts of a line, as a lane of their group has them.
#[derive(Clone, Copy)]
struct Parts {
    line: usize,
    /// The first part.
    first: usize,
    /// Whether there is such a line.
    is_there: bool,
    /// Whether they are all parts of the line.
    is_whole: bool,
    lane: u32,
}

impl Parts {
    /// Adds up each part. If they are all of the line, the lane has those of its strand; otherwise they
    /// are written.
    ///
    /// # Safety
    /// 1. All lanes of the warp call it. `product` has the elements of its shape.
    /// 2. If they are not all, `workspace` has a partial result for each part of each line.
    #[inline(always)]
    unsafe fn sum<T: Element, const VECTOR: usize>(
        &self,
        product: Product<T>,
        workspace: Workspace<T::Sum>,
    ) -> T::Sum {
        let Product { shape, plan, .. } = product;
        let start = self.first * plan.part + self.lane as usize * VECTOR;
        let end = if self.is_there {
            shape.k.min((self.first + shape.parts_of_group) * plan.part)
        } else {
            0
        };
        let rounds = shape.parts_of_group * plan.rounds;
        let at = |round: usize| start + round * (VECTOR_STRANDS * VECTOR);
        // The rounds of which all lanes have a whole vector, loaded without a branch: behind one a load
        // waits for those before it.
        let whole = if product.has_vectors() {
            end.saturating_sub(self.first * plan.part) / (VECTOR_STRANDS * VECTOR)
        } else {
            0
        };
        let mut sums = RunningSums {
            of_line: T::Sum::ZERO,
            of_part: T::Sum::ZERO,
        };
        let mut round = 0;
        // SAFETY: (1) is the caller's. (2) The rounds are whole.
        unsafe {
            while round + IN_FLIGHT <= whole {
                self.add_whole::<T, VECTOR, IN_FLIGHT>(product, workspace, &mut sums, &mut round);
            }
            if round + 4 <= whole {
                self.add_whole::<T, VECTOR, 4>(product, workspace, &mut sums, &mut round);
            }
            if round + 2 <= whole {
                self.add_whole::<T, VECTOR, 2>(product, workspace, &mut sums, &mut round);
            }
        }
        while round < rounds {
            let here = |number| end.saturating_sub(at(number)).min(VECTOR);
            // SAFETY: (1) the line and v have as many, by (1).
            let (line, v): (
                [[T; VECTOR]; IN_FLIGHT_AT_END],
                [[T; VECTOR]; IN_FLIGHT_AT_END],
            ) = unsafe {
                (
                    array::from_fn(|it| {
                        product.load_line(self.line, at(round + it), here(round + it))
                    }),
                    array::from_fn(|it| product.load_v(at(round + it), here(round + it))),
                )
            };
            // SAFETY: (1), (2) are the caller's.
            unsafe { self.add_rounds(product, workspace, &mut sums, round, line, v) };
            round += IN_FLIGHT_AT_END;
        }
        sums.of_line
    }

    /// Loads and adds `COUNT` rounds from `round` on, which it moves on.
    ///
    /// # Safety
    /// 1. Those of [`Parts::sum`] hold.
    /// 2. The line and v are aligned, and the rounds have a whole vector for each lane.
    #[inline(always)]
    unsafe fn add_whole<T: Element, const VECTOR: usize, const COUNT: usize>(
        &self,
        product: Product<T>,
        workspace: Workspace<T::Sum>,
        sums: &mut RunningSums<T::Sum>,
        round: &mut usize,
    ) {
        let start = self.first * product.plan.part + self.lane as usize * VECTOR;
        let at = |number: usize| start + (*round + number) * (VECTOR_STRANDS * VECTOR);
        // SAFETY: (1) is (2).
        let (line, v): ([[T; VECTOR]; COUNT], [[T; VECTOR]; COUNT]) = unsafe {
            (
                array::from_fn(|it| product.load_line_vector(self.line, at(it))),
                array::from_fn(|it| product.load_v_vector(at(it))),
            )
        };
        // SAFETY: (1), (2) are (1).
        unsafe { self.add_rounds(product, workspace, sums, *round, line, v) };
        *round += COUNT;
    }

    /// Adds the products of `COUNT` rounds from `first` on, and finishes the parts that end there.
    ///
    /// # Safety
    /// As for [`Parts::sum`].
    #[inline(always)]
    unsafe fn add_rounds<T: Element, const VECTOR: usize, const COUNT: usize>(
        &self,
        product: Product<T>,
        workspace: Workspace<T::Sum>,
        sums: &mut RunningSums<T::Sum>,
        first: usize,
        line: [[T; VECTOR]; COUNT],
        v: [[T; VECTOR]; COUNT],
    ) {
        let Product { shape, plan, .. } = product;
        let rounds = shape.parts_of_group * plan.rounds;
        let mut number = 0;
        while number < COUNT {
            sums.of_part = add_products(sums.of_part, &line[number], &v[number]);
            let done = first + number + 1;
            // The same in all lanes of the warp.
            if done <= rounds && done & (plan.rounds - 1) == 0 {
                let part = self.first + (done >> plan.rounds.trailing_zeros()) - 1;
                let total = combine_lanes::<T::Addition, T::Sum>(sums.of_part, LANES);
                if self.is_whole {
                    if part % VECTOR_STRANDS == self.lane as usize {
                        sums.of_line = sums.of_line + total;
                    }
                } else if self.is_there && self.lane == 0 && part < plan.parts {
                    let at = self.line * plan.parts + part;
                    // SAFETY: (1) there is one for each part, by (2). (2) One group has the part.
                    unsafe { workspace.partials.store(at, total) };
                }
                sums.of_part = T::Sum::ZERO;
            }
            number += 1;
        }
    }

    /// Whether the group is the last one of its line, of `groups`, to have written its parts.
    ///
    /// # Safety
    /// 1. All lanes of the warp call it. `workspace` has a ticket for each line, which was 0. The first
    ///    lane of the group has written its parts.
    #[inline(always)]
    unsafe fn is_last<S: Float>(&self, workspace: Workspace<S>, groups: usize) -> bool {
        let mut ticket = 0;
        if self.is_there && self.lane == 0 {
            thread::fence_device();
            // SAFETY: (1) there is one for each line, by (1). (2) Tickets are touched by atomics alone.
            ticket = unsafe { workspace.tickets.atomic_add(self.line, 1) };
        }
        ticket = warp::shuffle_width(LaneMask::all(), ticket, 0, LANES);
        warp::sync(LaneMask::all());
        let is_last = self.is_there && ticket as usize + 1 == groups;
        if is_last {
            // The tickets that came before stand for partial results: what follows must see them.
            thread::fence_device();
            if self.lane == 0 {
                // SAFETY: as above; all other groups of the line are done with it.
                unsafe { workspace.tickets.atomic_store(self.line, 0) };
            }
        }
        is_last
    }
}
