//! Races within a block: a barrier is missing between what threads write and what others read.

use super::defects;
use crate::me;
use cuda_std::prelude::*;

defects! {
    /// The first step of a reduction reads what another warp stores.
    reduction_without_a_barrier reduction_without_a_barrier_twin(m) {
        m.shared.store(me(), 1);
        if RIGHT {
            thread::sync_threads();
        }
        if me() < 32 {
            m.out.store(me(), m.shared.load(me()) + m.shared.load(me() + 32));
        }
    }

    /// One thread stores two totals, and all read them.
    totals_read_by_all totals_read_by_all_twin(m) {
        if me() == 63 {
            m.shared.store(0, 5);
            m.shared.store(1, 6);
        }
        if RIGHT {
            thread::sync_threads();
        }
        m.out.store(me(), m.shared.load(0) + m.shared.load(1));
    }

    /// A cascade of filters: each thread reads its neighbour's result of the last round and stores its own
    /// without a barrier between the two.
    cascade_of_filters cascade_of_filters_twin(m) {
        m.shared.store(me(), 0);
        thread::sync_threads();
        let mut round = 0;
        while round < 2 {
            let left = m.shared.load((me() + 63) % 64);
            if RIGHT {
                thread::sync_threads();
            }
            m.shared.store(me(), left + 1);
            thread::sync_threads();
            round += 1;
        }
    }

    /// A scan of Hillis and Steele in one array, over more than a warp.
    scan_in_place scan_in_place_twin(m) {
        m.shared.store(me(), 1);
        thread::sync_threads();
        let mut offset = 1;
        while offset < 64 {
            let left = if me() >= offset { m.shared.load(me() - offset) } else { 0 };
            if RIGHT {
                thread::sync_threads();
            }
            m.shared.store(me(), m.shared.load(me()) + left);
            thread::sync_threads();
            offset *= 2;
        }
    }

    /// All paths through vertex k are tried while the row of vertex k changes.
    row_of_a_vertex_in_use row_of_a_vertex_in_use_twin(m) {
        m.shared.store(me(), me() as u32);
        thread::sync_threads();
        let mut k = 0;
        while k < 2 {
            let through = m.shared.load(k) + m.shared.load(me());
            if RIGHT {
                thread::sync_threads();
            }
            m.shared.store(me(), through);
            thread::sync_threads();
            k += 1;
        }
    }

    /// Counters of the block are set to zero and counted up without a barrier between.
    zeroed_and_counted zeroed_and_counted_twin(m) {
        if me() < 32 {
            m.shared.store(me(), 0);
        }
        if RIGHT {
            thread::sync_threads();
        }
        m.shared.atomic_add((me() + 7) % 32, 1);
    }

    /// A warp sorts values that other warps still store.
    sorted_before_all_are_there sorted_before_all_are_there_twin(m) {
        m.shared.store(63 - me(), me() as u32);
        if RIGHT {
            thread::sync_threads();
        }
        if me() < 32 {
            m.out.store(me(), m.shared.load(me()).min(m.shared.load(63 - me())));
        }
    }

    /// The total of a scan's rounds is added to by one thread while others still take it.
    total_of_rounds total_of_rounds_twin(m) {
        if me() == 0 {
            m.shared.store(0, 0);
        }
        thread::sync_threads();
        let mut round = 0;
        while round < 2 {
            m.data.store(me(), m.shared.load(0));
            if RIGHT {
                thread::sync_threads();
            }
            if me() == 31 {
                m.shared.store(0, m.shared.load(0) + 1);
            }
            thread::sync_threads();
            round += 1;
        }
    }

    /// Every thread adds to one word of shared memory, not atomically.
    shared_sum_without_atomics shared_sum_without_atomics_twin(m) {
        if me() == 0 {
            m.shared.store(0, 0);
        }
        thread::sync_threads();
        if RIGHT {
            m.shared.atomic_add(0, 1);
        } else {
            m.shared.store(0, m.shared.load(0) + 1);
        }
    }

    /// Two sums of a block in a row: the second one stores its parts while the first one is read.
    second_sum_too_early second_sum_too_early_twin(m) {
        let mut sum = 0;
        while sum < 2 {
            if me().is_multiple_of(32) {
                m.shared.store(me() / 32, sum);
            }
            thread::sync_threads();
            m.data.store(me(), m.shared.load(0) + m.shared.load(1));
            if RIGHT {
                thread::sync_threads();
            }
            sum += 1;
        }
    }
}
