//! The error function.

use super::exponential::{exp_in_parts_f32, exp_in_parts_f64};
use super::polynomial::polynomial;
use crate::float::Float;

/// erf x is an odd polynomial for |x| below 0.93, and 1 - e^p(|x|) with the sign of x above.
#[inline(always)]
#[track_caller]
pub(super) fn erf_f32(x: f32) -> f32 {
    let magnitude = x.abs();
    if magnitude < 0.93 {
        // erf(x) / x - 1; the relative error of erf is 2^-30.
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
    // From 3.92 the result is 1.
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

#[inline(always)]
#[track_caller]
pub(super) fn erf_f64(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude < 1.0 {
        // erf(x) / x - 1; the relative error of erf is 2^-56.
        let excess = polynomial!(x * x;
            0.128_379_167_095_512_56,
            -0.376_126_389_031_834_6,
            0.112_837_916_709_426_68,
            -0.026_866_170_642_933_267,
            0.005_223_977_604_950_821_5,
            -0.000_854_832_588_244_731,
            0.000_120_552_923_664_167,
            -1.492_469_177_660_154_1e-5,
            1.644_690_437_186_005_7e-6,
            -1.620_473_300_064_474_6e-7,
            1.370_470_581_236_866e-8,
            -7.768_631_603_009_701e-10,
        );
        return Float::mul_add(excess, x, x);
    }
    // From 5.93 the result is 1.
    let magnitude = if magnitude > 5.95 { 5.95 } else { magnitude };
    // ln(1 - erf x); the error of erf is 2^-55.
    let logarithm = polynomial!(magnitude;
        -1.691_510_325_288_173_5e-7,
        -1.128_377_430_795_340_3,
        -0.636_628_029_909_366_2,
        -0.102_748_537_192_313_67,
        0.019_080_651_232_579_057,
        0.000_276_917_552_034_229_7,
        -0.001_765_099_610_561_017_8,
        0.000_637_846_752_045_886_8,
        -4.257_920_846_720_238e-5,
        -7.157_239_587_998_308e-5,
        4.555_505_910_306_361e-5,
        -1.669_105_121_577_079e-5,
        4.374_969_550_245_529e-6,
        -8.606_934_802_551_214e-7,
        1.273_352_976_490_773_6e-7,
        -1.382_010_939_768_232_2e-8,
        1.041_609_189_005_875_5e-9,
        -4.877_004_099_689_591_5e-11,
        1.068_812_353_779_139_7e-12,
    );
    let (scale, growth) = exp_in_parts_f64(logarithm);
    Float::mul_add(-scale, growth, 1.0 - scale).copysign(x)
}
