//! Argument reduction for sines and tangents: x = n pi / 2 + r, with n the nearest integer.
//!
//! Up to a limit, n pi / 2 is subtracted from x in parts (Cody and Waite, Software Manual for the Elementary
//! Functions, 1980, chapter 8). Above it, the fraction of x times 2 / pi is computed with integers, from the bits of
//! 2 / pi that contribute to it (Payne and Hanek, "Radian reduction for trigonometric functions", 1983).

use crate::float::Float;
use core::f32::consts as single;
use core::f64::consts as double;

/// An angle in the plane.
pub(super) struct Angle<T> {
    /// The number of quarter turns subtracted; only the last two bits are valid.
    pub quadrant: i32,
    /// The remainder, from -pi / 4 to pi / 4, as the sum of two numbers.
    pub head: T,
    pub tail: T,
}

/// `a + b` rounded, and the rounding error.
#[inline(always)]
pub(super) fn sum_and_rest<T>(a: T, b: T) -> (T, T)
where
    T: Copy + core::ops::Add<Output = T> + core::ops::Sub<Output = T>,
{
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// Declares the reduction by parts of pi / 2. Their products with n are exact, except the last.
macro_rules! reduce_by_parts {
    ($name:ident, $float:ty, $shift:expr, $inverse:expr, $parts:expr, $quadrant:expr) => {
        #[inline(always)]
        #[track_caller]
        fn $name(x: $float) -> Angle<$float> {
            let [first, second, third] = $parts;
            let shifted = Float::mul_add(x, $inverse, $shift);
            let n = shifted - $shift;
            let left = Float::mul_add(n, -first, x);
            let product = n * -second;
            let error = Float::mul_add(n, -second, -product);
            let (head, rest) = sum_and_rest(left, product);
            let tail = Float::mul_add(n, -third, rest + error);
            let quadrant: fn($float) -> i32 = $quadrant;
            Angle {
                quadrant: quadrant(shifted),
                head: head + tail,
                tail: (head - (head + tail)) + tail,
            }
        }
    };
}
reduce_by_parts!(
    by_parts_f32,
    f32,
    12_582_912.0,
    single::FRAC_2_PI,
    [single::FRAC_PI_2, -4.371_139e-8, -1.715_124_5e-15],
    |shifted| shifted.to_bits() as i32
);
reduce_by_parts!(
    by_parts_f64,
    f64,
    6_755_399_441_055_744.0,
    double::FRAC_2_PI,
    [
        double::FRAC_PI_2,
        6.123_233_995_736_766e-17,
        -1.497_384_904_859_169_8e-33
    ],
    |shifted| shifted.to_bits() as i32
);

#[inline(always)]
#[track_caller]
pub(super) fn reduce_f32(x: f32) -> Angle<f32> {
    if x.abs() < 65_536.0 {
        by_parts_f32(x)
    } else {
        by_integers_f32(x)
    }
}

#[inline(always)]
#[track_caller]
pub(super) fn reduce_f64(x: f64) -> Angle<f64> {
    if x.abs() < 1_048_576.0 {
        by_parts_f64(x)
    } else {
        by_integers_f64(x)
    }
}

/// Selects `far` or `near`, word by word: a table in registers.
macro_rules! words {
    ($is_far:expr; $($near:expr, $far:expr;)*) => {
        [$(if $is_far { $far } else { $near }),*]
    };
}

/// For |x| from 2^16. NaN for infinities and NaN.
///
/// With x = m 2^e, only the bits of 2 / pi whose product with 2^e is below 4 matter. 96 of them give the fraction
/// with an error of 2^-70; no f32 is nearer to a multiple of pi / 2 than 2^-30.
#[inline(always)]
fn by_integers_f32(x: f32) -> Angle<f32> {
    let biased = x.to_bits() >> 23 & 0xff;
    if biased == 0xff {
        return Angle {
            quadrant: 0,
            head: f32::NAN,
            tail: f32::NAN,
        };
    }
    let mantissa = u64::from(x.to_bits() & 0x007f_ffff | 0x0080_0000);
    // The bits of 2 / pi after 9 zeros, where those for x = 2^16 start: its mantissa is 2^-7 m.
    let offset = biased - 143;
    let (is_far, is_next) = (offset & 64 != 0, offset & 32 != 0);
    let [a, b, c, d, e] = words![is_far;
        0x0051_7cc1, 0x94fe_13ab; 0xb727_220a, 0xe8fa_9a6e; 0x94fe_13ab, 0xe06d_b14a;
        0xe8fa_9a6e, 0xcc9e_21c8; 0xe06d_b14a, 0x20ff_28b1;
    ];
    let [a, b, c, d] = words![is_next; a, b; b, c; c, d; d, e;];
    let shift = offset & 31;
    let window = |high: u32, low: u32| {
        let pair = u64::from(high) << 32 | u64::from(low);
        pair << shift >> 32
    };
    let low = mantissa * window(c, d);
    let middle = mantissa * window(b, c) + (low >> 32);
    let high = (mantissa * window(a, b)).wrapping_add(middle >> 32);
    // Two bits of the quadrant, then the fraction. A fraction of at least 1/2 belongs to the next
    // quadrant, minus 1.
    let product = high << 32 | middle & 0xffff_ffff;
    let fraction = (product << 2 | (low >> 30 & 3)) as i64;
    let quadrant = ((product >> 62) as i32).wrapping_add((fraction < 0).into());
    let angle = fraction as f64 * (double::FRAC_PI_2 / 18_446_744_073_709_551_616.0);
    signed(
        x < 0.0,
        quadrant,
        angle as f32,
        (angle - f64::from(angle as f32)) as f32,
    )
}

/// The angle, or its opposite.
#[inline(always)]
fn signed<T: core::ops::Neg<Output = T>>(
    is_negative: bool,
    quadrant: i32,
    head: T,
    tail: T,
) -> Angle<T> {
    if is_negative {
        Angle {
            quadrant: quadrant.wrapping_neg(),
            head: -head,
            tail: -tail,
        }
    } else {
        Angle {
            quadrant,
            head,
            tail,
        }
    }
}

/// For |x| from 2^20. NaN for infinities and NaN.
///
/// As [`by_integers_f32`], with 192 bits of 2 / pi: the error is 2^-137, and no f64 is nearer to a
/// multiple of pi / 2 than 2^-62.
#[inline(always)]
#[track_caller]
fn by_integers_f64(x: f64) -> Angle<f64> {
    let biased = (x.to_bits() >> 52) as u32 & 0x7ff;
    if biased == 0x7ff {
        return Angle {
            quadrant: 0,
            head: f64::NAN,
            tail: f64::NAN,
        };
    }
    let mantissa = x.to_bits() & 0x000f_ffff_ffff_ffff | 0x0010_0000_0000_0000;
    let offset = biased - 1043;
    let [a, b, c, d] = bits_of_two_over_pi(offset >> 6);
    let shift = offset & 63;
    // In two steps, because a shift by 64 is not defined.
    let window = |high: u64, low: u64| high << shift | low >> 1 >> (63 - shift);
    let low = u128::from(mantissa) * u128::from(window(c, d));
    let middle = u128::from(mantissa) * u128::from(window(b, c)) + (low >> 64);
    let high = mantissa
        .wrapping_mul(window(a, b))
        .wrapping_add((middle >> 64) as u64);
    let (low, middle) = (low as u64, middle as u64);
    let fraction = (high << 2 | middle >> 62) as i64;
    let rest = middle << 2 | low >> 62;
    let quadrant = ((high >> 62) as i32).wrapping_add((fraction < 0).into());
    // The fraction as the sum of two numbers. The first 53 bits of it are exact.
    const UNIT: f64 = 1.0 / 18_446_744_073_709_551_616.0;
    let large = (fraction & !0x7ff) as f64;
    let (small, rest) = sum_and_rest((fraction & 0x7ff) as f64, rest as f64 * UNIT);
    let head = large + small;
    let tail = ((large - head) + small) + rest;
    // Its product with pi / 2.
    let product = head * double::FRAC_PI_2;
    let error = Float::mul_add(head, double::FRAC_PI_2, -product);
    let error = Float::mul_add(head, 6.123_233_995_736_766e-17, error);
    let error = Float::mul_add(tail, double::FRAC_PI_2, error);
    let sum = product + error;
    let rest = (product - sum) + error;
    signed(x < 0.0, quadrant, sum * UNIT, rest * UNIT)
}

/// Four words of 2 / pi after 34 zeros, from word `index`.
#[inline(always)]
fn bits_of_two_over_pi(index: u32) -> [u64; 4] {
    const BITS: [u64; 19] = [
        0x0000_0000_28be_60db,
        0x9391_054a_7f09_d5f4,
        0x7d4d_3770_36d8_a566,
        0x4f10_e410_7f94_58ea,
        0xf7ae_f158_6dc9_1b8e,
        0x9093_74b8_0192_4bba,
        0x8274_6487_3f87_7ac7,
        0x2c4a_69cf_ba20_8d7d,
        0x4bae_d121_3a67_1c09,
        0xad17_df90_4e64_758e,
        0x60d4_ce7d_2721_17e2,
        0xef7e_4a0e_c7fe_25ff,
        0xf781_6603_fbcb_c462,
        0xd682_9b47_db4d_9fb3,
        0xc9f2_c26d_d3d1_8fd9,
        0xa797_fa8b_5d49_eeb1,
        0xfaf9_7c5e_cf41_ce7d,
        0xe294_a4ba_9afe_d7ec,
        0x47e3_5742_1580_cc11,
    ];
    let is_far = index & 8 != 0;
    let [a, b, c, d, e, f, g, h, i, j, k] = words![is_far;
        BITS[0], BITS[8]; BITS[1], BITS[9]; BITS[2], BITS[10]; BITS[3], BITS[11];
        BITS[4], BITS[12]; BITS[5], BITS[13]; BITS[6], BITS[14]; BITS[7], BITS[15];
        BITS[8], BITS[16]; BITS[9], BITS[17]; BITS[10], BITS[18];
    ];
    let [a, b, c, d, e, f, g] = words![index & 4 != 0;
        a, e; b, f; c, g; d, h; e, i; f, j; g, k;
    ];
    let [a, b, c, d, e] = words![index & 2 != 0; a, c; b, d; c, e; d, f; e, g;];
    words![index & 1 != 0; a, b; b, c; c, d; d, e;]
}
