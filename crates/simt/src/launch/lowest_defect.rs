//! The defect of the lowest block with a defect.

use crate::basics::{Defect, lock};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, TryLockError};

/// The defect of a launch's lowest block with a defect, shared by all blocks.
pub(crate) struct LowestDefect {
    /// `u64::MAX` while there is none.
    block: AtomicU64,
    /// None also if the launch has listed an equal defect.
    defect: Mutex<Option<Box<Defect>>>,
}

impl Default for LowestDefect {
    fn default() -> Self {
        Self {
            block: AtomicU64::new(u64::MAX),
            defect: Mutex::default(),
        }
    }
}

impl LowestDefect {
    /// The number of the lowest block with a defect; `u64::MAX` while there is none.
    #[inline]
    pub fn block(&self) -> u64 {
        self.block.load(Ordering::Relaxed)
    }

    /// Notes the defect of block number `block`; none if it is listed already.
    pub fn add(&self, block: u64, defect: impl FnOnce() -> Option<Box<Defect>>) {
        let mut lowest = lock(&self.defect);
        if self.block.fetch_min(block, Ordering::Relaxed) > block {
            *lowest = defect();
        }
    }

    /// Takes the defect out.
    pub fn take(&self) -> Option<Box<Defect>> {
        lock(&self.defect).take()
    }

    /// The defect in words; none while a block adds one.
    pub fn describe(&self) -> Option<String> {
        let lowest = match self.defect.try_lock() {
            Ok(lowest) => lowest,
            Err(TryLockError::Poisoned(lowest)) => lowest.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        lowest.as_ref().map(|defect| defect.to_string())
    }
}
