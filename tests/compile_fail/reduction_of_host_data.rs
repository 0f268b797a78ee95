//! A reduction of a `Vec`, which has to be uploaded first.

use tilewright::Device;

fn main() {
    let device = Device::simulator();
    let x = vec![1.0_f32; 4];
    let _ = device.reduce_sum(&x);
}
