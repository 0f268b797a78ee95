//! The keys of elements, and their digits.

use super::plan::{DIGIT_BITS, DIGITS, MOST_OF_CHUNK, PLACE_DIGITS};

/// A key, or its first digits: the rank, and a number that is higher for lower places.
#[derive(Clone, Copy)]
pub struct Key {
    rank: u64,
    place: u32,
}

impl Key {
    /// Before any digit is known.
    pub const NOTHING: Self = Self { rank: 0, place: 0 };

    /// The element with this rank at `place` of its chunk.
    #[inline(always)]
    pub fn new(rank: u64, place: usize) -> Self {
        Self {
            rank,
            place: (MOST_OF_CHUNK - 1 - place) as u32,
        }
    }

    /// Digit number `digit`, of which the first `of_rank` are the rank's.
    #[inline(always)]
    pub fn digit(self, digit: u32, of_rank: u32) -> u32 {
        let shifted = if digit < of_rank {
            self.rank >> (DIGIT_BITS * (of_rank - 1 - digit))
        } else {
            u64::from(self.place >> (DIGIT_BITS * (of_rank + PLACE_DIGITS - 1 - digit)))
        };
        shifted as u32 & (DIGITS as u32 - 1)
    }

    /// The first `digits` digits; the others are 0.
    #[inline(always)]
    pub fn first(self, digits: u32, of_rank: u32) -> Self {
        if digits == 0 {
            return Self { rank: 0, place: 0 };
        }
        if digits <= of_rank {
            let cut = DIGIT_BITS * (of_rank - digits);
            return Self {
                rank: self.rank >> cut << cut,
                place: 0,
            };
        }
        let cut = DIGIT_BITS * (of_rank + PLACE_DIGITS - digits);
        Self {
            rank: self.rank,
            place: self.place >> cut << cut,
        }
    }

    /// With digit number `digit`, which was 0.
    #[inline(always)]
    pub fn with(self, digit: u32, value: u32, of_rank: u32) -> Self {
        if digit < of_rank {
            let shift = DIGIT_BITS * (of_rank - 1 - digit);
            return Self {
                rank: self.rank | u64::from(value) << shift,
                ..self
            };
        }
        let shift = DIGIT_BITS * (of_rank + PLACE_DIGITS - 1 - digit);
        Self {
            place: self.place | value << shift,
            ..self
        }
    }

    #[inline(always)]
    pub fn is(self, other: Self) -> bool {
        self.rank == other.rank && self.place == other.place
    }

    #[inline(always)]
    pub fn is_at_least(self, other: Self) -> bool {
        self.rank > other.rank || (self.rank == other.rank && self.place >= other.place)
    }
}
