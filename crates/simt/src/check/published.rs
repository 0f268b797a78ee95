//! What atomic writes hand on: release sequences, as far as they reach.
//!
//! A release is a fence and then an atomic write; an acquire is an atomic read and then a fence
//! (PTX ISA, "Memory Consistency Model: Release and Acquire Patterns"). They synchronise if the
//! read takes its value from that write, or from updates that follow it one upon the other
//! ("Observation Order"). So an update hands on what the word has and adds its thread's own, and
//! a store, atomic or plain, begins anew.

use super::changes::Changes;
use super::clock::Before;
use super::history::Histories;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What reads of one word get.
#[derive(Clone, Default)]
pub(super) struct Release {
    /// For threads of the device.
    pub to_device: Before,
    /// By block, for its threads: what they have released themselves.
    pub to_blocks: HashMap<u32, Before>,
}

impl Release {
    /// Adds what a thread of `block` has released to its block and to the device.
    pub fn add(&mut self, block: u32, [to_block, to_device]: &[Before; 2]) {
        if !(to_block.is_empty() && to_device.is_empty()) {
            let of_block = self.to_blocks.entry(block).or_default();
            of_block.add(to_block);
            of_block.add(to_device);
        }
        self.to_device.add(to_device);
    }
}

/// What is known of words, by address.
#[derive(Default)]
pub(super) struct Words {
    /// What the last writes hand on.
    pub releases: HashMap<usize, Release>,
    /// The last stores, where loads may return older ones.
    pub histories: Histories<Release>,
}

/// What the words of some memory hand on.
#[derive(Default)]
pub(super) struct Published {
    words: Mutex<Words>,
    pub changes: Changes,
    /// Whether there ever was anything: most launches do without.
    is_used: AtomicBool,
}

impl Published {
    /// Whether there ever was anything.
    #[inline]
    pub fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }

    /// The words, which no other host thread changes meanwhile.
    pub fn lock(&self) -> MutexGuard<'_, Words> {
        self.is_used.store(true, Ordering::Release);
        self.words.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A plain access writes `bytes` bytes from `address` on: their release sequences end.
    #[cold]
    pub fn end(&self, address: usize, bytes: usize) {
        self.changes.forget(address, bytes);
        if self.is_used() {
            let releases = &mut self.lock().releases;
            (address..address + bytes).for_each(|word| drop(releases.remove(&word)));
        }
    }

    /// Forgets all of it.
    pub fn clear(&mut self) {
        self.changes.clear();
        if std::mem::take(self.is_used.get_mut()) {
            let words = self.words.get_mut();
            *words.unwrap_or_else(PoisonError::into_inner) = Words::default();
        }
    }
}
