//! Products whose K is cut.

use super::{Factor, bits, data};
use crate::common::devices;
use half::bf16;
use std::any::type_name;
use tilewright::{
    Arithmetic, Device, Element, Error, ErrorKind, HostMatrix, Matmul, MatmulElement, MatmulInto,
};
use tilewright_test_support::assert_kind;

/// Where K is cut, each part is added as `beta` of 1 does.
#[test]
fn parts_of_k_are_added_in_order() {
    for device in devices() {
        added_in_order::<f32, f32>(&device);
        added_in_order::<f64, f64>(&device);
        added_in_order::<bf16, f32>(&device);
        added_in_order::<i8, i32>(&device);
    }
}

fn added_in_order<T: Factor + MatmulInto<O>, O: Element>(device: &Device) {
    let (m, n) = (20, 13);
    let of_outputs = m * n * size_of::<O>();
    // All outputs, and a part of K; some outputs.
    for (k, memory) in [
        (700, of_outputs + 600 * (m + n) * size_of::<T>()),
        (40, of_outputs),
    ] {
        let memory = memory as u64;
        let (a, b) = (data::<T>(m * k), data::<T>(k * n));
        let a = HostMatrix::new((m, k), &a).unwrap();
        let b = HostMatrix::new((k, n), &b).unwrap();
        let mut multiplier = device.host_multiplier::<T, O>(memory).unwrap();
        let parts = multiplier.parts_of_k((m, k, n)).unwrap();
        assert!(parts > 1);
        let mut depth = None;
        let read = |matrix: &[T], start: usize, elements: &mut [T]| {
            elements.copy_from_slice(&matrix[start..start + elements.len()]);
            Ok::<_, Error>(())
        };
        let mut c = vec![O::zeroed(); m * n];
        multiplier
            .multiply_from(
                ((m, k), |start, elements: &mut [T]| {
                    depth.get_or_insert(elements.len());
                    read(a.elements(), start, elements)
                }),
                ((k, n), |start, elements: &mut [T]| {
                    read(b.elements(), start, elements)
                }),
                |start, outputs: &[O]| {
                    c[start..start + outputs.len()].copy_from_slice(outputs);
                    Ok(())
                },
            )
            .unwrap();
        let depth = depth.unwrap();
        assert_eq!(parts, k.div_ceil(depth));
        let expected = sum_of_parts::<T, O>(device, (a, b), depth);
        assert!(bits(&c) == bits(&expected), "{} {memory}", type_name::<T>());
        let mut of_slices = vec![O::zeroed(); m * n];
        multiplier.multiply(a, b, &mut of_slices).unwrap();
        assert!(bits(&of_slices) == bits(&expected));
    }
}

fn sum_of_parts<T: MatmulInto<O>, O: Element>(
    device: &Device,
    (a, b): (HostMatrix<'_, T>, HostMatrix<'_, T>),
    depth: usize,
) -> Vec<O> {
    let upload = |it: HostMatrix<'_, T>| device.matrix(it.shape(), it.elements()).unwrap();
    let (a, b) = (upload(a), upload(b));
    let mut c = device.matrix_zeros::<O>((a.rows(), b.cols())).unwrap();
    for start in (0..a.cols()).step_by(depth) {
        let part = start..(start + depth).min(a.cols());
        let (a, b) = (
            a.slice(.., part.clone()).unwrap(),
            b.slice(part, ..).unwrap(),
        );
        let product = Matmul::new(a, b);
        let product = match start {
            0 => product,
            _ => product.beta(one::<T>()),
        };
        product.run_into(&mut c).unwrap();
    }
    c.to_vec().unwrap()
}

fn one<T: MatmulElement>() -> T::Accumulator {
    use tilewright_kernels::epilogue::EpilogueElement as _;
    T::Accumulator::ONE
}

/// A part of K has at least the 63 elements that split operands need.
#[test]
fn parts_of_split_products_are_long_enough() {
    let device = Device::simulator();
    for k in [129, 190, 253, 1000] {
        let ones = vec![1.0_f32; 64 * k];
        let a = HostMatrix::new((64, k), &ones).unwrap();
        let b = HostMatrix::new((k, 64), &ones).unwrap();
        for memory in [82_000, 1 << 20] {
            let multiplier = device.host_multiplier::<f32, f32>(memory).unwrap();
            let mut multiplier = multiplier.arithmetic(Arithmetic::Split);
            let mut c = vec![0.0; 64 * 64];
            multiplier.multiply(a, b, &mut c).unwrap();
            assert!(c.iter().all(|it| *it == k as f32), "{k}, {memory}");
        }
    }
    let multiplier = device.host_multiplier::<f32, f32>(1000).unwrap();
    let multiplier = multiplier.arithmetic(Arithmetic::Split);
    let error = multiplier.parts_of_k((64, 1000, 64)).unwrap_err();
    assert_kind!(error is ErrorKind::TooLarge { .. });
}
