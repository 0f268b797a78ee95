//! Unevaluated sums of two numbers, for extra precision.
//!
//! (Dekker, A Floating-Point Technique for Extending the Available Precision, 1971; Ogita, Rump and Oishi,
//! Accurate Sum and Dot Product, 2005, for the product by a fused multiply-add.)

use crate::float::Float;

/// `high + low`, where `low` is about a unit in the last place of `high`, or less.
#[derive(Clone, Copy)]
pub(super) struct Parts<F> {
    pub high: F,
    pub low: F,
}

macro_rules! parts {
    ($($float:ident)*) => {$(
        impl Parts<$float> {
            /// `larger + smaller`, exactly, if |`larger`| is the larger or a power of two.
            #[inline(always)]
            pub fn sum(larger: $float, smaller: $float) -> Self {
                let high = larger + smaller;
                Self { high, low: smaller - (high - larger) }
            }

            /// `left + right`, exactly, for any magnitudes.
            #[inline(always)]
            pub fn sum_of_any(left: $float, right: $float) -> Self {
                let [high, low] = left.two_sum(right);
                Self { high, low }
            }

            /// `left * right`, exactly.
            #[inline(always)]
            #[track_caller]
            pub fn product(left: $float, right: $float) -> Self {
                let high = left * right;
                Self { high, low: Float::mul_add(left, right, -high) }
            }

            /// The product, up to a rounding of its lower part.
            #[inline(always)]
            #[track_caller]
            pub fn times(self, other: Self) -> Self {
                let Self { high, low } = Self::product(self.high, other.high);
                let low = Float::mul_add(self.low, other.high, low);
                Self { high, low: Float::mul_add(self.high, other.low, low) }
            }

            /// Adds `more` to the lower part.
            #[inline(always)]
            pub fn plus_little(self, more: $float) -> Self {
                Self { low: self.low + more, ..self }
            }
        }
    )*};
}
parts!(f32 f64);
