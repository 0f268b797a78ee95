//! The complementary error function and the Gaussian error linear unit, with their tails.
//!
//! For x > 0, erfc x is e^(-x^2) q(x), where q falls slowly from 1 to 1 / (x sqrt(pi)); the normal distribution of -x
//! is e^(-x^2 / 2) times a similar q. (x + k) q(x) is almost constant, and is approximated by a polynomial in
//! u = (x - k) / (x + k), which maps all x > 0 to -1 .. 1. (Shepherd and Laframboise, Chebyshev Approximation of
//! (1 + 2x) exp(x^2) erfc x in 0 <= x < infinity, 1981, with another factor.)
//!
//! Rounding x^2 would cost x^2 units, and rounding u or the polynomial's sum half a unit or more. So the square, u,
//! the sum and the power of e are each in two parts.

use super::exponential::{
    exp_in_two_parts_f32, exp_in_two_parts_f64, two_powers_f32, two_powers_f64,
};
use super::parts::Parts;
use super::polynomial::polynomial;
use super::reciprocal::{reciprocal_f32, reciprocal_f64};
use crate::float::Float;

/// Declares a function p(u) / (x + k) of x > 0 in two parts, with u = (x - k) / (x + k).
///
/// The coefficients are those of p; the first has two parts. The slope is that of ln p, a polynomial in u, to a
/// tenth: it is multiplied by the rounding error of u.
macro_rules! quotient {
    ($(#[$documentation:meta])* $name:ident: $float:ident by $reciprocal:ident, k = $k:literal,
        slope $slope:literal, $slope_of_slope:literal;
        $first:literal + $first_low:literal, $second:literal, $($coefficient:literal),+ $(,)?) => {
        $(#[$documentation])*
        #[inline(always)]
        #[track_caller]
        fn $name(x: $float) -> Parts<$float> {
            const FIRST: $float = $first;
            const SECOND: $float = $second;
            // k is a power of two, so the lower part is exact.
            let divisor = Parts::<$float>::sum($k, x);
            let inverse = $reciprocal(divisor.high);
            let lack = Float::mul_add(-inverse, divisor.high, 1.0);
            let lack = Float::mul_add(-inverse, divisor.low, lack);
            // u = 1 - 2 k / (x + k), and its rounding error.
            let u = Float::mul_add(-2.0 * $k, inverse, 1.0);
            let u_low = Float::mul_add(-2.0 * $k, inverse, 1.0 - u);
            let u_low = Float::mul_add(-2.0 * $k * inverse, lack, u_low);

            let higher = polynomial!(u; $($coefficient),+);
            let slope = Float::mul_add(u, higher, SECOND);
            let slope_low = Float::mul_add(u, higher, SECOND - slope);
            let sum = Float::mul_add(u, slope, FIRST);
            let sum_low = Float::mul_add(u, slope, FIRST - sum);
            let sum_low = Float::mul_add(u, slope_low, sum_low + $first_low);

            let relative = Float::mul_add(u, $slope_of_slope, $slope);
            let relative = Float::mul_add(u_low, relative, lack);
            let Parts { high, low } = Parts::<$float>::product(sum, inverse);
            let low = Float::mul_add(sum_low, inverse, low);
            Parts { high, low: Float::mul_add(high, relative, low) }
        }
    };
}

quotient! {
    /// e^(x^2) erfc x for x up to 10.5: the polynomial's error is 2^-29.
    scaled_complement_f32: f32 by reciprocal_f32, k = 2.0, slope -0.633_8, 0.038_6;
    1.021_582_7 + -1.722_305_1e-8,
    -0.687_160_7,
    0.279_472_05,
    -0.036_442_395,
    -0.021_509_988,
    0.006_479_448,
    0.003_086_113_8,
    -0.000_835_744_2,
    -0.000_647_292_8,
    3.151_318_7e-5,
    0.000_115_312_12,
    2.675_022_6e-5,
}

quotient! {
    /// e^(x^2 / 2) times the normal distribution of -x, for x up to 15: the polynomial's error is 2^-28.
    scaled_distribution_f32: f32 by reciprocal_f32, k = 4.0, slope -0.808_3, 0.309_9;
    0.755_285_14 + -1.282_134_9e-8,
    -0.607_896_6,
    0.387_137_3,
    -0.186_522_04,
    0.060_398_486,
    -0.007_539_681_6,
    -0.003_492_098,
    0.001_627_879_2,
    0.000_169_091_39,
    -0.000_212_268_93,
    -4.063_359e-5,
}

quotient! {
    /// e^(x^2) erfc x for x up to 27.5: the polynomial's error is 2^-59.
    scaled_complement_f64: f64 by reciprocal_f64, k = 4.0, slope -0.939_2, 0.754_4;
    1.095_995_661_000_491 + 5.708_515_792_108_504e-17,
    -0.976_548_729_080_882,
    0.773_208_702_265_237_3,
    -0.540_853_831_313_237,
    0.330_851_587_877_994_96,
    -0.174_010_937_239_872_54,
    0.076_381_514_909_842_93,
    -0.026_370_053_341_282_843,
    0.006_112_055_647_484_686,
    -0.000_280_958_857_358_956_55,
    -0.000_455_052_612_560_877_25,
    0.000_176_812_779_403_778_43,
    -3.635_553_186_392_801e-6,
    -1.886_078_737_658_980_7e-5,
    4.695_727_069_382_321e-6,
    1.424_118_649_825_054_8e-6,
    -8.491_339_965_349_045e-7,
    -7.579_973_895_820_128e-8,
    1.282_944_120_788_067_4e-7,
    1.717_100_264_214_985_6e-9,
    -1.881_660_662_602_637_7e-8,
    -8.546_570_598_825_367e-10,
    2.177_097_758_426_926_4e-9,
    4.425_318_944_416_835e-10,
}

quotient! {
    /// e^(x^2 / 2) times the normal distribution of -x, for x up to 39: the polynomial's error is 2^-58.
    scaled_distribution_f64: f64 by reciprocal_f64, k = 4.0, slope -0.808_3, 0.309_9;
    0.755_285_130_415_751_5 + -2.312_757_642_430_783_8e-17,
    -0.607_896_641_971_892_1,
    0.387_137_400_742_214_8,
    -0.186_521_857_959_659_5,
    0.060_396_574_890_921_59,
    -0.007_540_188_966_662_643,
    -0.003_479_692_367_063_120_3,
    0.001_630_818_456_738_113,
    0.000_133_344_308_627_930_83,
    -0.000_231_094_929_040_900_27,
    -1.908_233_004_151_713e-6,
    3.514_466_052_306_708e-5,
    7.165_584_805_704_596e-7,
    -5.920_112_472_232_365e-6,
    -6.294_013_318_284_618e-7,
    1.021_483_892_280_167_7e-6,
    2.712_822_555_960_491_5e-7,
    -1.549_722_320_377_839_6e-7,
    -8.483_185_059_459_33e-8,
    1.340_290_283_674_103_5e-8,
    1.925_843_951_099_055_6e-8,
    1.784_864_370_987_951_9e-9,
    -2.424_078_690_999_568e-9,
    -6.775_981_549_079_245e-10,
}

macro_rules! complements {
    ($($float:ident: $erfc:ident to $erfc_end:literal by $complement:ident,
        $gelu:ident to $gelu_end:literal by $distribution:ident, $exp:ident, $two_powers:ident;)*) => {$(
        /// erfc |x|, or 2 - erfc |x| for x < 0.
        #[inline(always)]
        #[track_caller]
        pub(super) fn $erfc(x: $float) -> $float {
            let magnitude = x.abs();
            // Past the end the result is 0 or 2. NaN is not past it.
            let magnitude = if magnitude > $erfc_end { $erfc_end } else { magnitude };
            let square = Parts::<$float>::product(magnitude, magnitude);
            let (exponent, power) = $exp(-square.high, -square.low);
            let tail = power.times($complement(magnitude));
            let [power, other] = $two_powers(exponent);
            let tail = (tail.high + tail.low) * power;
            let (tail, base) = if x < 0.0 { (-tail, 2.0) } else { (tail, 0.0) };
            Float::mul_add(tail, other, base)
        }

        /// x times the normal distribution of x is max(x, 0) minus |x| times the distribution of
        /// -|x|.
        #[inline(always)]
        #[track_caller]
        pub(super) fn $gelu(x: $float) -> $float {
            let magnitude = x.abs();
            // Past the end the result is x or -0. NaN is not past it.
            let magnitude = if magnitude > $gelu_end { $gelu_end } else { magnitude };
            let square = Parts::<$float>::product(magnitude, magnitude);
            let (exponent, power) = $exp(-0.5 * square.high, -0.5 * square.low);
            let tail = power.times($distribution(magnitude));
            let tail = Float::mul_add(magnitude, tail.high, magnitude * tail.low);
            let [power, other] = $two_powers(exponent);
            let base = if x < 0.0 { -0.0 } else { x };
            Float::mul_add(-(tail * power), other, base)
        }
    )*};
}
complements! {
    f32: erfc_f32 to 10.5 by scaled_complement_f32, gelu_f32 to 15.0 by scaled_distribution_f32,
        exp_in_two_parts_f32, two_powers_f32;
    f64: erfc_f64 to 27.5 by scaled_complement_f64, gelu_f64 to 39.0 by scaled_distribution_f64,
        exp_in_two_parts_f64, two_powers_f64;
}
