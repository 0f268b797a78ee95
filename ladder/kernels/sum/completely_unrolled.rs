//! Completely unrolled 8 (PCC, `reduceCompleteUnrollWarps8`): the block's size is a constant,
//! so there is no loop left.
//!
//! ```text
//! x[thread] = the sum of x[thread + i * THREADS] for i from 0 to 7
//! barrier
//! stride 512, 256, 128, 64, those below THREADS, unrolled, each with a barrier of the block
//! stride 32, 16, 8, 4, 2, 1 in the first warp, unrolled, each with a barrier of the warp
//! ```
//!
//! Step: no loop counter and comparison, and addresses that differ by constants.
//!
//! Prediction: a few percent at most, and only if the rounds are not hidden behind other blocks'
//! loads: memory is already the limit.
//!
//! Departures from PCC: as in unrolled warps; and one kernel for each block size. PCC has a single
//! kernel that compares `blockDim.x` at run time, and executes the barriers of skipped rounds.

use super::part::{Part, UNROLLED};
use cuda_std::prelude::*;

/// # Safety
/// 1. The launch has one dimension and blocks of `THREADS` threads, a power of two, 64 at least;
///    `partials` has an element for each block, and blocks times threads are at least an eighth of
///    `x.len()`.
#[inline(always)]
unsafe fn sum<const THREADS: u32>(x: GlobalMut<i32>, partials: GlobalMut<i32>) {
    let thread = thread::thread_idx_x();
    let part = Part::of_block(x, UNROLLED, THREADS);
    // SAFETY: each thread accesses only the element at its number in each data block.
    unsafe { part.fold_data_blocks(thread, THREADS) };
    thread::sync_threads();

    let part = part.first_data_block(THREADS);
    // All constants: the compiler unrolls one body for each stride.
    let mut stride = THREADS / 2;
    while stride > warp::width() {
        if thread < stride {
            // SAFETY: in this round elements below `stride` are written, each by one thread, and
            // elements from `stride` only read.
            unsafe { part.add(thread, stride) };
        }
        thread::sync_threads();
        stride /= 2;
    }
    // SAFETY: at least 64 threads, a power of two, are whole warps of 32 or 64. The block's barrier
    // is above.
    unsafe { part.add_in_first_warp() };
    // SAFETY: `partials` has an element for each block: the caller's contract. Thread 0 itself
    // wrote element 0 last.
    unsafe { part.write_sum(partials) };
}

macro_rules! kernels {
    ($($name:ident: $threads:literal;)*) => {$(
        #[doc = concat!("Adds 8 times ", stringify!($threads), " elements of `x` with each block, in \
            place, and leaves the sums in `partials`.")]
        ///
        /// # Safety
        #[doc = concat!("1. The launch has one dimension and blocks of ", stringify!($threads),
            " threads;")]
        ///    `partials` has an element for each block, and blocks times threads are at least an
        ///    eighth of `x.len()`.
        #[kernel(max_threads = $threads)]
        pub unsafe fn $name(x: GlobalMut<i32>, partials: GlobalMut<i32>) {
            // SAFETY: the caller's contract.
            unsafe { sum::<$threads>(x, partials) }
        }
    )*};
}
kernels! {
    sum_completely_unrolled_64: 64;
    sum_completely_unrolled_128: 128;
    sum_completely_unrolled_256: 256;
    sum_completely_unrolled_512: 512;
    sum_completely_unrolled_1024: 1024;
}
