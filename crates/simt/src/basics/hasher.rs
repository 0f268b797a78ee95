//! A cheap hash of numbers.

use super::random::spread;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by number: of regions, addresses, blocks.
pub(crate) type NumberMap<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// Spreads numbers of regions and addresses: one multiplication, and the high bits folded down. Sequences that differ in
/// one number have different hashes.
#[derive(Default)]
pub(crate) struct NumberHasher(u64);

/// Each number in one step.
macro_rules! write_numbers {
    ($($name:ident: $number:ty;)*) => {$(
        #[inline]
        fn $name(&mut self, number: $number) {
            let spread = spread(self.0 ^ number as u64);
            self.0 = spread ^ (spread >> 32);
        }
    )*};
}

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u8(*byte));
    }

    write_numbers! {
        write_u8: u8;
        write_u16: u16;
        write_u32: u32;
        write_u64: u64;
        write_usize: usize;
    }
}
