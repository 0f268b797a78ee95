//! A texture is recognised by the name of its type.

use cuda_std::prelude::*;

type Picture<'launch> = Texture2d<'launch>;

#[kernel]
pub fn read(picture: Picture<'_>) {
    let _ = picture.sample(0.0, 0.0);
}

fn main() {}
