//! Dot products of the rows, the columns and the segments of two operands, for every type that has kernels
//! for them: the tables of kernels are the tables of tests. The second operand is the first, turned around.

use crate::common::{devices, machines, share};
use crate::lines::{Case, SHAPES, assert_values, model};
use crate::operations::judge::Judge;
use crate::operations::values::{LENGTH_OF_PARTS, Value, at_borders, input, inputs};
use crate::segments::{LENGTHS, offsets};
use half::{bf16, f16};
use std::any::type_name;
use std::fmt::Debug;
use tilewright::{Device, ErrorKind, Matrix, MatrixView, Order, ReduciblePairs, ops::Dot};
use tilewright_test_support::assert_kind;

/// Rows and columns before each of the two views: of both alignments, and of different leading dimensions.
const MARGINS: [(usize, usize); 4] = [(0, 0), (0, 1), (1, 0), (2, 1)];

/// The dot product of each of some pairs of lines, by the model, held to a loop.
fn expected<'a, T>(lines: impl Iterator<Item = (&'a [T], &'a [T])>, case: &str) -> Vec<T::Output>
where
    T: Value + ReduciblePairs<Dot>,
    Dot: Judge<[T; 2], Output = T::Output>,
{
    lines
        .map(|(x, y)| {
            let pairs: Vec<[T; 2]> = x.iter().zip(y).map(|(x, y)| [*x, *y]).collect();
            let value = model::value::<Dot, [T; 2]>(&pairs);
            Dot::judge(&pairs, value, case);
            value
        })
        .collect()
}

fn turned_around<T: Copy>(elements: &[T]) -> Vec<T> {
    elements.iter().rev().copied().collect()
}

/// The rows of both orders, and the columns of the transposes, have the bits of the model.
fn rows_hold<T>(device: &Device, lines: usize, len: usize, elements: Vec<T>)
where
    T: Value + ReduciblePairs<Dot, Output: Debug>,
    Dot: Judge<[T; 2], Output = T::Output>,
{
    let y = Case {
        lines,
        len,
        elements: turned_around(&elements),
    };
    let x = Case {
        lines,
        len,
        elements,
    };
    let what = format!("{lines} lines of {len} elements, {device:?}");
    let expected = expected((0..lines).map(|line| (x.line(line), y.line(line))), &what);
    for order in [Order::RowMajor, Order::ColumnMajor] {
        for (margin, of_y) in MARGINS {
            let what = format!("{order:?}, from {margin} and {of_y} on, {what}");
            x.with_rows(device, order, margin, |x| {
                y.with_rows(device, order, of_y, |y| {
                    // Columns of the transposes are the same lines.
                    let values = match of_y {
                        0 => device.reduce_dot_rows(x, y).unwrap(),
                        _ => {
                            let mut values = device.zeros(lines).unwrap();
                            device
                                .reduce_dot_columns_into(x.t(), y.t(), &mut values)
                                .unwrap();
                            values
                        }
                    };
                    assert_values(&values, &expected, &what);
                });
            });
        }
    }
}

fn run_lines<T>()
where
    T: Value + ReduciblePairs<Dot, Output: Debug>,
    Dot: Judge<[T; 2], Output = T::Output>,
{
    for device in devices() {
        let shapes = SHAPES.into_iter().enumerate();
        for (number, (lines, len)) in share(type_name::<T>(), shapes) {
            let number = number % inputs::<T>(lines * len);
            let elements = input(lines * len, number);
            rows_hold(&device, lines, len, elements);
        }
        let lines = at_borders::<T>();
        rows_hold(&device, lines.len(), LENGTH_OF_PARTS, lines.concat());
    }
    // Every machine, at several lines of several parts.
    let elements = input::<T>(35 * 1300, 0);
    for machine in share(type_name::<T>(), machines()) {
        rows_hold(&machine, 35, 1300, elements.clone());
    }
}

/// Every segment has the bits of the model, which are those of a row, wherever the second buffer starts.
fn segments_hold<T>(device: &Device, x: &[T], offsets: &[usize])
where
    T: Value + ReduciblePairs<Dot, Output: Debug>,
    Dot: Judge<[T; 2], Output = T::Output>,
{
    let segments = device.segments(offsets).unwrap();
    let mut y = turned_around(x);
    let what = format!("segments from {}, {device:?}", offsets[0]);
    let places = offsets.windows(2).map(|bounds| bounds[0]..bounds[1]);
    let expected = expected(places.map(|place| (&x[place.clone()], &y[place])), &what);
    let x = device.upload(x).unwrap();
    for start in [0, 1] {
        let what = format!("the second {start} further on, {what}");
        y.splice(..0, std::iter::repeat_n(T::special()[0], start));
        let y = device.upload(&y).unwrap();
        let y = y.slice(start..).unwrap();
        let values = device.reduce_dot_segments(x.view(), y, &segments).unwrap();
        assert_values(&values, &expected, &what);
        let mut values = device.zeros(expected.len()).unwrap();
        device
            .reduce_dot_segments_into(y, x.view(), &segments, &mut values)
            .unwrap();
        assert_values(&values, &expected, &what);
    }
}

fn run_segments<T>()
where
    T: Value + ReduciblePairs<Dot, Output: Debug>,
    Dot: Judge<[T; 2], Output = T::Output>,
{
    for device in devices() {
        for start in [0, 1] {
            let offsets = offsets(start, &LENGTHS);
            let length = offsets[LENGTHS.len()] + 3;
            for number in share((type_name::<T>(), start), 0..inputs::<T>(length)) {
                segments_hold(&device, &input::<T>(length, number), &offsets);
            }
        }
        let lines = at_borders::<T>();
        let starts = offsets(0, &vec![LENGTH_OF_PARTS; lines.len()]);
        segments_hold(&device, &lines.concat(), &starts);
        let offsets = offsets(1, &[0, 3, 0, 0, 130, 5, 0]);
        segments_hold(&device, &input::<T>(offsets[7], 0), &offsets);
    }
    let offsets = offsets(2, &[70, 3000, 1, 129, 5, 1200]);
    for machine in share(type_name::<T>(), machines()) {
        segments_hold(&machine, &input::<T>(offsets[6], 0), &offsets);
    }
}

macro_rules! tests_of_pair_lines {
    ($($operation:ident of $element:ident: $along:ident at $along_blocks:literal blocks,
        $across:ident at $across_blocks:literal blocks;)*) => {$(
        #[test]
        fn $along() {
            run_lines::<$element>();
        }
    )*};
}
tilewright_kernels::for_each_pair_line_reduction!(tests_of_pair_lines);

macro_rules! tests_of_pair_segments {
    ($($operation:ident of $element:ident: $name:ident at $blocks:literal blocks;)*) => {$(
        #[test]
        fn $name() {
            run_segments::<$element>();
        }
    )*};
}
tilewright_kernels::for_each_pair_segment_reduction!(tests_of_pair_segments);

fn ones(device: &Device, shape: (usize, usize), order: Order) -> Matrix<i32> {
    let ones = vec![1; shape.0 * shape.1];
    device.matrix((shape.0, shape.1, order), &ones).unwrap()
}

#[test]
fn matrices_of_different_shapes_have_no_dot_products() {
    for device in devices() {
        let x = ones(&device, (2, 3), Order::RowMajor);
        // As many elements, and as many rows.
        for shape in [(3, 2), (2, 4)] {
            let y = ones(&device, shape, Order::RowMajor);
            let errors = [
                device.reduce_dot_rows(&x, &y).unwrap_err(),
                device.reduce_dot_columns(&x, &y).unwrap_err(),
            ];
            for error in errors {
                assert_kind!(
                    error is ErrorKind::ShapeMismatch { left: (2, 3), right, .. } if *right == shape
                );
            }
        }
    }
}

#[test]
fn matrices_of_different_orders_have_dot_products_only_where_a_line_is_one() {
    for device in devices() {
        let [x, y] = [Order::RowMajor, Order::ColumnMajor].map(|it| ones(&device, (2, 3), it));
        for (x, y) in [(&x, &y), (&y, &x)] {
            let error = device.reduce_dot_rows(x, y).unwrap_err();
            assert_kind!(error is ErrorKind::OrderMismatch);
            assert_eq!(error.operation(), "reduce_dot_rows");
            let error = device.reduce_dot_columns(x, y).unwrap_err();
            assert_eq!(error.operation(), "reduce_dot_columns");
        }
        let columns = device.reduce_dot_columns(&x, y.t().t()).unwrap_err();
        assert_kind!(columns is ErrorKind::OrderMismatch);
        for shape in [(1, 700), (700, 1), (1, 1), (0, 3), (3, 0)] {
            let [x, y] = [Order::RowMajor, Order::ColumnMajor].map(|it| ones(&device, shape, it));
            for (x, y) in [(&x, &y), (&y, &x)] {
                let rows = device.reduce_dot_rows(x, y).unwrap();
                assert_eq!(rows.to_vec().unwrap(), vec![shape.1 as i64; shape.0]);
                let columns = device.reduce_dot_columns(x, y).unwrap();
                assert_eq!(columns.to_vec().unwrap(), vec![shape.0 as i64; shape.1]);
            }
        }
    }
}

/// A column of a row-major matrix, whose elements lie apart, and one whose elements do not.
#[test]
fn a_strided_column_and_a_contiguous_one_have_a_dot_product() {
    for device in devices() {
        let numbers: Vec<i32> = (0..12).collect();
        let matrix = device.matrix((4, 3), &numbers).unwrap();
        let x: MatrixView<'_, i32> = matrix.slice(.., 1..2).unwrap();
        let y = device
            .matrix((4, 1, Order::ColumnMajor), &[1, 10, 100, 1000])
            .unwrap();
        for (x, y) in [(x, y.view()), (y.view(), x)] {
            let product = [1 + 40 + 700 + 10_000];
            let products = [1, 40, 700, 10_000];
            let columns = device.reduce_dot_columns(x, y).unwrap();
            assert_eq!(columns.to_vec().unwrap(), product);
            let rows = device.reduce_dot_rows(x, y).unwrap();
            assert_eq!(rows.to_vec().unwrap(), products);
            let columns = device.reduce_dot_columns(x.t(), y.t()).unwrap();
            assert_eq!(columns.to_vec().unwrap(), products);
            let rows = device.reduce_dot_rows(x.t(), y.t()).unwrap();
            assert_eq!(rows.to_vec().unwrap(), product);
        }
    }
}

#[test]
fn an_operand_may_be_both() {
    for device in devices() {
        let x = device.matrix((2, 2), &[1.0_f64, 2.0, 3.0, 4.0]).unwrap();
        let squares = device.reduce_dot_rows(&x, &x).unwrap();
        assert_eq!(squares.to_vec().unwrap(), [5.0, 25.0]);
        let segments = device.segments(&[0, 3, 4]).unwrap();
        let squares = device
            .reduce_dot_segments(x.as_buffer(), x.as_buffer(), &segments)
            .unwrap();
        assert_eq!(squares.to_vec().unwrap(), [14.0, 16.0]);
    }
}

#[test]
fn operands_of_another_device_and_values_of_a_wrong_length_are_refused() {
    let foreign = ones(&Device::simulator(), (2, 3), Order::RowMajor);
    for device in devices() {
        let x = ones(&device, (2, 3), Order::RowMajor);
        let segments = device.segments(&[0, 6]).unwrap();
        for error in [
            device.reduce_dot_rows(&x, &foreign).unwrap_err(),
            device.reduce_dot_columns(&foreign, &x).unwrap_err(),
            device
                .reduce_dot_segments(x.as_buffer(), foreign.as_buffer(), &segments)
                .unwrap_err(),
        ] {
            assert_kind!(error is ErrorKind::WrongDevice { .. });
        }
        let mut values = device.zeros(3).unwrap();
        let x = x.view();
        device.reduce_dot_columns_into(x, x, &mut values).unwrap();
        assert_eq!(values.to_vec().unwrap(), [2; 3]);
        let elements = x.as_buffer_view().unwrap();
        for error in [
            device.reduce_dot_rows_into(x, x, &mut values).unwrap_err(),
            device
                .reduce_dot_segments_into(elements, elements, &segments, &mut values)
                .unwrap_err(),
        ] {
            assert_kind!(error is ErrorKind::WrongLength { found: 3, .. });
        }
    }
}

#[test]
fn segments_are_of_buffers_of_one_length_that_has_them() {
    for device in devices() {
        let x = device.upload(&[1, 2, 3]).unwrap();
        let segments = device.segments(&[0, 3]).unwrap();
        let error = device
            .reduce_dot_segments(x.view(), x.slice(1..).unwrap(), &segments)
            .unwrap_err();
        assert_kind!(error is ErrorKind::WrongLength { expected: 3, found: 2, .. });
        assert_eq!(error.operation(), "reduce_dot_segments");
        let part = x.slice(1..).unwrap();
        let error = device
            .reduce_dot_segments(part, part, &segments)
            .unwrap_err();
        assert_kind!(error is ErrorKind::InvalidOffsets { .. });
        let nowhere = device.segments(&[7]).unwrap();
        let none = device.reduce_dot_segments(part, part, &nowhere).unwrap();
        assert!(none.is_empty());
    }
}

#[test]
fn arrays_of_any_layouts_have_dot_products_along_either_axis() {
    use ndarray::{Array2, Axis, s};
    let x = Array2::from_shape_fn((5, 7), |(row, column)| (row * 7 + column) as f64);
    let y = x.mapv(|it| 1.0 - it).reversed_axes();
    for (x, y) in [
        (x.view(), y.t()),
        (y.t(), x.view()),
        (x.slice(s![..;-1, ..]), x.view()),
        (x.t(), y.view()),
        (x.slice(s![1..2, ..]), y.slice(s![.., 1..2]).reversed_axes()),
    ] {
        for axis in [Axis(0), Axis(1)] {
            let found = tilewright::reduce_dot_axis(x, y, axis).unwrap();
            assert_eq!(found, (&x * &y).sum_axis(axis));
        }
    }
    let error = tilewright::reduce_dot_axis(x.view(), y.view(), Axis(0)).unwrap_err();
    assert_kind!(error is ErrorKind::ShapeMismatch { .. });
}
