//! The values that atomic operations read, and the order that they establish.
//!
//! The rules are those of the PTX ISA, "Memory Consistency Model". A release publishes the earlier accesses of its
//! thread and its own write; an acquire orders what it has read before the thread's later accesses. Relaxed
//! operations leave both to fences. Two rules are stricter, as in Rust's model: later relaxed stores of a thread to
//! the word do not continue its release, and an acquire orders only what it reads itself, not what an earlier relaxed
//! load of the word has read.

use crate::basics::{Access, AccessKind, AtomicOrder, CallSite, NumberMap, Position};
use crate::check::block::BlockCheck;
use crate::check::cells::event::{Event, Time};
use crate::check::cells::site::Site;
use crate::check::clocks::clock::Before;
use crate::check::clocks::known_clock::KnownClock;
use crate::check::clocks::order::index_of;
use crate::check::weak_memory::announced::Announced;
use crate::check::weak_memory::changes::Change;
use crate::check::weak_memory::history::History;
use crate::check::weak_memory::prediction::{Operation, Word};
use crate::check::weak_memory::published::{Published, Release, Words};

/// The address of the accessed word, and the source line.
type Target = (usize, CallSite);

impl BlockCheck {
    /// Records the atomic access that thread number `thread` is about to make.
    #[inline]
    pub(super) fn announce(&self, thread: u16, access: &Access) {
        self.announced[usize::from(thread)].set(Announced {
            kind: access.kind,
            order: access.order,
        });
    }

    /// Performs `step`, the atomic access of the thread at `position` to the word at `address`.
    ///
    /// The word's releases change together with its value. If the word is in shared memory, `shared` has the checks of
    /// that memory's block, and the offset. The step returns the values before and after it.
    #[inline]
    pub fn atomic_step(
        &self,
        position: &Position,
        (address, site): Target,
        shared: Option<(&Self, usize)>,
        step: impl FnOnce() -> [u64; 2],
    ) -> [u64; 2] {
        let published = match shared {
            Some((owner, _)) => &owner.published,
            None => &self.launch.published,
        };
        let is_exclusive = shared.is_some() || self.launch.conditions.is_exclusive;
        let thread = position.thread() as usize;
        let access = self.announced[thread].replace(Announced::UPDATE);
        let may_be_stale = self.stale_loads.are_on();
        let has_order = self.has_clocks.get() || access.order.releases();
        if !published.is_used() && !has_order && !may_be_stale {
            let result = step();
            self.note_change((published, is_exclusive), address, thread, result, site);
            // Another block may have released in between.
            if published.is_used() && access.reads() {
                self.observe(
                    thread,
                    access.order,
                    published.lock().releases.get(&address),
                );
            }
            return result;
        }
        let words = &mut *published.lock();
        // Releases of the access itself come after it.
        let time = self.now();
        if access.kind != AccessKind::AtomicRead {
            self.publish(position, access, address, &mut words.releases);
        }
        let result = step();
        self.note_change((published, is_exclusive), address, thread, result, site);
        if may_be_stale {
            let word = match shared {
                Some((owner, offset)) => Word::Shared(owner.block, offset),
                None => Word::Global(address),
            };
            let target = (address, word, site);
            return self.step_in_history(position, target, (access, time), words, result);
        }
        if access.kind == AccessKind::AtomicRead {
            self.observe(thread, access.order, words.releases.get(&address));
        }
        result
    }

    /// The thread at `position` writes the word at `address`. An update continues the release sequence that it has
    /// read; a store begins a new one.
    fn publish(
        &self,
        position: &Position,
        access: Announced,
        address: usize,
        releases: &mut NumberMap<usize, Release>,
    ) {
        let (thread, order) = (position.thread() as usize, access.order);
        match access.reads() {
            true => self.observe(thread, order, releases.get(&address)),
            false => _ = releases.remove(&address),
        }
        let place = (self.block, &self.launch.conditions.clusters);
        let own = order.releases().then(|| self.release(position));
        let released = &self.clocks.of(thread).released;
        if own.is_none() && released.iter().all(Before::is_empty) {
            return;
        }
        let release = releases.entry(address).or_default();
        for (scope, released) in released.iter().enumerate() {
            release.add(place, scope, released);
        }
        if let Some(own) = own {
            let own = Before {
                ordered: own.ordered,
                fenced: own.fenced,
            };
            release.add(place, index_of(order.scope), &own);
        }
    }

    /// [`atomic_step`](Self::atomic_step) for a word with a history: an atomic load may return an older or a later
    /// store.
    #[cold]
    fn step_in_history(
        &self,
        position: &Position,
        (address, word, site): (usize, Word, CallSite),
        (access, time): (Announced, Time),
        words: &mut Words,
        [before, after]: [u64; 2],
    ) -> [u64; 2] {
        let event = |kind: AccessKind| {
            let thread = (self.block, position.thread() as u16);
            Event::new(kind.into(), thread, time, 4, Site::of(site))
        };
        let release = words.releases.get(&address);
        let history = words.histories.of(address, before);
        let operation = self.count_operation(position, address);
        let load = event(AccessKind::AtomicRead);
        if access.kind == AccessKind::AtomicWrite || before != after {
            if access.reads() {
                self.note_read(word, &load, history.value(history.newest()));
            }
            let store = event(access.kind);
            history.store(after, store, release.cloned());
            self.note_store(position, (address, word), &store, release, history);
            return [before, after];
        }
        let value = match access.kind {
            AccessKind::AtomicRead => {
                let target = (address, word, operation);
                self.load_in_history(position, target, (access, load), release, history)
            }
            _ => {
                let newest = history.newest();
                self.note_read(word, &load, history.value(newest));
                history.load(newest, load, None).0
            }
        };
        [value, after]
    }

    /// The value that an atomic load by the thread at `position` returns of a word with this `release`.
    fn load_in_history(
        &self,
        position: &Position,
        (address, word, operation): (usize, Word, Operation),
        (access, load): (Announced, Event),
        release: Option<&Release>,
        history: &mut History<Release>,
    ) -> u64 {
        let newest = history.newest();
        let first = self.first_choice(position, history);
        let chosen = self.stale_loads.draw(first, newest);
        let is_relaxed = !access.order.acquires();
        let otherwise = history.value(chosen);
        if is_relaxed && let Some(value) = self.predicted(operation, (address, otherwise.0), load) {
            return value;
        }
        self.note_read(word, &load, otherwise);
        let relaxed = is_relaxed.then_some(operation.number);
        let (value, of_store) = history.load(chosen, load, relaxed);
        let of_store = if chosen == newest { release } else { of_store };
        self.observe(position.thread() as usize, access.order, of_store);
        value
    }

    /// The oldest store of a word that a load by the thread at `position` may return.
    fn first_choice(&self, position: &Position, history: &History<Release>) -> usize {
        self.with_sight(position, |sees| history.first_choice(sees))
    }

    /// Calls `action` with a function that tells whether an access comes before the current access of the thread at
    /// `position`.
    pub(super) fn with_sight<R>(
        &self,
        position: &Position,
        action: impl FnOnce(&dyn Fn(&Event) -> bool) -> R,
    ) -> R {
        let clocks = self.clocks.of(position.thread() as usize);
        let fenced = KnownClock::new(clocks.fenced.as_deref());
        self.with_accessor(position, |accessor| {
            action(&|event| {
                let thread = (event.block, u32::from(event.thread()));
                accessor.is_after_thread(event) || fenced.is_after(thread, event.time)
            })
        })
    }

    /// Records a thread's change of a word, if the word has changed; without a lock if only one host thread changes it.
    #[inline]
    fn note_change(
        &self,
        (published, is_exclusive): (&Published, bool),
        address: usize,
        thread: usize,
        [before, after]: [u64; 2],
        site: CallSite,
    ) {
        if before != after {
            let change = Change {
                block: self.block,
                thread: thread as u16,
                site: Site::of(site),
            };
            published.changes.note(address, change, is_exclusive);
        }
    }

    /// A thread has read `release`: an acquire orders it now, within its scope, and the thread's next fence orders the
    /// rest.
    fn observe(&self, thread: usize, order: AtomicOrder, release: Option<&Release>) {
        let Some(release) = release else { return };
        let known = release.to(self.block, &self.launch.conditions.clusters);
        let acquired = match order.acquires() {
            true => index_of(order.scope) + 1,
            false => 0,
        };
        let mut clocks = self.clocks.change(thread);
        for (scope, known) in known.into_iter().enumerate() {
            let Some(known) = known else { continue };
            match scope < acquired {
                true => clocks.acquire_observed(known),
                false => clocks.observed[scope].add(known),
            }
        }
        self.note_clocks();
    }
}
