//! A view stays with its thread, even if another thread would end before the launch.

use cuda_std::prelude::*;

#[kernel]
pub fn spawn(x: Global<f32>, y: GlobalMut<f32>, texture: Texture2d) {
    let array = shared_array![f32; 4];
    std::thread::scope(|scope| {
        scope.spawn(|| x.get(0));
        scope.spawn(|| y.len());
        scope.spawn(|| texture.sample(0.0, 0.0));
        scope.spawn(|| array.len());
    });
}

fn main() {}
