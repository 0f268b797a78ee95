//! Coarsening in two dimensions: 8 x 8 outputs per thread, in registers.
//!
//! ```text
//! for each 8 of K:
//!     the block copies 128 x 8 of A and 8 x 128 of B; barrier
//!     for each k of the 8:
//!         read 8 elements of A's column and 8 of B's row
//!         add their 64 products to the sums
//!     barrier
//! ```
//!
//! Coarsening along rows saves copies of A, and along columns copies of B. More important, an
//! element read from shared memory serves 8 multiply-adds.
//!
//! Prediction: one shared load for 4 multiply-adds instead of two for one, so shared memory is no
//! longer the limit: several times faster.

use super::register_tile::{BLOCK, DEPTH, OUTPUTS, SIDE, add_products};
use super::{block_corner, element_or_zero, place_in_block, store_output};
use cuda_std::prelude::*;

/// A's tile, with a padding element per row: otherwise the elements of a column would be in four
/// banks.
type ATile<'block> = SharedTile<'block, f32, BLOCK, DEPTH, { DEPTH + 1 }>;
type BTile<'block> = SharedTile<'block, f32, DEPTH, BLOCK, BLOCK>;

const THREADS: usize = SIDE * SIDE;

/// Copies the thread's elements of A's tile.
///
/// # Safety
/// 1. `thread` is the thread's number in the block, and barriers separate the copies from the
///    reads.
/// 2. The matrix has the shape's elements.
#[inline(always)]
unsafe fn copy_a(
    tile: ATile,
    (a, shape): (Global<f32>, (usize, usize)),
    corner: (usize, usize),
    thread: usize,
) {
    for i in 0..BLOCK * DEPTH / THREADS {
        let (down, along) = (thread / DEPTH + i * (THREADS / DEPTH), thread % DEPTH);
        // SAFETY: the matrix has its elements: the caller's contract.
        let element = unsafe { element_or_zero(a, shape, (corner.0 + down, corner.1 + along)) };
        // SAFETY: 256 threads in 4 rounds cover the tile's 1024 elements. Barriers separate the
        // copies from the reads: the caller's contract.
        unsafe { tile.store(down, along, element) };
    }
}

/// Copies the thread's elements of B's tile.
///
/// # Safety
/// 1. and 2. as for [`copy_a`].
#[inline(always)]
unsafe fn copy_b(
    tile: BTile,
    (b, shape): (Global<f32>, (usize, usize)),
    corner: (usize, usize),
    thread: usize,
) {
    for i in 0..BLOCK * DEPTH / THREADS {
        let (down, along) = (thread / BLOCK + i * (THREADS / BLOCK), thread % BLOCK);
        // SAFETY: the matrix has its elements: the caller's contract.
        let element = unsafe { element_or_zero(b, shape, (corner.0 + down, corner.1 + along)) };
        // SAFETY: 256 threads in 4 rounds cover the tile's 1024 elements. Barriers separate the
        // copies from the reads: the caller's contract.
        unsafe { tile.store(down, along, element) };
    }
}

/// C = A B, 8 x 8 outputs per thread.
///
/// # Safety
/// 1. The launch has blocks of 16 x 16 threads and a grid of ceil(n / 128) x ceil(m / 128) blocks.
/// 2. `a`, `b`, `c` have m * k, k * n and m * n elements.
#[kernel(max_threads = 256, min_blocks = 2)]
pub unsafe fn product_two_dimensional(
    a: Global<f32>,
    b: Global<f32>,
    c: GlobalMut<f32>,
    m: usize,
    n: usize,
    k: usize,
) {
    let a_tile = shared_tile![f32; BLOCK, DEPTH; pitch = DEPTH + 1];
    let b_tile = shared_tile![f32; DEPTH, BLOCK];
    let (corner, (down, along)) = (block_corner(BLOCK, BLOCK), place_in_block());
    let thread = down * SIDE + along;
    let mut sums = [[0.0; OUTPUTS]; OUTPUTS];
    for start in (0..k).step_by(DEPTH) {
        // SAFETY: barriers follow. The matrices have their elements: the caller's contract.
        unsafe {
            copy_a(a_tile, (a, (m, k)), (corner.0, start), thread);
            copy_b(b_tile, (b, (k, n)), (start, corner.1), thread);
        }
        thread::sync_threads();
        for i in 0..DEPTH {
            let (mut left, mut right) = ([0.0; OUTPUTS], [0.0; OUTPUTS]);
            for output in 0..OUTPUTS {
                // SAFETY: `down` and `along` are below 16, `output` below 8. The tiles were written
                // before the barrier.
                unsafe {
                    left[output] = a_tile.load(down + output * SIDE, i);
                    right[output] = b_tile.load(i, along + output * SIDE);
                }
            }
            add_products(&mut sums, &left, &right);
        }
        thread::sync_threads();
    }
    for (i, sums) in sums.iter().enumerate() {
        for (j, sum) in sums.iter().enumerate() {
            let output = (corner.0 + down + i * SIDE, corner.1 + along + j * SIDE);
            // SAFETY: C has m * n elements, and each output belongs to one thread: the caller's
            // contract.
            unsafe { store_output(c, (m, n), output, *sum) };
        }
    }
}
