//! The blocks of a launch that have not started.

use super::run::Run;
use crate::basics::{Permutation, SplitMix64};
use std::sync::atomic::{AtomicU64, Ordering};

/// The blocks of a launch that have not started, shared by its workers.
pub(crate) struct Queue {
    started: AtomicU64,
    blocks: u64,
    /// None where blocks start in the order of their index.
    order: Option<Permutation>,
}

impl Queue {
    /// All blocks of the launch. `random` draws their order, where they have one of their own.
    pub fn new(run: &Run<'_>, random: &mut SplitMix64) -> Self {
        let in_order = run.launch.options.blocks_in_order;
        Self {
            started: AtomicU64::new(0),
            blocks: run.blocks,
            order: (!in_order).then(|| Permutation::new(run.blocks, random)),
        }
    }

    /// The index of the next block, which is started.
    pub fn take(&self) -> Option<u64> {
        let place = self.started.fetch_add(1, Ordering::Relaxed);
        if place >= self.blocks {
            // So that the count never wraps, however often empty queues are asked.
            self.started.store(self.blocks, Ordering::Relaxed);
            return None;
        }
        Some(self.order.as_ref().map_or(place, |order| order.get(place)))
    }

    /// Whether all blocks have started.
    pub fn is_empty(&self) -> bool {
        self.started.load(Ordering::Relaxed) >= self.blocks
    }
}
