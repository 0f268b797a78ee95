//! Special cases, functions of two numbers, and 16-bit formats.

use cuda_std::math;
use half::{bf16, f16};

/// Asserts equal bits or, if a NaN is expected, the canonical NaN.
#[track_caller]
fn assert_same(result: f64, expected: f64, what: &str) {
    if expected.is_nan() {
        assert_eq!(result.to_bits(), 0x7fff_ffff_ffff_ffff, "{what}");
    } else {
        assert_eq!(result.to_bits(), expected.to_bits(), "{what}: {result}");
    }
}

const SPECIAL: [f64; 17] = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.0,
    -1.0,
    2.0,
    -2.0,
    3.0,
    -3.0,
    2.5,
    -2.5,
    1e300,
    -1e300,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

#[test]
fn powers_of_special_numbers_are_those_of_ieee_754() {
    for x in SPECIAL {
        for y in SPECIAL {
            let (result, expected) = (math::pow(x, y), x.powf(y));
            let is_special = expected.is_nan() || expected.is_infinite() || expected == 0.0;
            if is_special || expected.abs() == 1.0 {
                assert_same(result, expected, &format!("{x}^{y}"));
            } else {
                assert!((result / expected - 1.0).abs() < 1e-15, "{x}^{y}: {result}");
            }
        }
    }
}

#[test]
fn powers_of_f32_are_within_a_unit() {
    // Far from zero and from infinity, so that the unit follows from the result.
    for i in 0_u32..200_000 {
        let x = f32::from_bits(0x3780_0000 + i.wrapping_mul(2_654_435_761) % 0x1000_0000);
        let y = (i.wrapping_mul(40_503) % 20_000) as f32 / 1000.0 - 10.0;
        let exact = libm::pow(x.into(), y.into());
        if (1e-37..3e38).contains(&exact) {
            let unit = f64::from((exact as f32).next_up()) - f64::from(exact as f32);
            let error = (f64::from(math::pow(x, y)) - exact).abs() / unit;
            assert!(error <= 1.0, "{x:e}^{y}: {error} units");
        }
    }
    assert_eq!(math::pow(-2.0_f32, 3.0), -8.0);
    assert_eq!(math::pow(2.0_f32, 1000.0), f32::INFINITY);
    assert_eq!(math::pow(-2.0_f32, 0.5).to_bits(), 0x7fff_ffff);
}

#[test]
fn extrema_treat_nan_and_zeros_as_ieee_754_does() {
    let nan = f64::NAN;
    assert_same(math::min(nan, 1.0), 1.0, "min(NaN, 1)");
    assert_same(math::max(1.0, nan), 1.0, "max(1, NaN)");
    assert_same(math::min(nan, nan), nan, "min(NaN, NaN)");
    assert_same(math::minimum(nan, 1.0), nan, "minimum(NaN, 1)");
    assert_same(math::maximum(1.0, nan), nan, "maximum(1, NaN)");
    for (a, b) in [(0.0, -0.0), (-0.0, 0.0)] {
        assert_same(math::min(a, b), -0.0, "min of zeros");
        assert_same(math::max(a, b), 0.0, "max of zeros");
        assert_same(math::minimum(a, b), -0.0, "minimum of zeros");
        assert_same(math::maximum(a, b), 0.0, "maximum of zeros");
    }
    let numbers = SPECIAL.into_iter().filter(|x| !x.is_nan() && *x != 0.0);
    for a in numbers.clone() {
        for b in numbers.clone() {
            let (low, high) = if a < b { (a, b) } else { (b, a) };
            assert_same(math::min(a, b), low, "min");
            assert_same(math::minimum(a, b), low, "minimum");
            assert_same(math::max(a, b), high, "max");
            assert_same(math::maximum(a, b), high, "maximum");
        }
    }
}

#[test]
fn functions_of_f64_at_special_numbers() {
    type Pair = (&'static str, fn(f64) -> f64, fn(f64) -> f64);
    let functions: [Pair; 17] = [
        ("sqrt", math::sqrt, f64::sqrt),
        ("rsqrt", math::rsqrt, |x| 1.0 / x.sqrt()),
        ("exp", math::exp, libm::exp),
        ("exp2", math::exp2, libm::exp2),
        ("ln", math::ln, libm::log),
        ("log2", math::log2, libm::log2),
        ("sin", math::sin, libm::sin),
        ("cos", math::cos, libm::cos),
        ("tan", math::tan, libm::tan),
        ("tanh", math::tanh, libm::tanh),
        ("erf", math::erf, libm::erf),
        ("erfc", math::erfc, libm::erfc),
        ("floor", math::floor, f64::floor),
        ("ceil", math::ceil, f64::ceil),
        ("trunc", math::trunc, f64::trunc),
        ("round", math::round, f64::round),
        (
            "round_ties_even",
            math::round_ties_even,
            f64::round_ties_even,
        ),
    ];
    for (name, ours, exact) in functions {
        for x in SPECIAL {
            let (result, expected) = (ours(x), exact(x));
            let is_rounding =
                ["floor", "ceil", "trunc", "round", "round_ties_even"].contains(&name);
            if is_rounding || !expected.is_normal() {
                assert_same(result, expected, &format!("{name}({x})"));
            } else {
                assert!(
                    (result / expected - 1.0).abs() < 1e-15,
                    "{name}({x}): {result}"
                );
            }
        }
    }
}

/// Zeros of either sign, and the limits: -0 at negative infinity.
#[test]
fn activations_of_special_numbers() {
    type Function = fn(f64) -> f64;
    let functions: [(&str, Function); 3] = [
        ("gelu", math::gelu),
        ("gelu_tanh", math::gelu_tanh),
        ("silu", math::silu),
    ];
    for (name, function) in functions {
        for x in [
            0.0,
            -0.0,
            1e300,
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
            -f64::NAN,
        ] {
            assert_same(function(x), x, &format!("{name}({x})"));
        }
        for x in [f64::NEG_INFINITY, f64::MIN, -1e300, -760.1, -752.0] {
            assert_same(function(x), -0.0, &format!("{name}({x})"));
        }
    }
}

#[test]
fn half_way_cases_are_rounded_by_their_rule() {
    for x in [
        0.5,
        1.5,
        2.5,
        0.499_999_999_999_999_94,
        4_503_599_627_370_495.5,
        -0.5,
        -0.2,
    ] {
        assert_same(math::round(x), x.round(), "round");
        assert_same(
            math::round_ties_even(x),
            x.round_ties_even(),
            "round_ties_even",
        );
    }
}

/// All values of the formats, against the correctly rounded f32 result, rounded once more.
#[test]
fn functions_of_16_bits_give_the_nearest_value() {
    for bits in 0..=u16::MAX {
        let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
        if !half.is_nan() {
            let expected = f16::from_f32(libm::tanh(half.to_f64()) as f32);
            assert_eq!(
                math::tanh(half).to_bits(),
                expected.to_bits(),
                "tanh({half})"
            );
            let expected = f16::from_f32(libm::exp(half.to_f64()) as f32);
            assert_eq!(math::exp(half).to_bits(), expected.to_bits(), "exp({half})");
        }
        if !brain.is_nan() {
            let expected = bf16::from_f32(libm::erf(brain.to_f64()) as f32);
            assert_eq!(
                math::erf(brain).to_bits(),
                expected.to_bits(),
                "erf({brain})"
            );
        }
    }
    assert_eq!(math::ln(f16::from_f32(-1.0)).to_bits(), 0x7fff);
    assert_eq!(math::ln(bf16::from_f32(-1.0)).to_bits(), 0x7fff);
}
