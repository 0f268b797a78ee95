//! Sums and products of terms: in f64 for floats, wrapping in 64 bits for integers.

use super::number::{Number, Real};
use crate::reduce::operation::Reduction;
use half::{bf16, f16};

/// The sum of the squares, in f64.
#[derive(Clone, Copy, Debug)]
pub struct SumOfSquares;

/// The sum of the magnitudes, in f64.
#[derive(Clone, Copy, Debug)]
pub struct Norm1;

/// The product, 1 without elements: in f64 for floats, wrapping in 64 bits for integers.
#[derive(Clone, Copy, Debug)]
pub struct Product;

/// The sum of the products of pairs: in f64 for floats, wrapping in 64 bits for integers.
#[derive(Clone, Copy, Debug)]
pub struct Dot;

macro_rules! sums_in_f64 {
    ($($operation:ident: $term:expr;)*) => {$(
        impl<T: Real> Reduction<T> for $operation {
            type Accumulator = f64;
            type Output = T::Result;
            const IDENTITY: f64 = 0.0;
            const IS_TOTAL: bool = true;

            #[inline(always)]
            fn lift(element: T, _index: usize) -> f64 {
                $term(element.wide())
            }

            #[inline(always)]
            fn combine(left: f64, right: f64) -> f64 {
                left + right
            }

            #[inline(always)]
            fn finish(total: f64, _elements: usize) -> T::Result {
                T::narrow(total)
            }
        }
    )*};
}
sums_in_f64! {
    SumOfSquares: |term: f64| term * term;
    Norm1: f64::abs;
}

macro_rules! products {
    (floats $($element:ident => $output:ty;)*) => {
        products! {$(
            $element => $output: f64, <$element as Number>::wide, core::ops::Mul::mul,
                core::ops::Add::add, <$element as Number>::narrow;
        )*}
    };
    (integers $($element:ident => $wide:ident;)*) => {
        products! {$(
            $element => $wide: $wide, $wide::from, $wide::wrapping_mul, $wide::wrapping_add,
                core::convert::identity;
        )*}
    };
    ($($element:ty => $output:ty: $wide:ty, $lift:expr, $multiply:expr, $add:expr, $finish:expr;)*) => {$(
        impl Reduction<$element> for Product {
            type Accumulator = $wide;
            type Output = $output;
            const IDENTITY: $wide = 1 as $wide;
            const IS_TOTAL: bool = true;

            #[inline(always)]
            fn lift(element: $element, _index: usize) -> $wide {
                $lift(element)
            }

            #[inline(always)]
            fn combine(left: $wide, right: $wide) -> $wide {
                $multiply(left, right)
            }

            #[inline(always)]
            fn finish(total: $wide, _elements: usize) -> $output {
                $finish(total)
            }
        }

        impl Reduction<[$element; 2]> for Dot {
            type Accumulator = $wide;
            type Output = $output;
            const IDENTITY: $wide = 0 as $wide;
            const IS_TOTAL: bool = true;

            #[inline(always)]
            fn lift([left, right]: [$element; 2], _index: usize) -> $wide {
                $multiply($lift(left), $lift(right))
            }

            #[inline(always)]
            fn combine(left: $wide, right: $wide) -> $wide {
                $add(left, right)
            }

            #[inline(always)]
            fn finish(total: $wide, _elements: usize) -> $output {
                $finish(total)
            }
        }
    )*};
}
products!(floats f32 => f32; f64 => f64; f16 => f32; bf16 => f32;);
products!(integers i8 => i64; u8 => u64; i16 => i64; u16 => u64; i32 => i64; u32 => u64; i64 => i64; u64 => u64;);
