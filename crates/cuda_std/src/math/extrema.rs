//! Minima and maxima.

use crate::float::Float;

/// Declares the extrema of a type. Equal numbers have equal bits except for zeros: -0 is the
/// smaller.
macro_rules! extrema {
    ($smaller:ident, $larger:ident, $float:ty) => {
        /// Of numbers.
        #[inline(always)]
        pub(super) fn $smaller(a: $float, b: $float) -> $float {
            if a == b {
                <$float>::from_bits(a.to_bits() | b.to_bits())
            } else if a < b {
                a
            } else {
                b
            }
        }

        /// Of numbers.
        #[inline(always)]
        pub(super) fn $larger(a: $float, b: $float) -> $float {
            if a == b {
                <$float>::from_bits(a.to_bits() & b.to_bits())
            } else if a > b {
                a
            } else {
                b
            }
        }
    };
}
extrema!(smaller_f32, larger_f32, f32);
extrema!(smaller_f64, larger_f64, f64);

/// `choose` of two numbers. If only one is NaN, the other.
#[inline(always)]
pub(super) fn of_numbers<T: Float>(a: T, b: T, choose: impl FnOnce(T, T) -> T) -> T {
    if is_nan(a) {
        b.canonical_nan()
    } else if is_nan(b) {
        a
    } else {
        choose(a, b)
    }
}

/// `choose` of two numbers, or NaN if either is.
#[inline(always)]
pub(super) fn of_all<T: Float>(a: T, b: T, choose: impl FnOnce(T, T) -> T) -> T {
    if is_nan(a) || is_nan(b) {
        T::CANONICAL_NAN
    } else {
        choose(a, b)
    }
}

#[inline(always)]
#[expect(clippy::eq_op, reason = "NaN alone differs from itself")]
fn is_nan<T: PartialEq + Copy>(x: T) -> bool {
    x != x
}
