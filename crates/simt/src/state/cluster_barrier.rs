//! The barrier of a cluster, with arrival and wait apart (PTX ISA, "barrier.cluster").

use std::cell::Cell;

/// How many threads of a cluster have arrived at its barrier. Threads that have exited are not
/// waited for.
#[derive(Default)]
pub(crate) struct ClusterBarrier {
    threads: Cell<u32>,
    exited: Cell<u32>,
    arrived: Cell<u32>,
    phase: Cell<u64>,
}

impl ClusterBarrier {
    /// Begins with the first phase, for `threads` threads.
    pub fn begin(&self, threads: u32) {
        self.threads.set(threads);
        self.exited.set(0);
        self.arrived.set(0);
        self.phase.set(0);
    }

    /// How many phases are complete.
    pub fn phase(&self) -> u64 {
        self.phase.get()
    }

    /// How many threads have arrived, and how many will have to.
    pub fn count(&self) -> (u32, u32) {
        (self.arrived.get(), self.threads.get() - self.exited.get())
    }

    /// A thread arrives; returns whether the phase is complete.
    pub fn arrive(&self) -> bool {
        self.arrived.set(self.arrived.get() + 1);
        self.complete()
    }

    /// A thread has exited, which had arrived or not; returns whether the phase is complete.
    pub fn exit(&self, has_arrived: bool) -> bool {
        self.exited.set(self.exited.get() + 1);
        if has_arrived {
            self.arrived.set(self.arrived.get() - 1);
        }
        self.complete()
    }

    fn complete(&self) -> bool {
        let (arrived, required) = self.count();
        let is_complete = arrived != 0 && arrived == required;
        if is_complete {
            self.arrived.set(0);
            self.phase.set(self.phase.get() + 1);
        }
        is_complete
    }
}
