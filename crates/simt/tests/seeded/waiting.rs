//! A report's waiting threads: their line, and the functions that called it.
//!
//! The seeds are fixed, whatever `TILEWRIGHT_SEEDS` says: these are tests of the simulator, not of a kernel.

use crate::harness::{Memory, me, run_and_read, shared};
use cuda_std::prelude::*;
use simt::{Defect, DefectKind, Options, Related};
use std::hint::black_box;

fn found(threads: u32, kernel: fn(&Memory), seed: u64) -> Box<Defect> {
    let options = Options {
        seed,
        parallel_blocks: false,
        yield_limit: 1 << 12,
        ..Options::default()
    };
    run_and_read(crate::borrowed::run, &options, (1, threads), &kernel)
        .expect_err("no thread can go on")
}

/// Waits at a named barrier for one warp more than the block has.
#[inline(never)]
fn waits_at(barrier: u32) {
    thread::named_barrier_sync(barrier, 64);
    stay();
}

/// Prevents a tail call, which would drop the caller's frame.
fn stay() {
    black_box(());
}

#[inline(never)]
fn producer() {
    waits_at(1);
    stay();
}

#[inline(never)]
fn consumer() {
    waits_at(2);
    stay();
}

fn names(calls: &[simt::Call]) -> Vec<String> {
    calls.iter().map(ToString::to_string).collect()
}

#[test]
fn each_group_of_threads_that_waits_has_its_callers() {
    for seed in 0..4 {
        let found = found(
            64,
            |_| if me() < 32 { producer() } else { consumer() },
            seed,
        );
        assert_eq!(found.kind, DefectKind::BarrierDivergence, "{found}");
        let of = |barrier: &str| -> &Related {
            let mut notes = found.related.iter();
            let note = notes.find(|it| it.note.contains(barrier));
            note.unwrap_or_else(|| panic!("{barrier} in {found}"))
        };
        // The finding's own thread is listed once.
        let callers = |barrier: &str| match of(barrier).calls.is_empty() {
            true => names(&found.calls),
            false => names(&of(barrier).calls),
        };
        let (one, other) = (callers("block barrier 1"), callers("block barrier 2"));
        assert!(one[0].contains("producer"), "{one:?} in {found}");
        assert!(other[0].contains("consumer"), "{other:?} in {found}");
        assert_ne!(found.calls, Vec::new(), "{found}");
    }
}

/// A thread that polls a word, and one that waits for it at a barrier.
#[test]
fn threads_that_wait_beside_one_that_spins_have_callers() {
    #[inline(never)]
    fn spins(memory: &Memory) {
        while memory.counters.atomic_get(0) == 0 {
            thread::yield_now();
        }
    }
    #[inline(never)]
    fn waits_behind() {
        thread::sync_threads();
        stay();
    }
    let kernel = |memory: &Memory| {
        match me() {
            0 => spins(memory),
            _ => waits_behind(),
        }
        stay();
    };
    let found = found(33, kernel, 0);
    assert_eq!(found.kind, DefectKind::Deadlock, "{found}");
    let waiting = found.related.iter().find(|it| it.note.contains("waits at"));
    let waiting = names(&waiting.expect("others wait").calls);
    assert!(waiting[0].contains("waiting.rs:"), "{waiting:?}");
    let text = found.to_string();
    assert!(text.contains("\n    called by `"), "{text}");
}

#[test]
fn an_access_past_a_shared_array_names_the_array() {
    let found = found(32, |_| shared![u32; 32].set(me() + 1, 0), 0);
    assert_eq!(found.kind, DefectKind::OutOfBounds, "{found}");
    let declared = "of a shared view of 128 bytes of the array of 128 bytes declared at ";
    assert!(found.message.contains(declared), "{found}");
    assert!(found.message.contains("waiting.rs:"), "{found}");
}
