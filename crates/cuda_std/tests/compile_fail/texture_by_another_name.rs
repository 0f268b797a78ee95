//! A texture is known by its type's name.

use cuda_std::prelude::*;

type Picture<'launch> = Texture2d<'launch>;

#[kernel]
pub fn read(picture: Picture<'_>) {
    let _ = picture.sample(0.0, 0.0);
}

fn main() {}
