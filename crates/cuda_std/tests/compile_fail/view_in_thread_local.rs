//! A view ends with its launch: a host thread, which runs later launches too, cannot keep it.

use cuda_std::prelude::*;
use std::cell::Cell;

thread_local! {
    static KEPT: Cell<Option<GlobalMut<'static, f32>>> = const { Cell::new(None) };
    static KEPT_TEXTURE: Cell<Option<Texture1d<'static>>> = const { Cell::new(None) };
    static KEPT_ARRAY: Cell<Option<SharedArray<'static, f32, 4>>> = const { Cell::new(None) };
}

#[kernel]
pub fn keep_view(y: GlobalMut<f32>) {
    KEPT.set(Some(y));
}

#[kernel]
pub fn keep_texture(texture: Texture1d) {
    KEPT_TEXTURE.set(Some(texture));
}

#[kernel]
pub fn keep_array() {
    let array = shared_array![f32; 4];
    KEPT_ARRAY.set(Some(array));
}

fn main() {}
