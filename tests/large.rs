//! More elements than 32 bits can count, on CUDA devices with the memory for them: without a device, or without
//! the memory, a test says so. What a test takes stands beside it, in GB of 10^9 bytes.

#![cfg(feature = "cuda")]

#[macro_use]
mod common;

use bytemuck::zeroed_vec;
use common::random::Random;
use common::{cuda_device, has_room, say};
use half::{bf16, f16};
use ndarray::{Array2, LinalgScalar};
use tilewright::ops::{ArgMax, Count};
use tilewright::{
    Buffer, Device, Element, GemmElement, Matmul, Matrix, Order, Reducible, ReducibleLines,
    ReducibleSegments, SelectionReason,
};

/// The first CUDA device, if it has `bytes` bytes free.
fn device_with(bytes: usize) -> Option<Device> {
    cuda_device().filter(|device| has_room(device, bytes))
}

/// Ones at every `STEP`th place and in the last, among zeros: few enough that f32 counts them.
const STEP: usize = 1021;

/// So many elements, more than 2^31.
const LENGTH: usize = (1 << 31) + 5;

/// The ones among so many elements.
const ONES: usize = LENGTH.div_ceil(STEP) + !(LENGTH - 1).is_multiple_of(STEP) as usize;

fn is_one(index: usize) -> bool {
    index.is_multiple_of(STEP) || index == LENGTH - 1
}

/// The zeros and ones.
fn sparse<T: Element + bytemuck::Zeroable>(one: T) -> Vec<T> {
    let mut data: Vec<T> = zeroed_vec(LENGTH);
    data.iter_mut().step_by(STEP).for_each(|x| *x = one);
    data[LENGTH - 1] = one;
    data
}

/// 4.3 GB.
#[test]
fn sums_of_more_than_2_to_the_31_elements() {
    let Some(device) = device_with(LENGTH * size_of::<f16>()) else {
        return;
    };
    let x = device.upload(&sparse(f16::ONE)).unwrap();
    assert_eq!(device.reduce_sum(&x).unwrap(), ONES as f32);
    let reproducible = device.reduce_sum_reproducible(&x).unwrap();
    assert_eq!(reproducible, ONES as f32);
}

/// 8.6 GB.
#[test]
fn dot_products_of_more_than_2_to_the_31_elements() {
    let Some(device) = device_with(2 * LENGTH * size_of::<f16>()) else {
        return;
    };
    let x = device.upload(&sparse(f16::ONE)).unwrap();
    let mut weights = vec![f16::ONE; LENGTH];
    weights[LENGTH - 1] = f16::from_f32(3.0);
    let weights = device.upload(&weights).unwrap();
    let dot = device.reduce_dot(&x, &weights).unwrap();
    assert_eq!(dot, (ONES + 2) as f32);
}

/// 17.2 GB.
#[test]
fn scans_of_more_than_2_to_the_31_elements() {
    const READ_AT_ONCE: usize = 1 << 28;
    let Some(device) = device_with(2 * LENGTH * size_of::<u32>() + (1 << 28)) else {
        return;
    };
    let x = device.upload(&sparse(1_u32)).unwrap();
    let mut sums = device.uninit::<u32>(LENGTH).unwrap();
    device.scan_inclusive_into(&x, &mut sums).unwrap();
    let mut expected = 0;
    for start in (0..LENGTH).step_by(READ_AT_ONCE) {
        let end = LENGTH.min(start + READ_AT_ONCE);
        let sums = sums.slice(start..end).unwrap().to_vec().unwrap();
        for (index, sum) in (start..end).zip(sums) {
            expected += u32::from(is_one(index));
            assert_eq!(sum, expected, "at {index}");
        }
    }
    assert_eq!(expected as usize, ONES);
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

/// 4.6 GB.
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

/// 8.9 GB.
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

/// 8.9 GB.
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

/// 8.9 GB.
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

/// Fails if `device.matmul` of these operands divides K; else the name of its kernel.
fn undivided<T: tilewright::MatmulElement>(a: &Matrix<T>, b: &Matrix<T>) -> &'static str {
    let plan = Matmul::new(a, b).plan().unwrap();
    let is_divided = matches!(plan.reason, SelectionReason::InParts { .. });
    assert!(!is_divided, "{plan}");
    plan.kernel
}

/// f32 taken apart, of more than 2^31 elements on either side: 17.5 GB, of the operand and of its halves.
#[test]
fn split_products_of_more_than_2_to_the_31_elements() {
    let Some(device) = device_with(2 * TALL * WIDE * size_of::<f32>() + (1 << 28)) else {
        return;
    };
    if device.properties().compute_capability != Some((9, 0)) {
        return say(&format!("skipped: {} takes no f32 apart", device.name()));
    }
    let (u, v) = (signs(TALL, 1, 7), signs(1, WIDE, 8));
    let (a, b) = (signs(5, TALL, 9), signs(WIDE, 5, 10));
    let large = outer(&device, |device, a, b| device.matmul(a, b), &u, &v);
    let right = upload(&device, &b);
    assert_eq!(undivided(&large, &right), "matmul_split_f32");
    let c = device.matmul(&large, &right).unwrap();
    assert!(c.to_array2().unwrap() == u.dot(&v.dot(&b)));
    let left = upload(&device, &a);
    assert_eq!(undivided(&left, &large), "matmul_split_f32");
    let c = device.matmul(&left, &large).unwrap();
    assert!(c.to_array2().unwrap() == a.dot(&u).dot(&v));
}

/// A matrix of more than 2^31 elements and a vector, along its lines and across: 8.9 GB.
#[test]
fn matrices_of_more_than_2_to_the_31_elements_with_a_vector() {
    let Some(device) = device_with(TALL * WIDE * size_of::<f32>() + (1 << 28)) else {
        return;
    };
    let (u, v) = (signs(TALL, 1, 11), signs(1, WIDE, 12));
    let (x, y) = (signs(WIDE, 1, 13), signs(TALL, 1, 14));
    let matrix = outer(&device, |device, a, b| device.matmul(a, b), &u, &v);
    let vector = |array: &Array2<f32>| device.upload(array.as_slice().unwrap()).unwrap();
    let along = device.matvec(&matrix, &vector(&x)).unwrap();
    assert_eq!(
        along.to_vec().unwrap(),
        u.dot(&v.dot(&x)).into_raw_vec_and_offset().0
    );
    let across = device.matvec(matrix.t(), &vector(&y)).unwrap();
    assert_eq!(
        across.to_vec().unwrap(),
        y.t().dot(&u).dot(&v).into_raw_vec_and_offset().0
    );
}

/// More than 2^31 elements of bf16 on the left, in rows that are copied, and as the result of the product that
/// makes them: 8.9 GB.
#[test]
fn products_of_more_than_2_to_the_31_halves() {
    let Some(device) = device_with(2 * TALL * WIDE * size_of::<bf16>() + (1 << 28)) else {
        return;
    };
    let (u, v, b) = (signs(TALL, 1, 15), signs(1, WIDE, 16), signs(WIDE, 5, 17));
    let upload = |array: &Array2<f32>| {
        let halves = array.mapv(bf16::from_f32);
        device.matrix_from_array(halves.view()).unwrap()
    };
    let (u_there, v_there, b_there) = (upload(&u), upload(&v), upload(&b));
    let a = device.matmul(&u_there, &v_there).unwrap();
    undivided(&a, &b_there);
    let c = device.matmul(&a, &b_there).unwrap();
    // The sums are exact in f32, and rounded once.
    let expected = u.dot(&v.dot(&b)).mapv(bf16::from_f32);
    assert!(c.to_array2().unwrap() == expected);
}

/// More than 2^31 elements of i8 on the left, in rows that are copied: 4.6 GB.
#[test]
fn products_of_more_than_2_to_the_31_bytes() {
    let Some(device) = device_with(2 * TALL * WIDE + (1 << 28)) else {
        return;
    };
    let (u, v, b) = (signs(TALL, 1, 18), signs(1, WIDE, 19), signs(WIDE, 5, 20));
    let (rows, columns) = (u.mapv(|it| it as i8), v.mapv(|it| it as i8));
    let a: Vec<i8> = rows
        .iter()
        .flat_map(|row| columns.iter().map(move |column| row * column))
        .collect();
    let a = device.matrix((TALL, WIDE), &a).unwrap();
    // Columns, as tensor cores read them.
    let columns = b.t().iter().map(|&it| it as i8).collect::<Vec<_>>();
    let b_there = device
        .matrix((WIDE, 5, Order::ColumnMajor), &columns)
        .unwrap();
    undivided(&a, &b_there);
    let c = device.matmul(&a, &b_there).unwrap();
    let expected = u.dot(&v.dot(&b)).mapv(|it| it as i32);
    assert!(c.to_array2().unwrap() == expected);
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
