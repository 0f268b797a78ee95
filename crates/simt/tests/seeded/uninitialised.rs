//! Reads of unwritten bytes, and accesses that are wrong on their own.

use crate::harness::{ELEMENTS, block, me, shared, twins};
use cuda_std::prelude::*;
use simt::DefectKind::{Misaligned, OutOfBounds, UninitialisedRead};

#[test]
fn a_border_of_a_tile_that_nobody_fills() {
    let found = twins(UninitialisedRead, 2, 64, |_, right| {
        let tile = shared![u32; 66];
        tile.set(1 + me(), 1);
        if right && me() < 2 {
            tile.set(65 * me(), 0);
        }
        thread::sync_threads();
        let _ = (tile.get(me()), tile.get(me() + 2));
    });
    assert!(
        found.message.contains("which has not been written"),
        "{found}"
    );
    assert!(found.message.contains("shared memory"), "{found}");
}

/// A block does not see the shared memory of the block before.
#[test]
fn what_another_block_has_written() {
    twins(UninitialisedRead, 8, 32, |_, right| {
        let tile = shared![u32; 32];
        if right || block() != 3 {
            tile.set(me(), 1);
        }
        thread::sync_threads();
        let _ = tile.get(31 - me());
    });
}

#[test]
fn half_of_a_word() {
    twins(UninitialisedRead, 1, 32, |_, right| {
        let halves = shared![u16; 64];
        halves.set(2 * me(), 1);
        let _ = halves.get(2 * me() + usize::from(!right));
    });
}

#[test]
fn a_sum_onto_an_unspecified_buffer() {
    let found = twins(UninitialisedRead, 2, 64, |memory, right| {
        let index = block() * 64 + me();
        if right {
            memory.output.set(index, 0);
        }
        memory.output.set(index, memory.output.get(index) + 1);
    });
    assert!(found.message.contains("buffer of 4096 bytes"), "{found}");
}

#[test]
fn an_atomic_sum_onto_an_unspecified_word() {
    twins(UninitialisedRead, 2, 32, |memory, right| {
        let counter = if right {
            memory.counters
        } else {
            memory.output
        };
        counter.add(9, 1);
    });
}

#[test]
fn a_vector_of_which_one_word_is_missing() {
    twins(UninitialisedRead, 1, 32, |memory, right| {
        let words = if right { 4 } else { 3 };
        (0..words).for_each(|word| memory.output.set(4 * me() + word, 1));
        let _ = memory.output.get4(4 * me());
    });
}

#[test]
fn one_element_behind_the_end() {
    twins(OutOfBounds, 1, 64, |memory, right| {
        let last = if right { ELEMENTS - 1 } else { ELEMENTS };
        let _ = memory.input.get(last - me());
    });
}

#[test]
fn a_vector_between_two_vectors() {
    twins(Misaligned, 1, 32, |memory, right| {
        let first = if right { 4 } else { 1 };
        let _ = memory.input.get4(4 * me() + first);
    });
}
