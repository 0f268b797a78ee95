//! A texture is known by its type's name.

use cuda_std::prelude::*;

type Picture = Texture2d;

#[kernel]
pub fn read(picture: Picture) {
    let _ = picture.sample(0.0, 0.0);
}

fn main() {}
