//! The elements that a block counts in the coarsened steps.

use cuda_std::prelude::*;

/// Elements that each thread counts in the coarsened steps.
pub const COARSENING: usize = 64;

/// The calling block's elements, `first..end`.
#[derive(Clone, Copy)]
pub struct Part {
    pub first: usize,
    pub end: usize,
}

impl Part {
    /// The part of `x` of the calling block, [`COARSENING`] elements for each thread.
    #[inline(always)]
    #[track_caller]
    pub fn of_block(x: Global<u8>) -> Self {
        let whole = COARSENING * thread::block_dim_x() as usize;
        let first = thread::block_idx_x() as usize * whole;
        Self {
            first,
            end: (first + whole).min(x.len()),
        }
    }

    /// Whether the array has all of the block's elements.
    #[inline(always)]
    #[track_caller]
    pub fn is_whole(self) -> bool {
        self.first + COARSENING * thread::block_dim_x() as usize == self.end
    }
}
