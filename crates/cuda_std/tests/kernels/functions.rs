//! Mathematical functions.

use cuda_std::math;
use cuda_std::prelude::*;

macro_rules! functions_of_one_number {
    ($($name:ident: $element:ty, $($function:ident)::+;)*) => {$(
        #[doc = concat!("`", stringify!($($function)::+), "` of each ", stringify!($element), ".")]
        #[kernel]
        pub fn $name(x: Global<$element>, out: GlobalMut<$element>) {
            let index = thread::unique_index();
            if let (Some(x), Some(out)) = (x.get(index.get()), out.own(index)) {
                out.set(math::$($function)::+(x));
            }
        }
    )*};
}
functions_of_one_number! {
    sqrt_f32: f32, sqrt;
    rsqrt_f32: f32, rsqrt;
    exp_f32: f32, exp;
    exp2_f32: f32, exp2;
    ln_f32: f32, ln;
    log2_f32: f32, log2;
    sin_f32: f32, sin;
    cos_f32: f32, cos;
    tan_f32: f32, tan;
    tanh_f32: f32, tanh;
    erf_f32: f32, erf;
    erfc_f32: f32, erfc;
    gelu_f32: f32, gelu;
    gelu_tanh_f32: f32, gelu_tanh;
    silu_f32: f32, silu;
    floor_f32: f32, floor;
    ceil_f32: f32, ceil;
    trunc_f32: f32, trunc;
    round_f32: f32, round;
    round_ties_even_f32: f32, round_ties_even;
    sqrt_f64: f64, sqrt;
    rsqrt_f64: f64, rsqrt;
    exp_f64: f64, exp;
    exp2_f64: f64, exp2;
    ln_f64: f64, ln;
    log2_f64: f64, log2;
    sin_f64: f64, sin;
    cos_f64: f64, cos;
    tan_f64: f64, tan;
    tanh_f64: f64, tanh;
    erf_f64: f64, erf;
    erfc_f64: f64, erfc;
    gelu_f64: f64, gelu;
    gelu_tanh_f64: f64, gelu_tanh;
    silu_f64: f64, silu;
    floor_f64: f64, floor;
    ceil_f64: f64, ceil;
    trunc_f64: f64, trunc;
    round_f64: f64, round;
    round_ties_even_f64: f64, round_ties_even;
    tanh_f16: half::f16, tanh;
    exp_bf16: half::bf16, exp;
    approximate_rsqrt: f32, approximate::rsqrt;
    approximate_ln: f32, approximate::ln;
    approximate_log2: f32, approximate::log2;
    approximate_sin: f32, approximate::sin;
    approximate_cos: f32, approximate::cos;
    approximate_tanh: f32, approximate::tanh;
}

macro_rules! euclidean_divisions {
    ($($name:ident: $element:ty, $method:ident;)*) => {$(
        #[doc = concat!("`", stringify!($method), "` of each pair of ", stringify!($element), ".")]
        #[kernel]
        pub fn $name(x: Global<$element>, y: Global<$element>, out: GlobalMut<$element>) {
            let index = thread::unique_index();
            let (x, y) = (x.get(index.get()), y.get(index.get()));
            if let (Some(x), Some(y), Some(out)) = (x, y, out.own(index)) {
                out.set(x.$method(y).canonical_nan());
            }
        }
    )*};
}
euclidean_divisions! {
    rem_euclid_f32: f32, rem_euclid;
    div_euclid_f32: f32, div_euclid;
    rem_euclid_f64: f64, rem_euclid;
    div_euclid_f64: f64, div_euclid;
}

macro_rules! functions_of_two_numbers {
    ($($name:ident: $element:ty, $function:ident;)*) => {$(
        #[doc = concat!("`", stringify!($function), "` of each pair of ", stringify!($element), ".")]
        #[kernel]
        pub fn $name(x: Global<$element>, y: Global<$element>, out: GlobalMut<$element>) {
            let index = thread::unique_index();
            let (x, y) = (x.get(index.get()), y.get(index.get()));
            if let (Some(x), Some(y), Some(out)) = (x, y, out.own(index)) {
                out.set(math::$function(x, y));
            }
        }
    )*};
}
functions_of_two_numbers! {
    pow_f32: f32, pow;
    min_f32: f32, min;
    max_f32: f32, max;
    minimum_f32: f32, minimum;
    maximum_f32: f32, maximum;
    pow_f64: f64, pow;
    min_f64: f64, min;
    max_f64: f64, max;
    minimum_f64: f64, minimum;
    maximum_f64: f64, maximum;
}

macro_rules! remainders {
    ($($name:ident: $element:ty;)*) => {$(
        #[doc = concat!("`%` of each pair of ", stringify!($element), ".")]
        #[kernel]
        pub fn $name(x: Global<$element>, y: Global<$element>, out: GlobalMut<$element>) {
            let index = thread::unique_index();
            let (x, y) = (x.get(index.get()), y.get(index.get()));
            if let (Some(x), Some(y), Some(out)) = (x, y, out.own(index)) {
                out.set(x % y);
            }
        }
    )*};
}
remainders! {
    remainder_f32: f32;
    remainder_f64: f64;
}
