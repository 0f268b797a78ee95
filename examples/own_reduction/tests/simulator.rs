//! The operation against `ndarray`, on simulators with several schedules: no GPU is needed.

use ndarray::Array1;
use own_reduction::log_sum_exp;
use tilewright::{Device, SimulatorOptions};

/// The simulator, with warps in several orders and of two widths; with the feature `cuda`, the first CUDA
/// device too.
fn devices() -> Vec<Device> {
    let options = |seed| SimulatorOptions::default().with_seed(seed);
    let mut devices: Vec<Device> = (0..2).map(options).map(Device::simulator_with).collect();
    devices.push(Device::simulator_with(options(4).with_warp_width(64)));
    if cfg!(feature = "cuda") {
        match Device::cuda(0) {
            Ok(device) => devices.push(device),
            Err(error) => eprintln!("skipped on CUDA: {error}"),
        }
    }
    devices
}

/// The value on every device, which is the same on all of them.
fn value(x: &[f32]) -> f32 {
    let values: Vec<f32> = devices()
        .iter()
        .map(|device| log_sum_exp(device, &device.upload(x).unwrap()).unwrap())
        .collect();
    let same = |value: &f32| value.to_bits() == values[0].to_bits();
    assert!(values.iter().all(same), "{values:?}");
    values[0]
}

/// The value in two passes, in f64.
fn expected(x: &Array1<f64>) -> f64 {
    let greatest = x.fold(f64::NEG_INFINITY, |greatest, x| greatest.max(*x));
    greatest + x.mapv(|x| (x - greatest).exp()).sum().ln()
}

#[test]
fn the_value_is_that_of_two_passes() {
    for len in [1, 2, 3, 255, 4096, 4097, 50_003] {
        let x = Array1::from_shape_fn(len, |i| (i * 7919 % 2003) as f32 - 500.0);
        let found = f64::from(value(x.as_slice().unwrap()));
        let expected = expected(&x.mapv(f64::from));
        let bound = f64::from(f32::EPSILON) * expected.abs();
        assert!((found - expected).abs() <= bound, "{found}, {expected}");
    }
}

#[test]
fn terms_that_overflow_or_vanish_have_a_value() {
    let two = 2.0_f32;
    assert_eq!(value(&[1e30, 1e30]), 1e30);
    assert_eq!(value(&[-1000.0; 2]), -1000.0 + two.ln());
    assert_eq!(value(&[f32::NEG_INFINITY, 3.0]), 3.0);
    assert_eq!(value(&[f32::INFINITY, 3.0, f32::INFINITY]), f32::INFINITY);
}

#[test]
fn no_elements_and_no_numbers() {
    assert_eq!(value(&[]), f32::NEG_INFINITY);
    assert_eq!(value(&[f32::NEG_INFINITY; 300]), f32::NEG_INFINITY);
    let mut x = vec![1.0; 9000];
    x[4096] = f32::NAN;
    assert!(value(&x).is_nan());
}
