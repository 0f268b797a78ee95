//! The parts of a row: one for each block of a cluster, or all of one block, and the values of all parts.

use super::combine;
use super::place::{Sections, Span};
use super::plan::PARTS;
use cuda_std::cluster;
use cuda_std::prelude::*;
use cuda_std::warp::Exchange;

/// The parts that the calling block has of a row: its own one in a cluster, or all.
#[derive(Clone, Copy)]
pub struct Parts<const IN_CLUSTER: bool> {
    /// The row.
    pub row: usize,
    sections: Sections,
}

impl<const IN_CLUSTER: bool> Parts<IN_CLUSTER> {
    /// Those of a row of `len` elements, in vectors of `lanes`.
    #[inline(always)]
    pub fn of_block(len: usize, lanes: usize) -> Self {
        let block = thread::block_idx_x() as usize;
        Self {
            row: if IN_CLUSTER { block / PARTS } else { block },
            sections: Sections::parts(len, lanes),
        }
    }

    /// The number of the block's first part, and the one after its last.
    #[inline(always)]
    pub fn numbers(self) -> (usize, usize) {
        if IN_CLUSTER {
            let own = cluster::rank() as usize;
            (own, own + 1)
        } else {
            (0, PARTS)
        }
    }

    /// Where part `number` starts in the row.
    #[inline(always)]
    pub fn start(self, number: usize) -> usize {
        self.sections.start(number)
    }

    /// The calling thread's vectors of part `number`.
    #[inline(always)]
    pub fn span(self, number: usize, lanes: usize) -> Span {
        self.sections.span(number, lanes)
    }

    /// Whether element `index` of the row is in part `number`, in a vector of `lanes` of the calling thread.
    #[inline(always)]
    pub fn has(self, number: usize, index: usize, lanes: usize) -> bool {
        let start = self.start(number);
        index >= start
            && index - start < self.sections.start(1)
            && owner(index - start, lanes) == thread::thread_idx_x()
    }
}

/// The thread of the block that has element `index` of its row or part, in vectors of `lanes`.
#[inline(always)]
pub fn owner(index: usize, lanes: usize) -> u32 {
    (index / lanes) as u32 & (thread::block_dim_x() - 1)
}

/// A value of each part of a row, in each block that has one of them.
#[derive(Clone, Copy)]
pub struct OfParts<'block, A, const IN_CLUSTER: bool>(pub SharedArray<'block, A, PARTS>);

impl<A: Exchange, const IN_CLUSTER: bool> OfParts<'_, A, IN_CLUSTER> {
    /// Stores the value of part `number`, in all blocks of the cluster. All threads have the same.
    ///
    /// # Safety
    /// 1. All threads of the block that has the part call it, once.
    /// 2. The cluster's other blocks have started, and none ends before the next [`meet`](Self::meet).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store(self, number: usize, value: A) {
        let thread = thread::thread_idx_x();
        // SAFETY: there are as many elements as parts. One thread stores each, in each block: the caller's contract.
        unsafe {
            if !IN_CLUSTER {
                if thread == 0 {
                    self.0.store(number, value);
                }
            } else if (thread as usize) < PARTS {
                self.0.as_slice().in_block(thread).store(number, value);
            }
        }
    }

    /// Waits for all values.
    #[inline(always)]
    #[track_caller]
    pub fn meet(self) {
        if IN_CLUSTER {
            cluster::sync();
        } else {
            thread::sync_threads();
        }
    }

    /// The value of part `number`.
    ///
    /// # Safety
    /// 1. All values have been stored, and awaited by [`meet`](Self::meet).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load(self, number: usize) -> A {
        // SAFETY: there are as many elements as parts, and each was stored: the caller's contract.
        unsafe { self.0.load(number) }
    }

    /// The values, combined as neighbours, then as pairs of neighbours, and so on.
    ///
    /// # Safety
    /// 1. As for [`load`](Self::load). All lanes of the warp call it.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn combined(self, combine: impl Fn(A, A) -> A) -> A {
        // SAFETY: the caller's contract.
        unsafe { combine::lanes(self.of_lane(), PARTS as u32, combine) }
    }

    /// The value of one part for each of 8 neighbouring lanes.
    ///
    /// # Safety
    /// 1. As for [`load`](Self::load).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn of_lane(self) -> A {
        // SAFETY: the caller's contract.
        unsafe { self.load(thread::thread_idx_x() as usize % PARTS) }
    }
}
