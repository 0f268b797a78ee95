//! Parts of rows of a row-major X, each added by a group of lanes.

use super::element::{Element, add_products};
use super::plan::VECTOR_ACCUMULATORS;
use super::product::{Product, Workspace};
use crate::reduce::lines::combine_lanes;
use cuda_std::array;
use cuda_std::float::Float;
use cuda_std::prelude::*;

/// Lanes of a group with parts of a row.
pub const LANES: u32 = VECTOR_ACCUMULATORS as u32;

/// A lane's sums so far, for each of its rows.
struct RunningSums<S, const ROWS: usize> {
    /// Its accumulator of the parts of a row.
    of_row: [S; ROWS],
    /// Its accumulator of the products of a part.
    of_part: [S; ROWS],
}

/// The parts of a row, or of neighbouring rows, that a lane's group adds.
#[derive(Clone, Copy)]
pub struct Parts {
    /// The first row.
    pub row: usize,
    /// The first part.
    pub first: usize,
    /// Whether the row exists.
    pub is_there: bool,
    /// Whether they are all parts of the row.
    pub is_whole: bool,
    pub lane: u32,
}

/// Vectors of `COUNT` rounds, of `ROWS` rows and of v.
struct Loaded<T, const VECTOR: usize, const ROWS: usize, const COUNT: usize> {
    rows: [[[T; VECTOR]; COUNT]; ROWS],
    v: [[T; VECTOR]; COUNT],
}

impl Parts {
    /// Row `number` of the group. If there are fewer, the last row, whose sum is then not used.
    #[inline(always)]
    pub fn row(&self, number: usize, rows: usize) -> usize {
        match number {
            0 => self.row,
            _ => (self.row + number).min(rows - 1),
        }
    }

    /// Adds up each part. If the group has all parts of its rows, the lane returns the sums of its accumulator;
    /// otherwise the parts' sums are written.
    ///
    /// # Safety
    /// 1. All lanes of the warp call it. `product` has the elements of its shape, of which `VECTOR` are 16 bytes.
    /// 2. If the group has only some parts, `ROWS` is 1, and `workspace` has a partial result for each part of each
    ///    row.
    #[inline(always)]
    pub unsafe fn sum<T: Element, const VECTOR: usize, const ROWS: usize>(
        &self,
        product: Product<T>,
        workspace: Workspace<T::Sum>,
    ) -> [T::Sum; ROWS] {
        let Product { shape, plan, .. } = product;
        let end = if self.is_there {
            shape.k.min((self.first + shape.parts_of_group) * plan.part)
        } else {
            0
        };
        let rounds = shape.parts_of_group * plan.rounds;
        // Rounds in which all lanes have a whole vector: they are loaded without a branch, which would make each load
        // wait for the last.
        let whole = if product.has_vectors() {
            end.saturating_sub(self.first * plan.part) / (VECTOR_ACCUMULATORS * VECTOR)
        } else {
            0
        };
        let mut sums = RunningSums {
            of_row: [T::Sum::ZERO; ROWS],
            of_part: [T::Sum::ZERO; ROWS],
        };
        let mut round = 0;
        // SAFETY: all lanes are here, the product has its elements, and the workspace its partial results: the caller's
        // contract. `load_whole` gets rounds that are whole, and aligned if there are any: `has_vectors`. Rows have
        // `end` elements, and a group without a row has an `end` of 0.
        unsafe {
            while ROWS == 1 && round + 6 <= whole {
                let loaded = self.load_whole::<T, VECTOR, ROWS, 6>(product, round);
                self.add_rounds(product, workspace, &mut sums, &mut round, loaded);
            }
            while round + 2 <= whole {
                let loaded = self.load_whole::<T, VECTOR, ROWS, 2>(product, round);
                self.add_rounds(product, workspace, &mut sums, &mut round, loaded);
            }
            while ROWS == 1 && round < rounds {
                let loaded = self.load::<T, VECTOR, ROWS, 4>(product, round, end);
                self.add_rounds(product, workspace, &mut sums, &mut round, loaded);
            }
            while round < rounds {
                let loaded = self.load::<T, VECTOR, ROWS, 1>(product, round, end);
                self.add_rounds(product, workspace, &mut sums, &mut round, loaded);
            }
        }
        sums.of_row
    }

    /// The first element of the lane's vector of round `round`.
    #[inline(always)]
    fn at<const VECTOR: usize>(&self, round: usize, part: usize) -> usize {
        self.first * part + self.lane as usize * VECTOR + round * (VECTOR_ACCUMULATORS * VECTOR)
    }

    /// Loads the vectors of `COUNT` rounds from `round` on.
    ///
    /// # Safety
    /// 1. `product` has the elements of its shape, of which `VECTOR` are 16 bytes, and [vectors](Product::has_vectors).
    /// 2. The group has a row, and the rounds have a whole vector for each lane.
    #[inline(always)]
    unsafe fn load_whole<T: Element, const VECTOR: usize, const ROWS: usize, const COUNT: usize>(
        &self,
        product: Product<T>,
        round: usize,
    ) -> Loaded<T, VECTOR, ROWS, COUNT> {
        let Product { shape, plan, .. } = product;
        let at = |number: usize| self.at::<VECTOR>(round + number, plan.part);
        // SAFETY: rows and v have the vectors, and are aligned: the caller's contract. Rounds and lanes have whole
        // vectors.
        unsafe {
            Loaded {
                rows: array::from_fn(|row| {
                    let row = self.row(row, shape.rows);
                    array::from_fn(|it| product.load_row_vector(row, at(it)))
                }),
                v: array::from_fn(|it| product.load_v_vector(at(it))),
            }
        }
    }

    /// Loads the vectors of `COUNT` rounds from `round` on, with zeros from element `end` on.
    ///
    /// # Safety
    /// 1. `product` has the elements of its shape, of which `VECTOR` are 16 bytes.
    /// 2. Rows have `end` elements. `end` is 0 if the group has no row.
    #[inline(always)]
    unsafe fn load<T: Element, const VECTOR: usize, const ROWS: usize, const COUNT: usize>(
        &self,
        product: Product<T>,
        round: usize,
        end: usize,
    ) -> Loaded<T, VECTOR, ROWS, COUNT> {
        let Product { shape, plan, .. } = product;
        let at = |number: usize| self.at::<VECTOR>(round + number, plan.part);
        let here = |number: usize| end.saturating_sub(at(number)).min(VECTOR);
        // SAFETY: rows and v have the elements: `here` counts those before `end`, which rows have: the caller's
        // contract. Rounds and lanes have whole vectors.
        unsafe {
            Loaded {
                rows: array::from_fn(|row| {
                    let row = self.row(row, shape.rows);
                    array::from_fn(|it| product.load_row(row, at(it), here(it)))
                }),
                v: array::from_fn(|it| product.load_v(at(it), here(it))),
            }
        }
    }

    /// Adds the products of `COUNT` rounds from `round` on, finishes the parts that end there, and advances `round`.
    ///
    /// # Safety
    /// 1. As for [`Parts::sum`].
    #[inline(always)]
    unsafe fn add_rounds<T: Element, const VECTOR: usize, const ROWS: usize, const COUNT: usize>(
        &self,
        product: Product<T>,
        workspace: Workspace<T::Sum>,
        sums: &mut RunningSums<T::Sum, ROWS>,
        round: &mut usize,
        loaded: Loaded<T, VECTOR, ROWS, COUNT>,
    ) {
        let Product { shape, plan, .. } = product;
        let rounds = shape.parts_of_group * plan.rounds;
        let mut number = 0;
        while number < COUNT {
            let done = *round + number + 1;
            // The same in all lanes of the warp.
            let ends_part = done <= rounds && done & (plan.rounds - 1) == 0;
            let part = self.first + (done >> plan.rounds.trailing_zeros());
            let mut row = 0;
            while row < ROWS {
                let of_part = &mut sums.of_part[row];
                *of_part = add_products(*of_part, &loaded.rows[row][number], &loaded.v[number]);
                if ends_part {
                    let total = combine_lanes::<T::Addition, T::Sum>(*of_part, LANES);
                    *of_part = T::Sum::ZERO;
                    // SAFETY: the workspace: the caller's contract.
                    unsafe {
                        self.finish_part(product, workspace, &mut sums.of_row[row], part - 1, total)
                    };
                }
                row += 1;
            }
            number += 1;
        }
        *round += COUNT;
    }

    /// Keeps the sum of part `part` of a row, or writes it.
    ///
    /// # Safety
    /// 1. As (2) of [`Parts::sum`].
    #[inline(always)]
    unsafe fn finish_part<T: Element>(
        &self,
        Product { plan, .. }: Product<T>,
        workspace: Workspace<T::Sum>,
        of_row: &mut T::Sum,
        part: usize,
        total: T::Sum,
    ) {
        if self.is_whole {
            if part % VECTOR_ACCUMULATORS == self.lane as usize {
                *of_row = *of_row + total;
            }
        } else if self.is_there && self.lane == 0 && part < plan.parts {
            let at = self.row * plan.parts + part;
            // SAFETY: the row and the part exist: compared above. The workspace has their partial result: the caller's
            // contract. One lane of one group writes it, and others read it only after they have taken the last ticket.
            unsafe { workspace.partials.store(at, total) };
        }
    }

    /// Whether the group is the last of its row's `groups` to write its parts. Then all parts are visible to its lanes.
    ///
    /// # Safety
    /// 1. All lanes of the warp call it.
    /// 2. `workspace` has a ticket for each row, which was 0 when the launch started. Only this function accesses them.
    /// 3. The group's first lane has written its parts.
    #[inline(always)]
    pub unsafe fn is_last<S>(&self, workspace: Workspace<S>, groups: usize) -> bool {
        let mut ticket = 0;
        if self.is_there && self.lane == 0 {
            thread::fence_device();
            // SAFETY: the row exists, compared above, and has a ticket: the caller's contract. All its accesses are
            // atomic.
            ticket = unsafe { workspace.tickets.atomic_add(self.row, 1) };
        }
        ticket = warp::shuffle_width(LaneMask::all(), ticket, 0, LANES);
        warp::sync(LaneMask::all());
        let is_last = self.is_there && ticket as usize + 1 == groups;
        if is_last {
            // Makes the partial results of earlier tickets visible.
            thread::fence_device();
            if self.lane == 0 {
                // SAFETY: the ticket exists, as above. All other groups of the row have taken theirs.
                unsafe { workspace.tickets.atomic_store(self.row, 0) };
            }
        }
        is_last
    }
}
