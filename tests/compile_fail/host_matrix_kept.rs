//! A host matrix borrows its elements, so that no product reads memory that is freed.

use tilewright::{Device, HostMatrix, Result};

fn main() -> Result<()> {
    let device = Device::simulator();
    let matrix = {
        let elements = vec![1.0_f32; 4];
        HostMatrix::new((2, 2), &elements)?
    };
    device.matmul_host(matrix, matrix).map(drop)
}
