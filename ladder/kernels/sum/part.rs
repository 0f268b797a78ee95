//! The part of the array that one block adds, and the operations that the steps share.

use cuda_std::prelude::*;

/// Data blocks per block in the unrolled steps (PCC's "unrolling 8"), and so elements per thread.
pub const UNROLLED: u32 = 8;

/// The elements of one block: `len` elements from `first`.
///
/// PCC calls as many elements as a block has threads a data block. A part is one or several data
/// blocks, or shorter at the end of the array.
#[derive(Clone, Copy)]
pub struct Part<'launch> {
    x: GlobalMut<'launch, i32>,
    first: usize,
    len: u32,
}

impl<'launch> Part<'launch> {
    /// The calling block's part of `x`, of `data_blocks` data blocks of `threads` elements.
    #[inline(always)]
    #[track_caller]
    pub fn of_block(x: GlobalMut<'launch, i32>, data_blocks: u32, threads: u32) -> Self {
        let whole = data_blocks * threads;
        let first = thread::block_idx_x() as usize * whole as usize;
        let rest = x.len().saturating_sub(first);
        // Cannot overflow: at most `whole`.
        let len = rest.min(whole as usize) as u32;
        Self { x, first, len }
    }

    /// The first data block of the part.
    #[inline(always)]
    pub fn first_data_block(self, threads: u32) -> Self {
        Self {
            len: self.len.min(threads),
            ..self
        }
    }

    /// Adds element `at + distance` to element `at`, if the part has them.
    ///
    /// # Safety
    /// 1. Until the next barrier no other thread accesses element `at`, and none writes element `at
    ///    + distance`.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn add(self, at: u32, distance: u32) {
        if at + distance < self.len {
            let at = self.first + at as usize;
            // SAFETY: the part's elements are elements of `x`. No access conflicts: the caller's
            // contract.
            unsafe {
                let sum = self
                    .x
                    .load(at)
                    .wrapping_add(self.x.load(at + distance as usize));
                self.x.store(at, sum);
            }
        }
    }

    /// Sums elements `at`, `at + threads`, ..., one of each of [`UNROLLED`] data blocks that the
    /// part has.
    ///
    /// # Safety
    /// 1. `at < threads`.
    /// 2. No other thread writes these elements, unless a barrier orders the two.
    #[inline(always)]
    #[track_caller]
    unsafe fn sum_of_data_blocks(self, at: u32, threads: u32) -> i32 {
        let mut sum = 0_i32;
        // The condition is the same for the whole block. Without a comparison per element, all
        // loads start before the first completes.
        let is_whole = self.len == UNROLLED * threads;
        let mut data_block = 0;
        while is_whole && data_block < UNROLLED {
            // SAFETY: the part is whole, and `at < threads`. No other thread writes the elements:
            // the caller's contract.
            sum = sum.wrapping_add(unsafe { self.load(at + data_block * threads) });
            data_block += 1;
        }
        while data_block < UNROLLED && at + data_block * threads < self.len {
            // SAFETY: the part has the element: compared above. No other thread writes it: the
            // caller's contract.
            sum = sum.wrapping_add(unsafe { self.load(at + data_block * threads) });
            data_block += 1;
        }
        sum
    }

    /// Element `at`.
    ///
    /// # Safety
    /// 1. The part has the element.
    /// 2. No other thread writes it, unless a barrier orders the two.
    #[inline(always)]
    #[track_caller]
    unsafe fn load(self, at: u32) -> i32 {
        // SAFETY: the part has the element, and no other thread writes it: the caller's contract.
        unsafe { self.x.load(self.first + at as usize) }
    }

    /// Replaces element `at` by the sum of the elements at this index in all data blocks.
    ///
    /// # Safety
    /// 1. `at` is below `threads`, the block's size. Until the next barrier, only the calling
    ///    thread accesses this index in each data block.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn fold_data_blocks(self, at: u32, threads: u32) {
        if at < self.len {
            // SAFETY: `at < threads`, and no other thread accesses the elements: the caller's
            // contract.
            let sum = unsafe { self.sum_of_data_blocks(at, threads) };
            // SAFETY: the part has the element: compared above. Only this thread accesses it, or it
            // is visible: the caller's contract.
            unsafe { self.x.store(self.first + at as usize, sum) };
        }
    }

    /// Adds the first `2 * warp::width()` elements in the first warp, with warp barriers between
    /// the rounds. Other warps do nothing.
    ///
    /// Only lanes whose sum is needed add, so no lane reads an element that another writes in the
    /// same round.
    ///
    /// # Safety
    /// 1. The block has whole warps. Its threads have passed a barrier since they wrote, and only
    ///    the first warp accesses the part from now on.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn add_in_first_warp(self) {
        let thread = thread::thread_idx_x();
        if thread < warp::width() {
            let mut distance = warp::width();
            while distance > 0 {
                if thread < distance {
                    // SAFETY: lanes below `distance` write their own elements and read elements
                    // from `distance`. The warp's barrier separates the rounds.
                    unsafe { self.add(thread, distance) };
                }
                warp::sync(LaneMask::all());
                distance /= 2;
            }
        }
    }

    /// Thread 0 writes element 0, the sum, to the block's element of `partials`, or 0 if the part
    /// is empty.
    ///
    /// # Safety
    /// 1. `partials` has an element for each block, and element 0 of the part is visible to
    ///    thread 0.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn write_sum(self, partials: GlobalMut<i32>) {
        if thread::thread_idx_x() == 0 {
            let sum = if self.len > 0 {
                // SAFETY: the part has the element: compared above. Only this thread accesses it,
                // or it is visible: the caller's contract.
                unsafe { self.load(0) }
            } else {
                0
            };
            // SAFETY: `partials` has an element for each block: the caller's contract. One thread
            // of each block writes its own.
            unsafe { partials.store(thread::block_idx_x() as usize, sum) };
        }
    }
}
