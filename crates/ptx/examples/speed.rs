//! How long kernels take on the simulator as Rust and as PTX.
//!
//! `cargo run --release --package tilewright-ptx --example speed`

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Buffer, Shape, kernel, options, ptx_body, run, rust_body};
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::Kernel;
use simt::{Body, Options};
use std::time::Instant;
use tilewright_kernels::matmul::{TILED, matmul_tiled_f32_nn};
use tilewright_kernels::reduce::{BLOCK_THREADS, reduce_sum_f32};

/// Elements of the sum, and rows and columns of the product.
const ELEMENTS: usize = 1 << 22;
const SIZE: usize = 256;

/// Blocks of the sum.
const BLOCKS: u32 = 64;

/// Seconds of the fastest of three launches.
fn seconds(name: &str, shape: Shape, options: &Options, body: &Body) -> f64 {
    let time = || {
        let start = Instant::now();
        run(name, shape, options, body).unwrap_or_else(|defect| panic!("{defect}"));
        start.elapsed().as_secs_f64()
    };
    (0..3).map(|_| time()).fold(f64::INFINITY, f64::min)
}

/// Prints the times of both bodies, with all checks and without.
fn compare(name: &str, shape: Shape, as_rust: &Body, as_ptx: &Body) {
    for checks in [false, true] {
        let options = Options {
            checks,
            ..options()
        };
        let rust = seconds(name, shape, &options, as_rust);
        let ptx = seconds(name, shape, &options, as_ptx);
        let with = if checks { "all" } else { "no" };
        println!(
            "| `{name}`, {with} checks | {rust:.3} s | {ptx:.3} s | {:.1} |",
            ptx / rust
        );
    }
}

fn main() {
    println!("| kernel | Rust | PTX | factor |\n|---|---:|---:|---:|");
    sum();
    product();
}

fn sum() {
    let x = Buffer::new(&vec![0.5_f32; ELEMENTS]);
    let partials = Buffer::<f32>::new(&vec![0.0; BLOCKS as usize]);
    let (ticket, result) = (Buffer::new(&[0_u32]), Buffer::new(&[0.0_f32]));
    let views = [x.view(), partials.view(), ticket.view(), result.view()];
    let arguments: Vec<&[u8]> = views.iter().flatten().map(|it| it.as_slice()).collect();
    let shape = Shape {
        grid: BLOCKS,
        block: BLOCK_THREADS,
        dynamic_shared_bytes: 0,
    };
    let as_rust = rust_body(|| {
        // SAFETY: the buffers outlive the launches, whose threads alone access them; the launch is the kernel's.
        unsafe {
            reduce_sum_f32::run((
                Global::from_raw_parts(x.pointer(), x.length()),
                GlobalMut::from_raw_parts(partials.pointer(), BLOCKS as usize),
                GlobalMut::from_raw_parts(ticket.pointer(), 1),
                GlobalMut::from_raw_parts(result.pointer(), 1),
            ));
        }
    });
    let as_ptx = ptx_body(&kernel(reduce_sum_f32::NAME, "sm_75"), &arguments);
    compare(reduce_sum_f32::NAME, shape, &as_rust, &as_ptx);
    assert_eq!(result.values(), [ELEMENTS as f32 / 2.0]);
}

fn product() {
    let elements = SIZE * SIZE;
    let (a, b) = (
        Buffer::new(&vec![2.0_f32; elements]),
        Buffer::new(&vec![0.5_f32; elements]),
    );
    let c = Buffer::<f32>::uninitialised(elements);
    let views = [a.view(), b.view(), c.view()];
    let lengths = [SIZE.to_ne_bytes(); 6];
    let arguments = views.iter().flatten().chain(&lengths);
    let arguments: Vec<&[u8]> = arguments.map(|it| it.as_slice()).collect();
    let shape = Shape {
        grid: TILED.blocks(SIZE, SIZE).expect("a grid"),
        block: TILED.threads,
        dynamic_shared_bytes: 0,
    };
    let as_rust = rust_body(|| {
        // SAFETY: the buffers outlive the launches, whose threads alone access them; the launch is the kernel's.
        unsafe {
            let a = Global::from_raw_parts(a.pointer(), elements);
            let b = Global::from_raw_parts(b.pointer(), elements);
            let c = GlobalMut::from_raw_parts(c.pointer(), elements);
            matmul_tiled_f32_nn::run((a, b, c, SIZE, SIZE, SIZE, SIZE, SIZE, SIZE));
        }
    });
    let as_ptx = ptx_body(&kernel(matmul_tiled_f32_nn::NAME, "sm_75"), &arguments);
    compare(matmul_tiled_f32_nn::NAME, shape, &as_rust, &as_ptx);
    assert_eq!(c.values(), vec![SIZE as f32; elements]);
}
