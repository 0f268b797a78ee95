//! The registers of a block's warps, which `setmaxnreg` moves (PTX ISA, "setmaxnreg").

use crate::basics::CallSite;
use std::cell::Cell;

/// Registers of a multiprocessor.
const REGISTERS: u32 = 64 * 1024;

/// The most registers of a thread when it starts.
const MOST_AT_START: u32 = 255;

/// Counts of registers are multiples of this.
pub(crate) const REGISTER_UNIT: u32 = 8;

/// The fewest and the most registers per thread that a warp can request.
pub(crate) const FEWEST_REGISTERS: u32 = 24;
pub(crate) const MOST_REGISTERS: u32 = 256;

/// The registers of one warp.
#[derive(Default)]
struct OfWarp {
    /// Registers of each thread.
    count: Cell<u32>,
    /// The count per thread that the warp waits for; 0 if it does not wait.
    wanted: Cell<u32>,
    /// The number of changes.
    changes: Cell<u32>,
    /// The line of the last change.
    site: Cell<Option<CallSite>>,
}

/// The registers of a block's warps; at first, all have the same number.
pub(crate) struct Registers {
    warps: Vec<OfWarp>,
    lanes: u32,
    at_start: u32,
    /// Registers that no warp has.
    free: Cell<u32>,
}

impl Registers {
    /// The registers of `warps` warps of `lanes` lanes. Threads start with `of_thread` registers; with none, with an
    /// equal share of the multiprocessor's.
    pub fn new(warps: u32, lanes: u32, of_thread: Option<u32>) -> Self {
        let share = of_thread
            .unwrap_or(REGISTERS / (warps * lanes))
            .min(MOST_AT_START);
        Self {
            warps: (0..warps).map(|_| OfWarp::default()).collect(),
            lanes,
            at_start: share / REGISTER_UNIT * REGISTER_UNIT,
            free: Cell::new(0),
        }
    }

    /// Gives each warp its initial registers.
    pub fn begin(&mut self) {
        self.free.set(0);
        for warp in &self.warps {
            warp.count.set(self.at_start);
            warp.wanted.set(0);
            warp.changes.set(0);
            warp.site.set(None);
        }
    }

    /// The registers of each thread of a warp.
    pub fn of(&self, warp: usize) -> u32 {
        self.warps[warp].count.get()
    }

    /// How often a warp has changed its registers.
    pub fn changes(&self, warp: usize) -> u32 {
        self.warps[warp].changes.get()
    }

    /// The line at which a warp last changed its registers.
    pub fn site(&self, warp: usize) -> Option<CallSite> {
        self.warps.get(warp)?.site.get()
    }

    /// Notes that a warp changes its registers at this line.
    pub fn note_change(&self, warp: usize, site: CallSite) {
        let of_warp = &self.warps[warp];
        of_warp.changes.set(of_warp.changes.get() + 1);
        of_warp.site.set(Some(site));
    }

    /// The most registers that the threads of `warps` warps can have while all others have the fewest.
    pub fn most_of(&self, warps: u32) -> u32 {
        let all = self.warps.len() as u32;
        let others = (all - warps) * FEWEST_REGISTERS;
        (all * self.at_start).saturating_sub(others) / warps
    }

    /// Free registers for each thread of one warp.
    pub fn free(&self) -> u32 {
        self.free.get() / self.lanes
    }

    /// The registers per thread that a warp waits for; 0 if it does not wait.
    pub fn wanted(&self, warp: usize) -> u32 {
        self.warps[warp].wanted.get()
    }

    /// Reduces a warp's registers to `count` per thread.
    pub fn release(&self, warp: usize, count: u32) {
        let of_warp = &self.warps[warp];
        let less = of_warp.count.replace(count) - count;
        self.free.set(self.free.get() + less * self.lanes);
    }

    /// Notes that a warp waits for `count` registers per thread.
    pub fn ask(&self, warp: usize, count: u32) {
        let of_warp = &self.warps[warp];
        of_warp.wanted.set(count);
    }

    /// Gives a waiting warp its registers, if enough are free; returns the warp.
    pub fn grant(&self) -> Option<usize> {
        let warp = self.warps.iter().position(|warp| {
            let more = warp.wanted.get().saturating_sub(warp.count.get());
            warp.wanted.get() != 0 && more * self.lanes <= self.free.get()
        })?;
        let of_warp = &self.warps[warp];
        let count = of_warp.wanted.replace(0);
        let more = count - of_warp.count.replace(count);
        self.free.set(self.free.get() - more * self.lanes);
        Some(warp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counts of CUTLASS's kernels with one producer and two consumers.
    #[test]
    fn three_warpgroups_share() {
        let mut registers = Registers::new(12, 32, None);
        registers.begin();
        assert_eq!((registers.of(0), registers.most_of(8)), (168, 240));
        registers.ask(4, 240);
        assert_eq!(registers.grant(), None);
        (0..4).for_each(|warp| registers.release(warp, 24));
        (5..12).for_each(|warp| registers.ask(warp, 240));
        let granted: Vec<usize> = std::iter::from_fn(|| registers.grant()).collect();
        assert_eq!(granted, [4, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!((registers.of(11), registers.free()), (240, 0));
    }

    #[test]
    fn a_block_has_what_its_threads_start_with() {
        let mut registers = Registers::new(8, 32, Some(128));
        registers.begin();
        assert_eq!(registers.of(0), 128);
        (0..4).for_each(|warp| registers.release(warp, 40));
        registers.ask(4, 208);
        assert_eq!(registers.grant(), Some(4));
    }
}
