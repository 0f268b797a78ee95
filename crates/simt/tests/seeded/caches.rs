//! Reads through caches that do not see the launch's writes.

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
            // SAFETY: within the elements.
            let _ = unsafe { memory.input.source().load(index) };
        }
    });
    assert!(found.message.contains("read-only cache"), "{found}");
    assert!(found.related[0].note.contains("a write"), "{found}");
}

#[test]
fn a_write_of_what_was_read_through_the_read_only_cache() {
    let found = twins(StaleRead, 1, 64, |memory, right| {
        // SAFETY: within the elements.
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
        // SAFETY: within the elements.
        let _ = unsafe { memory.counters.source().load(me()) };
    });
}

/// Bytes are distinguished: the halves of a word are two places.
#[test]
fn a_half_beside_one_that_is_read() {
    twins(StaleRead, 1, 1, |memory, right| {
        let halves = memory.input.0.as_mut_ptr().cast::<u16>();
        // SAFETY: the elements are there, and one thread runs.
        let view = unsafe { GlobalMut::from_raw_parts(halves, 2) };
        // SAFETY: the view has two elements. With the defect, the written element is also read.
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
        // SAFETY: the view has the element. The barrier orders the write.
        let [_] = unsafe {
            match right {
                true => memory.input.0.load_cached_l2::<1>(index),
                false => memory.input.0.load_cached_all::<1>(index),
            }
        };
    });
    assert!(found.message.contains("first-level cache"), "{found}");
}
