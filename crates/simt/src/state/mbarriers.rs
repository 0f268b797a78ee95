//! The mbarriers in the shared memory of one block: their phases, arrivals and bytes (PTX ISA,
//! section "Parallel Synchronization and Communication Instructions: mbarrier").
//!
//! A phase is complete once all of its arrivals and bytes have come. Bytes may come before they are expected, so the
//! number of pending bytes may be negative.

use super::arrivals::{Arrivals, Arriver};
use crate::basics::{CallSite, Related};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The size and the alignment of an mbarrier, in bytes.
pub(crate) const MBARRIER_BYTES: usize = 8;

/// The most arrivals that an mbarrier can expect (PTX ISA, "Contents of the mbarrier object").
pub(crate) const MAX_ARRIVALS: u32 = (1 << 20) - 1;

/// One mbarrier.
#[derive(Clone, Copy)]
pub(crate) struct Mbarrier {
    /// Its number among the mbarriers of the block.
    pub number: u16,
    /// The line that initialised it.
    pub site: CallSite,
    /// The number in the block of the thread that initialised it.
    pub initialiser: u32,
    /// Whether that thread has fenced the initialisation for the asynchronous proxy and the cluster.
    pub is_fenced: bool,
    /// Arrivals of each phase.
    pub arrivals: u32,
    /// Arrivals that the present phase lacks.
    pub missing: u32,
    /// Bytes that the present phase expects.
    pub expected: i64,
    /// Bytes that have arrived in the present phase.
    pub landed: i64,
    /// The number of complete phases.
    pub phase: u32,
}

impl Mbarrier {
    /// Whether the phase of this parity is complete, that is, whether the present phase has the other parity.
    pub fn is_past(&self, parity: bool) -> bool {
        (self.phase & 1 == 1) != parity
    }

    /// Describes its state and the place of its initialisation.
    pub fn describe(&self, offset: usize) -> Related {
        Related::new(
            format!(
                "the mbarrier at byte {offset}, in phase {}: {}",
                self.phase,
                self.lack()
            ),
            Some(self.site.into()),
        )
    }

    fn is_complete(&self) -> bool {
        self.missing == 0 && self.expected == self.landed
    }

    /// Begins the next phase.
    fn complete(&mut self) {
        self.phase = self.phase.wrapping_add(1);
        self.missing = self.arrivals;
        (self.expected, self.landed) = (0, 0);
    }

    /// Describes the arrivals and bytes that the current phase lacks.
    pub fn lack(&self) -> String {
        let arrivals = match self.missing {
            0 => format!("all of its {} arrivals", self.arrivals),
            missing => format!(
                "{} of its {} arrivals",
                self.arrivals - missing,
                self.arrivals
            ),
        };
        format!(
            "it has {arrivals}, and {} of {} expected bytes",
            self.landed, self.expected
        )
    }
}

/// The effect of an operation on an mbarrier.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The phase goes on.
    Pending,
    /// The phase is complete, and these threads are released.
    Complete(Vec<u32>),
    /// The phase has all of its arrivals already.
    TooMany,
}

/// An mbarrier with its arrivals, and the numbers in the block of the threads that wait for its
/// present phase.
struct Waited {
    barrier: Mbarrier,
    arrivals: Arrivals,
    waiting: Vec<u32>,
}

/// The mbarriers of one block, by their offset in its shared memory.
#[derive(Default)]
pub(crate) struct Mbarriers {
    barriers: RefCell<BTreeMap<usize, Waited>>,
    /// The numbers of those that are no longer there.
    free: RefCell<Vec<u16>>,
}

impl Mbarriers {
    /// Forgets all mbarriers.
    pub fn clear(&mut self) {
        self.barriers.get_mut().clear();
        self.free.get_mut().clear();
    }

    /// Begins an mbarrier, which must not exist yet.
    pub fn init(&self, offset: usize, arrivals: u32, initialiser: u32, site: CallSite) -> u16 {
        let mut barriers = self.barriers.borrow_mut();
        let free = self.free.borrow_mut().pop();
        let number = free.unwrap_or(barriers.len() as u16);
        let barrier = Mbarrier {
            number,
            site,
            initialiser,
            is_fenced: false,
            arrivals,
            missing: arrivals,
            expected: 0,
            landed: 0,
            phase: 0,
        };
        let waited = Waited {
            barrier,
            arrivals: Arrivals::default(),
            waiting: Vec::new(),
        };
        barriers.insert(offset, waited);
        number
    }

    /// Ends the mbarrier at this offset.
    pub fn remove(&self, offset: usize) {
        let removed = self.barriers.borrow_mut().remove(&offset);
        let number = removed.map(|it| it.barrier.number);
        self.free.borrow_mut().extend(number);
    }

    /// The number of threads that wait at the mbarrier at this offset.
    pub fn waiting(&self, offset: usize) -> usize {
        let barriers = self.barriers.borrow();
        barriers.get(&offset).map_or(0, |it| it.waiting.len())
    }

    /// The mbarrier at this offset.
    pub fn get(&self, offset: usize) -> Option<Mbarrier> {
        self.barriers.borrow().get(&offset).map(|it| it.barrier)
    }

    /// The first mbarrier that overlaps the eight bytes from `offset` on.
    pub fn overlapping(&self, offset: usize) -> Option<(usize, Mbarrier)> {
        let barriers = self.barriers.borrow();
        let first = offset.saturating_sub(MBARRIER_BYTES - 1);
        let found = barriers.range(first..offset + MBARRIER_BYTES).next();
        found.map(|(offset, waited)| (*offset, waited.barrier))
    }

    /// Calls `action` with each mbarrier, in the order of offsets.
    pub fn for_each(&self, mut action: impl FnMut(usize, &Mbarrier)) {
        for (offset, waited) in &*self.barriers.borrow() {
            action(*offset, &waited.barrier);
        }
    }

    /// Marks the mbarriers that `thread` has initialised as fenced.
    pub fn fence_of(&self, thread: u32) {
        for Waited { barrier, .. } in self.barriers.borrow_mut().values_mut() {
            barrier.is_fenced |= barrier.initialiser == thread;
        }
    }

    /// The threads that are missing at the mbarrier at this offset of block `rank` of the cluster; a block has
    /// `threads` threads.
    pub fn absent(&self, offset: usize, rank: u32, threads: u32) -> Option<Related> {
        let barriers = self.barriers.borrow();
        let waited = barriers.get(&offset)?;
        (waited.barrier.missing > 0).then(|| waited.arrivals.absent(rank, threads))
    }

    /// Adds `bytes` expected bytes and then an arrival to the mbarrier at this offset.
    pub fn arrive(
        &self,
        offset: usize,
        (count, bytes): (u32, i64),
        arriver: Arriver,
        site: CallSite,
    ) -> Progress {
        if let Some(waited) = self.barriers.borrow_mut().get_mut(&offset) {
            waited.arrivals.note(arriver, site);
        }
        self.change(offset, |barrier| {
            barrier.expected += bytes;
            let left = barrier.missing.checked_sub(count);
            barrier.missing = left.unwrap_or(0);
            left.is_some()
        })
    }

    /// Adds `bytes` expected bytes to the mbarrier at this offset.
    pub fn expect(&self, offset: usize, bytes: i64) -> Progress {
        self.change(offset, |barrier| {
            barrier.expected += bytes;
            true
        })
    }

    /// Counts `bytes` arrived bytes.
    pub fn land(&self, offset: usize, bytes: i64) -> Progress {
        self.change(offset, |barrier| {
            barrier.landed += bytes;
            true
        })
    }

    /// Adds a thread that waits for the present phase.
    pub fn wait(&self, offset: usize, thread: u32) {
        if let Some(waited) = self.barriers.borrow_mut().get_mut(&offset) {
            waited.waiting.push(thread);
        }
    }

    fn change(&self, offset: usize, action: impl FnOnce(&mut Mbarrier) -> bool) -> Progress {
        let mut barriers = self.barriers.borrow_mut();
        let Some(waited) = barriers.get_mut(&offset) else {
            return Progress::Pending;
        };
        if !action(&mut waited.barrier) {
            return Progress::TooMany;
        }
        if !waited.barrier.is_complete() {
            return Progress::Pending;
        }
        waited.barrier.complete();
        waited.arrivals.begin_phase();
        Progress::Complete(std::mem::take(&mut waited.waiting))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::Location;

    #[test]
    fn a_phase_needs_its_arrivals_and_its_bytes() {
        let barriers = Mbarriers::default();
        let arrive = |bytes| {
            let arriver = Arriver { rank: 0, thread: 1 };
            barriers.arrive(8, (1, bytes), arriver, Location::caller())
        };
        barriers.init(8, 1, 0, Location::caller());
        assert!(barriers.get(8).unwrap().is_past(true));
        assert!(!barriers.get(8).unwrap().is_past(false));
        assert_eq!(barriers.land(8, 16), Progress::Pending);
        barriers.wait(8, 5);
        assert_eq!(arrive(16), Progress::Complete(vec![5]));
        assert!(barriers.get(8).unwrap().is_past(false));
        assert_eq!(arrive(4), Progress::Pending);
        assert_eq!(arrive(0), Progress::TooMany);
        assert_eq!(barriers.land(8, 4), Progress::Complete(vec![]));
        assert!(barriers.get(8).unwrap().is_past(true));
    }

    #[test]
    fn the_number_of_one_that_ended_is_free() {
        let barriers = Mbarriers::default();
        let init = |offset| barriers.init(offset, 1, 0, Location::caller());
        assert_eq!([8, 16, 24].map(init), [0, 1, 2]);
        barriers.remove(16);
        assert!(barriers.get(16).is_none());
        assert_eq!([32, 40].map(init), [1, 3]);
    }

    #[test]
    fn words_overlap_within_eight_bytes() {
        let barriers = Mbarriers::default();
        barriers.init(16, 1, 0, Location::caller());
        let found = |offset| barriers.overlapping(offset).map(|(offset, _)| offset);
        assert_eq!([8, 9, 23, 24].map(found), [None, Some(16), Some(16), None]);
    }
}
