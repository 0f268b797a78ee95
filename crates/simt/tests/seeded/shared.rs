//! Races in shared memory.

use crate::harness::{Memory, me, shared, twins};
use cuda_std::prelude::*;
use simt::DefectKind::{AtomicRace, DataRace};

fn neighbours(_: &Memory, right: bool) {
    let values = shared![u32; 128];
    values.set(me(), 1);
    if right {
        thread::sync_threads();
    }
    let _ = values.get((me() + 1) % 128);
}

#[test]
fn a_read_without_a_barrier_after_the_write() {
    let found = twins(DataRace, 1, 128, |memory, right| {
        // Otherwise every thread but one reads before its neighbour writes.
        if !right {
            let values = shared![u32; 128];
            values.set((me() * 7) % 128, 0);
            thread::sync_threads();
            values.set(me(), 1);
            let _ = values.get((me() + 1) % 128);
        } else {
            neighbours(memory, right);
        }
    });
    let report = found.to_string();
    assert!(
        found.location.is_some() && found.thread.is_some(),
        "{report}"
    );
    assert!(
        report.contains("of the array of 512 bytes declared at"),
        "{report}"
    );
    assert!(report.contains("missing: "), "{report}");
    let other = found.related[0].location.as_ref().expect("the other line");
    assert!(other.file.ends_with("shared.rs"), "{report}");
    assert!(report.contains("simulated with seed 0"), "{report}");
}

#[test]
fn a_tile_that_is_overwritten_before_all_have_read_it() {
    let found = twins(DataRace, 1, 64, |memory, right| {
        let tile = shared![u32; 64];
        for round in 0..2 {
            tile.set(me(), memory.input.get(round * 64 + me()));
            thread::sync_threads();
            let _ = tile.get(63 - me());
            if right {
                thread::sync_threads();
            }
        }
    });
    assert!(found.message.contains("races with a"), "{found}");
}

#[test]
fn stores_of_one_value_race_too() {
    twins(DataRace, 1, 64, |_, right| {
        let flag = shared![u32; 1];
        if !right || me() == 0 {
            flag.set(0, 1);
        }
        thread::sync_threads();
        let _ = flag.get(0);
    });
}

#[test]
fn lanes_are_not_in_lockstep() {
    let found = twins(DataRace, 1, 32, |_, right| {
        let values = shared![u32; 32];
        values.set(me(), 1);
        thread::sync_threads();
        let sum = values.get(me()) + values.get(me() ^ 1);
        warp::sync(warp::LaneMask::all());
        values.set(me(), sum);
        if right {
            warp::sync(warp::LaneMask::all());
        }
        let _ = values.get(me() ^ 2);
    });
    assert!(
        found.to_string().contains("a warp barrier whose mask"),
        "{found}"
    );
}

#[test]
fn a_mask_orders_only_its_members() {
    twins(DataRace, 1, 32, |_, right| {
        let values = shared![u32; 32];
        values.set(me(), 0);
        thread::sync_threads();
        values.set(me(), 1);
        let mask = match (right, me() / 16) {
            (true, _) => warp::LaneMask::all(),
            (false, half) => warp::LaneMask::from_bits(0xffff << (16 * half)),
        };
        warp::sync(mask);
        let _ = values.get(me() ^ 1);
        let _ = values.get(me() ^ 16);
    });
}

#[test]
fn part_of_a_warp_may_meet_alone() {
    twins(DataRace, 1, 48, |_, right| {
        let values = shared![u32; 48];
        values.set(me(), 1);
        if warp::lane() < 8 {
            if right {
                warp::sync(warp::LaneMask::first(8));
            }
            values.set(me() ^ 1, 2);
        }
    });
}

#[test]
fn a_shuffle_orders_no_memory() {
    twins(DataRace, 1, 32, |_, right| {
        let values = shared![u32; 32];
        values.set(me(), 0);
        thread::sync_threads();
        values.set(me(), 1);
        let _ = warp::shuffle_xor(warp::LaneMask::all(), 1_u32, 1);
        if right {
            warp::sync(warp::LaneMask::all());
        }
        let _ = values.get(me() ^ 1);
    });
}

#[test]
fn a_barrier_for_some_warps_orders_no_others() {
    twins(DataRace, 1, 128, |_, right| {
        let values = shared![u32; 128];
        values.set(me(), 1);
        thread::sync_threads();
        values.set(me(), 2);
        if me() < 64 {
            thread::named_barrier_sync(1, 64);
            let _ = values.get(me() ^ 32);
        }
        if right {
            thread::sync_threads();
        }
        // The last warp may not have reached its store yet.
        let _ = values.get((me() + 64) % 128);
    });
}

#[test]
fn barriers_of_warps_hand_on_what_they_know() {
    twins(DataRace, 1, 96, |_, right| {
        let value = shared![u32; 1];
        let warp = me() / 32;
        if me() == 0 {
            value.set(0, 1);
        }
        if warp < 2 {
            thread::named_barrier_sync(1, 64);
        }
        if warp > 0 && right {
            thread::named_barrier_sync(2, 64);
        }
        if me() == 64 || me() == 32 {
            let _ = warp::lane();
        }
        if warp == 2 && warp::lane() == 0 {
            // Reads after the write, or writes before it: a race either way.
            value.set(0, 2);
        }
    });
}

#[test]
fn halves_of_one_word_are_two_places() {
    twins(DataRace, 1, 64, |_, right| {
        let halves = shared![u16; 64];
        halves.set(me(), 1);
        if !right {
            halves.set(me() ^ 1, 2);
        }
    });
}

#[test]
fn a_vector_covers_its_neighbours() {
    twins(DataRace, 1, 64, |_, right| {
        let values = shared![u32; 256];
        values.set4(4 * me(), [1; 4]);
        let own = if right { 3 } else { 4 };
        values.set((4 * me() + own) % 256, 2);
    });
}

#[test]
fn a_histogram_that_is_cleared_too_late() {
    twins(AtomicRace, 1, 64, |_, right| {
        let bins = shared![u32; 8];
        if me() == 0 {
            (0..8).for_each(|bin| bins.set(bin, 0));
        }
        if !right {
            // All warps have met, then one thread clears once more.
            thread::sync_threads();
            if me() == 63 {
                bins.set(5, 0);
            }
        } else {
            thread::sync_threads();
        }
        bins.add(me() % 8, 1);
    });
}
