//! Textures, emulated.

use simt::Texture;
use std::ptr;

/// # Safety
/// 1. `handle` is the exposed address of a texture that lives as long as the result is used.
unsafe fn texture<'a>(handle: u64) -> &'a Texture {
    // SAFETY: (1) is the caller's; a texture does not change.
    unsafe { &*ptr::with_exposed_provenance::<Texture>(handle as usize) }
}

/// The value at `x`.
///
/// # Safety
/// 1. `handle` is a texture of one dimension.
pub unsafe fn texture_1d(handle: u64, x: f32) -> f32 {
    // SAFETY: (1) is (1).
    unsafe { texture(handle) }.sample_1d(x)
}

/// The value at (`x`, `y`).
///
/// # Safety
/// 1. `handle` is a texture of two dimensions.
pub unsafe fn texture_2d(handle: u64, x: f32, y: f32) -> f32 {
    // SAFETY: (1) is (1).
    unsafe { texture(handle) }.sample_2d(x, y)
}
