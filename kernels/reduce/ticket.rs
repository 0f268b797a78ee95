//! Which block of several is the last to have written its results, found by an integer ticket.

use cuda_std::prelude::*;

/// Publishes what thread 0 has written, or what was written before a barrier of the block, and tells
/// every thread whether its block is the last of `blocks` to do so, which take the tickets of element `at`.
/// The last sees what all have published.
///
/// # Safety
/// 1. `tickets` has the element, which was 0 when the launch started and which this alone touches until
///    the last block has returned.
/// 2. `flag` is the block's own.
#[inline(always)]
pub unsafe fn takes_last_ticket(
    tickets: GlobalMut<u32>,
    (at, blocks): (usize, u32),
    flag: SharedArray<u32, 1>,
) -> bool {
    if thread::thread_idx_x() == 0 {
        thread::fence_device();
        // SAFETY: (1) of each access is (1). (2) The ticket is touched by atomics alone; thread 0 alone
        // writes the flag.
        unsafe {
            let number = tickets.atomic_add(at, 1);
            flag.store(0, u32::from(number + 1 == blocks));
        }
    }
    thread::sync_threads();
    // SAFETY: (1) one element. (2) Thread 0 wrote it before the barrier.
    let last = unsafe { flag.load(0) } == 1;
    if last {
        // The tickets that came before stand for results: what follows must see them.
        thread::fence_device();
    }
    last
}
