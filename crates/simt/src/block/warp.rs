//! A warp: the lanes that are scheduled together.

use crate::state::{Collectives, Convergence};
use std::cell::Cell;

/// The lanes that are scheduled together.
pub(crate) struct Warp {
    /// The lanes that exist: the last warp of a block may have fewer.
    pub existing: u64,
    /// Lanes that have returned from the kernel.
    pub exited: Cell<u64>,
    /// Lanes that can run.
    pub ready: Cell<u64>,
    /// Lanes that can run at the warp's next turn.
    pub yielded: Cell<u64>,
    /// Lanes that were switched in the middle of a turn, and are held back while others can run.
    pub held: Cell<u64>,
    /// Lanes that wait for those at the same line.
    pub convergence: Convergence,
    pub collectives: Collectives,
}

impl Warp {
    /// A warp of `lanes` lanes, before any of them can run.
    pub fn new(lanes: u32) -> Self {
        Self {
            existing: low_bits(lanes),
            exited: Cell::new(0),
            ready: Cell::new(0),
            yielded: Cell::new(0),
            held: Cell::new(0),
            convergence: Convergence::default(),
            collectives: Collectives::default(),
        }
    }

    /// All lanes can start.
    pub fn begin(&mut self) {
        self.ready.set(self.existing);
        self.exited.set(0);
        self.yielded.set(0);
        self.held.set(0);
        self.convergence.clear();
        self.collectives.clear();
    }

    /// Lanes that exist and have not exited.
    pub fn active(&self) -> u64 {
        self.existing & !self.exited.get()
    }
}

/// A mask of the `count` lowest bits; `count` is 1 to 64.
pub(crate) fn low_bits(count: u32) -> u64 {
    u64::MAX >> (64 - count)
}
