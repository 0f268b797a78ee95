//! Barriers of a block.

use crate::put;
use cuda_std::prelude::*;

/// Largest block of this file's kernels.
pub const MAX_THREADS: usize = 1024;

/// Writes for each thread the block's count, conjunction and disjunction of the predicate that a
/// thread's rank is a multiple of `divisor`.
///
/// # Safety
/// 1. `out` has 3 elements for each thread.
#[kernel]
pub unsafe fn predicates(divisor: u32, out: GlobalMut<u32>) {
    let predicate = thread::rank_in_block().is_multiple_of(divisor);
    let count = thread::sync_threads_count(predicate);
    let all = thread::sync_threads_and(predicate);
    let any = thread::sync_threads_or(predicate);
    let first = thread::unique_index().get() * 3;
    for (i, number) in [count, u32::from(all), u32::from(any)]
        .into_iter()
        .enumerate()
    {
        // SAFETY: the elements belong to this thread's unique index.
        unsafe { put(out, first + i, number) };
    }
}

/// Each thread writes to shared memory and reads its right neighbour's value, `rounds` times.
///
/// # Safety
/// 1. The launch has one-dimensional blocks; `x` and `out` have an element for each thread.
#[kernel]
pub unsafe fn rotate(rounds: u32, x: Global<u32>, out: GlobalMut<u32>) {
    let array = shared_array![u32; MAX_THREADS];
    let (own, size) = (
        thread::thread_idx_x() as usize,
        thread::block_size() as usize,
    );
    let index = thread::unique_index().get();
    // SAFETY: the length is the caller's contract.
    let mut value = unsafe { x.load(index) };
    for _ in 0..rounds {
        // SAFETY: a block has at most 1024 threads. A barrier separates each write from the reads
        // of others.
        unsafe { array.store(own, value) };
        thread::sync_threads();
        // SAFETY: as above; each element has been written before the barrier.
        value = unsafe { array.load((own + 1) % size) };
        thread::sync_threads();
    }
    // SAFETY: the element belongs to this thread's unique index.
    unsafe { put(out, index, value) };
}

/// The same through global memory, in `work`, whose accesses a barrier orders, too.
///
/// # Safety
/// 1. The launch has one block; `work` and `out` have an element for each thread.
#[kernel]
pub unsafe fn rotate_in_global_memory(rounds: u32, work: GlobalMut<u32>, out: GlobalMut<u32>) {
    let (own, size) = (
        thread::rank_in_block() as usize,
        thread::block_size() as usize,
    );
    for _ in 0..rounds {
        // SAFETY: the length is the caller's contract. Barriers separate this read from the writes
        // around it.
        let neighbour = unsafe { work.load((own + 1) % size) };
        thread::sync_threads();
        // SAFETY: as above; no other thread writes a thread's own element.
        unsafe { work.store(own, neighbour) };
        thread::sync_threads();
    }
    // SAFETY: the length is the caller's contract. No thread writes after the last barrier.
    let value = unsafe { work.load(own) };
    // SAFETY: the element belongs to this thread.
    unsafe { put(out, own, value) };
}

/// One thread changes a flag between two barriers, and all threads read it before and after: in
/// shared memory and in `flag`. The compiler must not reuse the earlier value.
///
/// # Safety
/// 1. The launch has one block; `flag` has one element, `out` 4 for each thread.
#[kernel]
pub unsafe fn flags_change(changer: u32, flag: GlobalMut<u32>, out: GlobalMut<u32>) {
    let shared = shared_array![u32; 1];
    let own = thread::rank_in_block();
    if own == 0 {
        // SAFETY: the array has one element. A barrier follows before others access it.
        unsafe { shared.store(0, 10) };
    }
    thread::sync_threads();
    // SAFETY: the array has one element, and so has `flag`: the caller's contract. Barriers
    // separate reads from writes.
    let before = unsafe { (shared.load(0), flag.load(0)) };
    thread::sync_threads();
    if own == changer {
        // SAFETY: as above.
        unsafe {
            shared.store(0, before.0 + 1);
            flag.store(0, before.1 + 1);
        }
    }
    thread::sync_threads();
    // SAFETY: as above.
    let after = unsafe { (shared.load(0), flag.load(0)) };
    for (i, number) in [before.0, before.1, after.0, after.1]
        .into_iter()
        .enumerate()
    {
        // SAFETY: the elements belong to this thread.
        unsafe { put(out, own as usize * 4 + i, number) };
    }
}

/// The two halves of a block sum their ranks separately, each with a barrier of its own. The second
/// half passes it `rounds` times more.
///
/// # Safety
/// 1. The launch has one one-dimensional block of an even number of warps; `out` has an element
///    for each thread.
#[kernel]
pub unsafe fn halves(rounds: u32, out: GlobalMut<u32>) {
    let array = shared_array![u32; MAX_THREADS];
    let (own, half) = (thread::thread_idx_x(), thread::block_size() / 2);
    let (which, first) = if own < half { (1, 0) } else { (2, half) };
    let rounds = if own < half { 1 } else { 1 + rounds };
    let mut sum = 0;
    for round in 0..rounds {
        // SAFETY: a block has at most 1024 threads. The half's barrier separates writes from reads,
        // and each half accesses only its own elements.
        unsafe { array.store(own as usize, own + round) };
        thread::named_barrier_sync(which, half);
        for other in first..first + half {
            // SAFETY: as above.
            sum += unsafe { array.load(other as usize) };
        }
        thread::named_barrier_sync(which, half);
    }
    // SAFETY: the element belongs to this thread.
    unsafe { put(out, own as usize, sum) };
}

/// The named barriers of [`handed_over`], for a full and an empty buffer.
const FULL: u32 = 1;
const EMPTY: u32 = 2;

/// The first half of a block passes numbers to the second through shared memory, `rounds` times: thread `t` of the
/// first half passes `t + round`, and each thread of the second adds up all numbers.
///
/// # Safety
/// 1. The launch has one one-dimensional block of an even number of warps; `out` has an element for each
///    thread of the second half.
#[kernel]
pub unsafe fn handed_over(rounds: u32, out: GlobalMut<u32>) {
    let array = shared_array![u32; MAX_THREADS];
    let (own, all) = (thread::thread_idx_x(), thread::block_size());
    let half = all / 2;
    if own < half {
        for round in 0..rounds {
            if round > 0 {
                thread::named_barrier_sync(EMPTY, all);
            }
            // SAFETY: a block has at most 1024 threads. The barriers separate the write from the
            // reads of the previous round and of this one.
            unsafe { array.store(own as usize, own + round) };
            thread::named_barrier_arrive(FULL, all);
        }
    } else {
        let mut sum = 0;
        for round in 0..rounds {
            thread::named_barrier_sync(FULL, all);
            for other in 0..half {
                // SAFETY: as above.
                sum += unsafe { array.load(other as usize) };
            }
            if round + 1 < rounds {
                thread::named_barrier_arrive(EMPTY, all);
            }
        }
        // SAFETY: the element belongs to this thread.
        unsafe { put(out, (own - half) as usize, sum) };
    }
}
