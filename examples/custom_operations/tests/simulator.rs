//! Compares the operations with plain code, on simulators with several schedules. No GPU is needed. With the feature
//! `cuda`, the first CUDA device must give the same bits.

use custom_operations::{KERNELS, kernels};
use half::bf16;
use tilewright::testing::seeds;
use tilewright::{Device, ErrorKind, Order, SimulatorOptions, ops};

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

fn numbers(count: usize) -> Vec<f32> {
    (0..count)
        .map(|i| ((i * 7919 % 1021) as f32 - 510.0) / 100.0)
        .collect()
}

/// Fails unless all devices return the same bits, and returns the values.
fn on_all_devices(of_device: impl Fn(&Device) -> tilewright::Result<Vec<f32>>) -> Vec<f32> {
    let mut first: Option<Vec<f32>> = None;
    for device in devices() {
        let found = of_device(&device).unwrap();
        let first = first.get_or_insert_with(|| found.clone());
        let same = first
            .iter()
            .zip(&found)
            .all(|(x, y)| x.to_bits() == y.to_bits());
        assert!(same && first.len() == found.len(), "on {}", device.name());
    }
    first.unwrap()
}

fn assert_near(found: &[f32], expected: impl IntoIterator<Item = f64>) {
    for (&found, expected) in found.iter().zip(expected) {
        let error = (f64::from(found) - expected).abs();
        assert!(
            error <= 1e-5 * expected.abs() + 1e-30,
            "{found} for {expected}"
        );
    }
}

#[test]
fn softmax_is_near_the_true_one_for_every_class_of_rows() {
    for (rows, len) in [(3, 5), (2, 1000), (2, 5000), (1, 40_001)] {
        let x = numbers(rows * len);
        let found = on_all_devices(|device| {
            let matrix = device.matrix((rows, len), &x)?;
            let module = device.load(&KERNELS)?;
            module.map_rows(kernels::soft_softmax, &matrix)?.to_vec()
        });
        for (row, found) in x.chunks(len).zip(found.chunks(len)) {
            let powers: Vec<f64> = row.iter().map(|&x| (f64::from(x) / 2.0).exp()).collect();
            let sum: f64 = powers.iter().sum();
            assert_near(found, powers.iter().map(|power| power / sum));
        }
    }
}

#[test]
fn gates_repeat_the_bias_for_each_row() {
    let (rows, len) = (7, 130);
    let (x, bias) = (numbers(rows * len), numbers(len));
    let found = on_all_devices(|device| {
        let module = device.load(&KERNELS)?;
        let matrix = device.matrix((rows, len), &x)?;
        let bias = device.matrix((1, len), &bias)?;
        let operands = [matrix.view(), matrix.view(), bias.view()];
        module.map(kernels::gate, operands)?.to_vec()
    });
    let expected = x.iter().enumerate().map(|(i, &x)| {
        let y = f64::from(x + bias[i % len]);
        y / (1.0 + (-y).exp()) * f64::from(x)
    });
    assert_near(&found, expected);
}

/// The product of row-major matrices, in f64.
fn product(a: &[f32], b: &[f32], n: usize) -> Vec<f64> {
    let k = b.len() / n;
    let outputs = (0..a.len() / k).flat_map(|i| (0..n).map(move |j| (i, j)));
    let sum = |(i, j): (usize, usize)| {
        (0..k)
            .map(|l| f64::from(a[i * k + l]) * f64::from(b[l * n + j]))
            .sum()
    };
    outputs.map(sum).collect()
}

#[test]
fn a_product_is_gated_before_it_is_written() {
    let (m, n, k) = (70, 130, 20);
    let (a, b, other) = (numbers(m * k), numbers(k * n), numbers(m * n));
    let found = on_all_devices(|device| {
        let module = device.load(&KERNELS)?;
        let a = device.matrix((m, k), &a)?;
        let b = device.matrix((k, n), &b)?;
        let other = device.matrix((m, n), &other)?;
        module
            .map_product(kernels::swiglu, (&a, &b), [other.view()], &0)?
            .to_vec()
    });
    let sums = product(&a, &b, n);
    for ((found, sum), other) in found.into_iter().zip(sums).zip(other) {
        let expected = sum / (1.0 + (-sum).exp()) * f64::from(other);
        let error = (f64::from(found) - expected).abs();
        assert!(error < 2e-3, "{found} for {expected}");
    }
}

/// By warps on tensor cores and by warpgroups, in more tiles than one of both.
#[test]
fn a_product_of_bf16_is_gated_in_every_tile() {
    let (m, n, k) = (300, 270, 72);
    let half = |x: f32| bf16::from_f32(x / 4.0);
    let (a, b): (Vec<bf16>, Vec<bf16>) = (
        numbers(m * k).into_iter().map(half).collect(),
        numbers(k * n).into_iter().map(half).collect(),
    );
    let other = numbers(m * n);
    let wide = |x: &[bf16]| -> Vec<f32> { x.iter().map(|x| x.to_f32()).collect() };
    // Column j of B is contiguous.
    let columns = wide(&b);
    let rows: Vec<f32> = (0..k * n).map(|i| columns[i % n * k + i / n]).collect();
    let sums = product(&wide(&a), &rows, n);
    for device in devices() {
        let module = device.load(&KERNELS).unwrap();
        let a = device.matrix((m, k), &a).unwrap();
        let b = device.matrix((k, n, Order::ColumnMajor), &b).unwrap();
        let other_matrix = device.matrix((m, n), &other).unwrap();
        let others = || [other_matrix.view()];
        let by_warps = module.map_product(kernels::swiglu_bf16, (&a, &b), others(), &0);
        let by_warpgroups = module.map_product(kernels::swiglu_bf16_hopper, (&a, &b), others(), &0);
        let mut of_warps = None;
        for found in [by_warps, by_warpgroups] {
            let found = match found {
                Ok(found) => found.to_vec().unwrap(),
                Err(error) if matches!(error.kind(), ErrorKind::NoKernel { .. }) => continue,
                Err(error) => panic!("{error}"),
            };
            for ((&found, &sum), &other) in found.iter().zip(&sums).zip(&other) {
                let expected = sum / (1.0 + (-sum).exp()) * f64::from(other);
                assert!(
                    (f64::from(found) - expected).abs() < 2e-3,
                    "{found} for {expected}"
                );
            }
            let first = of_warps.get_or_insert_with(|| found.clone());
            let same = first
                .iter()
                .zip(&found)
                .all(|(x, y)| x.to_bits() == y.to_bits());
            assert!(same, "warps and warpgroups differ on {}", device.name());
        }
        assert!(of_warps.is_some() || !device.is_simulator());
    }
}

#[test]
fn dropout_keeps_what_the_hash_says() {
    let (m, n, k) = (9, 100, 3);
    let (a, b) = (numbers(m * k), numbers(k * n));
    let (seed, half) = (5, 1_u64 << 31);
    let found = on_all_devices(|device| {
        let module = device.load(&KERNELS)?;
        let (a, b) = (device.matrix((m, k), &a)?, device.matrix((k, n), &b)?);
        module
            .map_product(kernels::dropout, (&a, &b), [], &[seed, half])?
            .to_vec()
    });
    let is_kept = |i: usize| u64::from(kernels::hash(seed, [i / n, i % n])) < half;
    let kept = (0..m * n).filter(|&i| is_kept(i)).count();
    assert!(
        (m * n * 2 / 5..m * n * 3 / 5).contains(&kept),
        "{kept} of {}",
        m * n
    );
    for (i, (found, sum)) in found.into_iter().zip(product(&a, &b, n)).enumerate() {
        let expected = if is_kept(i) { 2.0 * sum } else { 0.0 };
        assert!(
            (f64::from(found) - expected).abs() < 1e-3,
            "{found} for {expected}"
        );
    }
}

#[test]
fn the_recurrence_is_that_of_a_loop() {
    // Halves and small integers: every state is exact.
    let steps: Vec<[f32; 2]> = (0..20_000)
        .map(|i| [[0.5, 0.0][i % 2], (i % 5) as f32])
        .collect();
    let found = on_all_devices(|device| {
        let module = device.load(&KERNELS)?;
        let steps = device.upload(&steps)?;
        module.scan_inclusive(kernels::recurrence, &steps)?.to_vec()
    });
    let mut state = 0.0;
    let expected = steps.iter().map(|[a, b]| {
        state = f64::from(*a) * state + f64::from(*b);
        state
    });
    assert_near(&found, expected);
}

#[test]
fn statistics_are_those_of_the_library() {
    let x = numbers(10_000);
    for device in devices() {
        let module = device.load(&KERNELS).unwrap();
        let buffer = device.upload(&x).unwrap();
        let (sum, max, norm) = module.reduce(kernels::statistics, &buffer).unwrap().get();
        assert_eq!(sum, device.reduce(&buffer, ops::Sum).unwrap());
        assert_eq!(max, device.reduce(&buffer, ops::Max).unwrap());
        assert_eq!(norm, device.reduce(&buffer, ops::Norm2).unwrap());
        let matrix = device.matrix((10, 1000), &x).unwrap();
        let found = module
            .reduce_columns(kernels::row_statistics, &matrix)
            .unwrap();
        let sums = device
            .reduce_columns(&matrix, ops::Sum)
            .unwrap()
            .to_vec()
            .unwrap();
        for (found, sum) in found.to_vec().unwrap().iter().zip(sums) {
            assert_eq!(found.get().0, sum);
        }
    }
}
