//! Values that scans combine: what goes from lane to lane and from block to block.

use bytemuck::Zeroable as _;
use cuda_std::Pod;
use cuda_std::prelude::*;
use cuda_std::warp::{self, Exchange, LaneValue};
use half::{bf16, f16};

/// Bits of a value in one word of the state.
const HALF_BYTES: usize = 4;

/// An accumulator of a scan: a number or an array of numbers.
pub trait ScanValue: Pod + Exchange {
    /// 64-bit words that carry a value from block to block: one for each 32 bits of a number.
    const WORDS: usize;

    /// The 32 bits of word `number`.
    #[doc(hidden)]
    fn to_word(self, number: usize) -> u32;

    /// The value of these words.
    #[doc(hidden)]
    fn of_words(word: impl Fn(usize) -> u32) -> Self;

    /// The value of lane `lane` of a segment of `width` lanes.
    #[doc(hidden)]
    #[track_caller]
    fn of_lane(self, lane: u32, width: u32) -> Self;

    /// The value of the lane `delta` below in a segment of `width` lanes, or the caller's own.
    #[doc(hidden)]
    #[track_caller]
    fn of_lane_below(self, delta: u32, width: u32) -> Self;

    /// The value of the lane that differs in the bits of `lanes`.
    #[doc(hidden)]
    #[track_caller]
    fn of_other_lane(self, lanes: u32, width: u32) -> Self;
}

/// A number of a scan.
trait Number: LaneValue {}

macro_rules! numbers {
    ($($number:ident)*) => {$(
        impl Number for $number {}

        impl ScanValue for $number {
            const WORDS: usize = words_of::<$number>();

            #[inline(always)]
            fn to_word(self, number: usize) -> u32 {
                (self.to_lane_bits() >> (32 * number)) as u32
            }

            #[inline(always)]
            fn of_words(word: impl Fn(usize) -> u32) -> Self {
                let mut bits = 0;
                let mut number = 0;
                while number < Self::WORDS {
                    bits |= u64::from(word(number)) << (32 * number);
                    number += 1;
                }
                Self::from_lane_bits(bits)
            }

            #[inline(always)]
            #[track_caller]
            fn of_lane(self, lane: u32, width: u32) -> Self {
                warp::shuffle_width(LaneMask::all(), self, lane, width)
            }

            #[inline(always)]
            #[track_caller]
            fn of_lane_below(self, delta: u32, width: u32) -> Self {
                warp::shuffle_up_in(LaneMask::all(), self, delta, width)
            }

            #[inline(always)]
            #[track_caller]
            fn of_other_lane(self, lanes: u32, width: u32) -> Self {
                warp::shuffle_xor_in(LaneMask::all(), self, lanes, width)
            }
        }
    )*};
}
numbers! { u8 i8 u16 i16 f16 bf16 u32 i32 f32 u64 i64 f64 }

/// Words of a number.
const fn words_of<T>() -> usize {
    size_of::<T>().div_ceil(HALF_BYTES)
}

impl<T: Number + ScanValue, const N: usize> ScanValue for [T; N] {
    const WORDS: usize = N * words_of::<T>();

    #[inline(always)]
    fn to_word(self, number: usize) -> u32 {
        self[number / words_of::<T>()].to_word(number % words_of::<T>())
    }

    #[inline(always)]
    fn of_words(word: impl Fn(usize) -> u32) -> Self {
        let mut values = Self::zeroed();
        let mut number = 0;
        while number < N {
            values[number] = T::of_words(|part| word(number * words_of::<T>() + part));
            number += 1;
        }
        values
    }

    #[inline(always)]
    #[track_caller]
    fn of_lane(self, lane: u32, width: u32) -> Self {
        let mut values = self;
        let mut number = 0;
        // No closure: the simulator would report its location.
        while number < N {
            values[number] = values[number].of_lane(lane, width);
            number += 1;
        }
        values
    }

    #[inline(always)]
    #[track_caller]
    fn of_lane_below(self, delta: u32, width: u32) -> Self {
        let mut values = self;
        let mut number = 0;
        while number < N {
            values[number] = values[number].of_lane_below(delta, width);
            number += 1;
        }
        values
    }

    #[inline(always)]
    #[track_caller]
    fn of_other_lane(self, lanes: u32, width: u32) -> Self {
        let mut values = self;
        let mut number = 0;
        while number < N {
            values[number] = values[number].of_other_lane(lanes, width);
            number += 1;
        }
        values
    }
}
