//! Textures of a device.

use crate::error::Outcome;
use simt::{Texels, TextureOptions};

/// Textures of a device.
///
/// Requirement numbers are those of [`Backend`](super::Backend).
pub(crate) trait DeviceTextures {
    /// Makes a texture with copies of the elements. Its size and options were checked.
    fn create_texture(&self, request: &TextureRequest<'_>) -> Outcome<TextureHandle>;

    /// Destroys a texture after the work submitted before; never panics.
    ///
    /// # Safety
    /// Requirement 3 of the trait; the texture is not used again.
    unsafe fn destroy_texture(&self, texture: TextureHandle);
}

/// A texture of a backend: the object that kernels use, and the storage of its elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureHandle {
    pub(crate) object: u64,
    pub(crate) storage: u64,
}

/// A requested texture: `height` rows of `width` elements; `None` for one dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureRequest<'a> {
    pub(crate) width: usize,
    pub(crate) height: Option<usize>,
    pub(crate) texels: Texels<'a>,
    pub(crate) options: TextureOptions,
}
