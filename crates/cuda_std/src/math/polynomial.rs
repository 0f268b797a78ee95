//! Polynomials.
//!
//! The polynomials are minimax, computed and rounded to the type by Sollya's `fpminimax`, for the
//! interval and the weight stated at each use. A leading coefficient that the series has exactly,
//! such as 1, is a constraint.

/// `c0 + c1 x + c2 x^2 + ..` by Horner's rule: a fused multiply-add for each power, in straight-line code, without an
/// array in memory.
macro_rules! polynomial {
    ($x:expr; $last:expr $(,)?) => { $last };
    ($x:expr; $first:expr, $($rest:expr),+ $(,)?) => {
        $crate::float::Float::mul_add(polynomial!($x; $($rest),+), $x, $first)
    };
}

pub(super) use polynomial;
