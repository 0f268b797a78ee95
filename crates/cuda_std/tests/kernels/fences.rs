//! Fences: a thread's writes are visible to the threads that it signals afterwards.

use crate::put;
use cuda_std::atomic::{AcqRel, BlockScope, DeviceScope, SeqCst, SystemScope, fence};
use cuda_std::prelude::*;

/// Each block writes a value from its element of `x`. The block that takes the last ticket combines
/// the values in the order of blocks.
///
/// # Safety
/// 1. The launch has one-dimensional blocks; `x` has an element for each block.
/// 2. `sums` has an element for each block; `ticket` has one, 0; `result` has one.
#[kernel]
pub unsafe fn last_block_adds(
    x: Global<u32>,
    sums: GlobalMut<u32>,
    ticket: GlobalMut<u32>,
    result: GlobalMut<u32>,
) {
    let is_last = shared_array![u32; 1];
    let block = thread::block_idx_x() as usize;
    if thread::thread_idx_x() == 0 {
        // SAFETY: the lengths are the caller's contract. Each block has its own element, and only
        // atomic operations access the ticket.
        unsafe {
            sums.store(block, x.load(block).wrapping_mul(3));
            thread::fence_device();
            let before = ticket.atomic_add(0, 1);
            is_last.store(0, u32::from(before + 1 == thread::grid_dim_x()));
        }
    }
    thread::sync_threads();
    // SAFETY: the array has one element, which was written before the barrier.
    if unsafe { is_last.load(0) } == 0 || thread::thread_idx_x() != 0 {
        return;
    }
    thread::fence_device();
    let mut sum = 0_u32;
    for block in 0..thread::grid_dim_x() as usize {
        // SAFETY: the length is the caller's contract. The last ticket shows that all blocks have
        // written.
        sum = sum
            .wrapping_mul(31)
            .wrapping_add(unsafe { sums.load(block) });
    }
    // SAFETY: only one thread of the launch gets here.
    unsafe { put(result, 0, sum) };
}

/// Each lane of the first warp passes two words to the second warp, which waits for flags: the
/// first word after a block fence, with a flag in shared memory, the second after a system fence,
/// with a flag in global memory.
///
/// # Safety
/// 1. The launch has one one-dimensional block of two warps.
/// 2. `letters` has 2 elements for each lane, `out` one; `flag` has one, 0.
#[kernel]
pub unsafe fn deliver(letters: GlobalMut<u32>, flag: GlobalMut<u32>, out: GlobalMut<u32>) {
    let arrived = shared_array![u32; 1];
    let (lane, width) = (warp::lane(), warp::width());
    if thread::thread_idx_x() == 0 {
        // SAFETY: the array has one element. A barrier follows.
        unsafe { arrived.store(0, 0) };
    }
    thread::sync_threads();
    // SAFETY: the lengths are the caller's contract. Only atomic operations access the flags, which
    // each lane raises after writing its words and a fence.
    unsafe {
        if warp::warp_in_block() == 0 {
            letters.store(lane as usize, lane * 5);
            thread::fence_block();
            let _ = arrived.atomic_add(0, 1);
            letters.store((width + lane) as usize, lane * 7);
            thread::fence_system();
            let _ = flag.atomic_add(0, 1);
        } else {
            let sender = width - 1 - lane;
            while arrived.atomic_load(0) != width {
                thread::yield_now();
            }
            thread::fence_block();
            let first = letters.load(sender as usize);
            while flag.atomic_load(0) != width {
                thread::yield_now();
            }
            thread::fence_system();
            let second = letters.load((width + sender) as usize);
            put(out, lane as usize, first + second);
        }
    }
}

/// Letters of [`letters_behind_fences`].
pub const LETTERS: usize = 6;

/// The first thread passes letters to the first thread of the next warp, one after each kind of fence.
///
/// # Safety
/// 1. The launch has one one-dimensional block of two warps.
/// 2. `x`, `letters` and `out` have [`LETTERS`] elements, `flag` one, which is 0.
#[kernel]
pub unsafe fn letters_behind_fences(
    x: Global<u32>,
    letters: GlobalMut<u32>,
    flag: GlobalAtomic<u32>,
    out: GlobalMut<u32>,
) {
    let thread = thread::thread_idx_x();
    macro_rules! hand_over {
        ($($number:literal: $order:expr, $scope:expr;)*) => {$(
            // SAFETY: the lengths are the caller's contract. The receiver reads a letter after its
            // flag and a fence, and writes only its own elements.
            unsafe {
                if thread == 0 {
                    letters.store($number, x.load($number));
                    fence($order, $scope);
                    flag.store(0, $number + 1);
                } else if thread == warp::width() {
                    while flag.load(0).is_some_and(|raised| raised <= $number) {
                        thread::yield_now();
                    }
                    fence($order, $scope);
                    put(out, $number, letters.load($number));
                }
            }
        )*};
    }
    hand_over! {
        0: AcqRel, BlockScope;
        1: AcqRel, DeviceScope;
        2: AcqRel, SystemScope;
        3: SeqCst, BlockScope;
        4: SeqCst, DeviceScope;
        5: SeqCst, SystemScope;
    }
}

/// Rounds of [`buffered_stores`].
pub const ROUNDS: usize = 256;

/// In each round, each of two blocks writes a word of its own, fences, and reads the other's word. With sequentially
/// consistent fences, at least one of them reads the other's new value.
///
/// # Safety
/// 1. The launch has two blocks of one thread. `words` and `out` have 2 [`ROUNDS`] elements; those of `words` are
///    0.
#[kernel]
pub unsafe fn buffered_stores(words: GlobalAtomic<u32>, out: GlobalMut<u32>) {
    let own = thread::block_idx_x() as usize;
    for round in 0..ROUNDS {
        words.store(2 * round + own, 1);
        fence(SeqCst, DeviceScope);
        let other = words.load(2 * round + 1 - own).unwrap_or_default();
        // SAFETY: each block has its own element.
        unsafe { put(out, 2 * round + own, other) };
    }
}
