//! Finds the last block to write its results, by an integer ticket.

use cuda_std::prelude::*;

/// Publishes the block's writes, and returns, to every thread, whether its block is the last of `blocks` to do so.
///
/// It publishes the writes of thread 0, and writes before a barrier of the block. The blocks take tickets from
/// element `at`. The last one sees all that was published.
///
/// # Safety
/// 1. `tickets` has the element, which was 0 when the launch started. Only this function accesses it until the last
///    block has returned.
/// 2. Only this block uses `flag`.
#[inline(always)]
pub unsafe fn takes_last_ticket(
    tickets: GlobalMut<u32>,
    (at, blocks): (usize, u32),
    flag: SharedArray<u32, 1>,
) -> bool {
    if thread::thread_idx_x() == 0 {
        thread::fence_device();
        // SAFETY: `tickets` has the element: the caller's contract. All its accesses are atomic. Only thread 0 writes
        // the flag.
        unsafe {
            let number = tickets.atomic_add(at, 1);
            flag.store(0, u32::from(number + 1 == blocks));
        }
    }
    thread::sync_threads();
    // SAFETY: thread 0 wrote the flag before the barrier.
    let last = unsafe { flag.load(0) } == 1;
    if last {
        // Makes the results of earlier tickets visible.
        thread::fence_device();
    }
    last
}
