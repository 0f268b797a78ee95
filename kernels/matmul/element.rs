//! Element types of operands, and those that the CUDA cores multiply.

use crate::epilogue::EpilogueElement;
use bytemuck::Pod;
use cuda_std::float::Float;
use cuda_std::integer;

/// An element type of operands.
pub trait OperandElement: Pod {
    /// Elements of A's and of B's tiles past the end of K: their product changes no sum.
    const OUTSIDE: (Self, Self);

    /// Whether all bits of both are 0, so that a copy of no elements writes them.
    const OUTSIDE_IS_ZERO: bool = false;
}

/// An element type that the CUDA cores multiply, with sums of the same type.
pub trait FmaElement: OperandElement + EpilogueElement {
    /// `self * factor + sum`, rounded once.
    #[track_caller]
    #[must_use]
    fn multiply_add(self, factor: Self, sum: Self) -> Self;
}

macro_rules! floats {
    ($($element:ident)*) => {$(
        impl OperandElement for $element {
            /// 0 times -0 is -0, which leaves even a sum of -0 unchanged.
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

/// Four i8 with consecutive k. A product is the sum of four products.
impl FmaElement for i32 {
    #[inline(always)]
    fn multiply_add(self, factor: Self, sum: Self) -> Self {
        integer::dp4a(self, factor, sum)
    }
}
