//! Compares the network with `ndarray`, on simulators with several schedules. No GPU is needed.

use ndarray::{Array1, Array2, Axis};
use network::Network;
use tilewright::testing::seeds;
use tilewright::{Device, SimulatorOptions};

/// Simulators with two warp widths, and the first CUDA device with the feature `cuda`.
fn devices() -> Vec<Device> {
    let options = |seed| SimulatorOptions::default().with_seed(seed);
    let mut devices: Vec<Device> = seeds(2).map(options).map(Device::simulator_with).collect();
    devices.push(Device::simulator_with(options(2).with_warp_width(64)));
    if cfg!(feature = "cuda") {
        match Device::cuda(0) {
            Ok(device) => devices.push(device),
            Err(error) => eprintln!("skipped on CUDA: {error}"),
        }
    }
    devices
}

/// Pseudo-random numbers from -1 to 1, different for each `seed`.
fn numbers(shape: (usize, usize), seed: usize) -> Array2<f32> {
    let number = |index: usize| (index * 7919 + seed * 104_729) % 2003;
    Array2::from_shape_fn(shape, |(i, j)| {
        number(i * shape.1 + j) as f32 / 1001.0 - 1.0
    })
}

/// Weights and biases of layers. `sizes` are the numbers of their inputs, and at the end of the outputs.
fn layers(sizes: &[usize]) -> Vec<(Array2<f32>, Array1<f32>)> {
    let pairs = sizes.windows(2).enumerate();
    pairs
        .map(|(seed, pair)| {
            let bias = numbers((1, pair[1]), seed + 50);
            (numbers((pair[0], pair[1]), seed), bias.row(0).to_owned())
        })
        .collect()
}

/// The probabilities by `ndarray`, in f64.
fn expected(input: &Array2<f32>, layers: &[(Array2<f32>, Array1<f32>)]) -> Array2<f64> {
    let mut x = input.mapv(f64::from);
    for (number, (weights, bias)) in layers.iter().enumerate() {
        x = x.dot(&weights.mapv(f64::from)) + bias.mapv(f64::from);
        if number + 1 < layers.len() {
            x.mapv_inplace(|value| value.max(0.0));
        }
    }
    let greatest = x.fold_axis(Axis(1), f64::NEG_INFINITY, |a, &b| a.max(b));
    let powers = (x - greatest.insert_axis(Axis(1))).exp();
    let sums = powers.sum_axis(Axis(1)).insert_axis(Axis(1));
    powers / sums
}

/// A probability changes by at most as much as a sum before the softmax. In these networks the sums are below 100 and
/// have at most a hundred products, whose rounding errors of 2^-24 partly cancel.
const TOLERANCE: f64 = 1e-5;

#[test]
fn probabilities_are_those_of_ndarray() {
    for sizes in [&[9, 20, 5][..], &[4, 70], &[7]] {
        let layers = layers(sizes);
        let input = numbers((11, sizes[0]), 99);
        let expected = expected(&input, &layers);
        for device in devices() {
            let mut network = Network::new(&device);
            for (weights, bias) in &layers {
                network.push(weights.view(), bias.view()).unwrap();
            }
            let x = device.matrix_from_array(input.view()).unwrap();
            for batch in [11, 4] {
                let found = network.probabilities(&x, batch).unwrap();
                let found = found.to_array2().unwrap().mapv(f64::from);
                let largest = (found - &expected).fold(0.0, |a: f64, b| a.max(b.abs()));
                assert!(largest < TOLERANCE, "{sizes:?}: {largest:e} on {device:?}");
            }
        }
    }
}

#[test]
fn layers_that_do_not_fit_are_an_error() {
    let device = Device::simulator();
    let mut network = Network::new(&device);
    network
        .push(numbers((4, 3), 1).view(), Array1::zeros(3).view())
        .unwrap();
    let x = device.matrix_from_array(numbers((2, 5), 2).view()).unwrap();
    let error = network.probabilities(&x, 2).err().unwrap();
    assert!(error.to_string().contains("2x5"), "{error}");
}
