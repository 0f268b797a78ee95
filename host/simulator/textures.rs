//! Textures of a simulated device.

use super::Simulator;
use crate::backend::{DeviceTextures, TextureHandle, TextureRequest};
use crate::error::Outcome;
use std::ptr;

impl DeviceTextures for Simulator {
    fn create_texture(&self, request: &TextureRequest<'_>) -> Outcome<TextureHandle> {
        simt::refuse_host_call("texture");
        let TextureRequest {
            width,
            height,
            texels,
            options,
        } = *request;
        let bytes = texture_bytes(texels.len());
        self.reserve(bytes)?;
        let texture = simt::Texture::new(width, height.unwrap_or(1), texels, options);
        let texture = texture.map_err(|_| {
            self.release(bytes);
            self.out_of_memory(bytes)
        })?;
        let address = Box::into_raw(Box::new(texture)).expose_provenance() as u64;
        Ok(TextureHandle {
            object: address,
            storage: address,
        })
    }

    unsafe fn destroy_texture(&self, texture: TextureHandle) {
        let texture = ptr::with_exposed_provenance_mut::<simt::Texture>(texture.storage as usize);
        // SAFETY: by (3) of the trait `create_texture` made it of a box, and it is not used again.
        let texture = unsafe { Box::from_raw(texture) };
        self.release(texture_bytes(texture.texels()));
    }
}

/// Textures are kept as f32, whatever their elements are.
fn texture_bytes(texels: usize) -> usize {
    texels * size_of::<f32>()
}
