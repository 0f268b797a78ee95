//! On the host, a view is what its name says: a read-only view under the name of the mutable one
//! would be launched with a shared borrow.

use cuda_std::texture;

type GlobalMut<'launch, T> = cuda_std::global::Global<'launch, T>;
type Texture1d<'launch> = texture::Texture2d<'launch>;

#[cuda_std::kernel]
pub fn write(x: GlobalMut<f32>) {
    let _ = x;
}

#[cuda_std::kernel]
pub fn sample(picture: Texture1d) {
    let _ = picture;
}

fn main() {}
