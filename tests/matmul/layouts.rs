//! Products of operands in every order: row-major, column-major, transposed, for every kernel.

use crate::common::product::{Host, ORDERS, Real, assert_products};
use crate::common::random::Random;
use crate::common::{devices, machines, share};
use std::any::type_name;
use tilewright::{Device, ErrorKind, MatrixView, Order, SimulatorOptions};
use tilewright_test_support::assert_kind;

fn random<T: Real>(rows: usize, columns: usize, seed: u64) -> Host<T> {
    let mut random = Random::new(seed);
    Host::new(rows, columns, || T::of(random.wide()))
}

for_each_type! {
    [f32 f64]
    operands_in_every_order_give_the_same_bits
    every_machine_gives_the_same_bits
    special_values_reach_their_outputs_alone
    a_transpose_is_no_copy
}

/// Sizes around the tiles, whole and not, multiples of 16 bytes and not.
fn operands_in_every_order_give_the_same_bits<T: Real>() {
    const SHAPES: [(usize, usize, usize); 16] = [
        (0, 3, 2),
        (3, 0, 2),
        (3, 2, 0),
        (1, 1, 1),
        (1, 37, 5),
        (31, 33, 32),
        (64, 64, 16),
        (65, 63, 17),
        (67, 130, 9),
        (128, 128, 32),
        (127, 129, 31),
        (132, 136, 40),
        (133, 128, 48),
        (128, 134, 33),
        (1, 2, 521),
        (260, 131, 8),
    ];
    for device in devices() {
        for (m, n, k) in share(type_name::<T>(), SHAPES) {
            assert_products::<T>(&device, &random(m, k, 1), &random(k, n, 2), &ORDERS);
        }
    }
}

/// Whose lines have odd numbers of elements, in products that are large enough for copies to pay.
#[test]
fn copied_operands_of_f64_give_the_same_bits() {
    let (m, n, k) = (643, 645, 3);
    for device in devices() {
        assert_products::<f64>(
            &device,
            &random(m, k, 1),
            &random(k, n, 2),
            &[Order::RowMajor],
        );
    }
}

fn every_machine_gives_the_same_bits<T: Real>() {
    for machine in share(type_name::<T>(), machines()) {
        for (m, n) in [(130, 69), (132, 68)] {
            let (a, b) = (random(m, 35, 3), random(35, n, 4));
            assert_products::<T>(&machine, &a, &b, &[Order::RowMajor]);
        }
    }
}

/// Zeros that a kernel fills in must meet no infinity, and an infinity only its row or column.
fn special_values_reach_their_outputs_alone<T: Real>() {
    for device in devices() {
        for (m, n, k) in [(133, 70, 37), (132, 72, 40)] {
            let (mut a, mut b) = (random::<T>(m, k, 5), random::<T>(k, n, 6));
            for (place, row) in [0, 5, 63, 64, 131].into_iter().enumerate() {
                a.elements[row * k + (place * 9) % k] = T::of(f64::INFINITY);
            }
            b.elements[(k - 1) * n + (n - 1)] = T::of(f64::NEG_INFINITY);
            assert_products(&device, &a, &b, &[Order::RowMajor]);
        }
    }
}

fn a_transpose_is_no_copy<T: Real>() {
    for device in devices() {
        let host = random::<T>(5, 7, 7);
        let matrix = host.upload(&device, Order::RowMajor);
        let view = matrix.t();
        assert_eq!((view.shape(), view.order()), ((7, 5), Order::ColumnMajor));
        assert_eq!((view.rows(), view.cols()), (7, 5));
        assert_eq!(view.device_address(), matrix.as_buffer().device_address());
        assert_eq!(
            (view.t().shape(), view.t().order()),
            ((5, 7), Order::RowMajor)
        );

        let gram = device.matmul_coarsened(matrix.t(), &matrix).unwrap();
        let also = device
            .matmul_tiled(MatrixView::from(&view), matrix.view())
            .unwrap();
        assert_eq!((gram.shape(), also.shape()), ((7, 7), (7, 7)));
        assert_eq!(gram.to_vec().unwrap(), also.to_vec().unwrap());

        let address = matrix.as_buffer().device_address();
        let transposed = matrix.into_transposed();
        assert_eq!(transposed.as_buffer().device_address(), address);
        assert_eq!(transposed.shape(), (7, 5));
        assert_eq!(transposed.to_vec().unwrap(), host.column_after_column());
    }
}

/// The large tiles where they fill the device, the small ones elsewhere.
#[test]
fn the_plan_follows_the_blocks() {
    fn kernel<T: Real>(m: usize, n: usize) -> &'static str {
        let options = SimulatorOptions::default().with_multiprocessors(4);
        let device = Device::simulator_with(options);
        let a = random::<T>(m, 4, 8).upload(&device, Order::RowMajor);
        let b = random::<T>(4, n, 9).upload(&device, Order::RowMajor);
        device.matmul_coarsened_plan(&a, &b).unwrap().kernel
    }
    // 3 blocks of 64 x 128 for each of 4 multiprocessors, 3 of 64 x 64, 1 of 32 x 64.
    assert_eq!(kernel::<f32>(384, 256), "matmul_coarsened_f32_nn");
    assert_eq!(kernel::<f32>(384, 128), "matmul_coarsened_medium_f32_nn");
    assert_eq!(kernel::<f32>(64, 128), "matmul_coarsened_small_f32_nn");
    // Those of f64 are 128 x 64.
    assert_eq!(kernel::<f64>(384, 128), "matmul_coarsened_f64_nn");
    assert_eq!(kernel::<f64>(0, 128), "matmul_coarsened_small_f64_nn");
}

#[test]
fn a_plan_says_its_kernel_and_why() {
    let options = SimulatorOptions::default().with_multiprocessors(132);
    let device = Device::simulator_with(options);
    let a = random::<f32>(64, 9, 8).upload(&device, Order::RowMajor);
    assert_eq!(
        device.matmul_coarsened_plan(&a, a.t()).unwrap().to_string(),
        "matmul_coarsened_small_f32_nt on CUDA cores, 32 x 64 outputs per block: \
         the tile size with the shortest estimated time (1 round of small tiles, 1 of medium, 1 of large)"
    );
    let mismatch = device.matmul_coarsened_plan(&a, &a).unwrap_err();
    assert_kind!(mismatch is ErrorKind::ShapeMismatch { .. });
    assert_eq!(mismatch.operation(), "matmul_coarsened_plan");
}

#[test]
fn matrices_without_elements_are_read_at_once_whatever_their_shape() {
    let device = Device::simulator();
    for (rows, columns) in [(usize::MAX, 0), (0, usize::MAX), (0, 0)] {
        for matrix in [
            device.matrix::<f32>((rows, columns, Order::ColumnMajor), &[]),
            device.matrix::<f32>((rows, columns), &[]),
        ] {
            let matrix = matrix.unwrap();
            assert_eq!(matrix.shape(), (rows, columns));
            assert!(matrix.to_vec().unwrap().is_empty());
        }
    }
}

#[test]
fn matrices_of_elements_without_bytes_are_read_at_once() {
    let device = Device::simulator();
    let nothing = vec![(); usize::MAX];
    for (rows, columns) in [(usize::MAX, 1), (1, usize::MAX)] {
        let matrix = device
            .matrix((rows, columns, Order::ColumnMajor), &nothing)
            .unwrap();
        assert_eq!(matrix.to_vec().unwrap().len(), usize::MAX);
    }
}
