//! A product of buffers, which have no shapes.

use tilewright::Device;

fn main() {
    let device = Device::simulator();
    let x = device.upload(&[1.0_f32; 4]).unwrap();
    let _ = device.matmul(&x, &x);
}
