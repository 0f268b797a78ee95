//! Arithmetic that Rust's `core` lacks, counted by the simulator.

use crate::fp8::F8E4M3;
use simt::{Arithmetic, count_arithmetic};

/// `a * b + c`, rounded once.
#[inline]
#[track_caller]
pub fn mul_add_f32(a: f32, b: f32, c: f32) -> f32 {
    count_arithmetic(Arithmetic::MulAddF32, 1);
    a.mul_add(b, c)
}

/// `a * b + c`, rounded once.
#[inline]
#[track_caller]
pub fn mul_add_f64(a: f64, b: f64, c: f64) -> f64 {
    count_arithmetic(Arithmetic::MulAddF64, 1);
    a.mul_add(b, c)
}

/// The larger of two, or NaN if either is; 0 is larger than -0.
#[inline]
pub fn maximum_f32(a: f32, b: f32) -> f32 {
    if a == b {
        f32::from_bits(a.to_bits() & b.to_bits())
    } else if a > b || a.is_nan() {
        a
    } else {
        b
    }
}

/// The square root, rounded once.
#[inline]
pub fn sqrt_f32(x: f32) -> f32 {
    x.sqrt()
}

/// The square root, rounded once.
#[inline]
pub fn sqrt_f64(x: f64) -> f64 {
    x.sqrt()
}

/// The largest integer that is not above `x`.
#[inline]
pub fn floor_f32(x: f32) -> f32 {
    x.floor()
}

/// The largest integer that is not above `x`.
#[inline]
pub fn floor_f64(x: f64) -> f64 {
    x.floor()
}

/// The smallest integer that is not below `x`.
#[inline]
pub fn ceil_f32(x: f32) -> f32 {
    x.ceil()
}

/// The smallest integer that is not below `x`.
#[inline]
pub fn ceil_f64(x: f64) -> f64 {
    x.ceil()
}

/// The integer part of `x`.
#[inline]
pub fn trunc_f32(x: f32) -> f32 {
    x.trunc()
}

/// The integer part of `x`.
#[inline]
pub fn trunc_f64(x: f64) -> f64 {
    x.trunc()
}

/// The integer nearest to `x`, ties to even.
#[inline]
pub fn round_ties_even_f32(x: f32) -> f32 {
    x.round_ties_even()
}

/// The integer nearest to `x`, ties to even.
#[inline]
pub fn round_ties_even_f64(x: f64) -> f64 {
    x.round_ties_even()
}

/// The value of an f16 with these bits.
#[inline]
#[track_caller]
pub fn f16_to_f32(bits: u16) -> f32 {
    count_arithmetic(Arithmetic::ConvertF16, 1);
    half::f16::from_bits(bits).to_f32()
}

/// The bits of the nearest f16, ties to even.
#[inline]
#[track_caller]
pub fn f32_to_f16(value: f32) -> u16 {
    count_arithmetic(Arithmetic::ConvertF16, 1);
    half::f16::from_f32(value).to_bits()
}

/// The bits of the nearest f16 values, ties to even; 0x7fff for NaN.
#[inline]
#[track_caller]
pub fn f32_pair_to_f16(values: [f32; 2]) -> [u16; 2] {
    count_arithmetic(Arithmetic::ConvertF16, 1);
    values.map(|value| canonical(value, half::f16::from_f32(value).to_bits()))
}

/// The bits of the nearest e4m3 numbers, as [`F8E4M3::from_f32`] rounds.
#[inline]
pub fn f32_pair_to_e4m3(values: [f32; 2]) -> [u8; 2] {
    values.map(|value| F8E4M3::from_f32(value).to_bits())
}

/// The bits of the nearest bf16 values, ties to even; 0x7fff for NaN.
#[inline]
#[track_caller]
pub fn f32_pair_to_bf16(values: [f32; 2]) -> [u16; 2] {
    count_arithmetic(Arithmetic::ConvertF16, 1);
    values.map(|value| canonical(value, half::bf16::from_f32(value).to_bits()))
}

/// One value's bits, as from the instruction for two: 0x7fff for NaN.
fn canonical(value: f32, bits: u16) -> u16 {
    if value.is_nan() { 0x7fff } else { bits }
}

/// The sum of `sum` and the products of the signed bytes of `a` and `b`.
#[inline]
pub fn dot_product_i8(a: i32, b: i32, sum: i32) -> i32 {
    let (a, b) = (a.to_ne_bytes(), b.to_ne_bytes());
    a.into_iter().zip(b).fold(sum, |sum, (a, b)| {
        sum.wrapping_add(i32::from(a as i8) * i32::from(b as i8))
    })
}
