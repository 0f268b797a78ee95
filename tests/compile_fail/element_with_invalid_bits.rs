//! Every bit pattern of an element is a value: `bool` has 254 that are not.

use tilewright::{Buffer, Device, Result};

fn upload(device: &Device) -> Result<Buffer<bool>> {
    device.upload(&[true])
}

fn main() {}
