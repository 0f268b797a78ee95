//! Atomic operations on the shared memory of another block of the cluster, and what they order.

use crate::harness::{Memory, cluster_twins};
use cuda_std::atomic::{AcqRel, BlockScope, ClusterScope, Relaxed, SeqCst, fence};
use cuda_std::atomic::{Acquire, AtomicRef, Release, Scope};
use cuda_std::cluster;
use cuda_std::prelude::*;
use cuda_std::shared::RemoteSlice;
use simt::DefectKind::{AtomicRace, BlockEnded, DataRace, OutOfBounds};

/// Words of each block: a letter and a flag.
const LETTER: usize = 0;
const FLAG: usize = 1;

/// Calls `body` with the words of block 0, which start at 0. Block 0 ends after all others.
fn with_words(body: impl FnOnce(RemoteSlice<'_, u32>)) {
    let own = shared_array![u32; 2];
    if thread::rank_in_block() == 0 {
        // SAFETY: the array has two words. The cluster meets next.
        unsafe { own.store_vector(0, [0, 0]) };
    }
    cluster::sync();
    body(own.as_slice().in_block(0));
    cluster::sync();
}

/// A word of block 0, for operations of a scope.
fn word<'a, S: Scope>(words: RemoteSlice<'a, u32>, index: usize) -> AtomicRef<'a, u32, S> {
    // SAFETY: the simulator checks each access, and ends the launch that breaks a rule.
    unsafe { words.atomic_ref(index).with_scope() }
}

/// All threads of a cluster count in the memory of one block.
#[test]
fn updates_without_an_atomic_operation() {
    cluster_twins(DataRace, 4, 32, |_, right| {
        with_words(|words| {
            if right {
                // SAFETY: as in `word`.
                unsafe { words.atomic_add(FLAG, 1) };
            } else {
                // SAFETY: as in `word`.
                unsafe { words.store(FLAG, words.load(FLAG) + 1) };
            }
            cluster::sync();
            // SAFETY: as in `word`.
            let counted = unsafe { words.load(FLAG) };
            assert!(!right || counted == 128, "{counted}");
        });
    });
}

#[test]
fn a_count_that_is_read_too_early() {
    cluster_twins(AtomicRace, 4, 32, |_, right| {
        with_words(|words| {
            // SAFETY: as in `word`.
            unsafe { words.atomic_add(FLAG, 1) };
            if right {
                cluster::sync();
            } else {
                thread::sync_threads();
            }
            // SAFETY: as in `word`.
            let _ = unsafe { words.load(FLAG) };
        });
    });
}

/// Block 1 writes a letter to block 0, and raises the flag there by `raise`. Block 0 reads the letter once `is_raised`.
fn pass(raise: impl Fn(RemoteSlice<'_, u32>), is_raised: impl Fn(RemoteSlice<'_, u32>) -> bool) {
    with_words(|words| {
        if cluster::rank() == 1 {
            // SAFETY: as in `word`.
            unsafe { words.store(LETTER, 7) };
            raise(words);
        } else {
            while !is_raised(words) {
                thread::yield_now();
            }
            // SAFETY: as in `word`.
            assert_eq!(unsafe { words.load(LETTER) }, 7);
        }
    });
}

fn pass_by_orders<S: Scope>() {
    pass(
        |words| word::<S>(words, FLAG).store(1, Release),
        |words| word::<S>(words, FLAG).load(Acquire) == 1,
    );
}

#[test]
fn a_message_with_the_scope_of_the_block() {
    let defect = cluster_twins(AtomicRace, 2, 1, |_, right| match right {
        true => pass_by_orders::<ClusterScope>(),
        false => pass_by_orders::<BlockScope>(),
    });
    let message = "their scopes are the block and the block";
    assert!(defect.message.contains(message), "{defect}");
}

#[test]
fn a_message_whose_flag_has_no_order() {
    cluster_twins(DataRace, 2, 1, |_, right| match right {
        true => pass_by_orders::<ClusterScope>(),
        false => pass(
            |words| word::<ClusterScope>(words, FLAG).store(1, Relaxed),
            |words| word::<ClusterScope>(words, FLAG).load(Acquire) == 1,
        ),
    });
}

/// By fences before a flag's write and after its read.
fn pass_by_fences(before: fn(), after: fn()) {
    pass(
        |words| {
            before();
            // SAFETY: as in `word`.
            unsafe { words.atomic_store(FLAG, 1) };
        },
        |words| {
            // SAFETY: as in `word`.
            let is_raised = unsafe { words.atomic_load(FLAG) } == 1;
            after();
            is_raised
        },
    );
}

#[test]
fn fences_with_the_scope_of_the_block() {
    cluster_twins(DataRace, 2, 1, |_, right| match right {
        true => pass_by_fences(
            || fence(AcqRel, ClusterScope),
            || fence(SeqCst, ClusterScope),
        ),
        false => pass_by_fences(|| fence(AcqRel, BlockScope), || fence(AcqRel, ClusterScope)),
    });
    cluster_twins(DataRace, 2, 1, |_, right| match right {
        true => pass_by_fences(thread::fence_cluster, || fence(AcqRel, ClusterScope)),
        false => pass_by_fences(|| fence(SeqCst, ClusterScope), || fence(SeqCst, BlockScope)),
    });
}

/// The last one to count itself has what all have written before, wherever that is.
#[test]
fn the_last_of_a_cluster() {
    let last = |memory: &Memory, right: bool| {
        with_words(|words| {
            let rank = cluster::rank();
            memory.output.set(rank as usize, rank);
            let count = word::<ClusterScope>(words, FLAG);
            let before = match right {
                true => count.fetch_add(1, AcqRel),
                false => count.fetch_add(1, Acquire),
            };
            if before == 3 {
                let sum: u32 = (0..4).map(|block| memory.output.get(block)).sum();
                assert_eq!(sum, 6);
            }
        });
    };
    cluster_twins(DataRace, 4, 1, last);
}

#[test]
fn a_block_that_ends_before_others_have_counted() {
    cluster_twins(BlockEnded, 2, 1, |_, right| {
        let own = shared_array![u32; 1];
        // SAFETY: as in `word`.
        unsafe { own.store(0, 0) };
        cluster::sync();
        if cluster::rank() == 1 {
            // SAFETY: as in `word`.
            unsafe { own.as_slice().in_block(0).atomic_add(0, 1) };
        }
        if right {
            cluster::sync();
        }
    });
}

#[test]
fn an_update_behind_the_end_of_the_words() {
    cluster_twins(OutOfBounds, 2, 1, |_, right| {
        with_words(|words| {
            // SAFETY: as in `word`.
            unsafe { words.atomic_add(if right { FLAG } else { 2 }, 1) };
        });
    });
}
