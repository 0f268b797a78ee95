//! Parts of contiguous lines, each added by a group of lanes.

use super::element::{Element, add_products};
use super::plan::VECTOR_STRANDS;
use super::product::{Product, Workspace};
use crate::reduce::lines::combine_lanes;
use cuda_std::array;
use cuda_std::float::Float;
use cuda_std::prelude::*;

/// Lanes of a group with some parts of a line.
pub const LANES: u32 = VECTOR_STRANDS as u32;

/// What a lane has added so far of each of its lines.
struct RunningSums<S, const LINES: usize> {
    /// Its accumulator of the parts of a line.
    of_line: [S; LINES],
    /// Its accumulator of the products of a part.
    of_part: [S; LINES],
}

/// Parts of a line, or of neighbouring ones, as a lane of their group has them.
#[derive(Clone, Copy)]
pub struct Parts {
    /// The first line.
    pub line: usize,
    /// The first part.
    pub first: usize,
    /// Whether there is such a line.
    pub is_there: bool,
    /// Whether they are all parts of the line.
    pub is_whole: bool,
    pub lane: u32,
}

/// Vectors of `LINES` lines and of v, in `COUNT` rounds.
struct Loaded<T, const VECTOR: usize, const LINES: usize, const COUNT: usize> {
    lines: [[[T; VECTOR]; COUNT]; LINES],
    v: [[T; VECTOR]; COUNT],
}

impl Parts {
    /// Line `number` of the group, or the last one, whose sum is not used, where there are not so many.
    #[inline(always)]
    pub fn line(&self, number: usize, lines: usize) -> usize {
        match number {
            0 => self.line,
            _ => (self.line + number).min(lines - 1),
        }
    }

    /// Adds up each part. If they are all of the line, the lane has those of its accumulator; otherwise they
    /// are written.
    ///
    /// # Safety
    /// 1. All lanes of the warp call it. `product` has the elements of its shape.
    /// 2. If they are not all, `LINES` is 1, and `workspace` has a partial result for each part of each line.
    #[inline(always)]
    pub unsafe fn sum<T: Element, const VECTOR: usize, const LINES: usize>(
        &self,
        product: Product<T>,
        workspace: Workspace<T::Sum>,
    ) -> [T::Sum; LINES] {
        let Product { shape, plan, .. } = product;
        let end = if self.is_there {
            shape.k.min((self.first + shape.parts_of_group) * plan.part)
        } else {
            0
        };
        let rounds = shape.parts_of_group * plan.rounds;
        // The rounds of which all lanes have a whole vector, loaded without a branch: behind one a load
        // waits for those before it.
        let whole = if product.has_vectors() {
            end.saturating_sub(self.first * plan.part) / (VECTOR_STRANDS * VECTOR)
        } else {
            0
        };
        let mut sums = RunningSums {
            of_line: [T::Sum::ZERO; LINES],
            of_part: [T::Sum::ZERO; LINES],
        };
        let mut round = 0;
        // SAFETY: (1), (2) are the caller's. For `load_whole` the rounds are whole.
        unsafe {
            while LINES == 1 && round + 4 <= whole {
                let loaded = self.load_whole::<T, VECTOR, LINES, 4>(product, round);
                self.add_rounds(product, workspace, &mut sums, &mut round, loaded);
            }
            while round + 2 <= whole {
                let loaded = self.load_whole::<T, VECTOR, LINES, 2>(product, round);
                self.add_rounds(product, workspace, &mut sums, &mut round, loaded);
            }
            while LINES == 1 && round < rounds {
                let loaded = self.load::<T, VECTOR, LINES, 4>(product, round, end);
                self.add_rounds(product, workspace, &mut sums, &mut round, loaded);
            }
            while round < rounds {
                let loaded = self.load::<T, VECTOR, LINES, 1>(product, round, end);
                self.add_rounds(product, workspace, &mut sums, &mut round, loaded);
            }
        }
        sums.of_line
    }

    /// Where the lane's vector of round `round` begins.
    #[inline(always)]
    fn at<const VECTOR: usize>(&self, round: usize, part: usize) -> usize {
        self.first * part + self.lane as usize * VECTOR + round * (VECTOR_STRANDS * VECTOR)
    }

    /// The vectors of `COUNT` rounds from `round` on.
    ///
    /// # Safety
    /// 1. `product` has the elements of its shape, and is aligned, and the rounds have a whole vector for
    ///    each lane.
    #[inline(always)]
    unsafe fn load_whole<
        T: Element,
        const VECTOR: usize,
        const LINES: usize,
        const COUNT: usize,
    >(
        &self,
        product: Product<T>,
        round: usize,
    ) -> Loaded<T, VECTOR, LINES, COUNT> {
        let Product { shape, plan, .. } = product;
        let at = |number: usize| self.at::<VECTOR>(round + number, plan.part);
        // SAFETY: (1) is (1).
        unsafe {
            Loaded {
                lines: array::from_fn(|line| {
                    let line = self.line(line, shape.lines);
                    array::from_fn(|it| product.load_line_vector(line, at(it)))
                }),
                v: array::from_fn(|it| product.load_v_vector(at(it))),
            }
        }
    }

    /// Loads any rounds, with zeros from element `end` on.
    ///
    /// # Safety
    /// 1. `product` has the elements of its shape, and a line has `end` of them, of which there are none if
    ///    the group has no line.
    #[inline(always)]
    unsafe fn load<T: Element, const VECTOR: usize, const LINES: usize, const COUNT: usize>(
        &self,
        product: Product<T>,
        round: usize,
        end: usize,
    ) -> Loaded<T, VECTOR, LINES, COUNT> {
        let Product { shape, plan, .. } = product;
        let at = |number: usize| self.at::<VECTOR>(round + number, plan.part);
        let here = |number: usize| end.saturating_sub(at(number)).min(VECTOR);
        // SAFETY: (1) is (1).
        unsafe {
            Loaded {
                lines: array::from_fn(|line| {
                    let line = self.line(line, shape.lines);
                    array::from_fn(|it| product.load_line(line, at(it), here(it)))
                }),
                v: array::from_fn(|it| product.load_v(at(it), here(it))),
            }
        }
    }

    /// Adds the products of `COUNT` rounds from `round` on, which it moves on, and finishes the parts that
    /// end there.
    ///
    /// # Safety
    /// As for [`Parts::sum`].
    #[inline(always)]
    unsafe fn add_rounds<
        T: Element,
        const VECTOR: usize,
        const LINES: usize,
        const COUNT: usize,
    >(
        &self,
        product: Product<T>,
        workspace: Workspace<T::Sum>,
        sums: &mut RunningSums<T::Sum, LINES>,
        round: &mut usize,
        loaded: Loaded<T, VECTOR, LINES, COUNT>,
    ) {
        let Product { shape, plan, .. } = product;
        let rounds = shape.parts_of_group * plan.rounds;
        let mut number = 0;
        while number < COUNT {
            let done = *round + number + 1;
            // The same in all lanes of the warp.
            let ends_part = done <= rounds && done & (plan.rounds - 1) == 0;
            let part = self.first + (done >> plan.rounds.trailing_zeros());
            let mut line = 0;
            while line < LINES {
                let of_part = &mut sums.of_part[line];
                *of_part = add_products(*of_part, &loaded.lines[line][number], &loaded.v[number]);
                if ends_part {
                    let total = combine_lanes::<T::Addition, T::Sum>(*of_part, LANES);
                    *of_part = T::Sum::ZERO;
                    // SAFETY: (1) is (2).
                    unsafe {
                        self.finish_part(
                            product,
                            workspace,
                            &mut sums.of_line[line],
                            part - 1,
                            total,
                        )
                    };
                }
                line += 1;
            }
            number += 1;
        }
        *round += COUNT;
    }

    /// Keeps the sum of part `part` of a line, or writes it.
    ///
    /// # Safety
    /// 1. (2) of [`Parts::sum`].
    #[inline(always)]
    unsafe fn finish_part<T: Element>(
        &self,
        Product { plan, .. }: Product<T>,
        workspace: Workspace<T::Sum>,
        of_line: &mut T::Sum,
        part: usize,
        total: T::Sum,
    ) {
        if self.is_whole {
            if part % VECTOR_STRANDS == self.lane as usize {
                *of_line = *of_line + total;
            }
        } else if self.is_there && self.lane == 0 && part < plan.parts {
            let at = self.line * plan.parts + part;
            // SAFETY: (1) there is one for each part, by (1). (2) One group has the part.
            unsafe { workspace.partials.store(at, total) };
        }
    }

    /// Whether the group is the last one of its line, of `groups`, to have written its parts.
    ///
    /// # Safety
    /// 1. All lanes of the warp call it. `workspace` has a ticket for each line, which was 0. The first
    ///    lane of the group has written its parts.
    #[inline(always)]
    pub unsafe fn is_last<S>(&self, workspace: Workspace<S>, groups: usize) -> bool {
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
