//! The barrier of a cluster, with separate arrival and wait (PTX ISA, "barrier.cluster").

use std::cell::Cell;

/// The barrier of a cluster, which counts arrivals. It does not wait for exited threads.
#[derive(Default)]
pub(crate) struct ClusterBarrier {
    arrived: Cell<u32>,
    phase: Cell<u64>,
}

impl ClusterBarrier {
    /// Begins with the first phase.
    pub fn begin(&self) {
        self.arrived.set(0);
        self.phase.set(0);
    }

    /// The number of complete phases.
    pub fn phase(&self) -> u64 {
        self.phase.get()
    }

    /// Adds an arrival.
    pub fn arrive(&self) {
        self.arrived.set(self.arrived.get() + 1);
    }

    /// Removes the arrival of a thread that has exited in this phase.
    pub fn withdraw(&self, phase: u64) {
        if phase == self.phase.get() {
            self.arrived.set(self.arrived.get() - 1);
        }
    }

    /// Begins the next phase if `required` threads have arrived; returns whether it did.
    pub fn is_complete(&self, required: u32) -> bool {
        let arrived = self.arrived.get();
        let is_complete = arrived != 0 && arrived == required;
        if is_complete {
            self.arrived.set(0);
            self.phase.set(self.phase.get() + 1);
        }
        is_complete
    }
}

#[cfg(test)]
mod tests {
    use super::ClusterBarrier;

    #[test]
    fn a_phase_needs_the_threads_that_are_left() {
        let barrier = ClusterBarrier::default();
        barrier.arrive();
        assert!(!barrier.is_complete(2));
        barrier.withdraw(0);
        assert!(!barrier.is_complete(1));
        barrier.arrive();
        assert!(barrier.is_complete(1));
        barrier.withdraw(0);
        assert_eq!(barrier.phase(), 1);
    }
}
