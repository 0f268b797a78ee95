//! Cooperative groups (`sum_kernel_block`): threads add vectors of the whole array, the block's
//! group adds their sums, and one atomic addition per block adds those.
//!
//! ```text
//! thread_sum:  for each vector of 4 elements at thread, thread + threads of the grid, ...: add it
//! reduce_sum:  the sum over the group
//! rank 0:      total += the block's sum, atomically
//! ```
//!
//! Steps: 16 bytes per load; as many threads as the device holds instead of one per element; the
//! total is computed on the device, without a second launch or the host.
//!
//! Prediction: blocks start and end once instead of thousands of times per multiprocessor, so a few
//! percent closer to the memory bandwidth. The atomic additions, one per block, are negligible.
//!
//! Departures from the article named in `mod.rs`:
//! 1. Sums are held in 64 bits: 2^28 numbers up to 255 overflow its `int`.
//! 2. Elements after the last whole vector are added too.
//! 3. `reduce_sum` is the group's collective, in registers. The article halves an array in shared
//!    memory, with two barriers per round.

use cuda_std::cooperative_groups::{Collective, Group, this_thread_block};
use cuda_std::prelude::*;

/// Elements of one load.
const LANES: usize = 4;

/// The calling thread's share of the sum of `x`.
///
/// # Safety
/// 1. The address of `x` is a multiple of 16, and the launch has one dimension.
#[inline(always)]
unsafe fn thread_sum(x: Global<i32>) -> i64 {
    let thread = thread::unique_index().get();
    let threads = thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    let vectors = x.len() / LANES;
    let mut sum = 0;
    let mut vector = thread;
    while vector < vectors {
        // SAFETY: the vector was compared with their number. `x` is aligned: the caller's contract,
        // and vectors are 16 bytes.
        let [a, b, c, d] = unsafe { x.load_vector::<LANES>(vector * LANES) };
        sum += (i64::from(a) + i64::from(b)) + (i64::from(c) + i64::from(d));
        vector += threads;
    }
    // Fewer elements than a vector are left.
    let rest = x.get(vectors * LANES + thread);
    sum.wrapping_add(i64::from(rest.unwrap_or(0)))
}

/// Sums `value` over a group. All of its threads call it, and get the sum.
#[inline(always)]
#[track_caller]
fn reduce_sum(group: &impl Collective, value: i64) -> i64 {
    group.reduce(value, i64::wrapping_add)
}

/// Adds the elements of `x` to `total[0]`.
///
/// # Safety
/// 1. The launch has one dimension, and the address of `x` is a multiple of 16.
/// 2. `total` has an element.
#[kernel(max_threads = 1024)]
pub unsafe fn sum_cooperative(x: Global<i32>, total: GlobalMut<i64>) {
    let block = this_thread_block();
    // SAFETY: `x` is aligned, and the launch has one dimension: the caller's contract.
    let of_thread = unsafe { thread_sum(x) };
    let of_block = reduce_sum(&block, of_thread);
    if block.thread_rank() == 0 {
        // SAFETY: `total` has an element: the caller's contract. All its accesses are atomic.
        unsafe { total.atomic_add(0, of_block) };
    }
}
