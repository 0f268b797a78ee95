//! The operations of scans whose results have the type of the elements. Minima and maxima are those of reductions.

use crate::reduce::Reduction;
use cuda_std::float::{Float, HalfFloat};
use half::{bf16, f16};

/// Prefix sums: of floats rounded to nearest, of f16 and bf16 in f32; of unsigned integers, which are also used for
/// signed ones, wrapping.
#[derive(Clone, Copy, Debug)]
pub struct PrefixSum;

/// Prefix products: of f32, f16 and bf16 in f64; of unsigned integers, which are also used for signed ones, wrapping.
#[derive(Clone, Copy, Debug)]
pub struct PrefixProduct;

/// Operations on elements, each with its accumulator, its identity, how an element is lifted and a total finished.
macro_rules! operations {
    ($($operation:ident of $element:ident in $accumulator:ident: $identity:literal, $lift:expr, $combine:expr,
        $finish:expr;)*) => {$(
        impl Reduction<$element> for $operation {
            type Accumulator = $accumulator;
            type Output = $element;
            const IDENTITY: $accumulator = $identity as $accumulator;
            const IS_TOTAL: bool = true;

            #[inline(always)]
            fn lift(element: $element, _index: usize) -> $accumulator {
                $lift(element)
            }

            #[inline(always)]
            fn combine(left: $accumulator, right: $accumulator) -> $accumulator {
                $combine(left, right)
            }

            #[inline(always)]
            fn finish(total: $accumulator, _elements: usize) -> $element {
                $finish(total)
            }
        }
    )*};
}
operations! {
    PrefixSum of f32 in f32: 0, core::convert::identity, core::ops::Add::add, Float::canonical_nan;
    PrefixSum of f64 in f64: 0, core::convert::identity, core::ops::Add::add, Float::canonical_nan;
    PrefixSum of f16 in f32: 0, HalfFloat::widen, core::ops::Add::add, narrow;
    PrefixSum of bf16 in f32: 0, HalfFloat::widen, core::ops::Add::add, narrow;
    PrefixSum of u32 in u32: 0, core::convert::identity, u32::wrapping_add, core::convert::identity;
    PrefixSum of u64 in u64: 0, core::convert::identity, u64::wrapping_add, core::convert::identity;
    PrefixProduct of f32 in f64: 1, f64::from, core::ops::Mul::mul, |total| (total as f32).canonical_nan();
    PrefixProduct of f64 in f64: 1, core::convert::identity, core::ops::Mul::mul, Float::canonical_nan;
    PrefixProduct of f16 in f64: 1, |element| f64::from(HalfFloat::widen(element)), core::ops::Mul::mul,
        |total| narrow(odd_f32(total));
    PrefixProduct of bf16 in f64: 1, |element| f64::from(HalfFloat::widen(element)), core::ops::Mul::mul,
        |total| narrow(odd_f32(total));
    PrefixProduct of u32 in u32: 1, core::convert::identity, u32::wrapping_mul, core::convert::identity;
    PrefixProduct of u64 in u64: 1, core::convert::identity, u64::wrapping_mul, core::convert::identity;
}

/// The nearest value, ties to even; every NaN is the canonical one.
#[inline(always)]
fn narrow<T: HalfFloat>(value: f32) -> T {
    let [narrowed, _] = HalfFloat::narrow_pair([value, 0.0]);
    narrowed
}

/// `value` as an f32 whose last bit says whether anything was cut off, so that rounding it again rounds once
/// (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008).
#[inline(always)]
fn odd_f32(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    if back == value || value.is_nan() || back.is_infinite() {
        return nearest;
    }
    let bits = nearest.to_bits();
    // Towards zero, then the last bit.
    let cut = if back.abs() > value.abs() {
        bits - 1
    } else {
        bits
    };
    f32::from_bits(cut | 1)
}
