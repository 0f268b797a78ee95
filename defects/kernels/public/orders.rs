//! Data that blocks pass to each other through a flag, a counter or a lock, without the necessary
//! fences.

use super::{block, defects};
use crate::me;
use cuda_std::prelude::*;

/// The words through which blocks synchronise.
const COUNTER: usize = 255;

defects! {
    /// The last block to arrive reads what the others have stored, with no fence behind the counter.
    last_block_without_its_fence last_block_without_its_fence_twin(m) {
        if me() == 0 {
            m.data.store(block(), 1);
            thread::fence_device();
            if m.data.atomic_add(COUNTER, 1) == 3 {
                if RIGHT {
                    thread::fence_device();
                }
                m.out.store(0, m.data.load(0) + m.data.load(1) + m.data.load(2) + m.data.load(3));
            }
        }
    }

    /// Each block counts itself without a fence behind what it has stored.
    partial_sum_without_a_fence partial_sum_without_a_fence_twin(m) {
        if me() == 0 {
            m.data.store(block(), 1);
            if RIGHT {
                thread::fence_device();
            }
            if m.data.atomic_add(COUNTER, 1) == 3 {
                thread::fence_device();
                m.out.store(0, m.data.load(0) + m.data.load(1) + m.data.load(2) + m.data.load(3));
            }
        }
    }

    /// The fences have block scope, but the threads are in different blocks.
    fence_of_too_narrow_a_scope fence_of_too_narrow_a_scope_twin(m) {
        if me() == 0 {
            m.data.store(block(), 1);
            if RIGHT { thread::fence_device() } else { thread::fence_block() }
            if m.data.atomic_add(COUNTER, 1) == 3 {
                if RIGHT { thread::fence_device() } else { thread::fence_block() }
                m.out.store(0, m.data.load(0) + m.data.load(1) + m.data.load(2) + m.data.load(3));
            }
        }
    }

    /// Blocks add one after the other; the semaphore is released before all threads have fenced.
    semaphore_without_a_fence semaphore_without_a_fence_twin(m) {
        if me() == 0 {
            while m.data.atomic_load(COUNTER) != block() as u32 {
                thread::yield_now();
            }
            thread::fence_device();
        }
        thread::sync_threads();
        m.data.store(me(), m.data.load(me()) + 1);
        if RIGHT {
            thread::fence_device();
        }
        thread::sync_threads();
        if me() == 0 {
            m.data.atomic_store(COUNTER, block() as u32 + 1);
        }
    }

    /// A lock is released without a fence.
    lock_released_without_a_fence lock_released_without_a_fence_twin(m) {
        if me() == 0 {
            while m.data.atomic_compare_exchange(COUNTER, 0, 1) != 0 {
                thread::yield_now();
            }
            thread::fence_device();
            m.data.store(0, m.data.load(0) + 1);
            if RIGHT {
                thread::fence_device();
            }
            m.data.atomic_exchange(COUNTER, 0);
        }
    }

    /// A lock is taken without a fence.
    lock_taken_without_a_fence lock_taken_without_a_fence_twin(m) {
        if me() == 0 {
            while m.data.atomic_compare_exchange(COUNTER, 0, 1) != 0 {
                thread::yield_now();
            }
            if RIGHT {
                thread::fence_device();
            }
            m.data.store(0, m.data.load(0) + 1);
            thread::fence_device();
            m.data.atomic_exchange(COUNTER, 0);
        }
    }

    /// A task is put into a queue whose end is published without a fence.
    task_published_without_a_fence task_published_without_a_fence_twin(m) {
        if me() == 0 && block() == 0 {
            m.data.store(0, 7);
            if RIGHT {
                thread::fence_device();
            }
            m.data.atomic_store(COUNTER, 1);
        }
        if me() == 0 && block() == 1 && m.data.atomic_load(COUNTER) == 1 {
            thread::fence_device();
            m.out.store(0, m.data.load(0));
        }
    }

    /// A thief takes a task as soon as it sees the end of the queue, without a fence.
    task_stolen_without_a_fence task_stolen_without_a_fence_twin(m) {
        if me() == 0 && block() == 0 {
            m.data.store(0, 7);
            thread::fence_device();
            m.data.atomic_store(COUNTER, 1);
        }
        if me() == 0 && block() == 1 && m.data.atomic_load(COUNTER) == 1 {
            if RIGHT {
                thread::fence_device();
            }
            m.out.store(0, m.data.load(0));
        }
    }

    /// The first thread says that its block has merged its counts, while others still merge.
    block_reported_as_done block_reported_as_done_twin(m) {
        m.data.atomic_add(me(), 1);
        thread::fence_device();
        if RIGHT {
            thread::sync_threads();
        }
        if me() == 0 && m.data.atomic_add(COUNTER, 1) == 3 {
            thread::fence_device();
            let mut sum = 0;
            let mut i = 0;
            while i < 64 {
                sum += m.data.load(i);
                i += 1;
            }
            m.out.store(0, sum);
        }
    }

    /// A flag and its data are both plain, and a loop waits for the flag.
    flag_without_atomics flag_without_atomics_twin(m) {
        if me() == 0 && block() == 0 {
            m.data.store(0, 7);
            thread::fence_device();
            if RIGHT { m.data.atomic_store(COUNTER, 1) } else { m.data.store(COUNTER, 1) }
        }
        if me() == 0 && block() == 1 {
            let flag = if RIGHT { m.data.atomic_load(COUNTER) } else { m.data.load(COUNTER) };
            thread::fence_device();
            if flag == 1 {
                m.out.store(0, m.data.load(0));
            }
        }
    }
}
