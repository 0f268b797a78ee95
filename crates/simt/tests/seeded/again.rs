//! Repeated loads of shared memory at one line: the step found there applies to other words with the same readers, and
//! to no others.

use crate::harness::{me, shared, twins};
use cuda_std::prelude::*;
use simt::DefectKind::DataRace;
use simt::{AccessKind, Space};

/// Enough words for shared sets of readers to pay.
const WORDS: usize = 64;

/// All words have the same readers. One word was written after the barrier of the block, and only its warp orders the
/// first reader after that.
fn exchange(writing_warp: usize, right: bool) {
    let words = shared![u32; WORDS];
    let (warp, lane) = (me() / 32, me() % 32);
    words.set(me(), 1);
    thread::sync_threads();
    if warp == writing_warp {
        if lane == 0 {
            words.set(WORDS - 1, 2);
        }
        warp::sync(warp::LaneMask::from_bits(0xffff_ffff));
    }
    if right {
        thread::sync_threads();
    }
    if lane == 1 {
        (0..WORDS).for_each(|word| {
            let _ = words.get(word);
        });
    }
}

#[test]
fn a_word_that_the_first_warp_has_exchanged() {
    twins(DataRace, 1, 64, |_, right| exchange(0, right));
}

#[test]
fn a_word_that_the_second_warp_has_exchanged() {
    twins(DataRace, 1, 64, |_, right| exchange(1, right));
}

/// All words have the same readers, except the last one, which another warp writes meanwhile. Two lanes read the
/// others. Instead of the last of these, the second lane reads `bytes` bytes from `offset` on, at the same line, which
/// reach into the written word.
fn read_across(offset: usize, bytes: usize, right: bool) {
    let words = simt::static_shared(read_across as *const () as usize, 4 * WORDS, 16);
    let access = |kind, offset, bytes| {
        // SAFETY: the view is of shared memory.
        unsafe {
            simt::access(
                Space::Shared,
                kind,
                words.addr(),
                4 * WORDS,
                offset,
                bytes,
                1,
            )
        };
    };
    let read = |offset, bytes| access(AccessKind::Read, offset, bytes);
    access(AccessKind::Write, 4 * me(), 4);
    thread::sync_threads();
    if me() == 32 {
        access(AccessKind::Write, 4 * (WORDS - 1), 4);
    }
    if right {
        thread::sync_threads();
    }
    let last = match me() {
        1 => (4 * (WORDS - 2), 4),
        2 => (offset, bytes),
        _ => return,
    };
    let words = (0..last.0 / 4).map(|word| (4 * word, 4));
    words
        .chain([last])
        .for_each(|(offset, bytes)| read(offset, bytes));
}

#[test]
fn a_word_that_lies_across_two() {
    twins(DataRace, 1, 64, |_, right| {
        read_across(4 * WORDS - 6, 4, right)
    });
}

#[test]
fn two_words_after_one() {
    twins(DataRace, 1, 64, |_, right| {
        read_across(4 * WORDS - 8, 8, right)
    });
}

#[test]
fn three_words_after_one() {
    twins(DataRace, 1, 64, |_, right| {
        read_across(4 * WORDS - 12, 12, right)
    });
}
