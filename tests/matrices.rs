//! Views of matrices: which elements they have, and how these are copied.

mod common;

use common::product::{Host, ORDERS};
use common::{devices, random::Random};
use tilewright::{Device, ErrorKind, Matrix, MatrixView, Order, SimulatorOptions};

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

/// What [`numbered`] has at rows and columns of these ranges, row after row.
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
            assert!(
                matches!(error.kind(), ErrorKind::ShapeMismatch { .. }),
                "{error}"
            );
        }
        let mut columns = numbered(&device, Order::ColumnMajor);
        let error = columns.view_mut().copy_from_matrix(&rows).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::OrderMismatch), "{error}");
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

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "it is refused")]
fn parts_that_there_are_not_are_refused() {
    for device in devices() {
        let mut matrix = numbered(&device, Order::RowMajor);
        let refused = [
            (matrix.slice(8.., ..).map(drop), "rows"),
            (matrix.slice(..8, ..).map(drop), "rows"),
            (matrix.slice(3..2, ..).map(drop), "rows"),
            (matrix.slice(.., ..=9).map(drop), "columns"),
            (matrix.slice(.., ..=usize::MAX).map(drop), "columns"),
            (matrix.t().slice(.., 8..).map(drop), "columns"),
            (
                matrix.slice(1.., ..).unwrap().slice(..7, ..).map(drop),
                "rows",
            ),
        ];
        for (refused, expected) in refused {
            let error = refused.unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::OutOfRange { what, .. } if *what == expected),
                "{error}"
            );
            assert_eq!(error.operation(), "slice");
        }
        let error = matrix.slice_mut(2..9, ..).unwrap_err();
        assert_eq!(
            error.to_string(),
            "slice_mut: there are no rows 2..9 among 7"
        );
        let error = matrix.split_rows_at_mut(8).unwrap_err();
        assert_eq!(error.operation(), "split_rows_at_mut");
        let error = matrix.split_columns_at_mut(10).unwrap_err();
        assert_eq!(error.operation(), "split_columns_at_mut");
        assert_eq!(matrix.to_vec().unwrap(), numbers(0..7, 0..9));
    }
}

#[test]
fn data_that_does_not_fit_is_refused() {
    for device in devices() {
        let mut matrix = numbered(&device, Order::RowMajor);
        let mut part = matrix.slice_mut(1..4, 2..7).unwrap();
        let mut host = vec![0; 20];
        for (leading_dimension, expected) in [(9, 23), (8, 21), (usize::MAX, usize::MAX)] {
            for error in [
                part.copy_from_strided(&host, leading_dimension)
                    .unwrap_err(),
                part.view()
                    .copy_to_strided(&mut host, leading_dimension)
                    .unwrap_err(),
            ] {
                let ErrorKind::WrongLength {
                    expected: needed,
                    found: 20,
                } = error.kind()
                else {
                    panic!("another error: {error}");
                };
                assert_eq!(*needed, expected);
            }
        }
        let error = part.copy_from_strided(&host, 4).unwrap_err();
        assert!(
            matches!(
                error.kind(),
                ErrorKind::LeadingDimension { least: 5, found: 4 }
            ),
            "{error}"
        );
        let other = Device::simulator().matrix_zeros::<u32>((3, 5)).unwrap();
        let error = part.copy_from_matrix(&other).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::WrongDevice { .. }),
            "{error}"
        );
        part.copy_from_strided(&host, 7).unwrap();
        assert_eq!(part.view().to_vec().unwrap(), [0; 15]);
    }
}

/// Empty matrices may have any number of rows or columns, and elements any number of bytes.
#[test]
fn views_of_nothing_work() {
    for device in devices() {
        for (rows, columns) in [(usize::MAX, 0), (0, usize::MAX)] {
            for order in ORDERS {
                let mut matrix = device.matrix_zeros::<f64>((rows, columns, order)).unwrap();
                let last = (rows.saturating_sub(1).., columns.saturating_sub(1)..);
                let mut part = matrix.slice_mut(last.0, last.1).unwrap();
                assert!(part.is_empty() && part.view().to_vec().unwrap().is_empty());
                part.copy_from_strided(&[], usize::MAX).unwrap();
                let copy = part.view().t().to_matrix().unwrap();
                assert_eq!(copy.shape(), (part.cols(), part.rows()));
            }
        }
        let nothing = device.matrix_zeros::<()>((usize::MAX / 8, 8)).unwrap();
        let mut copy = nothing.slice(1.., 1..3).unwrap().to_matrix().unwrap();
        copy.view_mut()
            .copy_from_matrix(nothing.slice(1.., 2..4).unwrap())
            .unwrap();
    }
}

/// The host may read a part of a matrix of which nothing else was written.
#[test]
fn what_was_never_written_is_found_within_a_part() {
    let device = Device::simulator_with(SimulatorOptions::default());
    let mut matrix = device.matrix_uninit::<u32>((4, 6)).unwrap();
    let mut written = matrix.slice_mut(..3, 1..4).unwrap();
    written.copy_from_strided(&[1; 9], 3).unwrap();
    let part = matrix.slice(..3, 1..4).unwrap();
    assert_eq!(part.to_vec().unwrap(), [1; 9]);
    assert_eq!(part.to_matrix().unwrap().to_vec().unwrap(), [1; 9]);
    let more = matrix.slice(..3, 1..5).unwrap();
    let error = more.to_vec().unwrap_err();
    let ErrorKind::NeverWritten {
        bytes: 48,
        first: 12,
        ..
    } = error.kind()
    else {
        panic!("another error: {error}");
    };
    let below = matrix.slice(2.., 1..4).unwrap();
    let error = below.to_vec().unwrap_err();
    assert!(matches!(
        error.kind(),
        ErrorKind::NeverWritten {
            bytes: 24,
            first: 12,
            ..
        }
    ));
}

#[cfg(feature = "ndarray")]
mod arrays {
    use super::*;
    use ndarray::{Array2, s};

    /// Arrays of one unit stride, in either order, and of none.
    #[test]
    fn arrays_of_every_layout_go_to_parts_and_back() {
        let mut random = Random::new(1);
        let storage = Array2::from_shape_simple_fn((8, 12), || random.wide());
        let row = storage.slice(s![3..4, 2..7]);
        let arrays = [
            storage.slice(s![1..4, 2..7]),
            storage.slice(s![1..6, 2..5]).reversed_axes(),
            storage.slice(s![..3, ..;-1]).slice_move(s![.., ..5]),
            storage.slice(s![..;3, ..;2]).slice_move(s![.., ..5]),
            row.broadcast((3, 5)).unwrap(),
        ];
        for device in devices() {
            for order in ORDERS {
                for array in &arrays {
                    let mut matrix = device.matrix_zeros::<f64>((6, 9, order)).unwrap();
                    let mut part = matrix.slice_mut(2..5, 1..6).unwrap();
                    part.copy_from_array(array.view()).unwrap();
                    assert_eq!(part.view().to_array2().unwrap(), array);
                    let mut places = [
                        Array2::zeros((3, 5)),
                        Array2::zeros((3, 9)),
                        Array2::zeros((5, 4)),
                        Array2::zeros((6, 10)),
                    ];
                    let [packed, gaps, columns, steps] = &mut places;
                    for place in [
                        packed.view_mut(),
                        gaps.slice_mut(s![.., 2..7]),
                        columns.slice_mut(s![.., ..3]).reversed_axes(),
                        steps.slice_mut(s![..;-2, ..;2]),
                    ] {
                        part.view().copy_to_array(place).unwrap();
                    }
                    assert_eq!(places[0], array);
                    assert_eq!(places[1].slice(s![.., 2..7]), array);
                    assert_eq!(
                        places[1].iter().filter(|element| **element != 0.0).count(),
                        15
                    );
                    assert_eq!(places[2].slice(s![.., ..3]), array.t());
                    assert_eq!(places[3].slice(s![..;-2, ..;2]), array);
                    let all = matrix.to_array2().unwrap();
                    assert_eq!(all.slice(s![2..5, 1..6]), array);
                    assert_eq!(all.iter().filter(|element| **element != 0.0).count(), 15);
                }
            }
        }
    }

    #[test]
    fn parts_of_arrays_keep_their_order() {
        let storage = Array2::from_shape_fn((6, 8), |(row, column)| (row * 8 + column) as f32);
        let part = storage.slice(s![1..5, 2..7]);
        for device in devices() {
            for (array, order) in [(part, Order::RowMajor), (part.t(), Order::ColumnMajor)] {
                let matrix = device.matrix_from_array(array).unwrap();
                assert_eq!((matrix.order(), matrix.shape()), (order, array.dim()));
                assert_eq!(matrix.to_array2().unwrap(), array);
            }
            let mut matrix = device.matrix_zeros::<f32>((4, 4)).unwrap();
            let error = matrix.view_mut().copy_from_array(part).unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::ShapeMismatch { .. }),
                "{error}"
            );
        }
    }
}
