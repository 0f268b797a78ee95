//! Textures of a CUDA device.

use super::CudaDevice;
use crate::backend::{DeviceTextures, TextureHandle, TextureRequest};
use crate::cuda::textures;
use crate::error::Outcome;

impl DeviceTextures for CudaDevice {
    fn create_texture(&self, request: &TextureRequest<'_>) -> Outcome<TextureHandle> {
        let current = self.gpu.enter()?;
        textures::create(request, &self.stream, &current).map_err(|failure| {
            let bytes = request.texels.bytes();
            self.allocation_error(bytes, failure, &current)
        })
    }

    unsafe fn destroy_texture(&self, texture: TextureHandle) {
        let _ = self.run(|current| {
            self.stream.synchronize(current)?;
            // SAFETY: nothing uses the texture any more: the caller's contract, and the stream's work is done.
            unsafe { textures::destroy(texture, current) }
        });
    }
}
