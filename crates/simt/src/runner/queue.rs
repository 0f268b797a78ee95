//! The clusters of a launch that have not started. A launch without clusters has clusters of one
//! block.

use super::run::Run;
use crate::basics::{Permutation, SplitMix64, lock};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The clusters of a launch that have not started, shared by its workers.
pub(crate) struct Queue {
    clusters: u64,
    order: Order,
}

enum Order {
    /// By index, with the number of clusters that have started.
    ByIndex(AtomicU64),
    /// In a drawn order, with whether none are left.
    Drawn(Mutex<Drawn>, AtomicBool),
}

/// Clusters in an order that the seed has drawn.
struct Drawn {
    order: Permutation,
    /// The number that have started in that order.
    started: u64,
    /// The next index. Once a cluster has a defect, only those below it need to run, and they start by index.
    ascending: Option<u64>,
}

impl Queue {
    /// A queue of all clusters of the launch. `random` draws their order, unless they start by
    /// index.
    pub fn new(run: &Run<'_>, random: &mut SplitMix64) -> Self {
        let clusters = run.clusters;
        let order = match run.launch.options.blocks_in_order {
            true => Order::ByIndex(AtomicU64::new(0)),
            false => Order::Drawn(
                Mutex::new(Drawn::new(Permutation::new(clusters, random))),
                AtomicBool::new(clusters == 0),
            ),
        };
        Self { clusters, order }
    }

    /// Takes the number of the next cluster. `is_pointless` tells whether a cluster need not run, because one of a
    /// lower number has a defect. All clusters above a pointless one are pointless.
    pub fn take(&self, is_pointless: impl Fn(u64) -> bool) -> Option<u64> {
        match &self.order {
            Order::ByIndex(started) => {
                let next = started.fetch_add(1, Ordering::Relaxed);
                if next < self.clusters && !is_pointless(next) {
                    return Some(next);
                }
                // The count must never wrap, however often an empty queue is asked, and no worker
                // need look at the clusters behind a pointless one.
                started.store(self.clusters, Ordering::Relaxed);
                None
            }
            Order::Drawn(drawn, is_over) => {
                let mut drawn = lock(drawn);
                let next = drawn.take(self.clusters, is_pointless);
                is_over.store(
                    next.is_none() || drawn.started == self.clusters,
                    Ordering::Relaxed,
                );
                next
            }
        }
    }

    /// Whether no cluster is left.
    pub fn is_empty(&self) -> bool {
        match &self.order {
            Order::ByIndex(started) => started.load(Ordering::Relaxed) >= self.clusters,
            Order::Drawn(_, is_over) => is_over.load(Ordering::Relaxed),
        }
    }
}

impl Drawn {
    fn new(order: Permutation) -> Self {
        Self {
            order,
            started: 0,
            ascending: None,
        }
    }

    fn take(&mut self, clusters: u64, is_pointless: impl Fn(u64) -> bool) -> Option<u64> {
        if self.ascending.is_none() && self.started < clusters {
            let next = self.order.get(self.started);
            if !is_pointless(next) {
                self.started += 1;
                return Some(next);
            }
        }
        let first = self.ascending.unwrap_or(0);
        let has_started = |cluster: &u64| self.order.place_of(*cluster) < self.started;
        let mut left = (first..clusters).take_while(|cluster| !is_pointless(*cluster));
        let next = left.find(|cluster| !has_started(cluster));
        self.ascending = Some(next.map_or(clusters, |next| next + 1));
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn drawn(clusters: u64) -> Drawn {
        Drawn::new(Permutation::new(
            clusters,
            &mut SplitMix64::new(clusters, 3),
        ))
    }

    #[test]
    fn each_cluster_of_a_drawn_order_starts_once() {
        for clusters in [1, 2, 97, 1000] {
            let mut queue = drawn(clusters);
            let mut all: Vec<u64> =
                std::iter::from_fn(|| queue.take(clusters, |_| false)).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..clusters));
        }
    }

    /// After a defect, exactly the clusters below the lowest defect start, each once.
    #[test]
    fn below_a_defect_each_cluster_of_a_drawn_order_starts_once() {
        let clusters = 1000;
        for (after, lowest, then) in [(0, 0, 0), (1, 999, 500), (400, 300, 300), (999, 7, 3)] {
            let mut queue = drawn(clusters);
            let limit = Cell::new(clusters);
            let mut take = || queue.take(clusters, |cluster| cluster > limit.get());
            let mut taken: Vec<u64> = (0..after).map_while(|_| take()).collect();
            limit.set(lowest);
            taken.extend((0..2).map_while(|_| take()));
            limit.set(then);
            let before = taken.len();
            taken.extend(std::iter::from_fn(take));
            assert!(taken[before..].iter().all(|cluster| *cluster <= then));
            let mut needed: Vec<u64> = taken.into_iter().filter(|it| *it <= then).collect();
            needed.sort_unstable();
            assert!(needed.into_iter().eq(0..=then), "{after} {lowest} {then}");
        }
    }

    /// A grid of the largest size ends with its defect.
    #[test]
    fn a_defect_ends_a_long_queue() {
        let clusters = 1 << 40;
        let mut queue = drawn(clusters);
        let limit = Cell::new(clusters);
        let mut count = 0;
        while let Some(cluster) = queue.take(clusters, |cluster| cluster >= limit.get()) {
            limit.set(limit.get().min(cluster));
            count += 1;
        }
        assert_eq!(limit.get(), 0);
        assert!(count < 100, "{count}");
    }
}
