//! The rows and the columns of matrices, for every operation and type that has kernels for them: the
//! table of kernels is the table of tests.

pub mod model;

use crate::common::{devices, machines, share};
use crate::operations::erased::{Operation, Values};
use crate::operations::values::{LENGTH_OF_PARTS, Value, at_borders, input, inputs};
use bytemuck::bytes_of;
use half::{bf16, f16};
use std::fmt::Debug;
use tilewright::{Buffer, Device, Element, ErrorKind, MatrixView, Order, ops};
use tilewright_test_support::assert_kind;

/// Lines and elements of each: none, around the vectors of a lane, the accumulators of a part, the rounds of one, two,
/// four and eight parts, and the sections of a line, and around the lines of a group and of a block.
pub const SHAPES: [(usize, usize); 28] = [
    (70, 0),
    (1, 1),
    (3, 2),
    (70, 3),
    (65, 4),
    (129, 5),
    (33, 16),
    (40, 31),
    (31, 64),
    (67, 127),
    (9, 128),
    (8, 129),
    (34, 200),
    (7, 511),
    (33, 640),
    (5, 1000),
    (3, 1024),
    (9, 1025),
    (5, 2048),
    (33, 2049),
    (2, 4095),
    (3, 4097),
    (2, 8193),
    (1, 12_289),
    (3, 5000),
    (2, 16_384),
    (2, 16_385),
    (1, 150_000),
];

/// `lines` lines of `len` elements, one after another.
pub struct Case<T> {
    pub lines: usize,
    pub len: usize,
    pub elements: Vec<T>,
}

impl<T: Value> Case<T> {
    pub fn line(&self, number: usize) -> &[T] {
        &self.elements[number * self.len..][..self.len]
    }

    /// The lines as rows of a view in `order`, of a matrix with so many rows and columns before it, and
    /// more behind it.
    pub fn with_rows<O>(
        &self,
        device: &Device,
        order: Order,
        margin: usize,
        run: impl FnOnce(MatrixView<'_, T>) -> O,
    ) -> O {
        let (rows, columns) = (self.lines + 2 * margin, self.len + 3 * margin);
        let filler = T::special()[0];
        let mut data = vec![filler; rows * columns];
        for (number, element) in self.elements.iter().enumerate() {
            let (row, column) = (number / self.len + margin, number % self.len + margin);
            let place = match order {
                Order::RowMajor => row * columns + column,
                Order::ColumnMajor => column * rows + row,
            };
            data[place] = *element;
        }
        let matrix = device.matrix((rows, columns, order), &data).unwrap();
        let view = matrix.view();
        run(view
            .slice(margin..margin + self.lines, margin..margin + self.len)
            .unwrap())
    }
}

#[track_caller]
pub fn assert_values<O: Element + Debug>(found: &Buffer<O>, expected: &[O], case: &str) {
    let found = found.to_vec().unwrap();
    for (line, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(
            bytes_of(found),
            bytes_of(expected),
            "line {line}: {found:?} instead of {expected:?}, {case}"
        );
    }
    assert_eq!(found.len(), expected.len(), "{case}");
}

/// The rows of both orders, and the columns of the transposes, which are the same lines, have the bits of the model, and
/// the values that a loop gives.
fn run<T: Value>(operation: &dyn Operation<T>) {
    for device in devices() {
        let shapes = SHAPES.into_iter().enumerate();
        for (number, (lines, len)) in share(operation.name(), shapes) {
            if len == 0 && operation.needs_an_element() {
                lines_without_elements_are_refused(&device, operation, lines);
                continue;
            }
            let number = number % inputs::<T>(lines * len);
            let elements = input(lines * len, number);
            holds(
                &device,
                operation,
                &Case {
                    lines,
                    len,
                    elements,
                },
            );
        }
        let lines = at_borders::<T>();
        let case = Case {
            lines: lines.len(),
            len: LENGTH_OF_PARTS,
            elements: lines.concat(),
        };
        holds(&device, operation, &case);
    }
    // Every machine, at several lines of several parts, and of two sections.
    for (lines, len) in [(35, 1300), (2, 17_000)] {
        let case = Case {
            lines,
            len,
            elements: input(lines * len, 0),
        };
        for machine in share(operation.name(), machines()) {
            holds(&machine, operation, &case);
        }
    }
}

fn lines_without_elements_are_refused<T: Value>(
    device: &Device,
    operation: &dyn Operation<T>,
    lines: usize,
) {
    for order in [Order::RowMajor, Order::ColumnMajor] {
        let rows = device.matrix::<T>((lines, 0, order), &[]).unwrap();
        let error = operation.reduce_rows(device, rows.view()).unwrap_err();
        assert_kind!(error is ErrorKind::NoElements { .. });
        let columns = operation.reduce_columns(device, rows.view()).unwrap();
        assert!(columns.is_empty());
    }
}

fn holds<T: Value>(device: &Device, operation: &dyn Operation<T>, case: &Case<T>) {
    let what = format!("{} lines of {} elements, {device:?}", case.lines, case.len);
    let of_line = |line| operation.of_line(case.line(line), &what);
    let expected = Values::concat((0..case.lines).map(of_line).collect());
    for (order, margin) in [
        (Order::RowMajor, 0),
        (Order::ColumnMajor, 0),
        (Order::RowMajor, 1),
        (Order::ColumnMajor, 1),
    ] {
        let what = format!("{order:?}, from {margin} on, {what}");
        case.with_rows(device, order, margin, |rows| {
            let found = match margin {
                0 => operation.reduce_rows(device, rows),
                _ => operation.reduce_columns_into(device, rows.t()),
            };
            found.unwrap().assert_same(&expected, &what);
        });
    }
}

macro_rules! tests_of_lines {
    ($($operation:ident of $element:ident: $along:ident at $along_blocks:literal blocks,
        $across:ident at $across_blocks:literal blocks;)*) => {$(
        #[test]
        fn $along() {
            run::<$element>(&ops::$operation);
        }
    )*};
}
tilewright_kernels::for_each_line_reduction!(tests_of_lines);

#[test]
fn values_of_a_wrong_length_are_refused() {
    for device in devices() {
        let matrix = device.matrix((2, 3), &[0_i32; 6]).unwrap();
        let mut values = device.zeros::<i64>(3).unwrap();
        let error = device
            .reduce_rows_into(&matrix, ops::Sum, &mut values)
            .unwrap_err();
        assert_kind!(error is ErrorKind::WrongLength { expected: 2, found: 3, .. });
        device
            .reduce_columns_into(&matrix, ops::Sum, &mut values)
            .unwrap();
        assert_eq!(values.to_vec().unwrap(), [0; 3]);
    }
}

/// Each value goes to its place in the view, and the surrounding elements do not change.
#[test]
fn values_go_into_parts_of_a_buffer() {
    for device in devices() {
        let matrix = device.matrix((2, 3), &[1_i64, 5, 2, 4, 3, 6]).unwrap();
        let mut all = device.upload(&[9_i64; 8]).unwrap();
        let rows = all.slice_mut(1..3).unwrap();
        device.reduce_rows_into(&matrix, ops::Sum, rows).unwrap();
        let columns = all.slice_mut(4..7).unwrap();
        device
            .reduce_columns_into(&matrix, ops::Max, columns)
            .unwrap();
        let whole = all.slice_mut(7..).unwrap();
        let row = device.upload(&[1_i64, 5, 2]).unwrap();
        device.reduce_sum_into(&row, whole).unwrap();
        assert_eq!(all.to_vec().unwrap(), [9, 8, 13, 9, 4, 5, 6, 8]);
        let error = device.reduce_rows_into(&matrix, ops::Sum, &mut all);
        let error = error.unwrap_err();
        assert_kind!(error is ErrorKind::WrongLength { .. });
    }
}

#[test]
fn matrices_of_another_device_are_refused() {
    let matrix = Device::simulator().matrix((1, 1), &[1.0_f32]).unwrap();
    for device in devices() {
        let error = device.reduce_rows(&matrix, ops::Sum).unwrap_err();
        assert_kind!(error is ErrorKind::WrongDevice { .. });
        assert_eq!(error.operation(), "reduce_rows");
    }
}

#[test]
fn arrays_are_reduced_along_either_axis() {
    use ndarray::{Axis, array, s};
    let array = array![[1.0_f32, 5.0, 2.0], [4.0, 3.0, 6.0]];
    for view in [
        array.view(),
        array.slice(s![..;-1, ..]),
        array.slice(s![.., ..;2]),
    ] {
        for axis in [Axis(0), Axis(1)] {
            let sums = tilewright::reduce_axis(view, axis, ops::Sum).unwrap();
            assert_eq!(sums, view.sum_axis(axis));
            let sums = tilewright::reduce_axis(view.t(), axis, ops::Sum).unwrap();
            assert_eq!(sums, view.t().sum_axis(axis));
        }
    }
}
