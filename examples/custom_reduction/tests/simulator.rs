//! Compares the operation with plain code, on simulators with several schedules. No GPU is needed. With the feature
//! `cuda`, the first CUDA device must give the same bits.

use custom_reduction::log_sum_exp;
use tilewright::testing::seeds;
use tilewright::{Device, SimulatorOptions};

/// Simulators with several seeds and all checks, and the first CUDA device if there is one.
fn devices() -> Vec<Device> {
    let options = |seed| SimulatorOptions::default().with_seed(seed);
    let mut devices: Vec<_> = seeds(4).map(options).map(Device::simulator_with).collect();
    if cfg!(feature = "cuda") {
        match Device::cuda(0) {
            Ok(device) => devices.push(device),
            Err(error) => eprintln!("skipped on CUDA: {error}"),
        }
    }
    devices
}

/// The result in two passes: the largest element, then the sum.
fn in_two_passes(x: &[f32]) -> f64 {
    let x = x.iter().copied().map(f64::from);
    let largest = x.clone().fold(f64::NEG_INFINITY, f64::max);
    largest + x.map(|x| (x - largest).exp()).sum::<f64>().ln()
}

#[test]
fn values_are_those_of_two_passes_with_the_same_bits_on_every_machine() {
    for len in [1, 2, 255, 4096, 4097, 100_003] {
        let x: Vec<f32> = (0..len)
            .map(|i| ((i * 7919 % 1021) as f32 - 510.0) * 3.7)
            .collect();
        let mut first: Option<f64> = None;
        for device in devices() {
            let found = log_sum_exp(&device, &device.upload(&x).unwrap()).unwrap();
            let expected = in_two_passes(&x);
            let error = ((found - expected) / expected).abs();
            assert!(
                error < 1e-14,
                "{found} for {expected}: {len} on {}",
                device.name()
            );
            let first = *first.get_or_insert(found);
            assert_eq!(
                found.to_bits(),
                first.to_bits(),
                "{len} on {}",
                device.name()
            );
        }
    }
}

#[test]
fn a_part_of_a_buffer_is_reduced_alone() {
    for device in devices() {
        let x = device.upload(&[f32::NAN, 0.0, 0.0, 0.0, f32::NAN]).unwrap();
        let found = log_sum_exp(&device, x.slice(1..4).unwrap()).unwrap();
        assert!((found - 3.0_f64.ln()).abs() < 1e-15, "{found}");
    }
}

#[test]
fn infinities_and_nan_go_through() {
    let (infinity, nan) = (f32::INFINITY, f32::NAN);
    let cases: [(&[f32], f64); 5] = [
        (&[], f64::NEG_INFINITY),
        (&[-infinity, -infinity], f64::NEG_INFINITY),
        (&[-infinity, 2.0], 2.0),
        (&[infinity, 2.0, infinity], f64::INFINITY),
        (&[1.0, nan, infinity], f64::NAN),
    ];
    for device in devices() {
        for (x, expected) in cases {
            let found = log_sum_exp(&device, &device.upload(x).unwrap()).unwrap();
            let is_same = found == expected || found.is_nan() && expected.is_nan();
            assert!(is_same, "{found} for {expected} on {}", device.name());
        }
    }
}
