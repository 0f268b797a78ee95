//! Compares the kernel with plain code, on simulators with several schedules. No GPU is needed. With the feature
//! `cuda`, the first CUDA device must give the same bits.

use half::bf16;
use tensor_product::product;
use tilewright::testing::seeds;
use tilewright::{Device, SimulatorOptions};

/// Simulators with several seeds and all checks.
fn simulators() -> impl Iterator<Item = Device> {
    let options = |seed| SimulatorOptions::default().with_seed(seed);
    seeds(8).map(options).map(Device::simulator_with)
}

/// The first CUDA device of compute capability 9.0, if there is one.
fn cuda() -> Option<Device> {
    if !cfg!(feature = "cuda") {
        return None;
    }
    let device = Device::cuda(0).map_err(|error| eprintln!("skipped on CUDA: {error}"));
    device.ok().filter(|device| {
        let is_hopper = device.properties().compute_capability == Some((9, 0));
        if !is_hopper {
            eprintln!("skipped on CUDA: {} is not of compute capability 9.0", device.name());
        }
        is_hopper
    })
}

/// Elements with exact products and sums, or with inexact ones.
fn elements(len: usize, is_exact: bool) -> Vec<bf16> {
    let element = |i: usize| match is_exact {
        true => (i * 7919 % 17) as f32 - 8.0,
        false => ((i * 7919 % 1021) as f32 - 510.0) * 0.37,
    };
    (0..len).map(|i| bf16::from_f32(element(i))).collect()
}

#[test]
fn products_of_small_integers_are_exact() {
    let (m, n, k) = (128, 256, 320);
    let (a, b) = (elements(m * k, true), elements(n * k, true));
    let output = |row: usize, column: usize| -> f32 {
        let pairs = a[row * k..][..k].iter().zip(&b[column * k..]);
        pairs.map(|(a, b)| a.to_f32() * b.to_f32()).sum()
    };
    let expected: Vec<f32> = (0..m * n).map(|i| output(i / n, i % n)).collect();
    for device in simulators().chain(cuda()) {
        let a = device.matrix((m, k), &a).unwrap();
        let b = device.matrix((n, k), &b).unwrap();
        let c = product(&device, &a, &b).unwrap();
        assert_eq!(c.to_vec().unwrap(), expected, "on {}", device.name());
    }
}

#[test]
fn every_machine_has_the_same_bits() {
    let (m, n, k) = (256, 128, 512);
    let (a, b) = (elements(m * k, false), elements(n * k, false));
    let outputs = |device: &Device| -> Vec<u32> {
        let a = device.matrix((m, k), &a).unwrap();
        let b = device.matrix((n, k), &b).unwrap();
        let c = product(device, &a, &b).unwrap().to_vec().unwrap();
        c.into_iter().map(f32::to_bits).collect()
    };
    let expected = outputs(&Device::simulator());
    for device in simulators().chain(cuda()) {
        assert_eq!(outputs(&device), expected, "on {}", device.name());
    }
}
