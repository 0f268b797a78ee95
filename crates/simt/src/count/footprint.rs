//! The distinct sectors of global memory that a launch touches.

use super::span::Span;
use super::tally::SECTOR_BYTES;
use std::collections::HashMap;

const SECTOR_SHIFT: u32 = SECTOR_BYTES.ilog2();

/// A set of sectors: a bitmap for each group of 128 sectors (4 KiB) that is touched.
#[derive(Default)]
pub(crate) struct Footprint {
    bitmaps: HashMap<u64, u128>,
}

impl Footprint {
    /// Adds the sectors that sorted `spans` touch.
    pub fn add(&mut self, spans: &[Span]) {
        let (mut page, mut bits) = (u64::MAX, 0_u128);
        for span in spans {
            for sector in span.first() >> SECTOR_SHIFT..=span.last() >> SECTOR_SHIFT {
                if sector >> 7 != page {
                    self.add_bits(page, bits);
                    (page, bits) = (sector >> 7, 0);
                }
                bits |= 1 << (sector & 127);
            }
        }
        self.add_bits(page, bits);
    }

    fn add_bits(&mut self, page: u64, bits: u128) {
        if bits != 0 {
            *self.bitmaps.entry(page).or_default() |= bits;
        }
    }

    /// Adds the sectors of another set.
    pub fn merge(&mut self, other: &Self) {
        for (page, bits) in &other.bitmaps {
            self.add_bits(*page, *bits);
        }
    }

    /// The number of sectors.
    pub fn sectors(&self) -> u64 {
        let ones = |bits: &u128| u64::from(bits.count_ones());
        self.bitmaps.values().map(ones).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::{Footprint, Span};

    #[test]
    fn a_sector_counts_once() {
        let mut footprint = Footprint::default();
        footprint.add(&[Span::new(0x1000, 4), Span::new(0x1004, 4)]);
        footprint.add(&[Span::new(0x101c, 8), Span::new(0x9000, 64)]);
        assert_eq!(footprint.sectors(), 4);
        let mut other = Footprint::default();
        other.add(&[Span::new(0x1000, 4), Span::new(0x20, 1)]);
        other.merge(&footprint);
        assert_eq!(other.sectors(), 5);
    }
}
