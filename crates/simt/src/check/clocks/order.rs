//! The order that barriers and fences establish.
//!
//! The rules are those of the PTX ISA, "Memory Consistency Model", as far as kernels in Rust need them: a fence and
//! then an atomic update release, an atomic update and then a fence acquire. `atomics` handles the updates. A barrier
//! also passes to all of its threads what their fences have released and what their atomic updates have read. So after
//! it, any of them may publish the former, and any that fences may rely on the latter.

use crate::basics::{FenceOrder, MemoryScope, Position};
use crate::check::block::BlockCheck;
use crate::check::cells::event::Time;
use crate::check::clocks::block_clock::BlockClock;
use crate::check::clocks::clock::{Before, SharedClock};
use crate::check::clocks::happens_before::{BLOCK, CLUSTER, DEVICE, HappensBefore};
use crate::check::weak_memory::stale_loads::follow_fences;
use std::mem::take;
use std::sync::Arc;

/// The index of a scope.
pub(in crate::check) fn index_of(scope: MemoryScope) -> usize {
    match scope {
        MemoryScope::Block => BLOCK,
        MemoryScope::Cluster => CLUSTER,
        MemoryScope::Device | MemoryScope::System => DEVICE,
    }
}

impl BlockCheck {
    /// All threads of the block have met.
    pub fn after_block_barrier(&self) {
        self.before_acquire(None);
        self.block_barrier.set(self.tick());
        if self.has_clocks.get() {
            self.clocks.share(0..self.clocks.len());
        }
    }

    /// All threads of the block wait for the other blocks of the grid. Returns the block's time.
    pub fn meet_grid(&self) -> Time {
        self.after_block_barrier();
        self.block_barrier.get()
    }

    /// All threads of the grid have met, at `times` in the time of each block.
    pub fn after_grid_barrier(&self, times: &Arc<[Time]>) {
        // After the barrier of their block, all of its threads have the same clock.
        let mut known = self.clocks.of(0).clone();
        let clock = known.ordered.get_or_insert_default();
        Arc::make_mut(clock).add_grid_barrier(times);
        self.clocks.share_with(known, 0..self.clocks.len());
        self.note_clocks();
    }

    /// All of a warp's threads have met.
    pub fn after_warp_barrier(&self, warp: u32) {
        self.before_acquire(None);
        self.warp_barriers[warp as usize].set(self.tick());
        if self.has_clocks.get() {
            let first = (warp * self.warp_width) as usize;
            let end = (first + self.warp_width as usize).min(self.clocks.len());
            self.clocks.share(first..end);
        }
    }

    /// The lanes of `masks`, given warp by warp, have met, and no others.
    pub fn after_partial_barrier(&self, masks: impl Iterator<Item = (u32, u64)> + Clone) {
        self.before_acquire(None);
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
        let mut joined = HappensBefore::default();
        self.add_clock(&mut joined.ordered, clock);
        let threads = lanes.map(|(_, thread)| thread as usize);
        self.clocks.share_with(joined, threads);
    }

    /// The last barrier of the whole block, and the last of the block or of the warp.
    fn barriers_of(&self, warp: u32) -> (Time, Time) {
        let all = self.block_barrier.get();
        (all, self.warp_barriers[warp as usize].get().max(all))
    }

    /// The accesses that whole barriers order before each thread of a warp.
    fn clock_of_warp(&self, warp: u32) -> BlockClock {
        let first = warp * self.warp_width;
        let (all, of_warp) = self.barriers_of(warp);
        BlockClock::new(all, [(first..first + self.warp_width, of_warp)])
    }

    /// The accesses that whole barriers order before the thread at `position`, and its own so far.
    pub(in crate::check) fn own_clock(&self, position: &Position) -> BlockClock {
        let (number, now) = (position.thread(), self.tick());
        let first = position.warp * self.warp_width;
        let (all, of_warp) = self.barriers_of(position.warp);
        let runs = [
            (first..number, of_warp),
            (number..number + 1, now),
            (number + 1..first + self.warp_width, of_warp),
        ];
        BlockClock::new(all, runs)
    }

    /// Adds a clock of this block to `known`.
    fn add_clock(&self, known: &mut SharedClock, clock: BlockClock) {
        let known = known.get_or_insert_default();
        Arc::make_mut(known).add_block(self.block, Arc::new(clock));
        self.note_clocks();
    }

    /// The thread at `position` has executed a fence.
    pub fn fence(&self, position: &Position, order: FenceOrder, scope: MemoryScope) {
        let number = position.thread();
        self.before_acquire(Some(number));
        let clock = self.own_clock(position);
        let mut clocks = self.clocks.change(number as usize);
        let widest = index_of(scope);
        if order != FenceOrder::Release {
            for scope in BLOCK..=widest {
                let observed = take(&mut clocks.observed[scope]);
                clocks.acquire_observed(&observed);
            }
        }
        if order == FenceOrder::Acquire {
            return self.note_clocks();
        }
        let mut released = clocks.ordered.clone();
        self.add_clock(&mut released, clock);
        if order == FenceOrder::SequentiallyConsistent && self.stale_loads.are_on() {
            self.follow_fences(&mut clocks, &released, widest);
        }
        clocks.released[widest] = Before {
            ordered: released,
            fenced: clocks.fenced.clone(),
        };
    }

    /// Orders a sequentially consistent fence, whose scope has index `widest`, of a thread with these clocks. It comes
    /// after earlier fences if each one's scope includes the other's thread.
    fn follow_fences(&self, clocks: &mut HappensBefore, released: &SharedClock, widest: usize) {
        let clusters = &self.launch.conditions.clusters;
        let mut of_block = self.fences.borrow_mut();
        if widest == BLOCK || widest == CLUSTER && clusters.are_single() {
            return follow_fences(clocks, released, &mut [&mut of_block]);
        }
        let of_launch = &mut *self.launch.lock_fences();
        let mut fences = vec![&mut *of_block];
        if !clusters.are_single() {
            let cluster = clusters.number_of(self.block);
            fences.push(of_launch.clusters.entry(cluster).or_default());
        }
        if widest == DEVICE {
            fences.push(&mut of_launch.device);
        }
        follow_fences(clocks, released, &mut fences);
    }

    /// The moment at which a copy is issued.
    pub fn issue_copy(&self) -> Time {
        self.tick()
    }
}
