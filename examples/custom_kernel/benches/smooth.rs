//! Measures a GPU's time for `smooth` with events, in criterion's statistics.
//!
//! ```sh
//! cargo bench --features cuda
//! ```

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use custom_kernel::KERNELS;
use custom_kernel_kernels::{MAX_THREADS, smooth};
use std::time::Duration;
use tilewright::{Device, LaunchConfig, Result};

/// Lengths of the signals: one fits into the L2 cache, the other does not.
const LENGTHS: [usize; 2] = [1 << 20, 1 << 26];

fn smoothing(criterion: &mut Criterion) {
    let device = match Device::cuda(0) {
        Ok(device) => device,
        Err(error) => return println!("nothing is measured: {error}"),
    };
    for len in LENGTHS {
        smoothing_of(len, &device, criterion).expect("a GiB of the GPU's memory is free");
    }
}

fn smoothing_of(len: usize, device: &Device, criterion: &mut Criterion) -> Result<()> {
    let module = device.load(&KERNELS)?;
    let (x, mut y) = (device.upload(&vec![1.0_f32; len])?, device.zeros(len)?);
    let config = LaunchConfig::for_elements(len, MAX_THREADS as u32);
    let mut launch = || module.launch(smooth, config, (&x, &mut y));
    // The first launch compiles the kernel.
    launch()?;

    let mut group = criterion.benchmark_group("smooth");
    // The bytes that must cross the memory: each element is read once and written once.
    group.throughput(Throughput::Bytes(2 * 4 * len as u64));
    group.bench_function(len.to_string(), |bencher| {
        bencher.iter_custom(|rounds| measured(device, rounds, &mut launch).expect("a launch"));
    });
    group.finish();
    Ok(())
}

/// The time between two events, with `rounds` launches between them.
fn measured(
    device: &Device,
    rounds: u64,
    launch: &mut impl FnMut() -> Result<()>,
) -> Result<Duration> {
    let start = device.record_event()?;
    for _ in 0..rounds {
        launch()?;
    }
    device.record_event()?.elapsed_since(&start)
}

criterion_group!(benches, smoothing);
criterion_main!(benches);
