//! The clusters of a launch that have not started: single blocks where it has none.

use super::run::Run;
use crate::basics::{Permutation, SplitMix64};
use std::sync::atomic::{AtomicU64, Ordering};

/// The clusters of a launch that have not started, shared by its workers.
pub(crate) struct Queue {
    started: AtomicU64,
    clusters: u64,
    /// None where they start in the order of their index.
    order: Option<Permutation>,
}

impl Queue {
    /// All clusters of the launch. `random` draws their order, where they have one of their own.
    pub fn new(run: &Run<'_>, random: &mut SplitMix64) -> Self {
        let in_order = run.launch.options.blocks_in_order;
        Self {
            started: AtomicU64::new(0),
            clusters: run.clusters,
            order: (!in_order).then(|| Permutation::new(run.clusters, random)),
        }
    }

    /// The number of the next cluster, which is started.
    pub fn take(&self) -> Option<u64> {
        let place = self.started.fetch_add(1, Ordering::Relaxed);
        if place >= self.clusters {
            // So that the count never wraps, however often empty queues are asked.
            self.started.store(self.clusters, Ordering::Relaxed);
            return None;
        }
        Some(self.order.as_ref().map_or(place, |order| order.get(place)))
    }

    /// Whether all clusters have started.
    pub fn is_empty(&self) -> bool {
        self.started.load(Ordering::Relaxed) >= self.clusters
    }
}
