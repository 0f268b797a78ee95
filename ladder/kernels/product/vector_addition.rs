//! Coarsening without redundant work to save (PMPP, the first of its three pitfalls): the vector
//! addition z = x + y with COARSE_FACTOR elements per thread.
//!
//! ```text
//! for c in 0..COARSE_FACTOR:
//!     i = block * COARSE_FACTOR * threads + c * threads + thread
//!     z[i] = x[i] + y[i]
//! ```
//!
//! No two threads read the same element, so a coarser thread saves no reads.
//!
//! Prediction: the same time with every factor: that of moving 12 bytes per element.

use cuda_std::prelude::*;

/// # Safety
/// 1. The launch has one dimension, and blocks times threads times `FACTOR` are at least `z.len()`.
/// 2. The views have the same length.
#[inline(always)]
unsafe fn add<const FACTOR: usize>(x: Global<f32>, y: Global<f32>, z: GlobalMut<f32>) {
    let threads = thread::block_dim_x() as usize;
    let first = thread::block_idx_x() as usize * FACTOR * threads + thread::thread_idx_x() as usize;
    for c in 0..FACTOR {
        let i = first + c * threads;
        if i < z.len() {
            // SAFETY: the index was compared with the length of `z`, and all lengths are equal: the
            // caller's contract. Each element belongs to one thread.
            unsafe { z.store(i, x.load(i) + y.load(i)) };
        }
    }
}

macro_rules! addition_kernels {
    ($($name:ident: $factor:literal;)*) => {$(
        #[doc = concat!("z = x + y, with a COARSE_FACTOR of ", stringify!($factor), ".")]
        ///
        /// # Safety
        #[doc = concat!("1. The launch has one dimension, and blocks times threads times ",
            stringify!($factor), " are at least `z.len()`.")]
        /// 2. `x`, `y` and `z` have the same length.
        #[kernel(max_threads = 1024)]
        pub unsafe fn $name(x: Global<f32>, y: Global<f32>, z: GlobalMut<f32>) {
            // SAFETY: the caller's contract.
            unsafe { add::<$factor>(x, y, z) }
        }
    )*};
}
addition_kernels! {
    addition_coarsened_1: 1;
    addition_coarsened_2: 2;
    addition_coarsened_4: 4;
    addition_coarsened_8: 8;
    addition_coarsened_16: 16;
}
