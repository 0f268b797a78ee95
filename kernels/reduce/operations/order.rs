//! The order of minima and maxima: elements as unsigned integers, so that a comparison is one instruction, with the
//! same result on every machine.

use cuda_std::Pod;
use cuda_std::warp::{Exchange, LaneValue};
use half::{bf16, f16};

/// An unsigned integer that elements are compared as.
pub trait Rank: LaneValue + Ord + core::ops::Not<Output = Self> {
    /// Below or equal to every rank.
    const LOWEST: Self;

    /// Above or equal to every rank.
    const HIGHEST: Self;

    /// A rank with an index, in words without padding.
    type Placed: Exchange;

    /// The lowest rank, with an index after all others.
    const NOWHERE: Self::Placed;

    /// The rank with its element's index.
    #[must_use]
    fn at(self, index: u64) -> Self::Placed;

    /// The rank and the index.
    #[must_use]
    fn of_placed(placed: Self::Placed) -> (Self, u64);
}

impl Rank for u32 {
    const LOWEST: Self = 0;
    const HIGHEST: Self = Self::MAX;
    type Placed = [u32; 3];
    const NOWHERE: [u32; 3] = [0, u32::MAX, u32::MAX];

    #[inline(always)]
    fn at(self, index: u64) -> [u32; 3] {
        [self, index as u32, (index >> 32) as u32]
    }

    #[inline(always)]
    fn of_placed([rank, low, high]: [u32; 3]) -> (Self, u64) {
        (rank, u64::from(low) | u64::from(high) << 32)
    }
}

impl Rank for u64 {
    const LOWEST: Self = 0;
    const HIGHEST: Self = Self::MAX;
    type Placed = [u64; 2];
    const NOWHERE: [u64; 2] = [0, u64::MAX];

    #[inline(always)]
    fn at(self, index: u64) -> [u64; 2] {
        [self, index]
    }

    #[inline(always)]
    fn of_placed([rank, index]: [u64; 2]) -> (Self, u64) {
        (rank, index)
    }
}

/// An element with an order.
pub trait Ordered: Pod {
    /// The type that elements are compared as.
    type Rank: Rank;

    /// The rank in ascending order, with -0 before +0. Unspecified for a NaN.
    #[must_use]
    fn rank(self) -> Self::Rank;

    /// The element of a rank, or the canonical NaN for the rank of a NaN.
    #[must_use]
    fn of_rank(rank: Self::Rank) -> Self;

    /// Whether the element is a NaN.
    #[must_use]
    fn is_no_number(self) -> bool;

    /// Replaces -0 by +0.
    #[must_use]
    fn without_negative_zero(self) -> Self;
}

/// A floating-point element. Magnitudes are ordered as their bits, with NaN above all.
pub trait Magnitude: Pod {
    /// The bits without the sign.
    type Bits: Rank;

    /// The bits without the sign.
    #[must_use]
    fn magnitude(self) -> Self::Bits;

    /// The element of these bits, or the canonical NaN for the bits of a NaN.
    #[must_use]
    fn of_magnitude(bits: Self::Bits) -> Self;
}

macro_rules! ordered_floats {
    ($($float:ty: $bits:ty => $rank:ty, infinity = $infinity:literal;)*) => {$(
        impl Ordered for $float {
            type Rank = $rank;

            #[inline(always)]
            fn rank(self) -> $rank {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                let bits = self.to_bits();
                let flipped = if bits & SIGN == 0 { SIGN } else { <$bits>::MAX };
                <$rank>::from(bits ^ flipped)
            }

            #[inline(always)]
            fn of_rank(rank: $rank) -> Self {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                let bits = rank as $bits;
                let flipped = if bits & SIGN == 0 { <$bits>::MAX } else { SIGN };
                let element = Self::from_bits(bits ^ flipped);
                if element.is_no_number() {
                    Self::from_bits(!SIGN)
                } else {
                    element
                }
            }

            #[inline(always)]
            fn is_no_number(self) -> bool {
                self.magnitude() > $infinity
            }

            #[inline(always)]
            fn without_negative_zero(self) -> Self {
                if self.magnitude() == 0 {
                    Self::from_bits(0)
                } else {
                    self
                }
            }
        }

        impl Magnitude for $float {
            type Bits = $rank;

            #[inline(always)]
            fn magnitude(self) -> $rank {
                <$rank>::from(self.to_bits() & (<$bits>::MAX >> 1))
            }

            #[inline(always)]
            fn of_magnitude(bits: $rank) -> Self {
                if bits > $infinity {
                    Self::from_bits(<$bits>::MAX >> 1)
                } else {
                    Self::from_bits(bits as $bits)
                }
            }
        }
    )*};
}
ordered_floats! {
    f32: u32 => u32, infinity = 0x7f80_0000;
    f64: u64 => u64, infinity = 0x7ff0_0000_0000_0000;
    f16: u16 => u32, infinity = 0x7c00;
    bf16: u16 => u32, infinity = 0x7f80;
}

macro_rules! ordered_integers {
    ($($integer:ty => $rank:ty, lowest = $lowest:expr;)*) => {$(
        impl Ordered for $integer {
            type Rank = $rank;

            #[inline(always)]
            fn rank(self) -> $rank {
                self as $rank ^ $lowest
            }

            #[inline(always)]
            fn of_rank(rank: $rank) -> Self {
                (rank ^ $lowest) as Self
            }

            #[inline(always)]
            fn is_no_number(self) -> bool {
                false
            }

            #[inline(always)]
            fn without_negative_zero(self) -> Self {
                self
            }
        }
    )*};
}
ordered_integers! {
    i8 => u32, lowest = 1 << 31;
    u8 => u32, lowest = 0;
    i16 => u32, lowest = 1 << 31;
    u16 => u32, lowest = 0;
    i32 => u32, lowest = 1 << 31;
    u32 => u32, lowest = 0;
    i64 => u64, lowest = 1 << 63;
    u64 => u64, lowest = 0;
}
