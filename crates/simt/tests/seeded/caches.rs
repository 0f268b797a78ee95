//! Reads through caches that do not see what the launch writes.

use crate::harness::{block, grid_twins, me, twins};
use cuda_std::prelude::*;
use simt::DefectKind::StaleRead;
use simt::grid_barrier;

#[test]
fn a_read_only_view_of_what_the_block_has_written() {
    let found = twins(StaleRead, 2, 64, |memory, right| {
        let index = block() * 64 + me();
        memory.input.set(index, 2);
        thread::sync_threads();
        if right {
            let _ = memory.input.get(index);
        } else {
            // SAFETY: (1) within the elements.
            let _ = unsafe { memory.input.source().load(index) };
        }
    });
    assert!(found.message.contains("read-only cache"), "{found}");
    assert!(found.related[0].note.contains("a write"), "{found}");
}

#[test]
fn a_write_of_what_was_read_through_the_read_only_cache() {
    let found = twins(StaleRead, 1, 64, |memory, right| {
        // SAFETY: (1) within the elements.
        let value = unsafe { memory.input.source().load(me()) };
        thread::sync_threads();
        memory
            .input
            .set(if right { 64 + me() } else { me() }, value);
    });
    let reader = &found.related[0];
    assert!(reader.note.contains("read-only cache"), "{found}");
    assert!(reader.location.is_some(), "{found}");
}

#[test]
fn atomic_updates_of_what_is_read_through_the_read_only_cache() {
    twins(StaleRead, 2, 32, |memory, right| {
        memory.counters.add(if right { 64 } else { me() }, 1);
        // SAFETY: (1) within the elements.
        let _ = unsafe { memory.counters.source().load(me()) };
    });
}

/// Bytes are told apart: halves of one word are two places.
#[test]
fn a_half_beside_one_that_is_read() {
    twins(StaleRead, 1, 1, |memory, right| {
        let halves = memory.input.0.as_mut_ptr().cast::<u16>();
        // SAFETY: (1), (2) the elements are there, and one thread runs.
        let view = unsafe { GlobalMut::from_raw_parts(halves, 2) };
        // SAFETY: (1) within the two elements; the write is of the other one, or not.
        unsafe {
            let _ = Global::from_raw_parts(halves, 2).load(0);
            view.store(usize::from(right), 3_u16);
        }
    });
}

/// The barrier orders the blocks, but not their first-level caches.
#[test]
fn a_cached_read_of_what_another_block_has_written() {
    let found = grid_twins(StaleRead, 4, 32, |memory, right| {
        memory.input.set(block() * 32 + me(), 2);
        grid_barrier();
        let index = (block() + 1) % 4 * 32 + me();
        // SAFETY: (1), (2) one element within the view. (3) The barrier.
        let [_] = unsafe {
            match right {
                true => memory.input.0.load_cached_l2::<1>(index),
                false => memory.input.0.load_cached_all::<1>(index),
            }
        };
    });
    assert!(found.message.contains("first-level cache"), "{found}");
}
