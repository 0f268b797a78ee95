//! The kernels: `no_std` code that is compiled for the GPU and for the host alike.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]
#![deny(missing_docs)]

use cuda_std::prelude::*;

/// The largest number of threads in a block of [`smooth`].
pub const MAX_THREADS: usize = 256;

constant_array! {
    /// The weights of [`smooth`] for the left neighbour, the element and the right neighbour.
    pub static WEIGHTS: [f32; 3] = [0.25, 0.5, 0.25];
}

/// `y[i] += a * x[i]` for each `i` in both, with one thread for each.
#[kernel]
pub fn axpy(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
    let index = thread::unique_index();
    if let (Some(x), Some(y)) = (x.get(index.get()), y.own(index)) {
        y.set(a.mul_add(x, y.get()));
    }
}

/// `y[i]` becomes the weighted mean of `x[i - 1]`, `x[i]` and `x[i + 1]`, where the ends of `x` are
/// their own neighbours; one thread for each element.
///
/// Each element is needed by three threads. So a block brings its part of `x`, and one element
/// more at either end, to shared memory, and reads global memory once instead of three times.
#[kernel(max_threads = 256)]
pub fn smooth(x: Global<f32>, y: GlobalMut<f32>) {
    let tile = shared_array![f32; MAX_THREADS + 2];
    let index = thread::unique_index();
    let (rank, size) = (
        thread::rank_in_block() as usize,
        thread::block_size() as usize,
    );
    let last = x.len().saturating_sub(1);
    let x_at = |i: usize| x.get(i.min(last)).unwrap_or(0.0);

    // SAFETY: the places are in the array: `rank < size <= MAX_THREADS`, by the kernel's bound. No race: each thread
    // writes its own places, and the barrier comes before others read them.
    unsafe {
        tile.store(rank + 1, x_at(index.get()));
        if rank == 0 {
            tile.store(0, x_at(index.get().saturating_sub(1)));
        }
        if rank + 1 == size {
            tile.store(size + 1, x_at(index.get() + 1));
        }
    }
    thread::sync_threads();

    let mut sum = 0.0;
    for i in 0..WEIGHTS.len() {
        // SAFETY: the places are in the arrays, and written: `i` counts the weights, and `rank + i <= size + 1`. No
        // race: the barrier comes after the writes.
        sum = unsafe { tile.load(rank + i).mul_add(WEIGHTS.load(i), sum) };
    }
    if let Some(y) = y.own(index) {
        y.set(sum);
    }
}
