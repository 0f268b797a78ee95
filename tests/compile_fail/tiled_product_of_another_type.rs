//! A product of f16 by a method that multiplies f32 and f64.

use half::f16;
use tilewright::{Device, Matrix};

fn product(device: &Device, a: &Matrix<f16>) {
    let _ = device.matmul_tiled(a, a);
}

fn main() {}
