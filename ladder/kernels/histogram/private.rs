//! A block's private counters, in shared memory.

use cuda_std::prelude::*;

/// The number of byte values, each with a counter.
pub const BINS: usize = 256;

/// The block's counters, one for each value.
#[derive(Clone, Copy)]
pub struct PrivateBins<'block>(SharedArray<'block, u32, BINS>);

impl<'block> PrivateBins<'block> {
    /// Sets the counters of `storage` to 0. Every thread of the block calls it.
    ///
    /// # Safety
    /// 1. Only the result accesses `storage`.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn cleared(storage: SharedArray<'block, u32, BINS>) -> Self {
        let mut bin = thread::thread_idx_x() as usize;
        while bin < BINS {
            // SAFETY: the bin was compared with their number. One thread writes it, before the
            // barrier.
            unsafe { storage.store(bin, 0) };
            bin += thread::block_dim_x() as usize;
        }
        thread::sync_threads();
        Self(storage)
    }

    /// Adds `count` to the counter of `value`.
    #[inline(always)]
    #[track_caller]
    pub fn add(self, value: u8, count: u32) {
        // SAFETY: there is a counter for each byte value. Between the barriers of `cleared` and
        // `commit`, only this atomic accesses the counters.
        unsafe { self.0.atomic_add(usize::from(value), count) };
    }

    /// Adds the block's counts to `bins`, with one atomic for each value that the block has seen.
    /// Every thread of the block calls it once, at the end.
    ///
    /// # Safety
    /// 1. `bins` has [`BINS`] elements. The launch only accesses them by atomic additions.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn commit(self, bins: GlobalMut<u32>) {
        thread::sync_threads();
        let mut bin = thread::thread_idx_x() as usize;
        while bin < BINS {
            // SAFETY: the bin was compared with their number. The barrier orders this load after
            // the additions.
            let count = unsafe { self.0.load(bin) };
            if count > 0 {
                // SAFETY: `bins` has the element, and all its accesses are atomic: the caller's
                // contract.
                unsafe { bins.atomic_add(bin, count) };
            }
            bin += thread::block_dim_x() as usize;
        }
    }
}
