//! The arrays and the shared memory of a launch, and what a block scans.

use super::place::Place;
use super::plan::{BEFORE, PARTS, ScanPlan};
use super::state::State;
use crate::reduce::Reduction;
use cuda_std::Pod;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// The shared memory of a block.
pub struct Shared<'block, T, A> {
    /// The block's tile number.
    pub tile: SharedArray<'block, u32, 1>,
    /// The sum of each warp, or of each line.
    pub of_parts: SharedArray<'block, A, PARTS>,
    /// The sums of the group's earlier tiles, of the span's earlier groups, and of everything before the span.
    pub before: SharedArray<'block, A, BEFORE>,
    /// The tile's elements.
    pub staged: SharedSlice<'block, T>,
}

/// The arrays of a launch.
#[derive(Clone, Copy)]
pub struct Operands<'launch, T, O> {
    /// The elements.
    pub x: Global<'launch, T>,
    /// The results.
    pub y: GlobalMut<'launch, O>,
    /// What the blocks share.
    pub state: GlobalMut<'launch, u64>,
}

/// What a block scans of a contiguous line, besides the elements.
#[derive(Clone, Copy)]
pub struct Block<'launch, A> {
    pub plan: ScanPlan,
    /// The state of the line.
    pub state: State<'launch>,
    /// The number of the tile in its line.
    pub tile: usize,
    pub place: Place,
    pub kind: Kind<A>,
}

/// Which elements a result includes.
#[derive(Clone, Copy)]
pub struct Kind<A> {
    /// Whether its own element is not among them.
    pub is_exclusive: bool,
    /// The initial value, if there is one.
    pub initial: Option<A>,
}

impl<A: Copy> Kind<A> {
    /// `before`, after the initial value.
    #[inline(always)]
    pub fn after_initial<R: Reduction<T, Accumulator = A>, T: Pod>(self, before: A) -> A {
        match self.initial {
            Some(initial) => R::combine(initial, before),
            None => before,
        }
    }
}
