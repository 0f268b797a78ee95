//! Mathematical functions with the same bits on every machine.
//!
//! ```
//! use cuda_std::math;
//! use cuda_std::prelude::*;
//!
//! /// The sigmoid of each element.
//! #[kernel]
//! pub fn sigmoid(x: GlobalMut<f32>) {
//!     if let Some(x) = x.own(thread::own_index()) {
//!         x.set(1.0 / (1.0 + math::exp(-x.get())));
//!     }
//! }
//! ```
//!
//! The functions are free functions, because a kernel's `x.exp()` would be the method of `std` in the
//! simulator and nothing on a GPU.
//!
//! Each is made of additions, products, divisions, square roots and fused multiply-adds that IEEE 754
//! defines to the last bit, in a fixed order. None keeps an array, so that none needs a stack. Every
//! NaN that one returns is [`Float::CANONICAL_NAN`]. Subnormal numbers are numbers like all others.
mod error_function;
mod exponential;
mod hyperbolic;
mod logarithm;
mod polynomial;
mod root;

use crate::float::{Float, HalfFloat};

/// A type that the functions of this module take: `f32`, and `f16` and `bf16`, which are computed
/// with in f32 and rounded once more.
pub trait Real: implementation::Functions {}

impl Real for f32 {}
impl Real for half::f16 {}
impl Real for half::bf16 {}

/// Declares the functions of one number, and how `f16` and `bf16` have them.
macro_rules! functions {
    ($($(#[$documentation:meta])* $name:ident;)*) => {
        mod implementation {
            use super::narrow;
            use crate::float::HalfFloat;

            /// The functions of a type.
            pub trait Functions: Copy {
                $(
                    #[track_caller]
                    fn $name(self) -> Self;
                )*
            }

            macro_rules! by_way_of_f32 {
                ($half:ty) => {
                    impl Functions for $half {
                        $(
                            #[inline(always)]
                            #[track_caller]
                            fn $name(self) -> Self {
                                narrow(Functions::$name(HalfFloat::widen(self)))
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
            pub fn $name<T: Real>(x: T) -> T {
                implementation::Functions::$name(x)
            }
        )*
    };
}
functions! {
    /// The square root, rounded once. Negative numbers have none: NaN.
    sqrt;
    /// 1 / sqrt(`x`). Infinite for 0, with its sign; NaN for negative numbers.
    rsqrt;
    /// e^`x`.
    exp;
    /// 2^`x`.
    exp2;
    /// The natural logarithm. Negative infinity for 0; NaN for negative numbers.
    ln;
    /// The hyperbolic tangent.
    tanh;
    /// The error function: the integral of exp(-t^2) from 0 to `x`, times 2 / sqrt(pi).
    erf;
}

impl implementation::Functions for f32 {
    #[inline(always)]
    #[track_caller]
    fn sqrt(self) -> Self {
        root::sqrt_f32(self)
    }

    #[inline(always)]
    #[track_caller]
    fn rsqrt(self) -> Self {
        root::rsqrt_f32(self).canonical_nan()
    }

    #[inline(always)]
    #[track_caller]
    fn exp(self) -> Self {
        exponential::exp_f32(self).canonical_nan()
    }

    #[inline(always)]
    #[track_caller]
    fn exp2(self) -> Self {
        exponential::exp2_f32(self).canonical_nan()
    }

    #[inline(always)]
    #[track_caller]
    fn ln(self) -> Self {
        logarithm::ln_f32(self)
    }

    #[inline(always)]
    #[track_caller]
    fn tanh(self) -> Self {
        hyperbolic::tanh_f32(self).canonical_nan()
    }

    #[inline(always)]
    #[track_caller]
    fn erf(self) -> Self {
        error_function::erf_f32(self).canonical_nan()
    }
}

/// The nearest value of a 16-bit format; 0x7fff for NaN.
#[inline(always)]
#[track_caller]
fn narrow<T: HalfFloat>(value: f32) -> T {
    let [narrowed, _] = T::narrow_pair([value; 2]);
    narrowed
}
