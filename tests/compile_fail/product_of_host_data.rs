//! A product of slices, which have to be uploaded with shapes, and one with options.

use tilewright::{Device, Matmul};

fn main() {
    let device = Device::simulator();
    let x = [1.0_f32; 4];
    let _ = device.matmul(&x, &x);
    let _ = Matmul::new(&x, &x).run();
}
