//! Elements of scans.

use cuda_std::float::Float;
use cuda_std::warp::{Exchange, LaneValue};

/// An element of a scan: a float, or an unsigned integer, which is also used for signed ones.
pub trait ScanElement: LaneValue + Exchange {
    /// The neutral element, except for the sign of zero.
    const ZERO: Self;

    /// 64-bit words that carry a value from block to block: one for each 32 bits of it.
    const WORDS: usize = size_of::<Self>() / 4;

    /// The sum: rounded to nearest, or wrapping.
    #[must_use]
    fn plus(self, other: Self) -> Self;

    /// The same value, or the canonical NaN for every NaN.
    #[must_use]
    fn finished(self) -> Self;
}

macro_rules! scan_elements {
    ($($element:ty: $plus:expr, $finished:expr;)*) => {$(
        impl ScanElement for $element {
            const ZERO: Self = 0 as Self;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                $plus(self, other)
            }

            #[inline(always)]
            fn finished(self) -> Self {
                $finished(self)
            }
        }
    )*};
}
scan_elements! {
    f32: core::ops::Add::add, Float::canonical_nan;
    f64: core::ops::Add::add, Float::canonical_nan;
    u32: u32::wrapping_add, core::convert::identity;
    u64: u64::wrapping_add, core::convert::identity;
}
