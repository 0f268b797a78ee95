//! Shared arrays, tiles and dynamic shared memory.

use crate::put;
use cuda_std::prelude::*;
use cuda_std::shared::{self, SharedSlice};
use half::f16;

/// Rows and columns of the transposed tiles.
pub const SIDE: usize = 32;

/// Transposes a 32 x 32 tile through shared memory, with rows 33 elements apart.
///
/// # Safety
/// 1. The launch has one block of 32 x 8 threads; `x` and `out` have 1024 elements.
#[kernel]
pub unsafe fn transpose(x: Global<f32>, out: GlobalMut<f32>) {
    let tile = shared_tile![f32; SIDE, SIDE; pitch = SIDE + 1];
    let column = thread::thread_idx_x() as usize;
    for row in (thread::thread_idx_y() as usize..SIDE).step_by(8) {
        // SAFETY: launch and lengths are the caller's contract. Each element of the tile is written
        // once, before the barrier.
        unsafe { tile.store(row, column, x.load(row * SIDE + column)) };
    }
    thread::sync_threads();
    for row in (thread::thread_idx_y() as usize..SIDE).step_by(8) {
        // SAFETY: launch and lengths are the caller's contract. The tile is complete since the
        // barrier, and each output belongs to one thread.
        unsafe { put(out, row * SIDE + column, tile.load(column, row)) };
    }
}

/// Reverses the rows of a tile as vectors of 16 bytes, then reads its storage as a slice.
///
/// # Safety
/// 1. The launch has one one-dimensional block of 16 threads; `x` and `out` have 4 x 16 elements,
///    and start at multiples of 16 bytes.
#[kernel]
pub unsafe fn reverse_rows(x: Global<f32>, out: GlobalMut<f32>) {
    let tile = shared_tile![f32; 4, 16; pitch = 20];
    let thread = thread::thread_idx_x() as usize;
    let (row, column) = (thread / 4, thread % 4 * 4);
    // SAFETY: launch, lengths and alignment are the caller's contract. Each vector belongs to one
    // thread until the barrier. The pitch and the column are multiples of 4.
    unsafe {
        tile.store_vector::<4>(3 - row, column, x.load_vector(row * 16 + column));
        thread::sync_threads();
        let values = tile.load_vector::<2>(row, column);
        let position = shared::SharedTile::<f32, 4, 16, 20>::position(row, column + 2);
        let rest = tile.as_slice().load_vector::<2>(position);
        out.store_vector(row * 16 + column, [values[0], values[1], rest[0], rest[1]]);
    }
}

/// Two arrays of one type, declared at two places, and an array of 8 halves per thread: none
/// overlap.
///
/// # Safety
/// 1. The launch has one one-dimensional block of 64 threads; `out` has 64 elements.
#[kernel]
pub unsafe fn arrays_are_apart(out: GlobalMut<u32>) {
    let (first, second) = (shared_array![u32; 64], shared_array![u32; 64]);
    let halves = shared_array![f16; 512];
    let thread = thread::thread_idx_x() as usize;
    // SAFETY: launch and lengths are the caller's contract. Each thread writes its own elements,
    // and a barrier precedes the reads. 8 halves are 16 bytes.
    unsafe {
        first.store(thread, thread as u32);
        second.store(thread, 1000 * thread as u32);
        halves.store_vector::<8>(thread * 8, [f16::from_bits(thread as u16); 8]);
        thread::sync_threads();
        let other = 63 - thread;
        let sum = first.load(other) + second.as_slice().load(other);
        let bits: [f16; 4] = halves.load_vector(other * 8 + 4);
        let bits = bits
            .iter()
            .map(|half| u32::from(half.to_bits()))
            .sum::<u32>();
        put(
            out,
            thread,
            sum + 1_000_000 * bits + (first.len() + halves.len()) as u32,
        );
    }
}

/// Reverses the elements through dynamic shared memory.
///
/// # Safety
/// 1. The launch has one block; `x` and `out` have an element for each thread, and so does the
///    dynamic shared memory.
#[inline(always)]
unsafe fn reverse<T: cuda_std::Pod>(x: Global<T>, out: GlobalMut<T>, shared: SharedSlice<T>) {
    let own = thread::rank_in_block() as usize;
    let other = thread::block_size() as usize - 1 - own;
    // SAFETY: the lengths are the caller's contract. A barrier separates writes from reads.
    unsafe {
        shared.store(own, x.load(own));
        thread::sync_threads();
        put(out, own, shared.load(other));
    }
}

/// Reverses f64 elements through dynamic shared memory.
///
/// # Safety
/// 1. The launch has one block; `x` and `out` have an element for each thread, and so does the
///    dynamic shared memory.
#[kernel]
pub unsafe fn reverse_f64(x: Global<f64>, out: GlobalMut<f64>) {
    // SAFETY: the callee's contract is this function's.
    unsafe { reverse(x, out, dynamic_shared![f64]) }
}

/// Writes the dynamic shared memory's length in u32, whether it is empty, and its address modulo
/// 128.
///
/// # Safety
/// 1. `out` has 3 elements.
#[kernel]
pub unsafe fn dynamic_length(out: GlobalMut<u64>) {
    let memory = dynamic_shared![u32];
    if thread::unique_index().get() == 0 {
        // SAFETY: only one thread writes.
        unsafe {
            put(out, 0, memory.len() as u64);
            put(out, 1, u64::from(memory.is_empty()));
            put(out, 2, memory.as_mut_ptr() as u64 % 128);
        }
    }
}
