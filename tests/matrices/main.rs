//! Views of matrices: which elements they have, and how these are copied.

#[path = "../common/mod.rs"]
mod common;

#[cfg(feature = "ndarray")]
mod arrays;
mod copies;
mod errors;

use common::devices;
use common::product::ORDERS;
use tilewright::{Device, ErrorKind, Matmul, Matrix, MatrixView, Order};
use tilewright_test_support::assert_kind;

/// Rows and columns of the matrix that the tests take parts of.
const SHAPE: (usize, usize) = (7, 9);

/// Numbers from 0 on, row after row.
fn numbered(device: &Device, order: Order) -> Matrix<u32> {
    let mut matrix = device.matrix_zeros((SHAPE.0, SHAPE.1, order)).unwrap();
    let elements: Vec<u32> = match order {
        Order::RowMajor => (0..63).collect(),
        Order::ColumnMajor => (0..63).map(|i| i % 7 * 9 + i / 7).collect(),
    };
    matrix.copy_from_slice(&elements).unwrap();
    matrix
}

/// The elements of [`numbered`] in these rows and columns, row after row.
fn numbers(rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) -> Vec<u32> {
    rows.flat_map(|row| {
        columns
            .clone()
            .map(move |column| (row * SHAPE.1 + column) as u32)
    })
    .collect()
}

/// Parts of [`SHAPE`]: rows and columns; a few of them empty, single or whole.
fn parts() -> Vec<[std::ops::Range<usize>; 2]> {
    let rows = [0..7, 0..3, 2..7, 3..4, 6..6, 7..7];
    let columns = [0..9, 0..4, 3..8, 8..9, 0..0, 9..9];
    let pairs = rows.iter().flat_map(|rows| {
        columns
            .iter()
            .map(|columns| [rows.clone(), columns.clone()])
    });
    pairs.collect()
}

#[test]
fn parts_have_their_elements() {
    for device in devices() {
        for order in ORDERS {
            let matrix = numbered(&device, order);
            for [rows, columns] in parts() {
                let part = matrix.slice(rows.clone(), columns.clone()).unwrap();
                let expected = numbers(rows.clone(), columns.clone());
                assert_eq!(part.shape(), (rows.len(), columns.len()));
                assert_eq!(part.order(), order);
                assert_eq!(part.is_empty(), expected.is_empty());
                assert_eq!(part.to_vec().unwrap(), expected, "{rows:?} {columns:?}");
                let transpose = part.t().to_matrix().unwrap();
                assert_eq!(transpose.shape(), (columns.len(), rows.len()));
                let back = transpose.into_transposed().to_vec().unwrap();
                assert_eq!(back, expected, "{rows:?} {columns:?}");
                if let Some(elements) = part.as_buffer_view() {
                    let mut elements = elements.to_vec().unwrap();
                    elements.sort_unstable();
                    assert_eq!(elements, expected);
                }
            }
        }
    }
}

#[test]
fn only_parts_without_gaps_are_parts_of_a_buffer() {
    let device = Device::simulator();
    let matrix = numbered(&device, Order::RowMajor);
    let address = matrix.as_buffer().device_address();
    let of = |rows, columns| {
        let part: MatrixView<'_, u32> = matrix.slice(rows, columns).unwrap();
        part.as_buffer_view()
            .map(|part| (part.device_address() - address, part.len()))
    };
    assert_eq!(of(2..5, 0..9), Some((2 * 9 * 4, 27)));
    assert_eq!(of(2..3, 4..6), Some(((2 * 9 + 4) * 4, 2)));
    assert_eq!(of(2..4, 4..6), None);
    assert_eq!(of(0..7, 4..5), None);
}

/// Without bytes, there is nothing between the lines, and the numbers are beyond those of any memory.
#[test]
fn matrices_without_bytes_have_any_leading_dimension() {
    let device = Device::simulator();
    let (none, sizeless) = (
        device.zeros::<f32>(0).unwrap(),
        device.zeros::<()>(usize::MAX).unwrap(),
    );
    for apart in [1 << 61, (1 << 62) + 3, usize::MAX] {
        let empty = none.view().as_matrix_strided((1 << 40, 0), apart).unwrap();
        let batch = empty.batch_rows(2).unwrap();
        assert_eq!(batch.first().shape(), (1 << 39, 0));
        let two = empty.slice(..2, ..).unwrap();
        let products = Matmul::new(two.batch_rows(2).unwrap(), two.t())
            .run()
            .unwrap();
        assert_eq!(products.to_vec().unwrap(), [0.0; 4]);
        let sizeless = sizeless.view().as_matrix_strided((8, 3), apart).unwrap();
        assert_eq!(sizeless.slice(7.., 1..).unwrap().to_vec().unwrap(), [(); 2]);
        assert_eq!(sizeless.batch_rows(4).unwrap().first().shape(), (2, 3));
    }
    let many = sizeless
        .view()
        .as_matrix_strided((1 << 40, 1 << 40), usize::MAX)
        .unwrap();
    let error = many.to_vec().unwrap_err();
    assert_kind!(error is ErrorKind::TooLarge { .. });
}
