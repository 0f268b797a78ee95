//! More elements than 32 bits can count, on CUDA devices with the memory for them.

#![cfg(feature = "cuda")]

#[macro_use]
mod common;

use bytemuck::zeroed_vec;
use common::random::Random;
use common::{cuda_device, has_room};
use half::f16;
use ndarray::{Array2, LinalgScalar};
use tilewright::ops::{ArgMax, Count};
use tilewright::{
    Buffer, Device, Element, GemmElement, Matrix, Reducible, ReducibleLines, ReducibleSegments,
};

/// The first CUDA device, if it has `bytes` bytes free.
fn device_with(bytes: usize) -> Option<Device> {
    cuda_device().filter(|device| has_room(device, bytes))
}

/// Ones at every `STEP`th place and in the last, among zeros: few enough that f32 counts them.
const STEP: usize = 1021;

#[test]
fn sums_of_more_than_2_to_the_31_elements() {
    const LENGTH: usize = (1 << 31) + 5;
    let Some(device) = device_with(LENGTH * size_of::<f16>()) else {
        return;
    };
    let mut data: Vec<f16> = zeroed_vec(LENGTH);
    data.iter_mut().step_by(STEP).for_each(|x| *x = f16::ONE);
    data[LENGTH - 1] = f16::ONE;
    let ones = LENGTH.div_ceil(STEP) + usize::from(!(LENGTH - 1).is_multiple_of(STEP));
    let sum = device.reduce_sum(&device.upload(&data).unwrap()).unwrap();
    assert_eq!(sum, ones as f32);
}

/// More elements of a line than 32 bits count.
const LONG: usize = (1 << 32) + 3;

/// What `operation` gives of the elements as a buffer, as a row and as a column, and of two segments of
/// which the second has the last two elements.
fn at_every_place<R: Copy, T, O>(device: &Device, x: Buffer<T>, operation: R) -> (Vec<O>, Vec<O>)
where
    O: Element,
    T: Reducible<R, Output = O> + ReducibleLines<R> + ReducibleSegments<R>,
{
    let segments = device.segments(&[0, LONG - 2, LONG]).unwrap();
    let of_segments = device.reduce_segments(&x, &segments, operation).unwrap();
    let of_buffer = device.reduce(&x, operation).unwrap();
    let row = x.into_matrix((1, LONG)).unwrap();
    let along = device.reduce_rows(&row, operation).unwrap();
    let column = row.into_buffer().into_matrix((LONG, 1)).unwrap();
    let across = device.reduce_columns(&column, operation).unwrap();
    let (along, across) = (along.to_vec().unwrap(), across.to_vec().unwrap());
    (
        vec![of_buffer, along[0], across[0]],
        of_segments.to_vec().unwrap(),
    )
}

#[test]
fn counts_beyond_2_to_the_32() {
    let Some(device) = device_with(LONG + (1 << 28)) else {
        return;
    };
    let mask = device.upload(&vec![1; LONG]).unwrap();
    let (wholes, segments) = at_every_place(&device, mask, Count);
    assert_eq!(wholes, [LONG as u64; 3]);
    assert_eq!(segments, [LONG as u64 - 2, 2]);
}

#[test]
fn places_beyond_2_to_the_32() {
    let Some(device) = device_with(LONG * size_of::<f16>() + (1 << 28)) else {
        return;
    };
    let mut data: Vec<f16> = zeroed_vec(LONG);
    data[LONG - 1] = f16::ONE;
    let (wholes, segments) = at_every_place(&device, device.upload(&data).unwrap(), ArgMax);
    assert_eq!(wholes, [LONG as u64 - 1; 3]);
    assert_eq!(segments, [0, 1]);
}

/// Rows and columns of a matrix of more than 2^31 elements.
const TALL: usize = (1 << 16) + 1;
const WIDE: usize = (1 << 15) + 3;

type Multiply = fn(&Device, &Matrix<f32>, &Matrix<f32>) -> tilewright::Result<Matrix<f32>>;

const KERNELS: [Multiply; 2] = [
    |device, a, b| device.matmul_tiled(a, b),
    |device, a, b| device.matmul_coarsened(a, b),
];

/// Whole numbers from -1 to 1: sums of a hundred thousand of their products are exact in f32.
fn signs(rows: usize, columns: usize, seed: u64) -> Array2<f32> {
    let mut random = Random::new(seed);
    Array2::from_shape_simple_fn((rows, columns), || random.integer(-1..=1) as f32)
}

fn upload(device: &Device, array: &Array2<f32>) -> Matrix<f32> {
    device.matrix_from_array(array.view()).unwrap()
}

/// A matrix of `u.len()` x `v.len()` elements: each of `u` times each of `v`. It is a product, too,
/// so these tests write more than 2^31 outputs and read more than 2^31 elements.
fn outer(device: &Device, multiply: Multiply, u: &Array2<f32>, v: &Array2<f32>) -> Matrix<f32> {
    multiply(device, &upload(device, u), &upload(device, v)).unwrap()
}

#[test]
fn products_with_more_than_2_to_the_31_elements_on_the_left() {
    let Some(device) = device_with(TALL * WIDE * size_of::<f32>() + (1 << 28)) else {
        return;
    };
    let (u, v, b) = (signs(TALL, 1, 1), signs(1, WIDE, 2), signs(WIDE, 5, 3));
    let expected = u.dot(&v.dot(&b));
    for multiply in KERNELS {
        let a = outer(&device, multiply, &u, &v);
        let c = multiply(&device, &a, &upload(&device, &b)).unwrap();
        assert!(c.to_array2().unwrap() == expected);
    }
}

#[test]
fn products_with_more_than_2_to_the_31_elements_on_the_right() {
    let Some(device) = device_with(TALL * WIDE * size_of::<f32>() + (1 << 28)) else {
        return;
    };
    let (a, u, v) = (signs(5, TALL, 4), signs(TALL, 1, 5), signs(1, WIDE, 6));
    let expected = a.dot(&u).dot(&v);
    for multiply in KERNELS {
        let b = outer(&device, multiply, &u, &v);
        let c = multiply(&device, &upload(&device, &a), &b).unwrap();
        assert!(c.to_array2().unwrap() == expected);
    }
}

/// Too large for the simulator, with tails in each dimension.
fn large_products_are_exact<T: GemmElement + LinalgScalar + PartialEq + From<i8>>() {
    let Some(device) = cuda_device() else { return };
    for (m, n, k) in [
        (2053, 1021, 515),
        (1031, 4099, 1030),
        (4096, 2048, 2048),
        (4100, 2052, 1000),
    ] {
        let mut random = Random::new(7);
        let mut integers =
            |shape| Array2::from_shape_simple_fn(shape, || T::from(random.integer(-8..=8) as i8));
        let (a, b) = (integers((m, k)), integers((k, n)));
        let expected = a.dot(&b);
        let (left, right) = (
            device.matrix_from_array(a.view()).unwrap(),
            device.matrix_from_array(b.view()).unwrap(),
        );
        for c in [
            device.matmul_tiled(&left, &right),
            device.matmul_coarsened(&left, &right),
        ] {
            assert!(
                c.unwrap().to_array2().unwrap() == expected,
                "{m}x{k} times {k}x{n}"
            );
        }
    }
}

for_each_type! {
    [f32 f64]
    large_products_are_exact
}
