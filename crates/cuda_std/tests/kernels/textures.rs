//! Reads of textures.

use cuda_std::prelude::*;

/// Reads a texture of one dimension at each `x`.
#[kernel]
pub fn sample_1d(texture: Texture1d, x: Global<f32>, out: GlobalMut<f32>) {
    let i = thread::unique_index();
    if let (Some(x), Some(out)) = (x.get(i.get()), out.own(i)) {
        out.set(texture.sample(x));
    }
}

/// Reads a texture of two dimensions at each (`x`, `y`), scaled by `scale` along y.
#[kernel]
pub fn sample_2d(
    scale: f32,
    texture: Texture2d,
    x: Global<f32>,
    y: Global<f32>,
    out: GlobalMut<f32>,
) {
    let i = thread::unique_index();
    if let (Some(x), Some(y), Some(out)) = (x.get(i.get()), y.get(i.get()), out.own(i)) {
        out.set(texture.sample(x, y * scale));
    }
}
