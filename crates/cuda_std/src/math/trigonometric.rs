//! Sine, cosine and tangent, from polynomials on a quarter of a turn.

use super::polynomial::polynomial;
use super::quadrant::{Angle, reduce_f32, reduce_f64};
use crate::float::Float;

/// Declares the sine and the cosine of a reduced angle. The polynomials are (sin r - r) / r^3 and
/// (cos r - 1 + r^2 / 2) / r^4 in r^2.
macro_rules! within_quadrant {
    ($sine:ident, $cosine:ident, $float:ty, [$($odd:literal),*], [$($even:literal),*]) => {
        #[inline(always)]
        #[track_caller]
        fn $sine(head: $float, tail: $float) -> $float {
            let square = head * head;
            let cubic = polynomial!(square; $($odd),*);
            let tail = Float::mul_add(-0.5 * square, tail, tail);
            head + Float::mul_add(cubic, square * head, tail)
        }

        #[inline(always)]
        #[track_caller]
        fn $cosine(head: $float, tail: $float) -> $float {
            let square = head * head;
            let quartic = polynomial!(square; $($even),*);
            let error = Float::mul_add(head, head, -square);
            let half = 0.5 * square;
            let sum = 1.0 - half;
            let rest = (1.0 - sum) - half;
            let rest = Float::mul_add(-0.5, error, rest);
            let rest = Float::mul_add(-head, tail, rest);
            sum + Float::mul_add(quartic, square * square, rest)
        }
    };
}
within_quadrant!(
    sine_f32,
    cosine_f32,
    f32,
    [
        -0.166_666_67,
        0.008_333_372,
        -0.000_198_499_05,
        2.800_430_6e-6
    ],
    [0.041_666_646, -0.001_388_731_1, 0.000_024_432_546]
);
within_quadrant!(
    sine_f64,
    cosine_f64,
    f64,
    [
        -0.166_666_666_666_666_3,
        0.008_333_333_333_321_898,
        -0.000_198_412_698_294_317_22,
        2.755_731_357_049_828_3e-6,
        -2.505_074_018_071_896_6e-8,
        1.589_580_555_011_928e-10
    ],
    [
        0.041_666_666_666_666_595,
        -0.001_388_888_888_887_332_2,
        2.480_158_728_898_035_8e-5,
        -2.755_731_420_852_105_5e-7,
        2.087_570_398_210_434e-9,
        -1.135_866_461_561_939_8e-11
    ]
);

macro_rules! of_any_angle {
    ($sin:ident, $cos:ident, $turned:ident, $float:ty, $reduce:ident, $sine:ident, $cosine:ident) => {
        #[inline(always)]
        #[track_caller]
        pub(super) fn $sin(x: $float) -> $float {
            let sine = $turned(&$reduce(x), 0);
            // The parts of -0 add up to 0.
            if x == 0.0 { x } else { sine }
        }

        #[inline(always)]
        #[track_caller]
        pub(super) fn $cos(x: $float) -> $float {
            $turned(&$reduce(x), 1)
        }

        /// The sine of the angle plus `quarters` quarter turns.
        #[inline(always)]
        #[track_caller]
        fn $turned(angle: &Angle<$float>, quarters: i32) -> $float {
            let quadrant = angle.quadrant.wrapping_add(quarters);
            let result = if quadrant & 1 == 0 {
                $sine(angle.head, angle.tail)
            } else {
                $cosine(angle.head, angle.tail)
            };
            if quadrant & 2 == 0 { result } else { -result }
        }
    };
}
of_any_angle!(
    sin_f32, cos_f32, turned_f32, f32, reduce_f32, sine_f32, cosine_f32
);
of_any_angle!(
    sin_f64, cos_f64, turned_f64, f64, reduce_f64, sine_f64, cosine_f64
);

/// tan r, or -1 / tan r after an odd number of quarter turns, with tan r as the sum of two numbers.
#[inline(always)]
#[track_caller]
pub(super) fn tan_f32(x: f32) -> f32 {
    let Angle {
        quadrant,
        head,
        tail,
    } = reduce_f32(x);
    let square = head * head;
    // (tan(r) - r) / r^3; the relative error of tan r is 2^-29.
    let cubic = polynomial!(square;
        0.333_333_5,
        0.133_326_74,
        0.054_059_185,
        0.021_284_424,
        0.010_832_841,
        0.000_090_592_66,
        0.004_376_817_5,
    );
    let cube = square * head;
    let cube_rest = Float::mul_add(square, head, -cube);
    let square_rest = Float::mul_add(head, head, -square);
    let cube_rest = Float::mul_add(square_rest, head, cube_rest);
    // The derivative of tan r is 1 + tan^2 r.
    let near = Float::mul_add(cubic, cube, head);
    let tail = Float::mul_add(near * near, tail, tail);
    let tail = Float::mul_add(cubic, cube_rest, tail);
    let bent = Float::mul_add(cubic, cube, tail);
    let tangent = head + bent;
    let rest = (head - tangent) + bent;
    let result = if quadrant & 1 == 0 {
        tangent
    } else {
        let inverse = -1.0 / tangent;
        let residual = Float::mul_add(inverse, tangent, 1.0);
        let residual = Float::mul_add(inverse, rest, residual);
        Float::mul_add(inverse, residual, inverse)
    };
    if x == 0.0 { x } else { result }
}

/// sin x / cos x. A quarter turn swaps the two, and negates one.
#[inline(always)]
#[track_caller]
pub(super) fn tan_f64(x: f64) -> f64 {
    let Angle {
        quadrant,
        head,
        tail,
    } = reduce_f64(x);
    let (sine, cosine) = (sine_f64(head, tail), cosine_f64(head, tail));
    let is_even = quadrant & 1 == 0;
    let numerator = if is_even { sine } else { -cosine };
    let denominator = if is_even { cosine } else { sine };
    if x == 0.0 { x } else { numerator / denominator }
}
