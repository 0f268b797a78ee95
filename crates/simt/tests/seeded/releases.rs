//! The reach of a release, and accesses that are not atomic to each other.

use crate::harness::{Memory, me, twins};
use cuda_std::prelude::*;
use simt::DefectKind::{AtomicRace, DataRace};

/// The first thread passes a value through the second one to the third: 0 writes and releases, 1 sees that and changes
/// the flag, 2 reads once the flag has changed. It does not read the flag earlier, because it would see the first
/// thread's release.
fn hand_on(memory: &Memory, role: u32, fence: fn(), change: fn(&Memory)) {
    let wait_for = |index| {
        while memory.counters.atomic_get(index) == 0 {
            thread::yield_now();
        }
    };
    match role {
        0 => {
            memory.input.set(100, 7);
            fence();
            memory.counters.atomic_set(0, 1);
        }
        1 => {
            wait_for(0);
            change(memory);
            memory.counters.atomic_set(1, 1);
        }
        2 => {
            wait_for(1);
            // An update reads the newest store, without a fence after the loads of the other word.
            assert_eq!(memory.counters.add(0, 0), 2);
            fence();
            let _ = memory.input.get(100);
        }
        _ => {}
    }
}

fn store(memory: &Memory) {
    memory.counters.atomic_set(0, 2);
}

fn update(memory: &Memory) {
    memory.counters.add(0, 1);
}

fn store_with_fence(memory: &Memory) {
    thread::fence_device();
    memory.counters.atomic_set(0, 2);
}

/// An update carries a release on; a store of another thread does not.
#[test]
fn a_store_ends_a_release_within_a_block() {
    twins(DataRace, 1, 96, |memory, right| {
        let role = if me().is_multiple_of(32) {
            me() as u32 / 32
        } else {
            3
        };
        let change = if right { update } else { store };
        hand_on(memory, role, thread::fence_block, change);
    });
}

#[test]
fn a_store_ends_a_release_between_blocks() {
    twins(DataRace, 3, 1, |memory, right| {
        let role = memory.counters.add(9, 1);
        let change = if right { update } else { store };
        hand_on(memory, role, thread::fence_device, change);
    });
}

/// A fence before the store makes it a new release, of what the first one has passed on.
#[test]
fn a_fence_hands_on_what_it_has_seen() {
    twins(DataRace, 3, 1, |memory, right| {
        let role = memory.counters.add(9, 1);
        let change = if right { store_with_fence } else { store };
        hand_on(memory, role, thread::fence_device, change);
    });
}

/// The low half of a 64-bit counter, counted separately.
#[test]
fn atomics_of_two_widths() {
    let found = twins(AtomicRace, 2, 32, |memory, right| {
        let base = memory.counters.0.as_mut_ptr().cast::<u64>();
        // SAFETY: the elements exist, aligned to 16 bytes. The other view makes atomic updates: the test is about this.
        let wide = unsafe { GlobalMut::from_raw_parts(base, 8) };
        memory.counters.add(0, 1);
        // SAFETY: within the elements. As above.
        unsafe { wide.atomic_add(usize::from(right), 1) };
    });
    assert!(found.message.contains("of another width"), "{found}");
}

/// The last of all arrivals clears the counter for the next launch: all others have been counted.
#[test]
fn the_last_arrival_clears_the_counter() {
    twins(AtomicRace, 4, 32, |memory, right| {
        let arrivals = 4 * 32;
        let before = memory.counters.add(0, 1);
        if before == if right { arrivals - 1 } else { 0 } {
            memory.counters.set(0, 0);
        }
    });
}

#[test]
fn the_last_arrival_of_a_block_clears_the_counter() {
    twins(AtomicRace, 1, 64, |_, right| {
        let count = crate::harness::shared![u32; 1];
        if me() == 0 {
            count.set(0, 0);
        }
        thread::sync_threads();
        let before = count.add(0, 1);
        if before == if right { 63 } else { 5 } {
            count.set(0, 0);
        }
    });
}
