//! A hash of numbers that costs little.

use crate::basics::spread;
use std::hash::Hasher;

/// Spreads numbers of regions and addresses: one multiplication, and the high bits folded down.
#[derive(Default)]
pub(super) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        let spread = spread(self.0 ^ number as u64);
        self.0 = spread ^ (spread >> 32);
    }
}
