//! The decisions of the checks about what is wrong: `docs/synchronisation.md`.

use crate::harness::{me, schedules, twins};
use cuda_std::prelude::*;
use simt::DefectKind::{BarrierDivergence, DataRace, WarpDivergence};
use simt::Launch;

/// Two stores race even if they store the same value.
#[test]
fn threads_that_store_the_same_value() {
    twins(DataRace, 1, 64, |memory, right| {
        if !right || me() == 17 {
            memory.output.set(0, 1);
        }
    });
}

/// A barrier of the block waits for all its threads, not only for those that have not exited.
#[test]
fn a_return_before_a_barrier() {
    let found = twins(BarrierDivergence, 1, 64, |_, right| {
        if me() >= 32 && !right {
            return;
        }
        thread::sync_threads();
    });
    assert!(found.message.contains("exited"), "{found}");
}

/// `shfl.sync` in each branch: lanes meet by their mask, not by their line.
#[test]
fn a_shuffle_in_both_branches() {
    twins(WarpDivergence, 1, 32, |_, right| {
        let lower = warp::LaneMask::from_bits(0xffff);
        let all = warp::LaneMask::all();
        let value = if me() < 16 {
            let mask = if right { all } else { lower };
            warp::shuffle_xor(mask, me() as u32, 16)
        } else {
            warp::shuffle_xor(all, me() as u32, 16)
        };
        assert_eq!(value, me() as u32 ^ 16);
    });
}

/// A block waits for one that started before it: a ticket names the order of starts.
#[test]
fn waiting_in_the_order_of_starts() {
    let words = [const { std::sync::atomic::AtomicU32::new(0) }; 2];
    let [starts, done] = words.each_ref().map(|word| word.as_ptr());
    let addresses = [starts, done].map(|word| word.expose_provenance());
    for options in schedules() {
        let launch = Launch::new("policies", 12, 1, &options);
        let of_thread = || {
            let word = |index: usize| {
                let base = std::ptr::with_exposed_provenance_mut::<u32>(addresses[index]);
                // SAFETY: one word each. All threads use it atomically.
                unsafe { GlobalMut::from_raw_parts(base, 1) }
            };
            // SAFETY: as above.
            unsafe {
                let order = word(0).atomic_add(0, 1) % 12;
                while word(1).atomic_load(0) % 12 != order {
                    thread::yield_now();
                }
                word(1).atomic_add(0, 1);
            }
        };
        crate::borrowed::run(&launch, &of_thread).expect("no defect");
    }
}
