//! Elements of reproducible sums.

use super::format::Format;
use super::window::Window;
use cuda_std::Pod;
use cuda_std::float::HalfFloat;
use half::{bf16, f16};

/// An element of reproducible sums.
pub trait ReproducibleElement: Pod {
    /// The type of the sum, in which all values of the element are exact.
    type Total: Format;

    /// The same number.
    fn widen(self) -> Self::Total;

    /// Adds elements to a window, and returns whether all fitted. Otherwise the window is unspecified.
    fn add_to<const BINS: usize, const LANES: usize, const VECTORS: usize>(
        window: &mut Window<Self::Total, BINS>,
        tile: &[[Self; LANES]; VECTORS],
    ) -> bool;
}

macro_rules! summands {
    ($($element:ty => $total:ty: $widen:expr, $add:ident($($converting:expr)?);)*) => {$(
        impl ReproducibleElement for $element {
            type Total = $total;

            #[inline(always)]
            fn widen(self) -> $total {
                $widen(self)
            }

            #[inline(always)]
            fn add_to<const BINS: usize, const LANES: usize, const VECTORS: usize>(
                window: &mut Window<$total, BINS>,
                tile: &[[Self; LANES]; VECTORS],
            ) -> bool {
                window.$add(tile $(, $converting)?)
            }
        }
    )*};
}
summands! {
    f32 => f32: core::convert::identity, add_each();
    f64 => f64: core::convert::identity, add_each();
    f16 => f32: HalfFloat::widen, add_short(HalfFloat::widen);
    bf16 => f32: HalfFloat::widen, add_short(HalfFloat::widen);
}
