//! x times the logistic function, 1 / (1 + e^-w), with its tail.
//!
//! For x < 0 it is x e^w / (1 + e^w), which neither overflows nor cancels. Numerator and denominator are in two
//! parts, since rounding w would cost |w| units. The quotient is corrected by its residual.

use super::exponential::{
    exp_in_two_parts_f32, exp_in_two_parts_f64, two_powers_f32, two_powers_f64,
};
use super::parts::Parts;
use super::reciprocal::{reciprocal_f32, reciprocal_f64};
use crate::float::Float;

macro_rules! logistic {
    ($($float:ident: $weighted:ident, $silu:ident to $silu_end:literal, $gelu_tanh:ident to $gelu_tanh_end:literal,
        linear $linear:literal + $linear_low:literal, cubic $cubic:literal + $cubic_low:literal,
        $exp:ident, $two_powers:ident, $reciprocal:ident;)*) => {$(
        /// `x` / (1 + e^-w), where w has the sign of `x` and `negative` is -|w|.
        #[inline(always)]
        #[track_caller]
        fn $weighted(x: $float, negative: Parts<$float>) -> $float {
            let (exponent, power) = $exp(negative.high, negative.low);
            let [scale, other] = $two_powers(exponent);
            let divisor = Parts::<$float>::sum(1.0, power.high * scale * other);
            let divisor = divisor.plus_little(power.low * scale * other);

            let (factor, factor_low) = if x < 0.0 { (power.high, power.low) } else { (1.0, 0.0) };
            let numerator = Parts::<$float>::product(x, factor);
            let numerator_low = Float::mul_add(x, factor_low, numerator.low);

            let inverse = $reciprocal(divisor.high);
            let quotient = numerator.high * inverse;
            let lack = Float::mul_add(-quotient, divisor.high, numerator.high);
            let lack = lack + Float::mul_add(-quotient, divisor.low, numerator_low);
            let quotient = Float::mul_add(inverse, lack, quotient);
            let scaled = if x < 0.0 { quotient * scale * other } else { quotient };
            // The sum above lost the sign of -0.
            scaled.copysign(x)
        }

        #[inline(always)]
        #[track_caller]
        pub(super) fn $silu(x: $float) -> $float {
            let bounded = if x.abs() > $silu_end { $silu_end.copysign(x) } else { x };
            let negative = Parts { high: -bounded.abs(), low: 0.0 };
            let weighted = $weighted(bounded, negative);
            if x > $silu_end { x } else { weighted }
        }

        /// w = sqrt(8 / pi) (x + 0.044715 x^3), because (1 + tanh u) / 2 = 1 / (1 + e^(-2 u)).
        #[inline(always)]
        #[track_caller]
        pub(super) fn $gelu_tanh(x: $float) -> $float {
            let bounded = if x.abs() > $gelu_tanh_end { $gelu_tanh_end.copysign(x) } else { x };
            let square = Parts::<$float>::product(bounded, bounded);
            let cubic = square.times(Parts { high: $cubic, low: $cubic_low });
            let slope = Parts::<$float>::sum_of_any($linear, cubic.high);
            let slope = slope.plus_little(cubic.low + $linear_low);
            let negative = slope.times(Parts { high: -bounded.abs(), low: 0.0 });
            let weighted = $weighted(bounded, negative);
            if x > $gelu_tanh_end { x } else { weighted }
        }
    )*};
}
logistic! {
    f32: weighted_f32, silu_f32 to 110.0_f32, gelu_tanh_f32 to 11.5_f32,
        linear 1.595_769_2 + -4.534_068e-8, cubic 0.071_354_814 + 2.398_832_5e-9,
        exp_in_two_parts_f32, two_powers_f32, reciprocal_f32;
    f64: weighted_f64, silu_f64 to 760.0_f64, gelu_tanh_f64 to 22.5_f64,
        linear 1.595_769_121_605_730_8 + -9.969_308_809_110_92e-17,
        cubic 0.071_354_816_272_600_25 + -6.175_149_918_155_315e-19,
        exp_in_two_parts_f64, two_powers_f64, reciprocal_f64;
}
