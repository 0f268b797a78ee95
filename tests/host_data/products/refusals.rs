//! Calls that are refused, the state after an error, and the use of memory.

use super::{data, memory_for, whole};
use crate::common::devices;
use half::f16;
use std::io;
use tilewright::{Arithmetic, Device, Error, ErrorKind, HostMatrix, MatrixShape, SimulatorOptions};
use tilewright_test_support::assert_kind;

#[test]
fn wrong_shapes_are_refused() {
    let device = Device::simulator();
    let elements = [1.0_f32; 12];
    let error = HostMatrix::new((5, 3), &elements).unwrap_err();
    assert_kind!(error is ErrorKind::WrongLength { expected: 15, found: 12, .. });
    assert_eq!(error.operation(), "HostMatrix::new");
    let a = HostMatrix::new((3, 4), &elements).unwrap();
    let mut multiplier = device.host_multiplier::<f32, f32>(1 << 20).unwrap();
    let mut c = [0.0; 9];
    let error = multiplier.multiply(a, a, &mut c).unwrap_err();
    assert_kind!(error is ErrorKind::ShapeMismatch { left: (3, 4), right: (3, 4), .. });
    assert_eq!(error.operation(), "multiply");
    let error = device.matmul_host(a, a).unwrap_err();
    assert_eq!(error.operation(), "matmul_host");
    let error = multiplier.multiply(a, a.t(), &mut c[1..]).unwrap_err();
    assert_kind!(error is ErrorKind::WrongLength { expected: 9, found: 8, .. });
    let no_read = |_: usize, _: &mut [f32]| -> Result<(), Error> { unreachable!() };
    let no_write = |_: usize, _: &[f32]| -> Result<(), Error> { unreachable!() };
    let shape = MatrixShape::from((usize::MAX, 2));
    let error = multiplier
        .multiply_from((shape, no_read), ((2, 2), no_read), no_write)
        .unwrap_err();
    assert_kind!(error is ErrorKind::TooLarge { .. });
    assert_eq!(error.operation(), "multiply_from");
}

#[test]
fn too_little_memory_is_refused() {
    let device = Device::simulator();
    let shape = (3, 1000, 3);
    let bytes = |lines, k| memory_for::<f16, f16>(lines, k);
    // K of products that are rounded to f16 cannot be cut.
    let halves = device.host_multiplier::<f16, f16>(bytes(1, 999)).unwrap();
    let error = halves.parts_of_k(shape).unwrap_err();
    assert_eq!(
        error.kind().to_string(),
        "a 3x3 product with K = 1000, whose smallest panels exceed 7996 bytes of device memory, is too large: allow \
         the multiplier more memory"
    );
    let halves = device.host_multiplier::<f16, f16>(bytes(1, 1000)).unwrap();
    assert_eq!(halves.parts_of_k(shape).unwrap(), 1);
    let sums = device.host_multiplier::<f16, f32>(bytes(1, 999)).unwrap();
    assert!(sums.parts_of_k(shape).unwrap() > 1);
    let exact = device.host_multiplier::<f32, f32>(1000).unwrap();
    assert!(exact.parts_of_k(shape).unwrap() > 1);
    let exact = exact.arithmetic(Arithmetic::Exact);
    assert!(exact.parts_of_k(shape).is_err());
    let nothing = device.host_multiplier::<f32, f32>(0).unwrap();
    assert!(nothing.parts_of_k(shape).is_err());
    assert_eq!(nothing.parts_of_k((0, 1000, 3)).unwrap(), 1);
}

/// Sizes of matrices that no index counts have no panels, whose numbers would wrap.
#[test]
fn parts_of_products_that_no_index_counts_are_refused() {
    let device = Device::simulator();
    let (half, most) = (1 << 63, usize::MAX);
    for memory in [0, 1 << 20, u64::MAX] {
        let multiplier = device.host_multiplier::<f64, f64>(memory).unwrap();
        for shape in [(most, most, most), (half, 1, 2), (2, half, 1), (1, 2, half)] {
            let error = multiplier.parts_of_k(shape).unwrap_err();
            assert_kind!(error is ErrorKind::TooLarge { .. });
        }
    }
}

/// An error of a function comes back as it is, and the multiplier works on.
#[test]
fn errors_of_functions_are_returned() {
    type Failure = Box<dyn std::error::Error>;
    for device in devices() {
        let (m, k, n) = (200, 10, 200);
        let (a, b) = (data::<f32>(m * k), data::<f32>(k * n));
        let a = HostMatrix::new((m, k), &a).unwrap();
        let b = HostMatrix::new((k, n), &b).unwrap();
        let expected = whole::<f32, f32>(&device, (a, b), Arithmetic::Auto);
        let memory = memory_for::<f32, f32>(64, k);
        let mut multiplier = device.host_multiplier::<f32, f32>(memory).unwrap();
        for failing in 0..3 {
            for good in 0..3 {
                let mut calls = [0; 3];
                let [of_a, of_b, of_c] = &mut calls;
                let count = |calls: &mut i32, number| {
                    *calls += 1;
                    match failing == number && *calls > good {
                        true => Err(Failure::from(io::Error::other("no disk"))),
                        false => Ok(()),
                    }
                };
                let read = |elements: &mut [f32], result| {
                    elements.fill(1.0);
                    result
                };
                let product = multiplier.multiply_from(
                    ((m, k), |_, elements: &mut [f32]| {
                        read(elements, count(of_a, 0))
                    }),
                    ((k, n), |_, elements: &mut [f32]| {
                        read(elements, count(of_b, 1))
                    }),
                    |_, _| count(of_c, 2),
                );
                assert_eq!(product.unwrap_err().to_string(), "no disk");
                assert_eq!(calls[failing as usize], good + 1);
                let mut c = vec![0.0; m * n];
                multiplier.multiply(a, b, &mut c).unwrap();
                assert_eq!(c, expected);
            }
        }
    }
}

#[test]
fn memory_is_bounded_and_returns() {
    // The memory of a GPU is that of all tests.
    let device = Device::simulator();
    let before = device.memory().unwrap().used;
    let (m, k, n) = (700, 30, 500);
    let limit = memory_for::<f64, f64>(100, k);
    let mut multiplier = device.host_multiplier::<f64, f64>(limit).unwrap();
    let mut most = 0;
    let read = |_: usize, elements: &mut [f64]| {
        elements.fill(0.5);
        Ok::<_, Error>(())
    };
    let product = multiplier.multiply_from(((m, k), read), ((k, n), read), |_, outputs| {
        most = device.memory()?.used.max(most);
        assert!(outputs.iter().all(|it| *it == 7.5));
        Ok(())
    });
    product.unwrap();
    assert!(
        (limit / 2..=limit).contains(&(most - before)),
        "{limit} {most}"
    );
    device.synchronize().unwrap();
    assert_eq!(device.memory().unwrap().used, before);
}

#[test]
fn a_device_without_memory_for_the_matrices_multiplies_them() {
    let device = Device::simulator_with(SimulatorOptions::default().with_memory_bytes(1 << 20));
    let (m, k, n) = (600, 50, 700);
    let (a, b) = (vec![0.25_f64; m * k], vec![2.0_f64; k * n]);
    let a = HostMatrix::new((m, k), &a).unwrap();
    let b = HostMatrix::new((k, n), &b).unwrap();
    assert!(device.matrix_zeros::<f64>((m, n)).is_err());
    let mut c = vec![0.0; m * n];
    let mut multiplier = device.host_multiplier(1 << 19).unwrap();
    multiplier.multiply(a, b, &mut c).unwrap();
    assert!(c.iter().all(|it| *it == 25.0));
    let mut too_large = device.host_multiplier(1 << 22).unwrap();
    let error = too_large.multiply(a, b, &mut c).unwrap_err();
    assert_kind!(error is ErrorKind::OutOfMemory { .. });
    multiplier.multiply(a, b, &mut c).unwrap();
}
