//! Units that run beside the threads: the bulk-copy engine and the tensor cores.
//!
//! The seed chooses when they execute requests; without preemption, they do so as late as possible.

use crate::basics::{Finding, SplitMix64};
use crate::block::Block;
use crate::check::Agent;
use crate::state::{Job, Load};

/// Under a preemptive schedule, one turn in `STEP` begins with a step of an operation in flight.
const STEP: u64 = 4;

/// The number of idle yields in a row after which a step is due: a thread may wait by polling.
const IDLE_YIELDS: u64 = 64;

impl Block {
    /// Whether something is in flight.
    #[inline]
    pub(crate) fn is_machine_busy(&self) -> bool {
        self.may_be_in_flight.get()
    }

    /// Called when a turn of a warp begins: an operation in flight may make a step.
    #[inline]
    pub(crate) fn before_turn(&self, random: &mut SplitMix64) {
        if self.is_machine_busy() {
            self.maybe_step(random);
        }
    }

    #[cold]
    fn maybe_step(&self, random: &mut SplitMix64) {
        let is_due = match self.preemption.is_on() {
            true => random.below(STEP) == 0,
            false => self.yields.idle() >= IDLE_YIELDS,
        };
        if is_due {
            self.step_machine(random);
        }
    }

    /// Makes a step of an operation in flight, if there is one.
    pub(crate) fn step_machine(&self, random: &mut SplitMix64) -> bool {
        if !self.is_machine_busy() {
            return false;
        }
        let copies = self.engine.len();
        let queues = self.products.iter().filter(|queue| queue.is_busy());
        let choices = copies + queues.count();
        if choices == 0 {
            self.may_be_in_flight.set(false);
            return false;
        }
        let drawn = random.below(choices as u64) as usize;
        if drawn < copies {
            self.step_copy(drawn);
        } else {
            let mut busy = (0..self.products.len()).filter(|group| self.products[*group].is_busy());
            if let Some(group) = busy.nth(drawn - copies) {
                self.perform_products(group, u64::MAX, 1);
            }
        }
        true
    }

    fn step_copy(&self, place: usize) {
        match self.engine.take_at(place) {
            Some((_, Job::Load(load))) => self.land(&load),
            Some((_, Job::Store(mut store))) if store.data.is_some() => self.write(&mut store),
            Some((number, Job::Store(mut store))) => {
                self.read(&mut store);
                self.engine.put_back(number, Job::Store(store));
            }
            None => {}
        }
    }

    /// Completes a copy to shared memory.
    fn land(&self, load: &Load) {
        let Some(target) = self.peer(load.target) else {
            return;
        };
        let Some(barrier) = target.mbarriers.get(load.barrier) else {
            return;
        };
        // SAFETY: the pieces are in shared memory: checked at the issue, and all blocks of a cluster have the same
        // amount. The source is valid until the copy has arrived: the contract of the copy's caller.
        unsafe { load.copy_to(target.shared.start_pointer()) };
        if let Some(check) = target.active_check()
            && let Err(error) = check.end_write(load.extent(), Agent::Barrier(barrier.number))
        {
            return self.record(*Finding::out_of_memory(&error.to_string()));
        }
        let progress = target.mbarriers.land(load.barrier, load.bytes as i64);
        target.go_on(barrier.number, progress);
    }
}
