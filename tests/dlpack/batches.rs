//! Tensors of three dimensions as batches of matrices, out and in.

use crate::common::devices;
use crate::foreign::Foreign;
use crate::import;
use crate::refused::{says, with};
use std::sync::Arc;
use tilewright::interop::dlpack::dlpark::{DlpackFlags, versioned};
use tilewright::interop::dlpack::{Batch, Tensor, export};
use tilewright::{Device, ErrorKind, Matmul, Matrix, Order, TensorError};
use tilewright_test_support::assert_kind;

/// The products of three matrices of 2 x 3 with their transposes, by their definition.
fn products(element: impl Fn(usize, usize, usize) -> f32) -> Vec<f32> {
    let mut products = Vec::new();
    for matrix in 0..3 {
        for (row, other) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let terms = (0..3).map(|k| element(matrix, row, k) * element(matrix, other, k));
            products.push(terms.sum());
        }
    }
    products
}

fn of_six(matrix: Matrix<f32>) -> versioned::Dlpack {
    export(Batch::of_rows(matrix, 3).unwrap()).unwrap()
}

#[test]
fn batches_come_back_in_both_orders() {
    for device in devices() {
        for order in [Order::RowMajor, Order::ColumnMajor] {
            let data = Vec::from_iter((1..=18).map(|it| it as f32));
            let matrix = device.matrix((6, 3, order), &data).unwrap();
            let (address, rows) = (matrix.view().device_address(), matrix.to_vec().unwrap());
            let tensor = of_six(matrix);
            {
                let described = tensor.validate_export().unwrap();
                let strides = match order {
                    Order::RowMajor => [6, 3, 1],
                    Order::ColumnMajor => [2, 1, 6],
                };
                assert_eq!(described.shape(), [3, 2, 3]);
                assert_eq!(described.strides().unwrap(), strides);
            }
            // SAFETY: the tensor is ours, and nothing else uses it.
            let mut tensor = unsafe { import(&device, tensor) };
            let batch = tensor.batch::<f32>().unwrap();
            assert_eq!(batch.first().device_address(), address);
            assert_eq!(
                (batch.first().order(), batch.first().shape()),
                (order, (2, 3))
            );
            assert_eq!(batch.count(), Some(3));
            let found = Matmul::new(batch, batch.t())
                .run()
                .unwrap()
                .to_vec()
                .unwrap();
            let expected = products(|matrix, row, k| rows[(2 * matrix + row) * 3 + k]);
            assert_eq!(found, expected);
            // Each matrix is overwritten with twice itself.
            let twice = device.matrix((6, 3), &rows.iter().map(|x| 2.0 * x).collect::<Vec<_>>());
            let identity = device.matrix((3, 3), &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
            let (twice, identity) = (twice.unwrap(), identity.unwrap());
            Matmul::new(twice.view().batch_rows(3).unwrap(), &identity)
                .run_into(&mut tensor.batch_mut::<f32>().unwrap())
                .unwrap();
            let batch = tensor.batch::<f32>().unwrap();
            let found = Matmul::new(batch, batch.t())
                .run()
                .unwrap()
                .to_vec()
                .unwrap();
            assert_eq!(found, Vec::from_iter(expected.iter().map(|x| 4.0 * x)));
        }
    }
}

#[test]
fn uneven_batches_are_refused() {
    let device = Device::simulator();
    for count in [0, 4] {
        let matrix = device.matrix_zeros::<f32>((6, 3)).unwrap();
        let error = Batch::of_rows(matrix, count).unwrap_err();
        assert_kind!(error is ErrorKind::UnevenBatch { .. });
        assert_eq!(error.operation(), "Batch::of_rows");
    }
}

fn foreign(shape: &[i64], strides: &[i64]) -> Foreign {
    Foreign {
        data: (0..64).map(|it| it as f32).collect(),
        shape: shape.to_vec(),
        strides: Some(strides.to_vec()),
        ..Foreign::default()
    }
}

/// Matrices with gaps between rows and between one another, side by side, and of columns.
#[test]
fn strided_batches_are_used_in_place() {
    for [of_matrix, of_row, of_column] in [[6, 3, 1], [20, 5, 1], [3, 12, 1], [7, 1, 2], [2, 1, 8]]
    {
        let foreign = foreign(
            &[3, 2, 3],
            &[of_matrix, of_row, of_column].map(|it| it as i64),
        );
        with(foreign, |tensor| {
            let tensor = tensor.unwrap();
            let batch = tensor.batch::<f32>().unwrap();
            let found = Matmul::new(batch, batch.t())
                .run()
                .unwrap()
                .to_vec()
                .unwrap();
            let place = |matrix, row, k| matrix * of_matrix + row * of_row + k * of_column;
            let expected = products(|matrix, row, k| place(matrix, row, k) as f32);
            assert_eq!(found, expected);
            let device = tensor.device().clone();
            let ones = device.matrix((6, 1), &[1.0_f32; 6]).unwrap();
            let row = device.matrix((1, 3), &[-1.0_f32, -2.0, -3.0]).unwrap();
            Matmul::new(ones.view().batch_rows(3).unwrap(), &row)
                .run_into(&mut tensor.batch_mut::<f32>().unwrap())
                .unwrap();
            let batch = tensor.batch::<f32>().unwrap();
            let found = Matmul::new(batch, batch.t())
                .run()
                .unwrap()
                .to_vec()
                .unwrap();
            assert_eq!(found, [14.0; 12]);
        });
    }
}

#[test]
fn other_tensors_are_refused() {
    for strides in [[0, 3, 1], [5, 3, 1], [-6, 3, 1], [6, 6, 2]] {
        with(foreign(&[3, 2, 3], &strides), |tensor| {
            let tensor = tensor.unwrap();
            let of_mut = tensor.batch_mut::<f32>().unwrap_err();
            for error in [tensor.batch::<f32>().unwrap_err(), of_mut] {
                let kind = error.kind();
                assert!(
                    matches!(kind, ErrorKind::Tensor(TensorError::Strides { .. })),
                    "{error}"
                );
                says(error, &format!("{strides:?}"));
            }
        });
    }
    with(foreign(&[2, 3], &[3, 1]), |tensor| {
        let error = tensor.unwrap().batch::<f32>().unwrap_err();
        says(
            error,
            "a batch of matrices has 3 dimensions, and the tensor's shape is [2, 3]",
        );
    });
    with(foreign(&[0, 2, 3], &[6, 3, 1]), |tensor| {
        let error = tensor.unwrap().batch::<f32>().unwrap_err();
        says(
            error,
            "the matrices cannot be divided into 0 parts; a batch has at least one matrix",
        );
    });
    with(foreign(&[3, 2, 3], &[6, 3, 1]), |tensor| {
        let error = tensor.unwrap().batch::<f64>().unwrap_err();
        says(error, "needs f64");
    });
    let read_only = Foreign {
        flags: DlpackFlags::READ_ONLY,
        ..foreign(&[3, 2, 3], &[6, 3, 1])
    };
    with(read_only, |tensor| {
        let tensor = tensor.unwrap();
        tensor.batch::<f32>().unwrap();
        let error = tensor.batch_mut::<f32>().unwrap_err();
        assert_kind!(error is ErrorKind::Tensor(TensorError::ReadOnly));
    });
}

#[test]
fn empty_matrices_and_shared_batches() {
    let device = Device::simulator();
    with(foreign(&[3, 0, 3], &[0, 3, 1]), |tensor| {
        let tensor = tensor.unwrap();
        let batch = tensor.batch::<f32>().unwrap();
        assert_eq!((batch.count(), batch.first().shape()), (Some(3), (0, 3)));
        let product = Matmul::new(batch.t(), batch).run().unwrap();
        assert_eq!(product.to_vec().unwrap(), [0.0; 27]);
    });
    let matrix = device.matrix((4, 1), &[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
    let shared = Arc::new(Batch::of_rows(matrix, 2).unwrap());
    let tensor: versioned::Dlpack = export(shared.clone()).unwrap();
    // SAFETY: nothing writes the elements, which `shared` has as well.
    let mut tensor: Tensor = unsafe { import(&device, tensor) };
    assert!(tensor.is_read_only());
    assert!(tensor.batch_mut::<f32>().is_err());
    assert_eq!(tensor.batch::<f32>().unwrap().stride(), 2);
}
