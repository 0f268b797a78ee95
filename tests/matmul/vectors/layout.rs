//! The ways to give a matrix and a vector.

use crate::harness::ORDERS;
use tilewright::{Device, Element, Matmul, MatmulInto, Matrix, Order};

/// How a product with a vector is given.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Of the operand that is a matrix.
    pub order: Order,
    /// Whether the vector is on the left.
    pub is_row: bool,
    /// Whether the matrix has others around it, and vectors lie across the rows of a matrix.
    pub is_part: bool,
}

pub fn layouts() -> impl Iterator<Item = Layout> {
    (0..8).map(|number| Layout {
        order: ORDERS[number & 1],
        is_row: number & 2 != 0,
        is_part: number & 4 != 0,
    })
}

/// A matrix of `rows` x `columns` with `before` as many rows and columns before its first and after its
/// last.
fn upload<T: Element>(
    device: &Device,
    (rows, columns): (usize, usize),
    before: usize,
    order: Order,
    element: impl Fn(usize, usize) -> T,
) -> Matrix<T> {
    let (all_rows, all_columns) = (rows + 2 * before, columns + 2 * before);
    let at = |row: usize, column: usize| match (row.checked_sub(before), column.checked_sub(before))
    {
        (Some(row), Some(column)) if row < rows && column < columns => element(row, column),
        _ => T::zeroed(),
    };
    let elements: Vec<T> = match order {
        Order::RowMajor => (0..all_rows * all_columns)
            .map(|it| at(it / all_columns, it % all_columns))
            .collect(),
        Order::ColumnMajor => (0..all_rows * all_columns)
            .map(|it| at(it % all_rows, it / all_rows))
            .collect(),
    };
    device
        .matrix((all_rows, all_columns, order), &elements)
        .unwrap()
}

/// The products of `lines`, of `k` elements each, with `v`.
pub fn product_in<T: MatmulInto<O>, O: Element>(
    device: &Device,
    layout: Layout,
    (count, k): (usize, usize),
    lines: &[T],
    v: &[T],
) -> Vec<O> {
    let Layout {
        order,
        is_row,
        is_part,
    } = layout;
    let before = usize::from(is_part);
    let of_line = |line: usize, at: usize| lines[line * k + at];
    let (matrix, vector) = match is_row {
        false => (
            upload(device, (count, k), before, order, of_line),
            upload(device, (k, 1), before, Order::RowMajor, |at, _| v[at]),
        ),
        true => (
            upload(device, (k, count), before, order, |at, line| {
                of_line(line, at)
            }),
            upload(device, (1, k), before, Order::ColumnMajor, |_, at| v[at]),
        ),
    };
    let whole = |it: &Matrix<T>| (it.rows() - 2 * before, it.cols() - 2 * before);
    let (of_matrix, of_vector) = (whole(&matrix), whole(&vector));
    let part = |len: usize| before..before + len;
    let x = matrix.slice(part(of_matrix.0), part(of_matrix.1)).unwrap();
    let v = vector.slice(part(of_vector.0), part(of_vector.1)).unwrap();
    let (a, b) = if is_row { (v, x) } else { (x, v) };
    let shape = (a.rows(), b.cols());
    let mut c = device
        .matrix_zeros::<O>((shape.0 + 2 * before, shape.1 + 2 * before))
        .unwrap();
    let mut result = c.slice_mut(part(shape.0), part(shape.1)).unwrap();
    Matmul::new(a, b).run_into(&mut result).unwrap();
    result.view().to_vec().unwrap()
}
