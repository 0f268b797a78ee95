//! The library's calls with kernels that run as their checked-in PTX return the bits of the kernels as Rust.

mod common;

use common::image;
use cuda_std::Pod;
use half::{bf16, f16};
use ptx::Kernels;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use tilewright::{
    Buffer, Device, Element, KernelBodies, KernelCall, MatmulElement, Profile, SimulatorOptions,
    ops,
};

/// A device that runs PTX, and the names of what it has run.
fn ptx_device(
    options: SimulatorOptions,
    profile: Profile,
) -> (Device, Arc<Mutex<BTreeSet<&'static str>>>) {
    let kernels = Kernels::default();
    let names = Arc::new(Mutex::default());
    let of_launches = Arc::clone(&names);
    let choose = move |call: &KernelCall<'_>| {
        let names: &Mutex<BTreeSet<&'static str>> = &of_launches;
        names.lock().unwrap().insert(call.name);
        let kernel = kernels.get(call.name, call.name, || image(call.name, profile));
        let kernel = kernel.unwrap_or_else(|it| panic!("{it}"));
        // SAFETY: the parameters are the kernel's, and simulated devices refuse memory that is not theirs.
        Some(unsafe { kernel.body(&call.parameters) }.unwrap_or_else(|it| panic!("{it}")))
    };
    // SAFETY: the PTX was compiled from the kernels.
    let bodies = unsafe { KernelBodies::new(choose) };
    (Device::simulator_with(options.with_bodies(bodies)), names)
}

/// Compares the bits of a call on both devices, and asserts that kernels have run whose names have these parts.
fn compare(profile: Profile, parts: &[&str], call: impl Fn(&Device) -> Vec<u8>) {
    let options = || {
        SimulatorOptions::default()
            .with_profile(profile)
            .with_multiprocessors(4)
    };
    let (as_ptx, names) = ptx_device(options(), profile);
    let as_rust = Device::simulator_with(options());
    assert_eq!(call(&as_ptx), call(&as_rust), "{profile:?}: {parts:?}");
    let names = names.lock().unwrap();
    for part in parts {
        assert!(
            names.iter().any(|name| name.contains(part)),
            "{part} is not among {names:?}"
        );
    }
}

fn bytes<T: Pod>(values: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(values).to_vec()
}

fn buffer_bytes<T: Element>(buffer: &Buffer<T>) -> Vec<u8> {
    bytes(&buffer.to_vec().unwrap())
}

/// Numbers of both signs and several magnitudes.
fn number(index: usize) -> f32 {
    let mixed = (index as u32).wrapping_mul(0x9e37_79b9) ^ (index as u32 >> 3);
    (f64::from(mixed % 20_001) - 10_000.0) as f32 * 2_f32.powi((mixed >> 28) as i32 - 20)
}

fn numbers<T>(count: usize, of: impl Fn(f32) -> T) -> Vec<T> {
    (0..count).map(|index| of(number(index))).collect()
}

#[test]
fn rows_columns_and_segments() {
    compare(
        Profile::H200,
        &["sum_along_f32", "max_across_f64", "mean_segments_f16"],
        |device| {
            let x = numbers(300 * 70, |it| it);
            let rows = device.matrix((300, 70), &x).unwrap();
            let sums = device.reduce_rows(&rows, ops::Sum).unwrap();
            let wide = numbers(90 * 130, f64::from);
            let columns = device.matrix((90, 130), &wide).unwrap();
            let largest = device.reduce_columns(&columns, ops::Max).unwrap();
            let halves = device.upload(&numbers(5000, f16::from_f32)).unwrap();
            let segments = device.segments(&[0, 10, 11, 2000, 5000]).unwrap();
            let means = device
                .reduce_segments(&halves, &segments, ops::Mean)
                .unwrap();
            [
                buffer_bytes(&sums),
                buffer_bytes(&largest),
                buffer_bytes(&means),
            ]
            .concat()
        },
    );
}

#[test]
fn scans_and_reproducible_sums() {
    compare(
        Profile::H200,
        &[
            "scan_inclusive_f32",
            "scan_exclusive_u64",
            "reproducible_f64",
        ],
        |device| {
            let x = device.upload(&numbers(20_000, |it| it)).unwrap();
            let inclusive = device.scan_inclusive(&x).unwrap();
            let words: Vec<u64> = (0..9000).map(|it| it * it).collect();
            let words = device.upload(&words).unwrap();
            let exclusive = device.scan_exclusive(&words).unwrap();
            let doubles = device.upload(&numbers(7000, f64::from)).unwrap();
            let sum = device.reduce_sum_reproducible(&doubles).unwrap();
            [
                buffer_bytes(&inclusive),
                buffer_bytes(&exclusive),
                bytes(&[sum]),
            ]
            .concat()
        },
    );
}

/// Products in each order of both operands.
fn products<T: MatmulElement>(
    device: &Device,
    [m, n, k]: [usize; 3],
    of: impl Fn(f32) -> T,
) -> Vec<u8> {
    let a = device.matrix((m, k), &numbers(m * k, &of)).unwrap();
    let a_turned = device.matrix((k, m), &numbers(m * k, &of)).unwrap();
    let b = device.matrix((k, n), &numbers(k * n, &of)).unwrap();
    let b_turned = device.matrix((n, k), &numbers(k * n, &of)).unwrap();
    let products = [
        device.matmul(&a, &b).unwrap(),
        device.matmul(&a, b_turned.t()).unwrap(),
        device.matmul(a_turned.t(), &b).unwrap(),
        device.matmul(a_turned.t(), b_turned.t()).unwrap(),
    ];
    let products = products.iter().map(|it| buffer_bytes(it.as_buffer()));
    products.collect::<Vec<_>>().concat()
}

#[test]
fn products_on_cores() {
    compare(Profile::T4, &["matmul_"], |device| {
        let small = products(device, [40, 33, 50], |it| it);
        let large = products(device, [130, 140, 40], |it| it);
        let wide = products(device, [40, 70, 35], f64::from);
        [small, large, wide].concat()
    });
}

#[test]
fn products_of_warps() {
    compare(Profile::A100, &["matmul_mma"], |device| {
        let halves = products(device, [64, 72, 80], f16::from_f32);
        let brains = products(device, [40, 136, 64], bf16::from_f32);
        [halves, brains].concat()
    });
}

#[test]
fn products_of_warpgroups() {
    compare(Profile::H200, &["matmul_wgmma"], |device| {
        let halves = products(device, [128, 128, 128], f16::from_f32);
        let brains = products(device, [72, 264, 64], bf16::from_f32);
        [halves, brains].concat()
    });
}

#[test]
fn products_of_doubles_on_tensor_cores() {
    compare(Profile::H200, &["matmul_mma"], |device| {
        products(device, [64, 64, 48], f64::from)
    });
}
