//! The elements of operands, and what the CUDA cores multiply.

use crate::epilogue::EpilogueElement;
use bytemuck::Pod;
use cuda_std::float::Float;
use cuda_std::integer;

/// A type of operands' elements.
pub trait OperandElement: Pod {
    /// What tiles of A and of B have past the end of K: factors whose product changes no sum.
    const OUTSIDE: (Self, Self);

    /// Whether both are of bits that are 0, which a copy of nothing writes.
    const OUTSIDE_IS_ZERO: bool = false;
}

/// Elements that the CUDA cores multiply, and add up in the same type.
pub trait FmaElement: OperandElement + EpilogueElement {
    /// `self * factor + sum`, rounded once.
    #[track_caller]
    #[must_use]
    fn multiply_add(self, factor: Self, sum: Self) -> Self;
}

macro_rules! floats {
    ($($element:ident)*) => {$(
        impl OperandElement for $element {
            /// 0 times -0 is -0, which changes not even a sum of -0.
            const OUTSIDE: (Self, Self) = (0.0, -0.0);
        }

        impl FmaElement for $element {
            #[inline(always)]
            #[track_caller]
            fn multiply_add(self, factor: Self, sum: Self) -> Self {
                Float::mul_add(self, factor, sum)
            }
        }
    )*};
}
floats!(f32 f64);

impl OperandElement for i32 {
    const OUTSIDE: (Self, Self) = (0, 0);
}

/// Four i8 that are neighbours along k, of which a product is the sum of four.
impl FmaElement for i32 {
    #[inline(always)]
    fn multiply_add(self, factor: Self, sum: Self) -> Self {
        integer::dp4a(self, factor, sum)
    }
}
