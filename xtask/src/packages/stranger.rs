//! A program on the published packages.

use tilewright::cuda_std::prelude::*;
use tilewright::half::f16;
use tilewright::ndarray::{array, s};
use tilewright::{Device, LaunchConfig, ModuleSource};

/// `y[i] += a * x[i]` for each `i` within both.
#[kernel]
pub fn axpy(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
    let i = thread::unique_index();
    if let (Some(x), Some(y)) = (x.get(i.get()), y.own(i)) {
        y.set(a.mul_add(x, y.get()));
    }
}

// SAFETY: there are no images.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("stranger", &[]) };

fn main() -> tilewright::Result<()> {
    let device = Device::simulator();
    let numbers: Vec<f32> = (1..=1000_u16).map(f32::from).collect();
    let x = device.upload(&numbers)?;
    assert_eq!(device.reduce_sum(&x)?, 500_500.0);

    let a = device.matrix((2, 3), &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let b = device.matrix((3, 1), &[1.0_f32, 10.0, 100.0])?;
    assert_eq!(device.matmul_coarsened(&a, &b)?.to_vec()?, [321.0, 654.0]);

    let factors = array![[1.0_f32, 2.0], [3.0, 4.0]];
    let product = tilewright::matmul(factors.slice(s![.., 1..]), factors.slice(s![1.., ..]))?;
    assert_eq!(product, array![[6.0, 8.0], [12.0, 16.0]]);
    assert_eq!(tilewright::reduce_sum(&[f16::ONE; 3])?, 3.0);

    let mut y = device.upload(&numbers)?;
    let module = device.load(&KERNELS)?;
    module.launch(axpy, LaunchConfig::new(4, 256), (2.0, &x, &mut y))?;
    assert_eq!(device.reduce_sum(&y)?, 3.0 * 500_500.0);

    #[cfg(feature = "report")]
    {
        let (_, report) = device.with_report(|| device.reduce_sum(&x))?;
        assert!(tilewright_report::table(&report).contains("reduce_sum"));
    }
    Ok(())
}
