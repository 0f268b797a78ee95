//! What a scan adds.

use cuda_std::float::Float;
use cuda_std::hint::{opaque, opaque_size};
use cuda_std::warp::{Exchange, LaneValue};

/// An element of a scan: a float, or an unsigned integer that stands for the signed one, too.
pub trait Summand: LaneValue + Exchange {
    /// What changes no sum, but for the sign of zero.
    const ZERO: Self;

    /// Words of 64 bits that hand a value from block to block: one for each 32 bits of it.
    const WORDS: usize = size_of::<Self>() / 4;

    /// The sum: rounded to nearest, or wrapping.
    #[must_use]
    fn plus(self, other: Self) -> Self;

    /// The same value with the one canonical NaN for every NaN.
    #[must_use]
    fn finished(self) -> Self;

    /// The same value, computed where it stands and no later, when both of its operands would have to
    /// be kept in registers for it.
    #[must_use]
    fn settled(self) -> Self;
}

macro_rules! summands {
    ($($element:ty: $plus:expr, $finished:expr, $settled:expr;)*) => {$(
        impl Summand for $element {
            const ZERO: Self = 0 as Self;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                $plus(self, other)
            }

            #[inline(always)]
            fn finished(self) -> Self {
                $finished(self)
            }

            #[inline(always)]
            fn settled(self) -> Self {
                $settled(self)
            }
        }
    )*};
}
summands! {
    f32: core::ops::Add::add, Float::canonical_nan, |sum: f32| f32::from_bits(opaque(sum.to_bits()));
    f64: core::ops::Add::add, Float::canonical_nan, |sum: f64| f64::from_bits(settled_u64(sum.to_bits()));
    u32: u32::wrapping_add, core::convert::identity, opaque;
    u64: u64::wrapping_add, core::convert::identity, settled_u64;
}

#[inline(always)]
fn settled_u64(bits: u64) -> u64 {
    opaque_size(bits as usize) as u64
}
