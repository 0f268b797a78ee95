//! The views of a graph's operands end with its recording, so that no call can use the operands while the graph runs.

use tilewright::{Device, Result};

fn main() -> Result<()> {
    let device = Device::simulator();
    let mut kept = None;
    let mut graph = device.capture(device.zeros::<f32>(4)?, |_, x| {
        kept = Some(x);
        Ok(())
    })?;
    graph.launch()
}
