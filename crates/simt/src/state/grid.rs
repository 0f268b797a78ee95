//! State that the blocks of a cooperative launch share.

use std::cell::Cell;

/// Arrivals of the blocks of a cooperative launch at the barrier of the grid.
#[derive(Default)]
pub(crate) struct Grid {
    /// The number of blocks whose threads all wait at the barrier of the grid.
    blocks: Cell<u64>,
    /// Threads that wait there.
    threads: Cell<u64>,
    /// Threads that have exited.
    exited: Cell<u64>,
}

impl Grid {
    /// Notes the arrival of a thread at the barrier of the grid, perhaps the last of its block.
    pub fn note_arrival(&self, block_is_complete: bool) {
        self.threads.set(self.threads.get() + 1);
        if block_is_complete {
            self.blocks.set(self.blocks.get() + 1);
        }
    }

    /// Notes the exit of a thread.
    pub fn note_exit(&self) {
        self.exited.set(self.exited.get() + 1);
    }

    /// The number of blocks whose threads all wait.
    pub fn waiting_blocks(&self) -> u64 {
        self.blocks.get()
    }

    /// Whether a thread waits.
    pub fn is_waited_at(&self) -> bool {
        self.threads.get() != 0
    }

    /// Whether a thread waits for one that has exited.
    pub fn is_missed(&self) -> bool {
        self.is_waited_at() && self.exited.get() != 0
    }

    /// Releases all threads of the grid.
    pub fn leave(&self) {
        self.blocks.set(0);
        self.threads.set(0);
    }
}
