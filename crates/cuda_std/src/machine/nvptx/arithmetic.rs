//! Arithmetic that Rust's `core` lacks.

use super::intrinsics::intrinsics;
#[cfg(not(cuda_arch_at_least = "90"))]
use crate::fp8::F8E4M3;
use core::arch::asm;

intrinsics! {
    fn fma_f32(a: f32, b: f32, c: f32) -> f32 = "llvm.fma.f32";
    fn fma_f64(a: f64, b: f64, c: f64) -> f64 = "llvm.fma.f64";
    fn sqrt_of_f32(x: f32) -> f32 = "llvm.sqrt.f32";
    fn sqrt_of_f64(x: f64) -> f64 = "llvm.sqrt.f64";
    fn floor_of_f32(x: f32) -> f32 = "llvm.floor.f32";
    fn floor_of_f64(x: f64) -> f64 = "llvm.floor.f64";
    fn ceil_of_f32(x: f32) -> f32 = "llvm.ceil.f32";
    fn ceil_of_f64(x: f64) -> f64 = "llvm.ceil.f64";
    fn trunc_of_f32(x: f32) -> f32 = "llvm.trunc.f32";
    fn trunc_of_f64(x: f64) -> f64 = "llvm.trunc.f64";
    fn maximum_of_f32(a: f32, b: f32) -> f32 = "llvm.maximum.f32";
    fn rint_of_f32(x: f32) -> f32 = "llvm.rint.f32";
    fn rint_of_f64(x: f64) -> f64 = "llvm.rint.f64";
}

/// `a * b + c`, rounded once.
#[inline(always)]
pub fn mul_add_f32(a: f32, b: f32, c: f32) -> f32 {
    // SAFETY: arithmetic on values.
    unsafe { fma_f32(a, b, c) }
}

/// `a * b + c`, rounded once.
#[inline(always)]
pub fn mul_add_f64(a: f64, b: f64, c: f64) -> f64 {
    // SAFETY: arithmetic on values.
    unsafe { fma_f64(a, b, c) }
}

/// The square root, rounded once.
#[inline(always)]
pub fn sqrt_f32(x: f32) -> f32 {
    // SAFETY: arithmetic on values.
    unsafe { sqrt_of_f32(x) }
}

/// The square root, rounded once.
#[inline(always)]
pub fn sqrt_f64(x: f64) -> f64 {
    // SAFETY: arithmetic on values.
    unsafe { sqrt_of_f64(x) }
}

/// The larger of two, or NaN if either is: `max.NaN` from compute capability 8.0.
#[inline(always)]
pub fn maximum_f32(a: f32, b: f32) -> f32 {
    // SAFETY: arithmetic on values.
    unsafe { maximum_of_f32(a, b) }
}

/// The largest integer that is not above `x`.
#[inline(always)]
pub fn floor_f32(x: f32) -> f32 {
    // SAFETY: arithmetic on values.
    unsafe { floor_of_f32(x) }
}

/// The largest integer that is not above `x`.
#[inline(always)]
pub fn floor_f64(x: f64) -> f64 {
    // SAFETY: arithmetic on values.
    unsafe { floor_of_f64(x) }
}

/// The smallest integer that is not below `x`.
#[inline(always)]
pub fn ceil_f32(x: f32) -> f32 {
    // SAFETY: arithmetic on values.
    unsafe { ceil_of_f32(x) }
}

/// The smallest integer that is not below `x`.
#[inline(always)]
pub fn ceil_f64(x: f64) -> f64 {
    // SAFETY: arithmetic on values.
    unsafe { ceil_of_f64(x) }
}

/// The integer part of `x`.
#[inline(always)]
pub fn trunc_f32(x: f32) -> f32 {
    // SAFETY: arithmetic on values.
    unsafe { trunc_of_f32(x) }
}

/// The integer part of `x`.
#[inline(always)]
pub fn trunc_f64(x: f64) -> f64 {
    // SAFETY: arithmetic on values.
    unsafe { trunc_of_f64(x) }
}

/// The integer nearest to `x`, ties to even.
#[inline(always)]
pub fn round_ties_even_f32(x: f32) -> f32 {
    // SAFETY: arithmetic on values.
    unsafe { rint_of_f32(x) }
}

/// The integer nearest to `x`, ties to even.
#[inline(always)]
pub fn round_ties_even_f64(x: f64) -> f64 {
    // SAFETY: arithmetic on values.
    unsafe { rint_of_f64(x) }
}

/// The value of an f16 with these bits.
#[inline(always)]
pub fn f16_to_f32(bits: u16) -> f32 {
    let value: f32;
    // SAFETY: arithmetic on values.
    unsafe {
        asm!("cvt.f32.f16 {0}, {1};", out(reg32) value, in(reg16) bits, options(pure, nomem, nostack));
    }
    value
}

/// The bits of the nearest f16, ties to even.
#[inline(always)]
pub fn f32_to_f16(value: f32) -> u16 {
    let bits: u16;
    // SAFETY: arithmetic on values.
    unsafe {
        asm!("cvt.rn.f16.f32 {0}, {1};", out(reg16) bits, in(reg32) value, options(pure, nomem, nostack));
    }
    bits
}

/// Narrows two values with one instruction; NaN becomes 0x7fff (PTX ISA, 9.7.9.21: `cvt`).
#[cfg(cuda_arch_at_least = "80")]
macro_rules! narrow_pair {
    ($name:literal, $values:expr) => {{
        let [low, high] = $values;
        let bits: u32;
        // SAFETY: arithmetic on values.
        unsafe {
            asm!(
                concat!("cvt.rn.", $name, "x2.f32 {0}, {1}, {2};"),
                out(reg32) bits,
                in(reg32) high,
                in(reg32) low,
                options(pure, nomem, nostack),
            );
        }
        [bits as u16, (bits >> 16) as u16]
    }};
}

/// The bits of the nearest f16 values, ties to even; 0x7fff for NaN.
#[inline(always)]
pub fn f32_pair_to_f16(values: [f32; 2]) -> [u16; 2] {
    #[cfg(cuda_arch_at_least = "80")]
    return narrow_pair!("f16", values);
    #[cfg(not(cuda_arch_at_least = "80"))]
    values.map(f32_to_f16)
}

/// The bits of the nearest bf16 values, ties to even; 0x7fff for NaN.
#[inline(always)]
pub fn f32_pair_to_bf16(values: [f32; 2]) -> [u16; 2] {
    #[cfg(cuda_arch_at_least = "80")]
    return narrow_pair!("bf16", values);
    #[cfg(not(cuda_arch_at_least = "80"))]
    values.map(|value| {
        let bits = half::bf16::from_f32(value).to_bits();
        if value.is_nan() { 0x7fff } else { bits }
    })
}

/// The bits of the nearest e4m3 numbers, as [`F8E4M3::from_f32`] rounds.
#[inline(always)]
pub fn f32_pair_to_e4m3(values: [f32; 2]) -> [u8; 2] {
    #[cfg(cuda_arch_at_least = "90")]
    {
        let [low, high] = values;
        let bits: u16;
        // SAFETY: arithmetic on values.
        unsafe {
            asm!(
                "cvt.rn.satfinite.e4m3x2.f32 {0}, {1}, {2};",
                out(reg16) bits,
                in(reg32) high,
                in(reg32) low,
                options(pure, nomem, nostack),
            );
        }
        bits.to_le_bytes()
    }
    #[cfg(not(cuda_arch_at_least = "90"))]
    values.map(|value| F8E4M3::from_f32(value).to_bits())
}

/// The sum of `sum` and the products of the signed bytes of `a` and `b`.
#[inline(always)]
pub fn dot_product_i8(a: i32, b: i32, sum: i32) -> i32 {
    let result: i32;
    // SAFETY: arithmetic on values.
    unsafe {
        asm!(
            "dp4a.s32.s32 {0}, {1}, {2}, {3};",
            out(reg32) result,
            in(reg32) a,
            in(reg32) b,
            in(reg32) sum,
            options(pure, nomem, nostack),
        );
    }
    result
}
