//! Random numbers that are the same in every run.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use std::ops::RangeInclusive;

/// A generator of random numbers: SplitMix64 of Steele, Lea and Flood, "Fast Splittable
/// Pseudorandom Number Generators", 2014.
#[derive(Clone, Debug)]
pub struct Random(SplitMix64);

impl Random {
    /// The generator with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from -1 to 1.
    pub fn signed_unit(&mut self) -> f64 {
        self.symmetric(52)
    }

    /// A number from -1 to 1 that is a multiple of 2^-`bits`; `bits` is at most 63.
    pub fn symmetric(&mut self, bits: u32) -> f64 {
        let numerator = (self.bits() >> (63 - bits)) as i64 - (1 << bits);
        numerator as f64 / (1_u64 << bits) as f64
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

#[cfg(test)]
mod tests {
    use super::Random;

    /// The first outputs of Vigna's public-domain splitmix64.c for the state 1234567.
    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        let mut random = Random::new(1_234_567);
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!([(); 3].map(|()| random.bits()), expected);
    }

    #[test]
    fn units_are_from_minus_one_to_one() {
        let mut random = Random::new(1);
        for bits in [8, 24, 52, 53] {
            let numbers: Vec<f64> = (0..1000).map(|_| random.symmetric(bits)).collect();
            assert!(numbers.iter().all(|number| number.abs() <= 1.0));
            assert!(numbers.iter().any(|number| *number < -0.9));
            assert!(numbers.iter().any(|number| *number > 0.9));
        }
    }
}
