//! Mistakes with mbarriers and named barriers, each with a correct twin.

use crate::harness::{BARRIERS, barrier, barriers, load, me, shared, store, sync, twins};
use simt::BarrierId;
use simt::DefectKind::{BarrierDivergence, BarrierMisuse, DataRace, Deadlock, Misaligned};

#[test]
fn an_arrival_before_the_initialisation() {
    twins(
        BarrierMisuse,
        &["has not been initialised"],
        32,
        |_, right| {
            if me() == 0 {
                if right {
                    simt::mbarrier_init(barrier(0), 1);
                }
                simt::mbarrier_arrive(barrier(0));
            }
        },
    );
}

#[test]
fn an_initialisation_that_others_do_not_see() {
    twins(
        BarrierMisuse,
        &[
            "before its initialisation is visible",
            "barrier of the block",
        ],
        32,
        |_, right| {
            if me() == 0 {
                simt::mbarrier_init(barrier(0), 32);
                simt::fence_mbarrier_init();
            }
            // A vote orders nothing.
            crate::borrowed::warp_collective("vote", u64::from(u32::MAX), 0, |_| ());
            if right {
                sync();
            }
            simt::mbarrier_arrive(barrier(0));
            simt::mbarrier_wait(barrier(0), false);
        },
    );
}

#[test]
fn an_initialisation_that_the_engine_does_not_see() {
    twins(
        BarrierMisuse,
        &["the engine does not see", "fence.mbarrier_init"],
        32,
        |memory, right| {
            if me() == 0 {
                simt::mbarrier_init(barrier(0), 1);
                if right {
                    simt::fence_mbarrier_init();
                }
            }
            sync();
            if me() == 0 {
                memory.load_tile(0, 0);
            }
            simt::mbarrier_wait(barrier(0), false);
        },
    );
}

#[test]
fn a_barrier_that_is_initialised_again() {
    let found = twins(BarrierMisuse, &["where one is in use"], 32, |_, right| {
        barriers(BARRIERS, &[32]);
        simt::mbarrier_arrive(barrier(0));
        simt::mbarrier_wait(barrier(0), false);
        if me() == 0 {
            simt::mbarrier_init(barrier(usize::from(right)), 1);
        }
    });
    assert!(found.related[0].location.is_some(), "{found}");
}

#[test]
fn an_ordinary_store_to_a_barrier() {
    twins(
        BarrierMisuse,
        &["a write of 4 bytes", "those of an mbarrier"],
        32,
        |_, right| {
            barriers(BARRIERS, &[32]);
            simt::mbarrier_arrive(barrier(0));
            simt::mbarrier_wait(barrier(0), false);
            if me() == 0 {
                store(shared(BARRIERS + if right { 8 } else { 4 }), 0_u32);
            }
        },
    );
}

#[test]
fn a_barrier_that_was_invalidated() {
    let words = ["there is no mbarrier", "or was invalidated since"];
    twins(BarrierMisuse, &words, 32, |_, right| {
        barriers(BARRIERS, &[32]);
        simt::mbarrier_arrive(barrier(0));
        simt::mbarrier_wait(barrier(0), false);
        sync();
        if me() == 0 {
            simt::mbarrier_invalidate(barrier(0));
            if right {
                simt::mbarrier_init(barrier(0), 32);
            }
        }
        sync();
        simt::mbarrier_arrive(barrier(0));
        simt::mbarrier_wait(barrier(0), false);
    });
}

#[test]
fn a_store_where_a_barrier_was() {
    let words = ["a write of 4 bytes", "those of an mbarrier"];
    twins(BarrierMisuse, &words, 32, |_, right| {
        barriers(BARRIERS, &[1, 1]);
        if me() == 0 {
            simt::mbarrier_invalidate(barrier(usize::from(!right)));
            store(shared(BARRIERS), 0_u32);
        }
    });
}

#[test]
fn a_barrier_that_is_invalidated_while_threads_wait() {
    let words = ["at byte 92160", "invalidated while", "it has 0 of its 2"];
    let found = twins(BarrierMisuse, &words, 32, |_, right| {
        barriers(BARRIERS, &[2, 32]);
        if me() != 0 && !right {
            simt::mbarrier_wait(barrier(0), false);
        }
        simt::mbarrier_test(barrier(1), false);
        if me() == 0 {
            simt::mbarrier_invalidate(barrier(0));
        }
    });
    assert!(found.related[0].location.is_some(), "{found}");
}

#[test]
fn a_barrier_that_is_invalidated_before_its_bytes_have_come() {
    let words = ["while bytes are on their way", "0 of 128 expected bytes"];
    twins(BarrierMisuse, &words, 32, |memory, right| {
        barriers(BARRIERS, &[1]);
        if me() == 0 {
            simt::mbarrier_arrive_expect(barrier(0), 128);
            if right {
                memory.copy_words(128, 0, None);
                simt::mbarrier_wait(barrier(0), false);
            }
            simt::mbarrier_invalidate(barrier(0));
        }
    });
}

#[test]
fn a_barrier_that_is_misaligned() {
    twins(Misaligned, &["not a multiple of 8"], 32, |_, right| {
        if me() == 0 {
            simt::mbarrier_init(shared(if right { 8 } else { 4 }).addr(), 1);
        }
    });
}

#[test]
fn too_few_arrivals() {
    let words = [
        "31 of its 32 arrivals",
        "phase 0 of the mbarrier at byte 92160",
        "and 31 more: waits",
    ];
    twins(Deadlock, &words, 32, |_, right| {
        barriers(BARRIERS, &[32]);
        if right || me() != 7 {
            simt::mbarrier_arrive(barrier(0));
        }
        simt::mbarrier_wait(barrier(0), false);
    });
}

#[test]
fn too_many_arrivals() {
    let words = ["one arrival too many in phase 0", "all of its 1 arrivals"];
    twins(BarrierMisuse, &words, 32, |memory, right| {
        barriers(BARRIERS, &[1]);
        if me() == 0 {
            simt::mbarrier_arrive_expect(barrier(0), 128);
            if !right {
                simt::mbarrier_arrive(barrier(0));
            }
            memory.copy_words(128, 0, None);
        }
        simt::mbarrier_wait(barrier(0), false);
    });
}

/// A phase that completes early passes on a stage that is not written yet.
#[test]
fn a_barrier_for_too_few_arrivals() {
    twins(DataRace, &["races with"], 64, |_, right| {
        barriers(BARRIERS, &[if right { 32 } else { 31 }]);
        store(shared(4 * me() as usize), 0_u32);
        sync();
        if me() < 32 {
            store(shared(4 * me() as usize), me());
            simt::mbarrier_arrive(barrier(0));
        } else {
            simt::mbarrier_wait(barrier(0), false);
            for word in 0..32 {
                load::<u32>(shared(4 * word));
            }
        }
    });
}

/// The consumers never release the stage, so its second use waits forever.
#[test]
fn a_stage_that_is_never_released() {
    let words = [
        "the mbarrier at byte 92168, in phase 0",
        "0 of its 32 arrivals",
    ];
    let found = twins(Deadlock, &words, 64, |memory, right| {
        barriers(BARRIERS, &[1, 32]);
        for round in 0..2 {
            let parity = round == 1;
            if me() == 32 {
                simt::mbarrier_wait(barrier(1), !parity);
                memory.load_tile(0, 0);
            } else if me() < 32 {
                simt::mbarrier_wait(barrier(0), parity);
                load::<u32>(shared(4 * me() as usize));
                if right {
                    simt::mbarrier_arrive(barrier(1));
                }
            }
        }
    });
    assert!(
        found.to_string().contains("waits for phase parity 1"),
        "{found}"
    );
}

/// What was written before an arrival is visible after the wait, but only to threads that wait.
#[test]
fn an_arrival_for_another_count() {
    twins(
        BarrierDivergence,
        &["while others wait there for"],
        128,
        |_, right| {
            if me() < 32 {
                store(shared(4 * me() as usize), me());
                simt::block_barrier_arrive(BarrierId(1), if right { 64 } else { 96 });
            } else if me() < 64 {
                simt::block_barrier(BarrierId(1), Some(64));
                load::<u32>(shared(4 * (me() - 32) as usize));
            }
        },
    );
}

/// An arrival does not wait: nothing orders the arriving threads after the others.
#[test]
fn an_arrival_in_place_of_a_wait() {
    twins(DataRace, &["races with"], 64, |_, right| {
        if me() < 32 {
            match right {
                true => simt::block_barrier(BarrierId(1), Some(64)),
                false => simt::block_barrier_arrive(BarrierId(1), 64),
            }
            store(shared(4 * me() as usize), me());
        } else {
            store(shared(4 * (me() - 32) as usize), 9);
            simt::block_barrier(BarrierId(1), Some(64));
        }
    });
}
