//! Elements of matrices and vectors, and the types in which their products are added.

use crate::epilogue::EpilogueElement;
use crate::reduce::{Reduction, Sum};
use cuda_std::Pod;
use cuda_std::float::{Float, HalfFloat};
use half::{bf16, f16};

/// An element of a product: f64, f32, or a type that is multiplied in f32, in which products of two of
/// its elements are exact.
pub trait Element: Pod {
    /// The type of sums.
    type Sum: EpilogueElement + Float;

    /// How sums are added.
    type Addition: Reduction<Self::Sum, Accumulator = Self::Sum>;

    /// One.
    const ONE: Self;

    /// The same value as a sum.
    fn widen(self) -> Self::Sum;

    /// The nearest value to a sum; one NaN for all.
    fn narrow(sum: Self::Sum) -> Self;
}

macro_rules! elements {
    ($($element:ident in $sum:ident: $one:expr, $widen:expr, $narrow:expr;)*) => {$(
        impl Element for $element {
            type Sum = $sum;
            type Addition = Sum;
            const ONE: Self = $one;

            #[inline(always)]
            fn widen(self) -> $sum {
                $widen(self)
            }

            #[inline(always)]
            fn narrow(sum: $sum) -> Self {
                $narrow(Float::canonical_nan(sum))
            }
        }
    )*};
}
elements! {
    f32 in f32: 1.0, core::convert::identity, core::convert::identity;
    f64 in f64: 1.0, core::convert::identity, core::convert::identity;
    f16 in f32: f16::ONE, HalfFloat::widen, HalfFloat::narrow;
    bf16 in f32: bf16::ONE, HalfFloat::widen, HalfFloat::narrow;
}

/// `sum` and the products of elements of a line with those of v, in order, each by a fused multiply-add.
#[inline(always)]
pub fn add_products<T: Element, const VECTOR: usize>(
    sum: T::Sum,
    line: &[T; VECTOR],
    v: &[T; VECTOR],
) -> T::Sum {
    let mut sum = sum;
    let mut place = 0;
    while place < VECTOR {
        sum = line[place].widen().mul_add(v[place].widen(), sum);
        place += 1;
    }
    sum
}
