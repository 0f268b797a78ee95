//! Textures, emulated.

use simt::Texture;
use std::ptr;

/// # Safety
/// 1. `handle` is the exposed address of a texture that outlives the result.
unsafe fn texture<'a>(handle: u64) -> &'a Texture {
    // SAFETY: the caller's contract. A texture does not change.
    unsafe { &*ptr::with_exposed_provenance::<Texture>(handle as usize) }
}

/// The value at `x`.
///
/// # Safety
/// 1. `handle` is a texture of one dimension.
pub unsafe fn texture_1d(handle: u64, x: f32) -> f32 {
    // SAFETY: the handle is a live texture: the caller's contract.
    unsafe { texture(handle) }.sample_1d(x)
}

/// The value at (`x`, `y`).
///
/// # Safety
/// 1. `handle` is a texture of two dimensions.
pub unsafe fn texture_2d(handle: u64, x: f32, y: f32) -> f32 {
    // SAFETY: the handle is a live texture: the caller's contract.
    unsafe { texture(handle) }.sample_2d(x, y)
}
