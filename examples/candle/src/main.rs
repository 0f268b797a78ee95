//! Compares products of tilewright with candle's own: the largest difference, and on a GPU the time.
//!
//! ```console
//! $ cargo run                                # the simulator, 48 x 48
//! $ cargo run --release --features cuda      # the first GPU, 4096 x 4096
//! ```

use candle_core::{DType, Device, Result, Tensor};
use std::time::Instant;

fn main() -> Result<()> {
    let (device, side, rounds) = match cfg!(feature = "cuda") {
        // The device is candle's usual one.
        true => (Device::new_cuda(0)?, 4096, 50),
        false => (Device::Cpu, 48, 1),
    };
    let a = Tensor::randn(0.0_f32, 1.0, (side, side), &device)?;
    let b = Tensor::randn(0.0_f32, 1.0, (side, side), &device)?;
    println!("f32 products of {side} x {side} matrices on {device:?}");

    // What f64 gives is exact enough to compare both with.
    let exact = a.to_dtype(DType::F64)?.matmul(&b.to_dtype(DType::F64)?)?;
    let call: [(&str, &dyn Fn() -> Result<Tensor>); 2] = [
        ("candle", &|| a.matmul(&b)),
        ("tilewright", &|| candle_products::matmul(&a, &b)),
    ];
    for (name, product) in call {
        let error = (product()?.to_dtype(DType::F64)? - &exact)?
            .abs()?
            .max_all()?
            .to_scalar::<f64>()?;
        device.synchronize()?;
        let start = Instant::now();
        for _ in 0..rounds {
            product()?;
        }
        device.synchronize()?;
        let each = start.elapsed() / rounds;
        println!("{name:>10}: largest error {error:.1e}, {each:.2?} each");
    }
    Ok(())
}
