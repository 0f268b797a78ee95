//! Mathematical functions with the same result bits on every machine.
//!
//! ```
//! use cuda_std::math;
//! use cuda_std::prelude::*;
//!
//! /// The sigmoid of each element.
//! #[kernel]
//! pub fn sigmoid(x: GlobalMut<f32>) {
//!     if let Some(x) = x.own(thread::unique_index()) {
//!         x.set(1.0 / (1.0 + math::exp(-x.get())));
//!     }
//! }
//! ```
//!
//! These are free functions, because `x.exp()` in a kernel would be the method of `std` in the simulator, and would
//! not exist on a GPU.
//!
//! Each consists of IEEE 754 additions, products, divisions, square roots and fused multiply-adds in a fixed order.
//! None uses an array, so none needs a stack. Every NaN they return is [`Float::CANONICAL_NAN`]. Subnormal numbers
//! are not flushed.
//!
//! The error of a function is below one unit in the last place of f32 and two of f64; square roots are correctly
//! rounded, and rounding to integers, minima and maxima are exact. The repository's `docs/mathematics.md` has a table
//! of errors, registers and instructions. [`approximate`] has f32 functions with fewer instructions.

pub mod approximate;
mod complement;
mod error_function;
mod exponential;
mod extrema;
mod hyperbolic;
mod logarithm;
mod logistic;
mod parts;
mod polynomial;
mod power;
mod quadrant;
mod reciprocal;
mod root;
mod rounding;
mod trigonometric;

use crate::float::{Float, HalfFloat};
use crate::machine;

/// An argument type of this module: `f32`, `f64`, `f16` or `bf16`. The last two are computed in f32
/// and rounded once more.
pub trait Real: implementation::Functions {}

impl Real for f32 {}
impl Real for f64 {}
impl Real for half::f16 {}
impl Real for half::bf16 {}

/// Declares the functions, and implements them for `f16` and `bf16`.
macro_rules! functions {
    ($($(#[$documentation:meta])* $name:ident($x:ident $(, $y:ident)?);)*) => {
        mod implementation {
            use super::narrow;
            use crate::float::HalfFloat;

            /// The functions of a type.
            pub trait Functions: Copy {
                $(
                    #[track_caller]
                    fn $name(self $(, $y: Self)?) -> Self;
                )*
            }

            macro_rules! by_way_of_f32 {
                ($half:ty) => {
                    impl Functions for $half {
                        $(
                            #[inline(always)]
                            #[track_caller]
                            fn $name(self $(, $y: Self)?) -> Self {
                                narrow(Functions::$name(
                                    HalfFloat::widen(self)
                                    $(, HalfFloat::widen($y))?
                                ))
                            }
                        )*
                    }
                };
            }
            by_way_of_f32!(half::f16);
            by_way_of_f32!(half::bf16);
        }

        $(
            $(#[$documentation])*
            #[inline(always)]
            #[track_caller]
            #[must_use]
            pub fn $name<T: Real>($x: T $(, $y: T)?) -> T {
                implementation::Functions::$name($x $(, $y)?)
            }
        )*
    };
}
functions! {
    /// The square root, rounded once. NaN for negative numbers.
    sqrt(x);
    /// 1 / sqrt(`x`). Infinite for 0, with its sign; NaN for negative numbers.
    rsqrt(x);
    /// e^`x`.
    exp(x);
    /// 2^`x`.
    exp2(x);
    /// The natural logarithm. Negative infinity for 0; NaN for negative numbers.
    ln(x);
    /// The logarithm to base 2, exact for powers of two. Negative infinity for 0; NaN for negative
    /// numbers.
    log2(x);
    /// `x`^`y`, with the special cases of IEEE 754: 1 for y = 0 and for x = 1, even if the other is NaN; NaN for a
    /// negative number to a power that is not an integer.
    pow(x, y);
    /// The sine of `x` radians. NaN for infinities.
    sin(x);
    /// The cosine of `x` radians. NaN for infinities.
    cos(x);
    /// The tangent of `x` radians. NaN for infinities.
    tan(x);
    /// The hyperbolic tangent.
    tanh(x);
    /// The error function: the integral of exp(-t^2) from 0 to `x`, times 2 / sqrt(pi).
    erf(x);
    /// The complementary error function, 1 - erf(`x`) without the cancellation.
    ///
    /// It becomes subnormal shortly before 10.06 (f64: 27.3), and 0 from there.
    erfc(x);
    /// The Gaussian error linear unit: `x` times the normal distribution of `x`.
    ///
    /// That is `x` erfc(-`x` / sqrt 2) / 2. For negative infinity it is -0, its limit.
    gelu(x);
    /// `x` (1 + tanh(sqrt(2 / pi) (`x` + 0.044715 `x`^3))) / 2, within 5e-4 of [`gelu`].
    ///
    /// It falls faster than [`gelu`] in the negative tail. For negative infinity it is -0, its limit.
    gelu_tanh(x);
    /// The sigmoid linear unit, `x` / (1 + e^-`x`).
    ///
    /// For negative infinity it is -0, its limit.
    silu(x);
    /// The largest integer that is not above `x`.
    floor(x);
    /// The smallest integer that is not below `x`.
    ceil(x);
    /// The integer part of `x`.
    trunc(x);
    /// The nearest integer, ties away from zero.
    round(x);
    /// The nearest integer, ties to even.
    round_ties_even(x);
    /// The smaller of two, `minimumNumber` of IEEE 754-2019: NaN only if both are NaN, and -0 is smaller
    /// than 0. See [`minimum`].
    min(x, y);
    /// The larger of two, `maximumNumber` of IEEE 754-2019: NaN only if both are NaN, and 0 is larger
    /// than -0. See [`maximum`].
    max(x, y);
    /// The smaller of two, `minimum` of IEEE 754-2019: NaN if either is NaN, and -0 is smaller than 0.
    minimum(x, y);
    /// The larger of two, `maximum` of IEEE 754-2019: NaN if either is NaN, and 0 is larger than -0.
    maximum(x, y);
}

/// Implements the functions of a type, with the canonical NaN.
macro_rules! implement {
    ($float:ty: $($name:ident($x:ident $(, $y:ident)?) = $result:expr;)*) => {
        impl implementation::Functions for $float {
            $(
                #[inline(always)]
                #[track_caller]
                fn $name(self $(, $y: Self)?) -> Self {
                    let $x = self;
                    $result.canonical_nan()
                }
            )*
        }
    };
}
implement! {
    f32:
    sqrt(x) = root::sqrt_f32(x);
    rsqrt(x) = root::rsqrt_f32(x);
    exp(x) = exponential::exp_f32(x);
    exp2(x) = exponential::exp2_f32(x);
    ln(x) = logarithm::ln_f32(x);
    log2(x) = logarithm::log2_f32(x);
    sin(x) = trigonometric::sin_f32(x);
    cos(x) = trigonometric::cos_f32(x);
    tan(x) = trigonometric::tan_f32(x);
    tanh(x) = hyperbolic::tanh_f32(x);
    erf(x) = error_function::erf_f32(x);
    erfc(x) = complement::erfc_f32(x);
    gelu(x) = complement::gelu_f32(x);
    gelu_tanh(x) = logistic::gelu_tanh_f32(x);
    silu(x) = logistic::silu_f32(x);
    floor(x) = machine::floor_f32(x);
    ceil(x) = machine::ceil_f32(x);
    trunc(x) = machine::trunc_f32(x);
    round(x) = rounding::round_f32(x);
    round_ties_even(x) = machine::round_ties_even_f32(x);
    pow(x, y) = power::pow_f32(x, y);
    min(x, y) = extrema::of_numbers(x, y, extrema::smaller_f32);
    max(x, y) = extrema::of_numbers(x, y, extrema::larger_f32);
    minimum(x, y) = extrema::of_all(x, y, extrema::smaller_f32);
    maximum(x, y) = extrema::of_all(x, y, extrema::larger_f32);
}

implement! {
    f64:
    sqrt(x) = root::sqrt_f64(x);
    rsqrt(x) = root::rsqrt_f64(x);
    exp(x) = exponential::exp_f64(x);
    exp2(x) = exponential::exp2_f64(x);
    ln(x) = logarithm::ln_f64(x);
    log2(x) = logarithm::log2_f64(x);
    sin(x) = trigonometric::sin_f64(x);
    cos(x) = trigonometric::cos_f64(x);
    tan(x) = trigonometric::tan_f64(x);
    tanh(x) = hyperbolic::tanh_f64(x);
    erf(x) = error_function::erf_f64(x);
    erfc(x) = complement::erfc_f64(x);
    gelu(x) = complement::gelu_f64(x);
    gelu_tanh(x) = logistic::gelu_tanh_f64(x);
    silu(x) = logistic::silu_f64(x);
    floor(x) = machine::floor_f64(x);
    ceil(x) = machine::ceil_f64(x);
    trunc(x) = machine::trunc_f64(x);
    round(x) = rounding::round_f64(x);
    round_ties_even(x) = machine::round_ties_even_f64(x);
    pow(x, y) = power::pow_f64(x, y);
    min(x, y) = extrema::of_numbers(x, y, extrema::smaller_f64);
    max(x, y) = extrema::of_numbers(x, y, extrema::larger_f64);
    minimum(x, y) = extrema::of_all(x, y, extrema::smaller_f64);
    maximum(x, y) = extrema::of_all(x, y, extrema::larger_f64);
}

/// The nearest value of a 16-bit format; 0x7fff for NaN.
#[inline(always)]
#[track_caller]
fn narrow<T: HalfFloat>(value: f32) -> T {
    let [narrowed, _] = T::narrow_pair([value; 2]);
    narrowed
}
