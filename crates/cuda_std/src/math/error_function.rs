//! The error function.

use super::exponential::exp_in_parts_f32;
use super::polynomial::polynomial;
use crate::float::Float;

/// erf x is an odd polynomial for |x| below 0.93, and 1 - e^p(|x|) with the sign of x beyond.
#[inline(always)]
#[track_caller]
pub(super) fn erf_f32(x: f32) -> f32 {
    let magnitude = x.abs();
    if magnitude < 0.93 {
        // erf(x) / x - 1; the error of erf is 2^-30 of it.
        let excess = polynomial!(x * x;
            0.128_379_17,
            -0.376_126_32,
            0.112_836_76,
            -0.026_858_533,
            0.005_199_148,
            -0.000_812_318_7,
            0.000_082_930_13,
        );
        return Float::mul_add(excess, x, x);
    }
    // From 3.92 on the result is 1.
    let magnitude = if magnitude > 3.95 { 3.95 } else { magnitude };
    // ln(1 - erf x) + x; the error of erf is 2^-28.
    let smaller = polynomial!(magnitude;
        0.000_175_873_28,
        -0.129_520_8,
        -0.633_334_7,
        -0.108_293_93,
        0.025_128_614,
        -0.004_174_638_5,
        0.000_435_217_92,
        -0.000_021_161_819,
    );
    let logarithm = smaller - magnitude;
    let rest = smaller - (logarithm + magnitude);
    let (scale, growth) = exp_in_parts_f32(logarithm, rest);
    Float::mul_add(-scale, growth, 1.0 - scale).copysign(x)
}
