//! What barriers, fences and atomic updates order.
//!
//! The rules are those of the PTX ISA, "Memory Consistency Model", as far as
//! kernels in Rust can reach them: a fence followed by an atomic update
//! releases, an atomic update followed by a fence acquires. A barrier hands
//! on, to all of its threads, also what their fences have released and what
//! their atomic updates have read: whichever of them then goes on may publish
//! the one, and whichever fences may use the other.

use super::block::BlockCheck;
use super::block_clock::BlockClock;
use super::changes::Change;
use super::clock::{Before, SharedClock, VectorClock};
use super::event::{Event, Site, Time};
use super::happens_before::{BLOCK, DEVICE, HappensBefore};
use super::history::History;
use super::published::{Published, Release, Words};
use super::stale::follow_fences;
use crate::basics::{AccessKind, Position};
use std::cell::RefCell;
use std::mem::take;
use std::panic::Location;
use std::sync::Arc;

/// Which threads a fence orders memory for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum FenceScope {
    /// The threads of the block.
    Block,
    /// All threads of the device.
    Device,
    /// All threads of all devices, and the host.
    System,
}

impl BlockCheck {
    /// All threads of the block have met.
    pub fn after_block_barrier(&self) {
        self.block_barrier.set(self.tick());
        if self.has_clocks.get() {
            self.share(&self.threads);
        }
    }

    /// All threads of the block wait for the other blocks of the grid; returns when, in the
    /// block's own time.
    pub fn meet_grid(&self) -> Time {
        self.after_block_barrier();
        self.block_barrier.get()
    }

    /// All threads of the grid have met, at `times` in the time of each block.
    pub fn after_grid_barrier(&self, times: &Arc<[Time]>) {
        // After the barrier of their block, all of its threads have the same clock.
        let mut ordered = self.threads[0].borrow().ordered.clone();
        let clock = ordered.get_or_insert_default();
        Arc::make_mut(clock).add_grid_barrier(times);
        for thread in &self.threads {
            thread.borrow_mut().ordered.clone_from(&ordered);
        }
        self.has_clocks.set(true);
    }

    /// All threads that a warp was started with have met.
    pub fn after_warp_barrier(&self, warp: u32) {
        self.warp_barriers[warp as usize].set(self.tick());
        if self.has_clocks.get() {
            let first = (warp * self.warp_width) as usize;
            let end = (first + self.warp_width as usize).min(self.threads.len());
            self.share(&self.threads[first..end]);
        }
    }

    /// The lanes of `masks`, given warp by warp, have met, and no others.
    pub fn after_partial_barrier(&self, masks: impl Iterator<Item = (u32, u64)> + Clone) {
        let now = self.tick();
        let lanes = masks.flat_map(|(warp, mask)| {
            (0..self.warp_width)
                .filter(move |lane| mask >> lane & 1 == 1)
                .map(move |lane| (warp, warp * self.warp_width + lane))
        });
        let met = BlockClock::new(
            self.block_barrier.get(),
            lanes.clone().map(|(_, thread)| (thread..thread + 1, now)),
        );
        let mut clock = met;
        let mut warps: Vec<u32> = lanes.clone().map(|(warp, _)| warp).collect();
        warps.dedup();
        for warp in warps {
            clock = clock.join(&self.clock_of_warp(warp));
        }
        let joined = HappensBefore::default();
        let mut joined = lanes.clone().fold(joined, |mut joined, (_, thread)| {
            joined.add(&self.threads[thread as usize].borrow());
            joined
        });
        self.add_clock(&mut joined.ordered, clock);
        for (_, thread) in lanes {
            *self.threads[thread as usize].borrow_mut() = joined.share();
        }
    }

    /// What whole barriers order before each thread of a warp.
    pub(super) fn clock_of_warp(&self, warp: u32) -> BlockClock {
        let first = warp * self.warp_width;
        let threads = first..first + self.warp_width;
        let all = self.block_barrier.get();
        let of_warp = self.warp_barriers[warp as usize].get().max(all);
        BlockClock::new(all, [(threads, of_warp)])
    }

    /// Adds a clock of this block to `known`.
    fn add_clock(&self, known: &mut SharedClock, clock: BlockClock) {
        let known = known.get_or_insert_default();
        Arc::make_mut(known).add_block(self.block, Arc::new(clock));
        self.has_clocks.set(true);
    }

    /// Gives to each of the threads the clocks of all of them.
    fn share(&self, threads: &[RefCell<HappensBefore>]) {
        let mut joined = HappensBefore::default();
        for thread in threads {
            joined.add(&thread.borrow());
        }
        for thread in threads {
            *thread.borrow_mut() = joined.share();
        }
    }

    /// The thread at `position` has executed a fence.
    pub fn fence(&self, position: &Position, scope: FenceScope) {
        let number = position.thread();
        let now = self.tick();
        let mut clocks = self.threads[number as usize].borrow_mut();
        let widest = usize::from(scope != FenceScope::Block);
        for scope in BLOCK..=widest {
            let observed = take(&mut clocks.observed[scope]);
            clocks.acquire_observed(&observed);
        }
        let mut released = clocks.ordered.clone();
        let own = BlockClock::new(0, [(number..number + 1, now)]);
        let clock = own.join(&self.clock_of_warp(position.warp));
        self.add_clock(&mut released, clock);
        if self.stale_loads.are_on() {
            let mut of_device = (widest == DEVICE).then(|| self.launch.lock_fences());
            let mut of_block = self.fences.borrow_mut();
            match &mut of_device {
                Some(of_device) => {
                    follow_fences(&mut clocks, &released, &mut [&mut of_block, of_device]);
                }
                None => follow_fences(&mut clocks, &released, &mut [&mut of_block]),
            }
        }
        clocks.released[widest] = Before {
            ordered: released,
            fenced: clocks.fenced.clone(),
        };
    }

    /// Performs `step`, with which the thread at `position` reads or writes the word at `address`
    /// atomically: what the word hands on changes together with its value. `shared` are the checks
    /// of the block whose shared memory it is in, if it is in shared memory. The step returns the values
    /// before and after it.
    #[inline]
    pub fn atomic_step(
        &self,
        position: &Position,
        (address, site): (usize, &'static Location<'static>),
        shared: Option<&Self>,
        step: impl FnOnce() -> [u64; 2],
    ) -> [u64; 2] {
        let published = match shared {
            Some(owner) => &owner.published,
            None => &self.launch.published,
        };
        let thread = position.thread() as usize;
        let kind = self.announced[thread].replace(AccessKind::Atomic);
        let may_be_stale = self.stale_loads.are_on();
        if !published.is_used() && !self.has_clocks.get() && !may_be_stale {
            let result = step();
            self.note_change(published, address, thread, result, site);
            // Another block's release may have come in between.
            if published.is_used() && kind != AccessKind::AtomicWrite {
                self.observe(thread, published.lock().releases.get(&address));
            }
            return result;
        }
        let words = &mut *published.lock();
        let releases = &mut words.releases;
        if kind != AccessKind::AtomicRead {
            if kind == AccessKind::AtomicWrite {
                releases.remove(&address);
            }
            let released = &self.threads[thread].borrow().released;
            if !released.iter().all(Before::is_empty) {
                let release = releases.entry(address).or_default();
                release.add(self.block, released);
            }
        }
        let result = step();
        self.note_change(published, address, thread, result, site);
        if may_be_stale {
            return self.step_in_history(position, (address, site), kind, words, result);
        }
        if kind != AccessKind::AtomicWrite {
            self.observe(thread, releases.get(&address));
        }
        result
    }

    /// The same of a word whose last stores are known: an atomic load may return an older one.
    #[cold]
    fn step_in_history(
        &self,
        position: &Position,
        (address, site): (usize, &'static Location<'static>),
        kind: AccessKind,
        words: &mut Words,
        [before, after]: [u64; 2],
    ) -> [u64; 2] {
        let number = position.thread();
        let event = |kind: AccessKind| {
            let thread = (self.block, number as u16);
            Event::new(kind.into(), thread, self.now(), 4, Site::of(site))
        };
        let release = words.releases.get(&address);
        let history = words.histories.of(address, before);
        if kind == AccessKind::AtomicWrite || before != after {
            history.store(after, event(kind), release.cloned());
            if kind != AccessKind::AtomicWrite {
                self.observe(number as usize, release);
            }
            return [before, after];
        }
        let newest = history.newest();
        let chosen = match kind {
            AccessKind::AtomicRead => {
                let first = self.first_choice(position, history);
                self.stale_loads.draw(first, newest)
            }
            _ => newest,
        };
        let (value, of_store) = history.load(chosen, event(AccessKind::AtomicRead));
        let of_store = if chosen == newest { release } else { of_store };
        self.observe(number as usize, of_store);
        [value, after]
    }

    /// The oldest store of a word that a load by the thread at `position` may return.
    fn first_choice(&self, position: &Position, history: &History<Release>) -> usize {
        let clocks = self.threads[position.thread() as usize].borrow();
        let fenced = clocks.fenced.as_deref();
        self.with_accessor(position, |accessor| {
            history.first_choice(|event| {
                let is_fenced = |clock: &VectorClock| {
                    event.time <= clock.at(event.block, u32::from(event.thread()))
                };
                accessor.is_after_thread(event) || fenced.is_some_and(is_fenced)
            })
        })
    }

    /// Notes the change of a word by a thread, if it is one.
    #[inline]
    fn note_change(
        &self,
        published: &Published,
        address: usize,
        thread: usize,
        [before, after]: [u64; 2],
        site: &'static Location<'static>,
    ) {
        if before != after {
            let change = Change {
                block: self.block,
                thread: thread as u16,
                site: Site::of(site),
            };
            published.changes.note(address, change);
        }
    }

    /// The next fence of a thread orders what `release` hands on.
    fn observe(&self, thread: usize, release: Option<&Release>) {
        let Some(release) = release else { return };
        let mut clocks = self.threads[thread].borrow_mut();
        if let Some(of_block) = release.to_blocks.get(&self.block) {
            clocks.observed[BLOCK].add(of_block);
        }
        clocks.observed[DEVICE].add(&release.to_device);
        self.has_clocks.set(true);
    }

    /// The moment at which a copy is issued.
    pub fn issue_copy(&self) -> Time {
        self.tick()
    }
}
