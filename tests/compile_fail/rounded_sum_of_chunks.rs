//! Consecutive chunks are for operations that do not round.

use tilewright::{Device, ops};

fn main() -> tilewright::Result<()> {
    let mut reducer = Device::simulator().host_reducer::<f32>(100)?;
    let chunks = [[1.0, 2.0], [3.0, 4.0]];
    println!("{}", reducer.reduce_chunks(4, chunks, ops::Sum)?);
    Ok(())
}
