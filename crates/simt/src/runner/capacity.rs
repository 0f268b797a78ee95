//! The simulated device's capacity for clusters of a launch, over all host threads.

use crate::launch::Launch;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The number of a launch's clusters that the simulated device can hold, and the number that are resident.
pub(crate) struct Capacity {
    /// Whether clusters interleave. Otherwise each host thread runs one to its end, and may do so even if the device
    /// holds fewer.
    is_limited: bool,
    /// The number of clusters that fit, as far as is known.
    most: AtomicUsize,
    resident: AtomicUsize,
    /// Host threads that run resident clusters.
    workers: AtomicUsize,
    /// The most static shared memory that a block has used so far, in bytes. It is known only once the threads have
    /// reached the arrays.
    static_bytes: AtomicUsize,
    /// Whether a thread has run.
    has_run: AtomicBool,
}

impl Capacity {
    /// The capacity for a launch before any cluster has started.
    pub fn new(launch: &Launch<'_>) -> Self {
        Self {
            is_limited: launch.is_preemptive(),
            most: AtomicUsize::new(clusters_that_fit(launch, 0)),
            resident: AtomicUsize::new(0),
            workers: AtomicUsize::new(0),
            static_bytes: AtomicUsize::new(0),
            has_run: AtomicBool::new(false),
        }
    }

    /// The number of clusters that fit, as far as is known.
    pub fn most(&self) -> usize {
        self.most.load(Relaxed)
    }

    /// Adds a host thread that runs resident clusters.
    pub fn add_worker(&self) {
        self.workers.fetch_add(1, Relaxed);
    }

    /// Whether a host thread that runs `own` clusters may start another: the device holds one more, the other host
    /// threads keep their share, and the first cluster has run and shown its static memory.
    pub fn admits_another(&self, own: usize) -> bool {
        if !self.is_limited {
            return true;
        }
        let (most, resident) = (self.most(), self.resident.load(Relaxed));
        let share = most.div_ceil(self.workers.load(Relaxed).max(1));
        own < share && resident < most && (resident == 0 || self.has_run.load(Relaxed))
    }

    /// Admits a cluster, if it fits.
    pub fn enter(&self) -> bool {
        let most = self.most();
        let one_more = |resident| (resident < most || !self.is_limited).then_some(resident + 1);
        self.resident
            .fetch_update(Relaxed, Relaxed, one_more)
            .is_ok()
    }

    /// Notes that a cluster has ended, or did not start.
    pub fn leave(&self) {
        self.resident.fetch_sub(1, Relaxed);
    }

    /// Notes that threads of a block with `static_bytes` of static memory have run; returns whether that is more than
    /// before.
    pub fn note_turn(&self, launch: &Launch<'_>, static_bytes: usize) -> bool {
        if !self.has_run.load(Relaxed) {
            self.has_run.store(true, Relaxed);
        }
        let is_more = static_bytes > self.static_bytes.load(Relaxed)
            && self.static_bytes.fetch_max(static_bytes, Relaxed) < static_bytes;
        if is_more {
            self.most
                .fetch_min(clusters_that_fit(launch, static_bytes), Relaxed);
        }
        is_more
    }
}

/// The number of clusters that fit with this much static memory per block; at least one.
fn clusters_that_fit(launch: &Launch<'_>, static_bytes: usize) -> usize {
    let blocks = launch.cluster.count() as usize;
    (launch.resident_blocks(static_bytes) as usize / blocks).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Profile;
    use crate::launch::Options;

    #[test]
    fn each_host_thread_has_its_share_of_the_device() {
        let options = Options {
            multiprocessors: 3,
            profile: Profile::A100,
            seed: 1,
            ..Options::default()
        };
        let launch = Launch {
            dynamic_shared_bytes: 40 << 10,
            ..Launch::new("capacity", 100, 64, &options)
        };
        let capacity = Capacity::new(&launch);
        (0..2).for_each(|_| capacity.add_worker());
        assert!(capacity.admits_another(0) && capacity.enter() && !capacity.admits_another(1));
        assert!(capacity.note_turn(&launch, 1000) && !capacity.note_turn(&launch, 1000));
        // 40 KiB, 1000 bytes, and 1 KiB for each block; an A100 has 164 KiB.
        assert_eq!(capacity.most(), 9);
        assert!((1..9).all(|_| capacity.admits_another(4) && capacity.enter()));
        assert!(!capacity.admits_another(0) && !capacity.enter());
        capacity.leave();
        assert!(capacity.admits_another(4) && !capacity.admits_another(5));
    }
}
