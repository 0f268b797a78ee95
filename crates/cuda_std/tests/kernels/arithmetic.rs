//! Arithmetic that Rust's `core` lacks.

use cuda_std::float::HalfFloat;
use cuda_std::fp8::{F8E4M3, F8E5M2};
use cuda_std::math;
use cuda_std::prelude::*;
use half::{bf16, f16};

macro_rules! mul_add_kernels {
    ($($name:ident: $element:ty;)*) => {$(
        #[doc = concat!("`c = a * b + c` in ", stringify!($element), ", rounded once.")]
        #[kernel]
        pub fn $name(a: Global<$element>, b: Global<$element>, c: GlobalMut<$element>) {
            let index = thread::unique_index();
            let (a, b) = (a.get(index.get()), b.get(index.get()));
            if let (Some(a), Some(b), Some(c)) = (a, b, c.own(index)) {
                c.set(Float::mul_add(a, b, c.get()) + <$element as Float>::ZERO);
            }
        }
    )*};
}
mul_add_kernels! {
    mul_add_f32: f32;
    mul_add_f64: f64;
}

/// e to the power of each `x`.
#[kernel]
pub fn exponential(x: Global<f64>, out: GlobalMut<f64>) {
    let index = thread::unique_index();
    if let (Some(x), Some(out)) = (x.get(index.get()), out.own(index)) {
        out.set(math::exp(x));
    }
}

macro_rules! half_kernels {
    ($($widen:ident, $narrow:ident: $element:ty;)*) => {$(
        #[doc = concat!("The value of each ", stringify!($element), " in f32.")]
        #[kernel]
        pub fn $widen(x: Global<$element>, out: GlobalMut<f32>) {
            let index = thread::unique_index();
            if let (Some(x), Some(out)) = (x.get(index.get()), out.own(index)) {
                out.set(HalfFloat::widen(x));
            }
        }

        #[doc = concat!("The ", stringify!($element), " that is nearest to each f32.")]
        #[kernel]
        pub fn $narrow(x: Global<f32>, out: GlobalMut<$element>) {
            let index = thread::unique_index();
            if let (Some(x), Some(out)) = (x.get(index.get()), out.own(index)) {
                out.set(HalfFloat::narrow(x));
            }
        }
    )*};
}
half_kernels! {
    widen_f16, narrow_f16: f16;
    widen_bf16, narrow_bf16: bf16;
}

macro_rules! fp8_kernels {
    ($($widen:ident, $narrow:ident: $element:ty;)*) => {$(
        #[doc = concat!("The number of each ", stringify!($element), " in f32.")]
        #[kernel]
        pub fn $widen(x: Global<$element>, out: GlobalMut<f32>) {
            let index = thread::unique_index();
            if let (Some(x), Some(out)) = (x.get(index.get()), out.own(index)) {
                out.set(x.to_f32());
            }
        }

        #[doc = concat!("The ", stringify!($element), " that is nearest to each f32.")]
        #[kernel]
        pub fn $narrow(x: Global<f32>, out: GlobalMut<$element>) {
            let index = thread::unique_index();
            if let (Some(x), Some(out)) = (x.get(index.get()), out.own(index)) {
                out.set(<$element>::from_f32(x));
            }
        }
    )*};
}
fp8_kernels! {
    widen_e4m3, narrow_e4m3: F8E4M3;
    widen_e5m2, narrow_e5m2: F8E5M2;
}

/// The e4m3 numbers that are nearest to each two f32.
#[kernel]
pub fn narrow_e4m3_pairs(x: Global<[f32; 2]>, out: GlobalMut<[F8E4M3; 2]>) {
    let index = thread::unique_index();
    if let (Some(x), Some(out)) = (x.get(index.get()), out.own(index)) {
        out.set(F8E4M3::from_f32_pair(x));
    }
}
