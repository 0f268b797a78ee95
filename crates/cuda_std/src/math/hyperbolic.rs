//! The hyperbolic tangent.

use super::exponential::{exp_in_parts_f32, exp_in_parts_f64};
use super::polynomial::polynomial;
use crate::float::Float;

/// tanh x is an odd polynomial for |x| below 0.9, and 1 - 2 / (e^2|x| + 1) with the sign of x
/// above.
#[inline(always)]
#[track_caller]
pub(super) fn tanh_f32(x: f32) -> f32 {
    let magnitude = x.abs();
    if magnitude < 0.9 {
        let square = x * x;
        // (tanh(x) / x - 1) / x^2; the relative error of tanh is 2^-28.
        let cubic = polynomial!(square;
            -0.333_333_13,
            0.133_327_47,
            -0.053_909_652,
            0.021_588_042,
            -0.008_119_423,
            0.002_446_499_4,
            -0.000_405_795,
        );
        return Float::mul_add(cubic * square, magnitude, magnitude).copysign(x);
    }
    // From 9.01 the result is 1. NaN compares as false.
    let doubled = if magnitude > 10.0 {
        20.0
    } else {
        2.0 * magnitude
    };
    let (scale, growth) = exp_in_parts_f32(doubled, f32::NEGATIVE_ZERO);
    let denominator = Float::mul_add(scale, growth, scale + 1.0);
    Float::mul_add(-2.0, 1.0 / denominator, 1.0).copysign(x)
}

#[inline(always)]
#[track_caller]
pub(super) fn tanh_f64(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude < 0.9 {
        let square = x * x;
        // The relative error of tanh is 2^-56.
        let cubic = polynomial!(square;
            -0.333_333_333_333_329,
            0.133_333_333_332_853_02,
            -0.053_968_253_949_622_23,
            0.021_869_488_169_732_06,
            -0.008_863_231_241_159_194,
            0.003_592_095_392_234_785_5,
            -0.001_455_663_819_826_884,
            0.000_589_394_523_479_185_3,
            -0.000_237_426_389_795_928_5,
            9.355_770_146_742_855e-5,
            -3.440_862_319_709_694e-5,
            1.073_428_857_495_023_7e-5,
            -2.408_350_699_705_105_5e-6,
            2.782_576_134_435_462_4e-7,
        );
        return Float::mul_add(cubic * square, magnitude, magnitude).copysign(x);
    }
    // From 19.1 the result is 1.
    let doubled = if magnitude > 20.0 {
        40.0
    } else {
        2.0 * magnitude
    };
    let (scale, growth) = exp_in_parts_f64(doubled);
    let denominator = Float::mul_add(scale, growth, scale + 1.0);
    Float::mul_add(-2.0, 1.0 / denominator, 1.0).copysign(x)
}
