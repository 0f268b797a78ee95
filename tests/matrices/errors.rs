//! Parts that there are not, and data that does not fit.

use crate::common::devices;
use crate::common::product::ORDERS;
use crate::{numbered, numbers};
use tilewright::{Device, ErrorKind, Order, SimulatorError, SimulatorOptions};
use tilewright_test_support::assert_kind;

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
            assert_kind!(error is ErrorKind::OutOfRange { what, .. } if *what == expected);
            assert_eq!(error.operation(), "slice");
        }
        let error = matrix.slice_mut(2..9, ..).unwrap_err();
        assert_eq!(
            error.to_string(),
            "slice_mut: the range 2..9 of rows goes past the end: the number of rows is 7"
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
                    ..
                } = error.kind()
                else {
                    panic!("another error: {error}");
                };
                assert_eq!(*needed, expected);
            }
        }
        let error = part.copy_from_strided(&host, 4).unwrap_err();
        assert_kind!(error is ErrorKind::LeadingDimension { least: 5, found: 4 });
        let other = Device::simulator().matrix_zeros::<u32>((3, 5)).unwrap();
        let error = part.copy_from_matrix(&other).unwrap_err();
        assert_kind!(error is ErrorKind::WrongDevice { .. });
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

/// The host may read a part of a matrix if only that part was written.
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
    let ErrorKind::Simulator(SimulatorError::NeverWritten {
        bytes: 48,
        first: 12,
        ..
    }) = error.kind()
    else {
        panic!("another error: {error}");
    };
    let below = matrix.slice(2.., 1..4).unwrap();
    let error = below.to_vec().unwrap_err();
    assert_kind!(
        error is ErrorKind::Simulator(SimulatorError::NeverWritten { bytes: 24, first: 12, .. })
    );
}
