//! A graph borrows its operands mutably while it is launched.

use tilewright::{Device, Result};

fn main() -> Result<()> {
    let device = Device::simulator();
    let mut graph = device.capture(device.zeros::<f32>(4)?, |_, _| Ok(()))?;
    let x = graph.operands();
    graph.launch()?;
    device.reduce_sum(x)?;
    Ok(())
}
