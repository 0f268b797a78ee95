//! Parts are copied to the host, from it, and on the device.

use crate::common::devices;
use crate::common::product::{Host, ORDERS};
use crate::{SHAPE, numbered, numbers, parts};
use tilewright::{Device, ErrorKind, Order};
use tilewright_test_support::assert_kind;

/// The gaps of the host's data are neither written nor taken for elements.
#[test]
fn strided_data_goes_to_a_part_and_back() {
    for device in devices() {
        for order in ORDERS {
            for [rows, columns] in parts() {
                for gap in [0, 1, 5] {
                    assert_strided(&device, order, [rows.clone(), columns.clone()], gap);
                }
            }
        }
    }
}

fn assert_strided(
    device: &Device,
    order: Order,
    [rows, columns]: [std::ops::Range<usize>; 2],
    gap: usize,
) {
    let (count, len) = match order {
        Order::RowMajor => (rows.len(), columns.len()),
        Order::ColumnMajor => (columns.len(), rows.len()),
    };
    let leading_dimension = len + gap;
    let mut matrix = numbered(device, order);
    let mut host = vec![u32::MAX; count * leading_dimension];
    let part = matrix.slice(rows.clone(), columns.clone()).unwrap();
    part.copy_to_strided(&mut host, leading_dimension).unwrap();
    let lines = host.chunks(leading_dimension.max(1));
    let mut found: Vec<u32> = lines
        .clone()
        .flat_map(|line| line[..len].to_vec())
        .collect();
    assert!(
        lines
            .flat_map(|line| &line[len..])
            .all(|&gap| gap == u32::MAX)
    );
    found.sort_unstable();
    assert_eq!(found, numbers(rows.clone(), columns.clone()));

    for element in host.iter_mut().filter(|element| **element != u32::MAX) {
        *element += 1000;
    }
    let mut part = matrix.slice_mut(rows.clone(), columns.clone()).unwrap();
    part.copy_from_strided(&host, leading_dimension).unwrap();
    let all = matrix.to_vec().unwrap();
    for (index, (&found, number)) in all.iter().zip(0..).enumerate() {
        let (row, column) = (index / SHAPE.1, index % SHAPE.1);
        let is_part = rows.contains(&row) && columns.contains(&column);
        assert_eq!(found, if is_part { number + 1000 } else { number });
    }
}

#[test]
fn parts_are_copied_on_the_device() {
    for device in devices() {
        for order in ORDERS {
            let source = numbered(&device, order);
            let mut destination = device.matrix_zeros((9, 9, order)).unwrap();
            let mut part = destination.slice_mut(1..6, 2..7).unwrap();
            part.copy_from_matrix(source.slice(2.., 4..).unwrap())
                .unwrap();
            part.slice_mut(1.., ..2)
                .unwrap()
                .copy_from_matrix(source.slice(..4, ..2).unwrap())
                .unwrap();
            let mut expected = Host {
                rows: 9,
                columns: 9,
                elements: vec![0_u32; 81],
            };
            let mut copy = |to: (usize, usize), shape: (usize, usize), from: (usize, usize)| {
                for (row, column) in (0..shape.0).flat_map(|r| (0..shape.1).map(move |c| (r, c))) {
                    let number = (from.0 + row) * SHAPE.1 + from.1 + column;
                    expected.elements[(to.0 + row) * 9 + to.1 + column] = number as u32;
                }
            };
            copy((1, 2), (5, 5), (2, 4));
            copy((2, 2), (4, 2), (0, 0));
            assert_eq!(destination.to_vec().unwrap(), expected.elements);
        }
    }
}

/// A single row or column is in either order; other copies would transpose.
#[test]
fn copies_between_orders_are_those_of_single_rows_and_columns() {
    for device in devices() {
        let rows = numbered(&device, Order::RowMajor);
        for (from_rows, from_columns) in [(0..7, 3..4), (2..3, 0..9), (4..5, 5..6), (3..3, 0..9)] {
            let source = rows.slice(from_rows.clone(), from_columns.clone()).unwrap();
            let mut columns = numbered(&device, Order::ColumnMajor);
            columns.fill_zero().unwrap();
            let mut part = columns
                .slice_mut(from_rows.clone(), from_columns.clone())
                .unwrap();
            part.copy_from_matrix(source).unwrap();
            let expected = numbers(from_rows, from_columns);
            assert_eq!(part.view().to_vec().unwrap(), expected);
            let all: u32 = columns.to_vec().unwrap().iter().sum();
            assert_eq!(all, expected.iter().sum());

            let mut back = device.matrix_zeros::<u32>(source.shape()).unwrap();
            let of_columns = columns.slice(.., ..).unwrap();
            let error = back.view_mut().copy_from_matrix(of_columns).unwrap_err();
            assert_kind!(error is ErrorKind::ShapeMismatch { .. });
        }
        let mut columns = numbered(&device, Order::ColumnMajor);
        let error = columns.view_mut().copy_from_matrix(&rows).unwrap_err();
        assert_kind!(error is ErrorKind::OrderMismatch);
        assert_eq!(error.operation(), "copy_from_matrix");
        assert_eq!(columns.to_vec().unwrap(), numbers(0..7, 0..9));
        columns
            .view_mut()
            .into_transposed()
            .copy_from_matrix(rows.t())
            .unwrap_err();
    }
}

#[test]
fn halves_are_written_by_themselves() {
    for device in devices() {
        for order in ORDERS {
            let mut matrix = numbered(&device, order);
            let (mut left, mut right) = matrix.split_columns_at_mut(4).unwrap();
            right
                .slice_mut(.., ..4)
                .unwrap()
                .copy_from_matrix(&left)
                .unwrap();
            let (mut above, below) = left.split_rows_at_mut(3).unwrap();
            assert_eq!((above.shape(), below.shape()), ((3, 4), (4, 4)));
            above
                .copy_from_matrix(below.slice(1.., ..).unwrap())
                .unwrap();
            let all = matrix.to_vec().unwrap();
            for (index, &found) in all.iter().enumerate() {
                let (row, column) = (index / 9, index % 9);
                let from = match (row, column) {
                    (_, 8) => (row, column),
                    (_, 4..) => (row, column - 4),
                    (..3, _) => (row + 4, column),
                    _ => (row, column),
                };
                assert_eq!(
                    found as usize,
                    from.0 * 9 + from.1,
                    "{order:?} at {row}, {column}"
                );
            }
        }
    }
}
