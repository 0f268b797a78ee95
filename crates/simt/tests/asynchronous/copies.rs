//! Bulk copies and mbarriers do what they should, under any schedule.

use crate::harness::{Buffer, SEEDS, barriers, launch, load, me, serial, shared, store, sync};
use simt::{DefectKind, Swizzle};

const BARRIER: usize = 90 * 1024;

#[test]
fn a_tile_arrives_swizzled() {
    let source = Buffer::of((0..64 * 48).map(|value| value as u16).collect());
    let map = source.map(64, (64, 32), Swizzle::B128);
    for seed in 0..SEEDS {
        launch(&serial(seed), (2, 1, 64), &|| {
            let barrier = shared(BARRIER).addr();
            barriers(BARRIER, &[1]);
            if me() == 0 {
                simt::mbarrier_arrive_expect(barrier, 64 * 32 * 2);
                // SAFETY: the buffer outlives the launch.
                unsafe { simt::tensor_load(&map, shared(0), barrier, &[0, 24], None) };
            }
            simt::mbarrier_wait(barrier, false);
            for row in 0..32 {
                let at = Swizzle::B128.apply(row * 128 + 2 * me() as usize);
                // Rows from 48 on are outside the matrix.
                let expected = match row {
                    0..24 => (24 + row) * 64 + me() as usize,
                    _ => 0,
                };
                assert_eq!(usize::from(load::<u16>(shared(at))), expected);
            }
        })
        .unwrap();
    }
}

/// A ring of two stages. Each is filled again once all threads have read it.
#[test]
fn a_ring_of_stages() {
    const ROUNDS: usize = 7;
    const BYTES: usize = 512;
    let source = Buffer::of((0..(ROUNDS * BYTES / 4) as u32).collect());
    for seed in 0..SEEDS {
        let output = Buffer::<u32>::empty(ROUNDS * 32);
        launch(&serial(seed), (1, 1, 64), &|| {
            barriers(BARRIER, &[1, 1, 32, 32]);
            let full = |stage| shared(BARRIER + 8 * stage).addr();
            let empty = |stage| shared(BARRIER + 16 + 8 * stage).addr();
            for round in 0..ROUNDS {
                let (stage, parity) = (round % 2, round / 2 % 2 == 1);
                if me() == 32 {
                    simt::mbarrier_wait(empty(stage), !parity);
                    simt::mbarrier_arrive_expect(full(stage), BYTES as u32);
                    let from = source.pointer().cast_const().cast::<u8>();
                    // SAFETY: the buffer outlives the launch.
                    unsafe {
                        let from = from.add(round * BYTES);
                        simt::bulk_load(shared(stage * BYTES), from, BYTES, full(stage), None);
                    }
                }
                if me() < 32 {
                    while !simt::mbarrier_test(full(stage), parity) {}
                    let at = stage * BYTES + 16 * me() as usize;
                    output.set(round * 32 + me() as usize, load::<u32>(shared(at)));
                    simt::mbarrier_arrive(empty(stage));
                }
            }
        })
        .unwrap();
        for (index, value) in output.values().iter().enumerate() {
            assert_eq!(*value as usize, index * 4);
        }
    }
}

#[test]
fn stores_reach_global_memory() {
    for seed in 0..SEEDS {
        let output = Buffer::<u32>::empty(24 * 8);
        let map = output.map(24, (32, 4), Swizzle::None);
        launch(&serial(seed), (1, 1, 32), &|| {
            for row in 0..4 {
                store(
                    shared(row * 128 + 4 * me() as usize),
                    me() + 100 * row as u32,
                );
            }
            simt::fence_proxy_async();
            sync();
            if me() == 0 {
                for row in 0..2 {
                    // SAFETY: the buffer outlives the launch.
                    unsafe { simt::tensor_store(&map, shared(0), &[0, 4 * row]) };
                    simt::bulk_commit();
                }
                simt::bulk_wait_read(0);
            }
        })
        .unwrap();
        for (index, value) in output.values().iter().enumerate() {
            assert_eq!(*value as usize, index % 24 + 100 * (index / 24 % 4));
        }
    }
}

#[test]
fn a_deadlock_names_barrier_and_phase() {
    let found = launch(&serial(0), (1, 1, 64), &|| {
        barriers(BARRIER, &[3]);
        let barrier = shared(BARRIER).addr();
        if me() < 2 {
            simt::mbarrier_arrive_expect(barrier, 64);
        }
        simt::mbarrier_wait(barrier, false);
    })
    .unwrap_err();
    assert_eq!(found.kind, DefectKind::Deadlock, "{found}");
    let expected = "threads wait for phase 0 of the mbarrier at byte 92160 of shared memory, which \
                    nothing will complete: it has 2 of its 3 arrivals, and 0 of 128 expected bytes; \
                    threads 2 to 63 have not arrived";
    assert_eq!(found.message, expected);
    let note = "the mbarrier at byte 92160, in phase 0: it has 2 of its 3 arrivals, and 0 of 128 \
                expected bytes";
    let related = found.related.last().expect("the mbarrier");
    assert_eq!(related.note, note);
    assert!(related.location.is_some(), "{found}");
}

#[test]
fn a_deadlock_names_who_has_not_come_again() {
    let found = launch(&serial(0), (1, 1, 64), &|| {
        barriers(BARRIER, &[4]);
        let barrier = shared(BARRIER).addr();
        if me() < 4 {
            simt::mbarrier_arrive(barrier);
            simt::mbarrier_wait(barrier, false);
            if me() != 2 {
                simt::mbarrier_arrive(barrier);
            }
            simt::mbarrier_wait(barrier, true);
        }
    })
    .unwrap_err();
    assert_eq!(found.kind, DefectKind::Deadlock, "{found}");
    let missing = "thread 2, which arrived in the phase before, has not arrived";
    assert!(found.message.ends_with(missing), "{found}");
    let mut notes = found.related.iter();
    let arrival = notes.find(|it| it.note == missing).expect("its arrival");
    assert!(arrival.location.is_some(), "{found}");
}
