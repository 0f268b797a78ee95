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
        // SAFETY: `create_texture` made it from a box, and it is not used again: the caller's contract.
        let texture = unsafe { Box::from_raw(texture) };
        self.release(texture_bytes(texture.texels()));
    }
}

/// Bytes of a texture. Elements are stored as f32, whatever their type.
fn texture_bytes(texels: usize) -> usize {
    texels * size_of::<f32>()
}
