//! Textures (PTX ISA, 9.7.10.3), with handles in registers.
//!
//! A texture does not change during a launch, so reads are `pure`. Each returns four channels; only
//! the first is used.

use core::arch::asm;

/// The value at `x`.
///
/// # Safety
/// 1. `handle` is a texture of one dimension.
#[inline(always)]
pub unsafe fn texture_1d(handle: u64, x: f32) -> f32 {
    let value;
    // SAFETY: the caller's contract.
    unsafe {
        asm!(
            "tex.1d.v4.f32.f32 {{{0}, {1}, {2}, {3}}}, [{4}, {{{5}}}];",
            out(reg32) value,
            out(reg32) _,
            out(reg32) _,
            out(reg32) _,
            in(reg64) handle,
            in(reg32) x,
            options(pure, nomem, nostack),
        );
    }
    value
}

/// The value at (`x`, `y`).
///
/// # Safety
/// 1. `handle` is a texture of two dimensions.
#[inline(always)]
pub unsafe fn texture_2d(handle: u64, x: f32, y: f32) -> f32 {
    let value;
    // SAFETY: the caller's contract.
    unsafe {
        asm!(
            "tex.2d.v4.f32.f32 {{{0}, {1}, {2}, {3}}}, [{4}, {{{5}, {6}}}];",
            out(reg32) value,
            out(reg32) _,
            out(reg32) _,
            out(reg32) _,
            in(reg64) handle,
            in(reg32) x,
            in(reg32) y,
            options(pure, nomem, nostack),
        );
    }
    value
}
