//! What atomic writes hand on: release sequences, as far as they reach.
//!
//! A release is a fence and then an atomic write; an acquire is an atomic read and then a fence
//! (PTX ISA, "Memory Consistency Model: Release and Acquire Patterns"). They synchronise if the
//! read takes its value from that write, or from updates that follow it one upon the other
//! ("Observation Order"). So an update hands on what the word has and adds its thread's own, and
//! a store, atomic or plain, begins anew.

use super::changes::Changes;
use super::clock::{SharedClock, add};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What reads of one word get.
#[derive(Default)]
pub(super) struct Release {
    /// For threads of the device.
    pub to_device: SharedClock,
    /// By block, for its threads: what they have released themselves.
    pub to_blocks: HashMap<u32, SharedClock>,
}

impl Release {
    /// Adds what a thread of `block` has released to its block and to the device.
    pub fn add(&mut self, block: u32, [to_block, to_device]: &[SharedClock; 2]) {
        if to_block.is_some() || to_device.is_some() {
            let of_block = self.to_blocks.entry(block).or_default();
            add(of_block, to_block);
            add(of_block, to_device);
        }
        add(&mut self.to_device, to_device);
    }
}

/// By address.
pub(super) type Releases = HashMap<usize, Release>;

/// What the words of some memory hand on.
#[derive(Default)]
pub(super) struct Published {
    releases: Mutex<Releases>,
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

    /// The releases, which no other host thread changes meanwhile.
    pub fn lock(&self) -> MutexGuard<'_, Releases> {
        self.is_used.store(true, Ordering::Release);
        self.releases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A plain access writes `bytes` bytes from `address` on: their release sequences end.
    #[cold]
    pub fn end(&self, address: usize, bytes: usize) {
        self.changes.forget(address, bytes);
        if self.is_used() {
            let mut releases = self.lock();
            (address..address + bytes).for_each(|word| drop(releases.remove(&word)));
        }
    }

    /// Forgets all of it.
    pub fn clear(&mut self) {
        let releases = self.releases.get_mut();
        releases.unwrap_or_else(PoisonError::into_inner).clear();
        *self.is_used.get_mut() = false;
    }
}
