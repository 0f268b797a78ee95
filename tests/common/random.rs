//! Numbers that look random and are the same in every run.

use std::ops::RangeInclusive;

/// SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// From -1 to 1.
    pub fn signed_unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Of either sign, with magnitudes from 2^-8 to 2^8: sums of them cancel.
    pub fn wide(&mut self) -> f64 {
        let exponent = (self.bits() % 16) as i32 - 8;
        self.signed_unit() * f64::powi(2.0, exponent)
    }

    /// A number of `range`, which is short.
    pub fn integer(&mut self, range: RangeInclusive<i64>) -> i64 {
        let numbers = (range.end() - range.start() + 1) as u64;
        range.start() + (self.bits() % numbers) as i64
    }
}
