//! What barriers, fences and atomic updates order.
//!
//! The rules are those of the PTX ISA, "Memory Consistency Model", as far as
//! kernels in Rust can reach them: a fence followed by an atomic update
//! releases, an atomic update followed by a fence acquires. A barrier hands
//! on, to all of its threads, also what their fences have released and what
//! their atomic updates have read: whichever of them then goes on may publish
//! the one, and whichever fences may use the other.

use super::clock::{Clock, SharedKnowledge, add};
use super::event::Time;
use super::{BlockCheck, Learned, with_check};
use crate::block::Thread;
use std::cell::RefCell;
use std::sync::Arc;

/// Which threads a fence orders memory for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FenceScope {
    /// The threads of the block.
    Block,
    /// All threads of the device.
    Device,
    /// All threads of all devices, and the host.
    System,
}

/// Indices of what [`Learned`] holds by scope.
const BLOCK: usize = 0;
const DEVICE: usize = 1;

/// The running thread has executed a fence.
pub(crate) fn fence(scope: FenceScope) {
    with_check(None, |thread, _, check| check.fence(thread, scope));
}

/// The running thread is about to update the word at `address` atomically.
#[inline]
pub(crate) fn release(address: usize) {
    with_check(None, |thread, block, check| {
        if check.has_learned.get() {
            check.release(thread, address, block.shared.offset_of(address).is_some());
        }
    });
}

/// The running thread has updated the word at `address` atomically.
#[inline]
pub(crate) fn acquire(address: usize) {
    with_check(None, |thread, block, check| {
        check.acquire(thread, address, block.shared.offset_of(address).is_some());
    });
}

impl BlockCheck {
    /// All threads of the block have met.
    pub fn after_block_barrier(&self) {
        self.block_barrier.set(self.tick());
        if self.has_learned.get() {
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
        // Since they have met in their block, all of its threads know the same.
        let mut known = self.threads[0].borrow().ordered.clone();
        let knowledge = known.get_or_insert_default();
        Arc::make_mut(knowledge).learn_grid_barrier(times);
        for learned in &self.threads {
            learned.borrow_mut().ordered.clone_from(&known);
        }
        self.has_learned.set(true);
    }

    /// All threads that a warp was started with have met.
    pub fn after_warp_barrier(&self, warp: u32) {
        self.warp_barriers[warp as usize].set(self.tick());
        if self.has_learned.get() {
            let first = (warp * self.warp_width) as usize;
            let end = (first + self.warp_width as usize).min(self.threads.len());
            self.share(&self.threads[first..end]);
        }
    }

    /// The lanes of `masks`, given warp by warp, have met, and no other.
    pub fn after_partial_barrier(&self, masks: impl Iterator<Item = (u32, u64)> + Clone) {
        let now = self.tick();
        let lanes = masks.flat_map(|(warp, mask)| {
            (0..self.warp_width)
                .filter(move |lane| mask >> lane & 1 == 1)
                .map(move |lane| (warp, warp * self.warp_width + lane))
        });
        let met = Clock::new(
            self.block_barrier.get(),
            lanes.clone().map(|(_, thread)| (thread..thread + 1, now)),
        );
        let mut clock = met;
        let mut warps: Vec<u32> = lanes.clone().map(|(warp, _)| warp).collect();
        warps.dedup();
        for warp in warps {
            clock = clock.join(&self.clock_of_warp(warp));
        }
        let joined = Learned::default();
        let mut joined = lanes.clone().fold(joined, |mut joined, (_, thread)| {
            joined.add(&self.threads[thread as usize].borrow());
            joined
        });
        self.learn(&mut joined.ordered, clock);
        for (_, thread) in lanes {
            *self.threads[thread as usize].borrow_mut() = joined.share();
        }
    }

    /// What each thread of a warp knows of its block by whole barriers.
    fn clock_of_warp(&self, warp: u32) -> Clock {
        let first = warp * self.warp_width;
        let threads = first..first + self.warp_width;
        let all = self.block_barrier.get();
        let of_warp = self.warp_barriers[warp as usize].get().max(all);
        Clock::new(all, [(threads, of_warp)])
    }

    /// Adds a clock of this block to `known`.
    fn learn(&self, known: &mut SharedKnowledge, clock: Clock) {
        let known = known.get_or_insert_default();
        Arc::make_mut(known).learn(self.block, Arc::new(clock));
        self.has_learned.set(true);
    }

    /// Gives to each of the threads what any of them has learned.
    fn share(&self, threads: &[RefCell<Learned>]) {
        let mut joined = Learned::default();
        for learned in threads {
            joined.add(&learned.borrow());
        }
        for learned in threads {
            *learned.borrow_mut() = joined.share();
        }
    }

    fn fence(&self, thread: &Thread, scope: FenceScope) {
        let number = self.number_of(thread);
        let now = self.tick();
        let mut learned = self.threads[number as usize].borrow_mut();
        let widest = usize::from(scope != FenceScope::Block);
        for scope in BLOCK..=widest {
            let observed = learned.observed[scope].take();
            add(&mut learned.ordered, &observed);
        }
        let mut released = learned.ordered.clone();
        let own = Clock::new(0, [(number..number + 1, now)]);
        let clock = own.join(&self.clock_of_warp(thread.position.warp));
        self.learn(&mut released, clock);
        learned.released[widest] = released;
    }

    fn release(&self, thread: &Thread, address: usize, is_shared: bool) {
        let learned = self.threads[self.number_of(thread) as usize].borrow();
        let [to_block, to_device] = &learned.released;
        let publishes = to_block.is_some() || to_device.is_some();
        if publishes {
            let mut published = self.published.borrow_mut();
            let known = published.entry(address).or_default();
            add(known, to_block);
            add(known, to_device);
        }
        if to_device.is_some() && !is_shared {
            self.launch.publish(address, to_device);
        }
    }

    fn acquire(&self, thread: &Thread, address: usize, is_shared: bool) {
        let of_block = match self.has_learned.get() {
            true => self.published.borrow().get(&address).cloned().flatten(),
            false => None,
        };
        let of_device = match is_shared {
            true => None,
            false => self.launch.published(address),
        };
        if of_block.is_none() && of_device.is_none() {
            return;
        }
        self.has_learned.set(true);
        let mut learned = self.threads[self.number_of(thread) as usize].borrow_mut();
        add(&mut learned.observed[BLOCK], &of_block);
        add(&mut learned.observed[DEVICE], &of_device);
    }

    /// The thread's number in its block.
    pub(super) fn number_of(&self, thread: &Thread) -> u32 {
        thread.position.warp * self.warp_width + thread.position.lane
    }

    /// This moment, for what a thread begins now.
    pub(super) fn begin_copy(&self) -> Time {
        self.tick()
    }
}

impl Learned {
    fn add(&mut self, other: &Self) {
        add(&mut self.ordered, &other.ordered);
        for scope in [BLOCK, DEVICE] {
            add(&mut self.released[scope], &other.released[scope]);
            add(&mut self.observed[scope], &other.observed[scope]);
        }
    }

    /// The same knowledge, held once more.
    fn share(&self) -> Self {
        Self {
            ordered: self.ordered.clone(),
            released: self.released.clone(),
            observed: self.observed.clone(),
        }
    }
}
