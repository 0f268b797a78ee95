//! f32, against f64 functions whose errors are below 2^-28 units of f32.

use std::thread;

/// A function of one f32.
pub struct Function {
    pub name: &'static str,
    pub ours: fn(f32) -> f32,
    pub exact: fn(f64) -> f64,
    /// The error of a result, from the argument, the result and the exact result.
    pub error: fn(f32, f32, f64) -> f64,
    /// The largest allowed error.
    pub bound: f64,
}

macro_rules! functions {
    ($($name:ident: $exact:expr;)*) => {$(
        mod $name {
            use super::{Function, all_values, error, samples};

            const FUNCTION: Function = Function {
                name: stringify!($name),
                ours: cuda_std::math::$name,
                exact: $exact,
                error: |_, result, exact| error(result, exact),
                bound: 1.0,
            };

            #[test]
            fn errors_of_samples_are_at_most_a_unit() {
                samples(&FUNCTION);
            }

            #[test]
            #[ignore = "a minute of two cores"]
            fn errors_of_all_values_are_at_most_a_unit() {
                all_values(&FUNCTION);
            }
        }
    )*};
}
functions! {
    sqrt: f64::sqrt;
    rsqrt: |x| 1.0 / x.sqrt();
    exp: libm::exp;
    exp2: libm::exp2;
    ln: libm::log;
    log2: libm::log2;
    sin: libm::sin;
    cos: libm::cos;
    tan: libm::tan;
    tanh: libm::tanh;
    erf: libm::erf;
    erfc: libm::erfc;
    gelu: super::exact::gelu;
    gelu_tanh: super::exact::gelu_tanh;
    silu: super::exact::silu;
    floor: f64::floor;
    ceil: f64::ceil;
    trunc: f64::trunc;
    round: f64::round;
    round_ties_even: f64::round_ties_even;
}

/// Activations by their definitions. The relative error of an argument is 2^-53, and arguments are at most 200, so it
/// stays far below a unit of f32.
mod exact {
    use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI};

    pub fn gelu(x: f64) -> f64 {
        times_or_limit(x, 0.5 * libm::erfc(x * -FRAC_1_SQRT_2))
    }

    pub fn gelu_tanh(x: f64) -> f64 {
        let inner = FRAC_2_PI.sqrt() * (x + 0.044_715 * x * x * x);
        times_or_limit(x, 1.0 / (1.0 + libm::exp(-2.0 * inner)))
    }

    pub fn silu(x: f64) -> f64 {
        times_or_limit(x, 1.0 / (1.0 + libm::exp(-x)))
    }

    /// x times `factor`, and its limit -0 for negative infinity.
    fn times_or_limit(x: f64, factor: f64) -> f64 {
        if x == f64::NEG_INFINITY {
            -0.0
        } else {
            x * factor
        }
    }
}

/// The error of `result` in units in the last place of `exact`.
pub fn error(result: f32, exact: f64) -> f64 {
    if exact.is_nan() || result.is_nan() {
        let is_canonical = result.to_bits() == 0x7fff_ffff;
        return if exact.is_nan() && is_canonical {
            0.0
        } else {
            f64::INFINITY
        };
    }
    let beyond = 2.0_f64.powi(128);
    let value = if result.is_infinite() {
        beyond.copysign(result.into())
    } else {
        result.into()
    };
    let exact = exact.clamp(-beyond, beyond);
    if exact == 0.0 && result.is_sign_negative() != exact.is_sign_negative() {
        return f64::INFINITY;
    }
    let exponent = ((exact.to_bits() >> 52 & 0x7ff) as i32 - 1023).clamp(-126, 127);
    let units_of_one = f64::from_bits(((23 - exponent + 1023) as u64) << 52);
    ((value - exact) * units_of_one).abs()
}

/// The largest error among the inputs, and its input.
fn worst(function: &Function, inputs: impl Iterator<Item = f32>) -> (f64, f32) {
    let mut worst = (0.0, 0.0);
    for x in inputs {
        let error = (function.error)(x, (function.ours)(x), (function.exact)(x.into()));
        if error > worst.0 {
            worst = (error, x);
        }
    }
    worst
}

/// Special inputs: zeros, infinities, NaN, the ends of the subnormal and the normal numbers.
const SPECIAL: [u32; 9] = [
    0,
    1,
    0x007f_ffff,
    0x0080_0000,
    0x3f80_0000,
    0x7f7f_ffff,
    0x7f80_0000,
    0x7f80_0001,
    0x7fc0_0000,
];

pub fn samples(function: &Function) {
    let special = SPECIAL.into_iter().flat_map(|bits| [bits, bits | 1 << 31]);
    let spread = (0..=u32::MAX).step_by(8191);
    // Magnitudes from 2^-8 to 128, where functions change most or fall to 0.
    let dense = (0x3b80_0000_u32..0x4300_0000).step_by(1009);
    let dense = dense.flat_map(|bits| [bits, bits | 1 << 31]);
    let inputs = special.chain(spread).chain(dense).map(f32::from_bits);
    let (error, x) = worst(function, inputs);
    assert!(
        error <= function.bound,
        "{}({x:e}): {error} units",
        function.name
    );
}

/// All inputs, split among the host threads.
pub fn all_values(function: &Function) {
    let parts = thread::available_parallelism().map_or(1, usize::from) as u64;
    let part = |part: u64| {
        let range = (part << 32) / parts..((part + 1) << 32) / parts;
        worst(function, range.map(|bits| f32::from_bits(bits as u32)))
    };
    let found = thread::scope(|scope| {
        let handles: Vec<_> = (0..parts).map(|it| scope.spawn(move || part(it))).collect();
        let found = handles.into_iter().map(|it| it.join().unwrap());
        found.max_by(|a, b| a.0.total_cmp(&b.0))
    });
    let (error, x) = found.unwrap();
    println!("{}: {error:.4} units at {x:e}", function.name);
    assert!(
        error <= function.bound,
        "{}({x:e}): {error} units",
        function.name
    );
}
