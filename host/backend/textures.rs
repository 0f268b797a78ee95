//! Textures of a device.

use crate::error::Outcome;
use simt::{Texels, TextureOptions};

/// Textures of a device.
///
/// The requirements of [`Backend`](super::Backend) hold by their numbers.
pub(crate) trait DeviceTextures {
    /// Makes a texture with copies of the elements; its size and options were checked.
    fn create_texture(&self, request: &TextureRequest<'_>) -> Outcome<TextureHandle>;

    /// Gives a texture back after the work that was submitted before; it never panics.
    ///
    /// # Safety
    /// Requirement 3 of the trait; the texture is not used again.
    unsafe fn destroy_texture(&self, texture: TextureHandle);
}

/// A texture of a backend: what kernels know it by, and what holds its elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureHandle {
    pub(crate) object: u64,
    pub(crate) storage: u64,
}

/// A requested texture: `height` rows, or none in one dimension, of `width` elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureRequest<'a> {
    pub(crate) width: usize,
    pub(crate) height: Option<usize>,
    pub(crate) texels: Texels<'a>,
    pub(crate) options: TextureOptions,
}
