//! How long the simulator takes for the tiled product of square f32 matrices,
//! with all checks and without.
//!
//! `cargo run --release --package tilewright-simt --example tiled_product [SIZE ...]`

use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::Kernel;
use simt::{Contents, Launch, Options};
use std::time::Instant;
use tilewright_kernels::matmul::{TILED, matmul_tiled_f32};

/// Seconds of the best of three launches.
fn seconds(size: usize, checks: bool) -> f64 {
    let ones = vec![1.0_f32; size * size];
    let mut product = vec![f32::NAN; size * size];
    let (address, bytes) = (product.as_ptr().addr(), size * size * 4);
    simt::register_allocation(address, bytes, Contents::Unspecified);
    // SAFETY: the memory outlives the launches, and nobody else touches it.
    let (a, c) = unsafe {
        let a = Global::from_raw_parts(ones.as_ptr(), ones.len());
        (
            a,
            GlobalMut::from_raw_parts(product.as_mut_ptr(), ones.len()),
        )
    };
    let options = Options {
        checks,
        ..Options::default()
    };
    let launch = Launch {
        kernel: matmul_tiled_f32::NAME,
        grid: TILED.blocks(size, size).expect("a grid").into(),
        block: TILED.threads.into(),
        dynamic_shared_bytes: 0,
        options: &options,
    };
    let run = || {
        let start = Instant::now();
        // SAFETY: (1) the launch is that of `TILED`, and the views have the
        // sizes that the kernel asks for. (2) Nobody else touches them.
        let body = || unsafe { matmul_tiled_f32::run((a, a, c, size, size, size)) };
        simt::run(&launch, &body).expect("the kernel has no defect");
        start.elapsed().as_secs_f64()
    };
    let best = (0..3).map(|_| run()).fold(f64::INFINITY, f64::min);
    simt::forget_allocation(address, bytes);
    assert!(product.iter().all(|value| *value == size as f32));
    best
}

fn main() {
    let sizes: Vec<usize> = std::env::args()
        .skip(1)
        .map(|size| size.parse().expect("a size"))
        .collect();
    let sizes = if sizes.is_empty() {
        vec![64, 256]
    } else {
        sizes
    };
    println!("  size    checked  unchecked  factor");
    for size in sizes {
        let (checked, unchecked) = (seconds(size, true), seconds(size, false));
        let factor = checked / unchecked;
        println!("{size:6} {checked:8.4} s {unchecked:8.4} s {factor:7.1}");
    }
}
