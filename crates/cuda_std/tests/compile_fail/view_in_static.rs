//! A view ends with its launch, so no static can hold it.

use cuda_std::prelude::*;
use std::sync::OnceLock;

static KEPT: OnceLock<Global<'static, f32>> = OnceLock::new();

#[kernel]
pub fn keep(x: Global<f32>) {
    let _ = KEPT.set(x);
}

fn main() {}
