//! Release sequences of atomic writes.
//!
//! A release is an atomic write with that order, or a fence and then any atomic write; an acquire is an atomic read
//! with that order, or any atomic read and then a fence (PTX ISA, "Memory Consistency Model: Release and Acquire
//! Patterns"). They synchronise if the read takes its value from that write, or from a chain of updates that follows it
//! ("Observation Order"), and if the scope of each includes the other thread. So an update continues the word's release
//! sequence and adds its own thread's releases, and a store, atomic or plain, begins a new one.

use crate::basics::{NumberMap, lock};
use crate::check::asynchronous::clusters::Clusters;
use crate::check::clocks::clock::Before;
use crate::check::clocks::happens_before::{BLOCK, CLUSTER, DEVICE, SCOPES};
use crate::check::weak_memory::changes::Changes;
use crate::check::weak_memory::history::Histories;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The releases that reads of one word acquire.
#[derive(Clone, Default)]
pub(in crate::check) struct Release {
    /// For threads of the device.
    to_device: Before,
    /// By block, for its threads: what its own threads have released.
    to_blocks: NumberMap<u32, Before>,
    /// The same by cluster, if clusters have several blocks.
    to_clusters: NumberMap<u32, Before>,
}

impl Release {
    /// Adds what a thread of `block` has released with the scope of this index, for all threads in that scope and in
    /// the thread's narrower ones.
    pub fn add(&mut self, (block, clusters): (u32, &Clusters), scope: usize, released: &Before) {
        if released.is_empty() {
            return;
        }
        self.to_blocks.entry(block).or_default().add(released);
        if scope >= CLUSTER && !clusters.are_single() {
            let cluster = clusters.number_of(block);
            self.to_clusters.entry(cluster).or_default().add(released);
        }
        if scope >= DEVICE {
            self.to_device.add(released);
        }
    }

    /// The releases visible to a thread of `block`, by the scope with which it acquires.
    pub fn to(&self, block: u32, clusters: &Clusters) -> [Option<&Before>; SCOPES] {
        let mut known = [None; SCOPES];
        known[BLOCK] = self.to_blocks.get(&block);
        known[CLUSTER] = self.to_clusters.get(&clusters.number_of(block));
        known[DEVICE] = Some(&self.to_device);
        known
    }
}

/// The state of words, by address.
#[derive(Default)]
pub(in crate::check) struct Words {
    /// The releases of the last writes.
    pub releases: NumberMap<usize, Release>,
    /// The last stores, if loads may return older ones.
    pub histories: Histories<Release>,
}

/// The releases of the words of some memory.
#[derive(Default)]
pub(in crate::check) struct Published {
    words: Mutex<Words>,
    pub changes: Changes,
    /// Whether there was ever a release: most launches have none.
    is_used: AtomicBool,
}

impl Published {
    /// Whether there was ever a release.
    #[inline]
    pub fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }

    /// The words, which no other host thread changes meanwhile.
    pub fn lock(&self) -> MutexGuard<'_, Words> {
        self.is_used.store(true, Ordering::Release);
        lock(&self.words)
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
