//! Elements of matrices and vectors, and the types in which their products are added.

use crate::finish::Output;
use crate::reduce::{Reduction, Sum};
use cuda_std::float::Float;
use half::{bf16, f16};

/// An element of a product: f64, f32, or a type that is multiplied in f32, in which products of two of
/// its elements are exact. It is an output, too, of sums of the type in which it is multiplied.
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
