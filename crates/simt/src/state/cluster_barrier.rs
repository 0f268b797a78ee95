//! The barrier of a cluster, with separate arrival and wait (PTX ISA, "barrier.cluster").

use std::cell::Cell;

/// How many threads of a cluster have arrived at its barrier. Threads that have exited are not
/// waited for.
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

    /// How many phases are complete.
    pub fn phase(&self) -> u64 {
        self.phase.get()
    }

    /// A thread arrives.
    pub fn arrive(&self) {
        self.arrived.set(self.arrived.get() + 1);
    }

    /// A thread has exited that had arrived in this phase.
    pub fn withdraw(&self, phase: u64) {
        if phase == self.phase.get() {
            self.arrived.set(self.arrived.get() - 1);
        }
    }

    /// Whether the phase is complete with the arrivals of `required` threads: the next one begins.
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
