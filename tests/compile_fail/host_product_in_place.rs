//! A product does not write to host memory that it reads.

use tilewright::{Device, HostMatrix, Result};

fn main() -> Result<()> {
    let device = Device::simulator();
    let mut multiplier = device.host_multiplier::<f32, f32>(1 << 20)?;
    let mut c = vec![0.0_f32; 4];
    let x = HostMatrix::new((2, 2), &c)?;
    multiplier.multiply(x, x, &mut c)
}
