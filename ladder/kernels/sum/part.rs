//! The part of the array that one block adds, and what every step does with it.

use cuda_std::prelude::*;

/// Data blocks that a block of the unrolled steps adds (PCC's "unrolling 8"): elements of
/// each thread.
pub const UNROLLED: u32 = 8;

/// The elements of one block: `len` of them from `first` on.
///
/// PCC calls a data block as many elements as a block has threads; a part is one of them or
/// several, and shorter where the array ends.
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
        // At most `whole`, which fits.
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
    /// 1. Until the next barrier no other thread touches element `at`, and none writes element
    ///    `at + distance`.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn add(self, at: u32, distance: u32) {
        if at + distance < self.len {
            let at = self.first + at as usize;
            // SAFETY: (1) the part's elements are of `x`. (2) is (1).
            unsafe {
                let sum = self
                    .x
                    .load(at)
                    .wrapping_add(self.x.load(at + distance as usize));
                self.x.store(at, sum);
            }
        }
    }

    /// The sum of the elements `at`, `at + threads`, and so on, one of each of [`UNROLLED`] data
    /// blocks, as far as the part has them.
    ///
    /// # Safety
    /// 1. `at < threads`.
    /// 2. No other thread writes these elements, unless a barrier orders the two.
    #[inline(always)]
    #[track_caller]
    unsafe fn sum_of_data_blocks(self, at: u32, threads: u32) -> i32 {
        let mut sum = 0_i32;
        // The same condition for all of the block. Without a comparison for each element, all
        // loads start before the first has come.
        let is_whole = self.len == UNROLLED * threads;
        let mut data_block = 0;
        while is_whole && data_block < UNROLLED {
            // SAFETY: (1) is (1), and the part is whole. (2) is (2).
            sum = sum.wrapping_add(unsafe { self.load(at + data_block * threads) });
            data_block += 1;
        }
        while data_block < UNROLLED && at + data_block * threads < self.len {
            // SAFETY: (1) is the comparison. (2) is (2).
            sum = sum.wrapping_add(unsafe { self.load(at + data_block * threads) });
            data_block += 1;
        }
        sum
    }

    /// Element `at`.
    ///
    /// # Safety
    /// 1. The part has it.
    /// 2. No other thread writes it, unless a barrier orders the two.
    #[inline(always)]
    #[track_caller]
    unsafe fn load(self, at: u32) -> i32 {
        // SAFETY: (1), (2) are the caller's.
        unsafe { self.x.load(self.first + at as usize) }
    }

    /// Replaces element `at` by the sum of the elements at its place in all data blocks.
    ///
    /// # Safety
    /// 1. `at` is below `threads`, the launch's, and belongs to the calling thread alone until
    ///    the next barrier, in each data block.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn fold_data_blocks(self, at: u32, threads: u32) {
        if at < self.len {
            // SAFETY: (1), (2) are (1).
            let sum = unsafe { self.sum_of_data_blocks(at, threads) };
            // SAFETY: (1) is the comparison. (2) is (1).
            unsafe { self.x.store(self.first + at as usize, sum) };
        }
    }

    /// Adds the first `2 * warp::width()` elements in the first warp, rounds separated by a
    /// barrier of that warp alone. Other warps do nothing.
    ///
    /// Only lanes whose element counts add, so no lane reads what another one writes in the same
    /// round.
    ///
    /// # Safety
    /// 1. The block has whole warps; a barrier of the block has been passed since its threads
    ///    wrote, and none but the first warp touches the part any more.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn add_in_first_warp(self) {
        let thread = thread::thread_idx_x();
        if thread < warp::width() {
            let mut distance = warp::width();
            while distance > 0 {
                if thread < distance {
                    // SAFETY: (1) lanes below `distance` write their own elements and read those
                    // from `distance` on; the warp's barrier is between the rounds.
                    unsafe { self.add(thread, distance) };
                }
                warp::sync(LaneMask::all());
                distance /= 2;
            }
        }
    }

    /// Thread 0 writes element 0, the sum, to the block's element of `partials`; 0 for no element.
    ///
    /// # Safety
    /// 1. `partials` has an element for each block, and element 0 of the part is visible to
    ///    thread 0.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn write_sum(self, partials: GlobalMut<i32>) {
        if thread::thread_idx_x() == 0 {
            let sum = if self.len > 0 {
                // SAFETY: (1) is the comparison. (2) is (1).
                unsafe { self.load(0) }
            } else {
                0
            };
            // SAFETY: (1) is (1). (2) One thread of each block writes its own.
            unsafe { partials.store(thread::block_idx_x() as usize, sum) };
        }
    }
}
