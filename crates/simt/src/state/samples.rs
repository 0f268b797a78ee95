//! Samples of the places at which a signal handler has interrupted a block.

use super::progress::NEVER;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The number of samples. The shallowest of the interrupted frames is the looping function's.
const SAMPLES: u32 = 32;

/// Stack pointers of a block, sampled while it makes no progress.
pub(crate) struct Samples {
    /// The progress at which they were sampled.
    progress: AtomicU64,
    count: AtomicU32,
    shallowest: AtomicUsize,
}

impl Samples {
    pub fn new() -> Self {
        Self {
            progress: AtomicU64::new(NEVER),
            count: AtomicU32::new(0),
            shallowest: AtomicUsize::new(0),
        }
    }

    /// Adds a sample; returns whether it is in the looping function's frame.
    pub fn add(&self, progress: u64, stack: usize) -> bool {
        if self.progress.swap(progress, Relaxed) != progress {
            self.count.store(0, Relaxed);
            self.shallowest.store(0, Relaxed);
        }
        let before = self.shallowest.fetch_max(stack, Relaxed);
        self.count.fetch_add(1, Relaxed) >= SAMPLES && stack >= before
    }
}
