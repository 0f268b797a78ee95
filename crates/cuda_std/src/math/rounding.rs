//! Rounding to integers, ties away from zero.

use crate::machine;

/// Declares the rounding of a type.
macro_rules! round {
    ($name:ident, $float:ty, $trunc:path) => {
        #[inline(always)]
        pub(super) fn $name(x: $float) -> $float {
            let whole = $trunc(x);
            // Exact: both are multiples of the last place of x.
            let fraction = (x - whole).abs();
            let rounded = if fraction >= 0.5 {
                whole + (1.0 as $float).copysign(x)
            } else {
                whole
            };
            rounded.copysign(x)
        }
    };
}
round!(round_f32, f32, machine::trunc_f32);
round!(round_f64, f64, machine::trunc_f64);
