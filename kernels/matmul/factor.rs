//! What the ordinary units multiply.

use crate::epilogue::EpilogueElement;
use cuda_std::float::Float;
use cuda_std::integer;

/// A type of operands' elements, which are added up in the same type.
pub trait Factor: EpilogueElement {
    /// What tiles of A and of B have past the end of K: factors whose product changes no sum.
    const OUTSIDE: (Self, Self);

    /// `self * factor + sum`, rounded once.
    #[track_caller]
    #[must_use]
    fn multiply_add(self, factor: Self, sum: Self) -> Self;
}

macro_rules! floats {
    ($($element:ident)*) => {$(
        impl Factor for $element {
            /// 0 times -0 is -0, which changes not even a sum of -0.
            const OUTSIDE: (Self, Self) = (0.0, -0.0);

            #[inline(always)]
            #[track_caller]
            fn multiply_add(self, factor: Self, sum: Self) -> Self {
                Float::mul_add(self, factor, sum)
            }
        }
    )*};
}
floats!(f32 f64);

/// Four i8 that are neighbours along k, of which a product is the sum of four.
impl Factor for i32 {
    const OUTSIDE: (Self, Self) = (0, 0);

    #[inline(always)]
    fn multiply_add(self, factor: Self, sum: Self) -> Self {
        integer::dp4a(self, factor, sum)
    }
}
