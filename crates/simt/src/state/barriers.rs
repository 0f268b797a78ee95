//! The barriers of one block: the threads that have arrived, and the number required.

use crate::basics::{CallSite, DefectKind};
use std::cell::Cell;
use std::panic::Location;
use std::ptr;

/// The number of one of the barriers at which threads of a block wait.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BarrierId(
    /// 0 to 15.
    pub u32,
);

/// The number of barriers of a block.
const BARRIERS: usize = 16;
/// One more than the barriers: where a block gathers for the barrier of the grid.
pub(crate) const GRID_BARRIER: u32 = BARRIERS as u32;
/// The most warps that a block can have: 1024 threads of 32-wide warps.
const MAX_WARPS: usize = 32;

/// The operation at a barrier once all threads have arrived. Two instructions never complete one barrier together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BarrierOperation {
    Synchronize,
    CountTrue,
    SynchronizeGrid,
}

/// A barrier's name in reports.
pub(crate) fn barrier_name(id: u32) -> String {
    match id {
        GRID_BARRIER => "the grid barrier".to_owned(),
        id => format!("barrier {id}"),
    }
}

/// The kind of defect if not all threads reach a barrier.
pub(crate) fn divergence_at(id: u32) -> DefectKind {
    match id {
        GRID_BARRIER => DefectKind::GridBarrierDivergence,
        _ => DefectKind::BarrierDivergence,
    }
}

/// How an arrival differs from those before it.
pub(crate) enum Mismatch {
    /// It is another instruction.
    Operation,
    /// It has another count; the others wait for this one.
    Required(u32),
}

/// One barrier of a block.
pub(crate) struct Barrier {
    /// Arrivals so far; 0 while no thread waits.
    arrived: Cell<u32>,
    /// Arrivals that complete the barrier.
    required: Cell<u32>,
    operation: Cell<BarrierOperation>,
    /// The line of the first arrival.
    site: Cell<CallSite>,
    /// Whether all waiting arrivals are at this line.
    is_one_site: Cell<bool>,
    /// Arrivals whose predicate was true.
    trues: Cell<u32>,
    /// `trues` of the last completion.
    result: Cell<u32>,
    /// Waiting lanes, warp by warp.
    waiting: [Cell<u64>; MAX_WARPS],
    /// Lanes that have arrived and do not wait, warp by warp.
    passed: [Cell<u64>; MAX_WARPS],
}

impl Barrier {
    fn new() -> Self {
        Self {
            arrived: Cell::new(0),
            required: Cell::new(0),
            operation: Cell::new(BarrierOperation::Synchronize),
            site: Cell::new(Location::caller()),
            is_one_site: Cell::new(true),
            trues: Cell::new(0),
            result: Cell::new(0),
            waiting: std::array::from_fn(|_| Cell::new(0)),
            passed: std::array::from_fn(|_| Cell::new(0)),
        }
    }

    /// Whether no thread has arrived yet.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.arrived.get() == 0
    }

    /// Begins with the first arrival, with which the others must agree.
    #[inline]
    pub fn open(&self, required: u32, operation: BarrierOperation, site: CallSite) {
        self.required.set(required);
        self.operation.set(operation);
        self.site.set(site);
        self.is_one_site.set(true);
    }

    /// Adds a waiting lane that synchronizes at the same line as all before it, which needs no further comparison.
    /// False for any other arrival, for the first and for the last.
    #[inline]
    pub fn arrive_like_all(
        &self,
        (warp, lane_bit, weight): (usize, u64, u32),
        required: u32,
        site: CallSite,
    ) -> bool {
        let before = self.arrived.get();
        let is_alike = before != 0
            && self.is_one_site.get()
            && ptr::eq(self.site.get(), site)
            && self.operation.get() == BarrierOperation::Synchronize
            && self.required.get() == required;
        let is_added = is_alike && before + weight < required;
        if is_added {
            self.arrived.set(before + weight);
            let lanes = &self.waiting[warp];
            lanes.set(lanes.get() | lane_bit);
        }
        is_added
    }

    /// The line of the first arrival.
    #[inline]
    pub fn site(&self) -> CallSite {
        self.site.get()
    }

    /// How an arrival differs from the first one; none if it does not.
    #[inline]
    pub fn mismatch(&self, required: u32, operation: BarrierOperation) -> Option<Mismatch> {
        if self.required.get() != required {
            Some(Mismatch::Required(self.required.get()))
        } else if self.operation.get() != operation {
            Some(Mismatch::Operation)
        } else {
            None
        }
    }

    /// Adds a lane at the line `site`, which counts as `weight` arrivals; returns whether the barrier is complete.
    #[inline]
    pub fn arrive(
        &self,
        (warp, lane_bit, weight): (usize, u64, u32),
        predicate: bool,
        site: CallSite,
    ) -> bool {
        if !ptr::eq(self.site.get(), site) {
            self.is_one_site.set(false);
        }
        let arrived = self.arrived.get() + weight;
        self.arrived.set(arrived);
        self.trues.set(self.trues.get() + u32::from(predicate));
        let lanes = &self.waiting[warp];
        lanes.set(lanes.get() | lane_bit);
        arrived == self.required.get()
    }

    /// Adds a lane that does not wait, and counts as `weight` arrivals; returns whether the barrier is complete.
    pub fn pass(&self, warp: usize, lane_bit: u64, weight: u32) -> bool {
        let arrived = self.arrived.get() + weight;
        self.arrived.set(arrived);
        let lanes = &self.passed[warp];
        lanes.set(lanes.get() | lane_bit);
        arrived == self.required.get()
    }

    /// Records the result of a completed barrier. The lane that has completed it does not wait.
    pub fn complete(&self, warp: usize, lane_bit: u64) {
        self.result.set(self.trues.replace(0));
        let lanes = &self.waiting[warp];
        lanes.set(lanes.get() & !lane_bit);
    }

    /// Arrivals that complete the barrier.
    pub fn required(&self) -> u32 {
        self.required.get()
    }

    /// The number of true predicates at the barrier's last completion.
    #[inline]
    pub fn result(&self) -> u32 {
        self.result.get()
    }

    /// The waiting lanes of one warp.
    #[inline]
    pub fn waiting(&self, warp: usize) -> u64 {
        self.waiting[warp].get()
    }

    /// The waiting lanes of each of the first `warps` warps.
    pub fn waiting_by_warp(&self, warps: usize) -> impl Iterator<Item = u64> + Clone {
        self.waiting[..warps].iter().map(Cell::get)
    }

    /// Whether any lanes of the first `warps` warps have arrived without waiting.
    pub fn is_passed(&self, warps: usize) -> bool {
        self.passed[..warps].iter().any(|lanes| lanes.get() != 0)
    }

    /// The arrived lanes of each of the first `warps` warps.
    pub fn arrived_by_warp(&self, warps: usize) -> impl Iterator<Item = u64> + Clone {
        let passed = self.passed[..warps].iter().map(Cell::get);
        self.waiting_by_warp(warps)
            .zip(passed)
            .map(|(waiting, passed)| waiting | passed)
    }
}

/// All barriers of a block.
pub(crate) struct Barriers {
    barriers: [Barrier; BARRIERS + 1],
    /// Bit `i`: a thread waits at barrier `i` for every thread of the block.
    waiting_for_all: Cell<u32>,
}

impl Default for Barriers {
    fn default() -> Self {
        Self {
            barriers: std::array::from_fn(|_| Barrier::new()),
            waiting_for_all: Cell::new(0),
        }
    }
}

impl Barriers {
    /// Forgets all arrivals.
    pub fn clear(&mut self) {
        self.waiting_for_all.set(0);
        for barrier in &mut self.barriers {
            if barrier.arrived.replace(0) != 0 {
                barrier.waiting.iter().for_each(|lanes| lanes.set(0));
                barrier.passed.iter().for_each(|lanes| lanes.set(0));
            }
            barrier.trues.set(0);
        }
    }

    /// Barrier number `id`, at most [`GRID_BARRIER`].
    #[inline]
    pub fn get(&self, id: u32) -> &Barrier {
        &self.barriers[id as usize]
    }

    /// Notes that a thread waits at barrier `id` for every thread of the block.
    pub fn note_waiting_for_all(&self, id: u32) {
        self.waiting_for_all
            .set(self.waiting_for_all.get() | 1 << id);
    }

    /// The lowest barrier at which a thread waits for every thread of the block, this lane of a warp
    /// included.
    pub fn first_waiting_for(&self, warp: usize, lane_bit: u64) -> Option<u32> {
        let waiting = self.waiting_for_all.get();
        if waiting == 0 {
            return None;
        }
        let mut waiting = (0..u32::BITS).filter(|id| waiting >> id & 1 == 1);
        waiting.find(|id| self.get(*id).passed[warp].get() & lane_bit == 0)
    }

    /// Resets barrier `id`, and calls `release` for each of the first `warps` warps with waiting
    /// lanes: with the warp's number and these lanes.
    pub fn release(&self, id: u32, warps: usize, mut release: impl FnMut(usize, u64)) {
        let barrier = self.get(id);
        barrier.arrived.set(0);
        self.waiting_for_all
            .set(self.waiting_for_all.get() & !(1 << id));
        barrier.passed[..warps]
            .iter()
            .for_each(|lanes| lanes.set(0));
        for (warp, waiting) in barrier.waiting[..warps].iter().enumerate() {
            let lanes = waiting.replace(0);
            if lanes != 0 {
                release(warp, lanes);
            }
        }
    }
}
