//! Products.

use crate::common::random::Random;
use crate::common::{cuda_device, say};
use crate::device_with;
use bytemuck::zeroed_vec;
use half::bf16;
use ndarray::{Array2, LinalgScalar};
use tilewright::cuda_std::fp8::F8E4M3;
use tilewright::tuning::SelectionReason;
use tilewright::{ChainElement, Device, Matmul, MatmulElement, MatmulInto, Matrix, Order};

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
fn undivided<T>(a: &Matrix<T>, b: &Matrix<T>) -> &'static str
where
    T: MatmulElement + MatmulInto<<T as MatmulElement>::Product>,
{
    let plan = Matmul::new(a, b).plan().unwrap();
    let is_divided = matches!(plan.reason, SelectionReason::InParts { .. });
    assert!(!is_divided, "{plan}");
    plan.kernel
}

/// Split f32 operands of more than 2^31 elements on either side: 17.5 GB, of the operand and of its halves.
#[test]
fn split_products_of_more_than_2_to_the_31_elements() {
    let Some(device) = device_with(2 * TALL * WIDE * size_of::<f32>() + (1 << 28)) else {
        return;
    };
    if device.properties().compute_capability != Some((9, 0)) {
        return say(&format!("skipped: {} does not split f32", device.name()));
    }
    let (u, v) = (signs(TALL, 1, 7), signs(1, WIDE, 8));
    let (a, b) = (signs(5, TALL, 9), signs(WIDE, 5, 10));
    let large = outer(&device, |device, a, b| device.matmul(a, b), &u, &v);
    let right = upload(&device, &b);
    assert!(undivided(&large, &right).starts_with("matmul_split"));
    let c = device.matmul(&large, &right).unwrap();
    assert!(c.to_array2().unwrap() == u.dot(&v.dot(&b)));
    let left = upload(&device, &a);
    assert!(undivided(&left, &large).starts_with("matmul_split"));
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

/// More than 2^31 elements of f64 on the left: 17.5 GB, and as many for a copy with aligned rows.
#[test]
fn products_of_more_than_2_to_the_31_doubles() {
    let Some(device) = device_with(2 * TALL * WIDE * size_of::<f64>() + (1 << 28)) else {
        return;
    };
    let (u, v, b) = (signs(TALL, 1, 21), signs(1, WIDE, 22), signs(WIDE, 5, 23));
    let [u, v, b] = [u, v, b].map(|it| it.mapv(f64::from));
    let upload = |array: &Array2<f64>| device.matrix_from_array(array.view()).unwrap();
    let (u_there, v_there, b_there) = (upload(&u), upload(&v), upload(&b));
    let a = device.matmul(&u_there, &v_there).unwrap();
    undivided(&a, &b_there);
    let c = device.matmul(&a, &b_there).unwrap();
    assert!(c.to_array2().unwrap() == u.dot(&v.dot(&b)));
}

/// More than 2^31 elements of e4m3 on the left, in rows that are copied, for sums that bf16 may round: 4.6 GB.
#[test]
fn products_of_more_than_2_to_the_31_floats_of_8_bits() {
    let Some(device) = device_with(2 * TALL * WIDE + (1 << 28)) else {
        return;
    };
    if device.properties().compute_capability != Some((9, 0)) {
        return say(&format!("skipped: {} has no such products", device.name()));
    }
    let (u, v, b) = (signs(TALL, 1, 24), signs(1, WIDE, 25), signs(WIDE, 5, 26));
    let bits = |it: f32| F8E4M3::from_f32(it);
    let row: Vec<F8E4M3> = v.iter().map(|&it| bits(it)).collect();
    let row_of_other_signs: Vec<F8E4M3> = v.iter().map(|&it| bits(-it)).collect();
    let mut a: Vec<F8E4M3> = zeroed_vec(TALL * WIDE);
    for (to, &sign) in a.chunks_exact_mut(WIDE).zip(&u) {
        match sign {
            1.0 => to.copy_from_slice(&row),
            -1.0 => to.copy_from_slice(&row_of_other_signs),
            _ => {}
        }
    }
    let a = device.matrix((TALL, WIDE), &a).unwrap();
    let columns: Vec<F8E4M3> = b.t().iter().map(|&it| bits(it)).collect();
    let b_there = device
        .matrix((WIDE, 5, Order::ColumnMajor), &columns)
        .unwrap();
    undivided(&a, &b_there);
    let c = Matmul::new(&a, &b_there).run_as::<f32>().unwrap();
    assert!(c.to_array2().unwrap() == u.dot(&v.dot(&b)));
}

/// A batch of two matrices of bf16 that start more than 2^31 elements apart, and results that do: 17.5 GB.
#[test]
fn batches_of_matrices_more_than_2_to_the_31_elements_apart() {
    let Some(device) = device_with(4 * TALL * WIDE * size_of::<bf16>() + (1 << 28)) else {
        return;
    };
    let upload = |array: &Array2<f32>| {
        let halves = array.mapv(bf16::from_f32);
        device.matrix_from_array(halves.view()).unwrap()
    };
    let (u, v, b) = (
        signs(2 * TALL, 1, 27),
        signs(1, WIDE, 28),
        signs(WIDE, 8, 29),
    );
    let (u_there, v_there, b_there) = (upload(&u), upload(&v), upload(&b));
    let mut all = device.matrix_zeros::<bf16>((2 * TALL, WIDE)).unwrap();
    let columns = u_there.view().batch_rows(2).unwrap();
    let mut results = all.view_mut().into_batch_rows(2).unwrap();
    Matmul::new(columns, &v_there)
        .run_into(&mut results)
        .unwrap();
    let c = Matmul::new(all.view().batch_rows(2).unwrap(), &b_there)
        .run()
        .unwrap();
    let expected = u.dot(&v.dot(&b)).mapv(bf16::from_f32);
    assert!(c.to_array2().unwrap() == expected);
}

/// Too large for the simulator, with tails in each dimension.
fn large_products_are_exact<T: ChainElement + LinalgScalar + PartialEq + From<i8>>() {
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
