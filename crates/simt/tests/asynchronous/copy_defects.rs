//! Mistakes with bulk copies, each with a correct twin.

use crate::harness::{
    BARRIERS, TILE_BYTES, barrier, barriers, load, me, own_word, store, sync, twins, twins_of,
    write_line,
};
use simt::DefectKind::{
    AsyncHazard, BarrierMisuse, Deadlock, MissingProxyFence, UninitialisedRead,
};

#[test]
fn a_store_without_a_proxy_fence() {
    let found = twins(
        MissingProxyFence,
        &["were written without", "fence.proxy.async"],
        32,
        |memory, right| {
            store(own_word(), me());
            if right {
                simt::fence_proxy_async();
            }
            sync();
            if me() == 0 {
                memory.store_group();
                simt::bulk_wait(0);
            }
        },
    );
    assert!(found.related[0].note.contains("a write"), "{found}");
}

#[test]
fn a_stage_that_is_read_before_its_barrier() {
    twins(
        AsyncHazard,
        &["a bulk copy", "mbarrier"],
        64,
        |memory, right| {
            memory.start_tile(0);
            sync();
            if right {
                simt::mbarrier_wait(barrier(0), false);
            }
            load::<u32>(own_word());
            simt::mbarrier_wait(barrier(0), false);
        },
    );
}

/// A fresh barrier counts as past the phase of the other parity. Once the copy has landed, it does not.
#[test]
fn a_wait_with_the_wrong_parity() {
    twins_of(
        &[AsyncHazard, Deadlock],
        &["a bulk copy"],
        (1, 64),
        |memory, right| {
            memory.start_tile(0);
            sync();
            simt::mbarrier_wait(barrier(0), !right);
            load::<u32>(own_word());
            simt::mbarrier_wait(barrier(0), false);
        },
    );
}

/// A thread's wait covers only its own copies.
#[test]
fn a_wait_by_one_thread_alone() {
    twins(AsyncHazard, &["no wait for it"], 64, |memory, right| {
        memory.start_tile(0);
        if me() == 32 {
            simt::mbarrier_wait(barrier(0), false);
        }
        crate::borrowed::warp_collective("vote", u64::from(u32::MAX), 0, |_| ());
        if right {
            sync();
        }
        if me() > 32 {
            load::<u32>(own_word());
        }
        simt::mbarrier_wait(barrier(0), false);
    });
}

#[test]
fn a_stage_that_is_filled_twice() {
    twins(
        AsyncHazard,
        &["a bulk copy is in flight"],
        32,
        |memory, right| {
            barriers(BARRIERS, &[1, 1]);
            if me() == 0 {
                memory.load_tile(0, 0);
                if right {
                    simt::mbarrier_wait(barrier(0), false);
                }
                memory.load_tile(0, 1);
            }
            simt::mbarrier_wait(barrier(0), false);
            simt::mbarrier_wait(barrier(1), false);
        },
    );
}

#[test]
fn a_stage_that_is_overwritten_while_a_store_reads_it() {
    let found = twins(
        AsyncHazard,
        &["a bulk store may still read"],
        32,
        |memory, right| {
            write_line();
            if me() == 0 {
                memory.store_group();
                if right {
                    simt::bulk_wait_read(0);
                }
            }
            sync();
            store(own_word(), 7);
            if me() == 0 {
                simt::bulk_wait(0);
            }
        },
    );
    assert!(found.to_string().contains("of thread (0, 0, 0)"), "{found}");
}

#[test]
fn an_exit_while_a_store_reads() {
    twins(AsyncHazard, &["never waited for"], 32, |memory, right| {
        write_line();
        if me() == 0 {
            memory.store_group();
            if right {
                simt::bulk_wait_read(0);
            }
        }
    });
}

#[test]
fn a_store_of_no_group() {
    twins(AsyncHazard, &["never waited for"], 32, |memory, right| {
        write_line();
        if me() == 0 {
            memory.store_words();
            if right {
                simt::bulk_commit();
            }
            simt::bulk_wait(0);
        }
    });
}

/// The source may be reused; the destination is not yet written.
#[test]
fn a_result_that_is_read_too_early() {
    twins(
        AsyncHazard,
        &["global memory", "a bulk store"],
        32,
        |memory, right| {
            write_line();
            if me() == 0 {
                memory.store_group();
                match right {
                    true => simt::bulk_wait(0),
                    false => simt::bulk_wait_read(0),
                }
                memory.words.get(3);
            }
        },
    );
}

#[test]
fn a_source_that_is_overwritten_in_flight() {
    twins(
        AsyncHazard,
        &["global memory", "may still read"],
        32,
        |memory, right| {
            barriers(BARRIERS, &[1]);
            if me() == 0 {
                simt::mbarrier_arrive_expect(barrier(0), 128);
                memory.copy_words(128, 0, None);
                if right {
                    simt::mbarrier_wait(barrier(0), false);
                }
                memory.words.set(5, 1);
            }
            simt::mbarrier_wait(barrier(0), false);
        },
    );
}

#[test]
fn a_store_of_what_was_never_written() {
    twins(
        UninitialisedRead,
        &["not been written"],
        32,
        |memory, right| {
            if right || me() != 5 {
                store(own_word(), me());
            }
            simt::fence_proxy_async();
            sync();
            if me() == 0 {
                memory.store_group();
                simt::bulk_wait(0);
            }
        },
    );
}

#[test]
fn bytes_that_never_come() {
    let words = ["phase 0", "8192 of 8224 expected bytes"];
    twins(Deadlock, &words, 32, |memory, right| {
        barriers(BARRIERS, &[1]);
        if me() == 0 {
            let more = if right { 0 } else { 32 };
            simt::mbarrier_arrive_expect(barrier(0), TILE_BYTES as u32 + more);
            memory.copy_tile(0, 0);
        }
        simt::mbarrier_wait(barrier(0), false);
    });
}

#[test]
fn bytes_that_are_too_many() {
    twins(
        Deadlock,
        &["8192 of 4096 expected bytes"],
        32,
        |memory, right| {
            barriers(BARRIERS, &[1]);
            if me() == 0 {
                let bytes = if right { TILE_BYTES } else { TILE_BYTES / 2 };
                simt::mbarrier_arrive_expect(barrier(0), bytes as u32);
                memory.copy_tile(0, 0);
            }
            simt::mbarrier_wait(barrier(0), false);
        },
    );
}

#[test]
fn bytes_that_nothing_waits_for() {
    let words = ["expects 64 bytes and has got 0"];
    twins(BarrierMisuse, &words, 32, |_, right| {
        barriers(BARRIERS, &[1]);
        if me() == 0 && !right {
            simt::mbarrier_expect(barrier(0), 64);
        }
    });
}
