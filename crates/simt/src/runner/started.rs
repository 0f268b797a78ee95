//! The started blocks of a launch, for reports about threads that wait for blocks not yet started.

use std::array::from_fn;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The number of leading blocks that are tracked individually; the others are only counted.
const KNOWN_BLOCKS: u64 = 4096;

/// The started blocks of a launch.
pub(super) struct Started {
    count: AtomicU64,
    /// A bit for each of the first blocks.
    first: [AtomicU64; KNOWN_BLOCKS as usize / 64],
}

impl Default for Started {
    fn default() -> Self {
        Self {
            count: AtomicU64::new(0),
            first: from_fn(|_| AtomicU64::new(0)),
        }
    }
}

impl Started {
    /// Notes that block number `block` has started.
    pub fn add(&self, block: u64) {
        self.count.fetch_add(1, Relaxed);
        if let Some(bits) = self.first.get(block as usize / 64) {
            bits.fetch_or(1 << (block % 64), Relaxed);
        }
    }

    /// The number of blocks among `blocks` that have not started.
    pub fn absent(&self, blocks: u64) -> u64 {
        blocks.saturating_sub(self.count.load(Relaxed))
    }

    /// The first absent blocks among the individually tracked ones.
    pub fn first_absent(&self, blocks: u64) -> impl Iterator<Item = u64> {
        let has_started =
            |block: u64| self.first[block as usize / 64].load(Relaxed) >> (block % 64) & 1 == 1;
        (0..blocks.min(KNOWN_BLOCKS)).filter(move |block| !has_started(*block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_have_not_started_are_known() {
        let started = Started::default();
        for block in [0, 2, 64, 1 << 40] {
            started.add(block);
        }
        assert_eq!(started.absent(67), 63);
        assert!(started.first_absent(5).eq([1, 3, 4]));
        assert!(started.first_absent(67).skip(62).eq([65, 66]));
        assert_eq!(
            started.first_absent(u64::MAX).last(),
            Some(KNOWN_BLOCKS - 1)
        );
    }
}
