//! Page-locked memory cannot be read before the copy to it is complete.

use tilewright::{Device, Result};

fn main() -> Result<()> {
    let device = Device::simulator();
    let x = device.zeros::<f32>(4)?;
    let copy = x.view().start_copy_to(device.pinned::<f32>(4)?)?;
    println!("{}", copy[0]);
    Ok(())
}
