//! Elements of rows, which are computed in f32.

use cuda_std::Pod;
use cuda_std::float::{Float, HalfFloat};
use half::{bf16, f16};

/// An element type of row operations.
pub trait RowElement: Pod {
    /// The same value in f32.
    #[track_caller]
    fn widen(self) -> f32;

    /// The nearest values, ties to even; every NaN is the canonical one.
    #[track_caller]
    fn narrow<const LANES: usize>(values: [f32; LANES]) -> [Self; LANES];
}

impl RowElement for f32 {
    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }

    #[inline(always)]
    fn narrow<const LANES: usize>(values: [f32; LANES]) -> [f32; LANES] {
        let mut values = values;
        let mut lane = 0;
        while lane < LANES {
            values[lane] = values[lane].canonical_nan();
            lane += 1;
        }
        values
    }
}

macro_rules! halves {
    ($($half:ident)*) => {$(
        impl RowElement for $half {
            #[inline(always)]
            #[track_caller]
            fn widen(self) -> f32 {
                HalfFloat::widen(self)
            }

            #[inline(always)]
            #[track_caller]
            fn narrow<const LANES: usize>(values: [f32; LANES]) -> [Self; LANES] {
                let mut narrowed = [Self::ZERO; LANES];
                let mut lane = 0;
                while lane + 1 < LANES {
                    let pair = HalfFloat::narrow_pair([values[lane], values[lane + 1]]);
                    [narrowed[lane], narrowed[lane + 1]] = pair;
                    lane += 2;
                }
                if lane < LANES {
                    [narrowed[lane], _] = HalfFloat::narrow_pair([values[lane], 0.0]);
                }
                narrowed
            }
        }
    )*};
}
halves!(f16 bf16);
