//! Atomic accesses beside plain ones of the same word.

use crate::harness::{block, me, twins};
use cuda_std::prelude::*;
use simt::DefectKind::AtomicRace;

/// A load and a read do not change the word: they need no order.
#[test]
fn a_read_beside_an_atomic_load() {
    twins(AtomicRace, 2, 64, |memory, right| {
        let _ = match me() % 2 {
            0 => memory.counters.get(3),
            _ if right || block() == 0 => memory.counters.atomic_get(3),
            _ => memory.counters.add(3, 1),
        };
    });
}

/// A load that comes after an update does not represent it.
#[test]
fn a_plain_read_after_an_update_that_others_have_loaded() {
    twins(AtomicRace, 1, 96, |memory, right| {
        match me() {
            0 => drop(memory.counters.add(3, 1)),
            32 => drop(memory.counters.atomic_get(3)),
            _ => {}
        }
        // The loading thread meets the reading one; the updating thread does not.
        if right {
            thread::sync_threads();
        } else if me() >= 32 {
            thread::named_barrier_sync(1, 64);
        }
        if me() == 64 {
            let _ = memory.counters.get(3);
        }
    });
}

/// A plain write must also come after the loads.
#[test]
fn a_plain_write_beside_an_atomic_load() {
    twins(AtomicRace, 1, 96, |memory, right| {
        if me() == 0 || me() == 32 {
            memory.counters.atomic_get(3);
        }
        if right {
            thread::sync_threads();
        } else if me() >= 32 {
            thread::named_barrier_sync(1, 64);
        }
        if me() == 64 {
            memory.counters.set(3, 1);
        }
    });
}

/// The adding threads do not meet all readers: a thread that has met one other is not assumed to come after all.
#[test]
fn a_plain_read_after_the_updates_of_some_warps() {
    twins(AtomicRace, 1, 128, |memory, right| {
        if me() < 96 && me().is_multiple_of(32) {
            memory.counters.add(3, 1);
        }
        if right {
            thread::sync_threads();
        } else if me() >= 32 {
            thread::named_barrier_sync(1, 96);
        }
        if me() == 96 {
            let _ = memory.counters.get(3);
        }
    });
}

/// Many blocks add. The one that starts last waits for an unrelated flag.
#[test]
fn a_plain_read_beside_the_updates_of_many_blocks() {
    twins(AtomicRace, 12, 1, |memory, right| {
        let order = memory.counters.add(1, 1);
        if order < 11 {
            memory.counters.add(3, 1);
            if order == 10 || right {
                thread::fence_device();
                memory.counters.add(0, 1);
            }
        } else {
            while memory.counters.atomic_get(0) < if right { 11 } else { 1 } {
                thread::yield_now();
            }
            thread::fence_device();
            let _ = memory.counters.get(3);
        }
    });
}

/// Updates of another width need an order, even if the last update has the same width.
#[test]
fn a_wide_update_after_a_narrow_one_and_its_own_wide_one() {
    twins(AtomicRace, 1, 64, |memory, right| {
        let base = memory.counters.0.as_mut_ptr().cast::<u64>();
        // SAFETY: the buffer has more than one such element. The simulator reports conflicts.
        let wide = unsafe { GlobalMut::from_raw_parts(base, 4) };
        if me() == 0 {
            memory.counters.add(2, 1);
            // SAFETY: the element is there.
            unsafe { wide.atomic_add(1, 1) };
        }
        if right {
            thread::sync_threads();
        }
        if me() == 32 {
            // SAFETY: as above.
            unsafe { wide.atomic_add(1, 1) };
        }
    });
}

/// The last updating thread knows that the loads before the others' updates are complete.
#[test]
fn the_last_arrival_clears_a_counter_that_others_have_loaded() {
    twins(AtomicRace, 1, 64, |memory, right| {
        memory.counters.atomic_get(3);
        if memory.counters.add(3, 1) == 63 {
            memory.counters.set(3, 0);
        }
        if !right && me().is_multiple_of(32) {
            memory.counters.atomic_get(3);
        }
    });
}
