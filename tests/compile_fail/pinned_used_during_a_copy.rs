//! A copy owns its page-locked memory, so that nothing writes there before it is complete.

use tilewright::{Device, Result};

fn main() -> Result<()> {
    let device = Device::simulator();
    let mut x = device.zeros::<f32>(4)?;
    let mut host = device.pinned::<f32>(4)?;
    let copy = x.view_mut().start_copy_from(host)?;
    host.fill(1.0);
    copy.wait().map(drop)
}
