//! The private copy of the counters that a block has in shared memory.

use cuda_std::prelude::*;

/// Values of a byte, each with its counter.
pub const BINS: usize = 256;

/// One counter for each value, the block's own.
#[derive(Clone, Copy)]
pub struct PrivateBins<'block>(SharedArray<'block, u32, BINS>);

impl<'block> PrivateBins<'block> {
    /// Sets the counters of `storage` to 0. Every thread of the block calls it.
    ///
    /// # Safety
    /// 1. `storage` is touched by nothing but what this returns.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn cleared(storage: SharedArray<'block, u32, BINS>) -> Self {
        let mut bin = thread::thread_idx_x() as usize;
        while bin < BINS {
            // SAFETY: (1) is the comparison. (2) One thread has this bin, before the barrier.
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
        // SAFETY: (1) there is a counter for each byte. (2) From `cleared` to `commit`, between
        // barriers, the counters are touched by this line alone.
        unsafe { self.0.atomic_add(usize::from(value), count) };
    }

    /// Adds the block's counts to those in `bins`, with one atomic for each value that the block
    /// has seen. Every thread of the block calls it, once and last.
    ///
    /// # Safety
    /// 1. `bins` has [`BINS`] elements, which the launch touches by atomic additions alone.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn commit(self, bins: GlobalMut<u32>) {
        thread::sync_threads();
        let mut bin = thread::thread_idx_x() as usize;
        while bin < BINS {
            // SAFETY: (1) is the comparison. (2) The additions came before the barrier.
            let count = unsafe { self.0.load(bin) };
            if count > 0 {
                // SAFETY: (1), (2) are (1).
                unsafe { bins.atomic_add(bin, count) };
            }
            bin += thread::block_dim_x() as usize;
        }
    }
}
