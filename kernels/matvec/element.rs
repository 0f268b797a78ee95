//! Element types of matrices and vectors, and the types that their products are added in.

use crate::finish::Output;
use crate::reduce::{Reduction, Sum};
use cuda_std::float::Float;
use half::{bf16, f16};

/// An element type: f64, f32, or a 16-bit type, whose products are exact in f32. It is also an output type.
pub trait Element: Output<Sum: Float> {
    /// How sums are added.
    type Addition: Reduction<Self::Sum, Accumulator = Self::Sum>;

    /// One.
    const ONE: Self;
}

macro_rules! elements {
    ($($element:ident: $one:expr;)*) => {$(
        impl Element for $element {
            type Addition = Sum;
            const ONE: Self = $one;
        }
    )*};
}
elements! {
    f32: 1.0;
    f64: 1.0;
    f16: f16::ONE;
    bf16: bf16::ONE;
}

/// Adds the products of a row's elements with those of v to `sum`, in order, by fused multiply-adds.
#[inline(always)]
pub fn add_products<T: Element, const VECTOR: usize>(
    sum: T::Sum,
    row: &[T; VECTOR],
    v: &[T; VECTOR],
) -> T::Sum {
    let mut sum = sum;
    let mut place = 0;
    while place < VECTOR {
        sum = row[place].widen().mul_add(v[place].widen(), sum);
        place += 1;
    }
    sum
}
