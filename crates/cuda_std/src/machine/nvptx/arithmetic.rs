//! Arithmetic that Rust's `core` lacks.

use super::intrinsics;
use core::arch::asm;

intrinsics! {
    fn fma_f32(a: f32, b: f32, c: f32) -> f32 = "llvm.fma.f32";
    fn fma_f64(a: f64, b: f64, c: f64) -> f64 = "llvm.fma.f64";
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

/// The bits of the f16 that is nearest, ties to even.
#[inline(always)]
pub fn f32_to_f16(value: f32) -> u16 {
    let bits: u16;
    // SAFETY: arithmetic on values.
    unsafe {
        asm!("cvt.rn.f16.f32 {0}, {1};", out(reg16) bits, in(reg32) value, options(pure, nomem, nostack));
    }
    bits
}
