//! Columns and segments have the bits of buffers, in any number, of any length, in either order, wherever they start.

use crate::common::random::Random;
use crate::common::{devices, share};
use crate::samples::tile;
use bytemuck::bytes_of;
use half::f16;
use std::any::type_name;
use std::collections::BTreeMap;
use std::fmt::Debug;
use tilewright::testing::{seeds, under_seeds};
use tilewright::{Device, ErrorKind, Scannable, ops};
use tilewright_kernels::scan::FAN;
use tilewright_test_support::assert_kind;

/// Numbers of lines and their lengths: on both sides of a block's lines, and of the classes of lengths.
fn shapes<T>() -> Vec<(usize, usize)> {
    let vectors = 32 * 16 / size_of::<T>();
    let tile = tile::<T>();
    vec![
        (1, 1),
        (64, 5),
        (65, vectors),
        (130, vectors - 1),
        (16, vectors + 1),
        (17, 4 * vectors + 3),
        (3, 17 * vectors),
        (1, tile),
        (18, tile + 1),
        (2, 3 * tile - 5),
    ]
}

/// The number of lines that are compared with buffers: each takes two launches, in which a block works on a whole tile.
const BUFFERS: usize = 8;

/// The scans of a buffer: inclusive, and exclusive with an initial value.
fn of_buffer<R: Copy, T: Scannable<R>>(
    device: &Device,
    data: &[T],
    operation: R,
    initial: T,
) -> [Vec<T>; 2] {
    let x = device.upload(data).unwrap();
    [
        device.scan_inclusive_by(&x, operation),
        device.scan_exclusive_by(&x, operation, initial),
    ]
    .map(|found| found.unwrap().to_vec().unwrap())
}

/// The same scans of each line as a row, which have the bits of buffers: the tests of rows show it, and some lines here.
fn of_rows<R: Copy, T: Scannable<R> + Debug>(
    device: &Device,
    lines: &[Vec<T>],
    operation: R,
    initial: T,
) -> Vec<[Vec<T>; 2]> {
    let len = lines[0].len();
    let rows = device.matrix((lines.len(), len), &lines.concat()).unwrap();
    let [inclusive, exclusive] = [
        device.scan_rows_inclusive(&rows, operation),
        device.scan_rows_exclusive(&rows, operation, initial),
    ]
    .map(|found| found.unwrap().to_vec().unwrap());
    let of_rows: Vec<_> = (inclusive.chunks(len).zip(exclusive.chunks(len)))
        .map(|(inclusive, exclusive)| [inclusive.to_vec(), exclusive.to_vec()])
        .collect();
    for number in (0..lines.len()).step_by(lines.len().div_ceil(BUFFERS)) {
        let expected = of_buffer(device, &lines[number], operation, initial);
        for (kind, expected) in expected.iter().enumerate() {
            let what = format!("row {number} of {len}, kind {kind}");
            assert_same::<T, R>(&of_rows[number][kind], expected, &what);
        }
    }
    of_rows
}

#[track_caller]
fn assert_same<T: Scannable<R> + Debug, R>(found: &[T], expected: &[T], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(
            bytes_of(found),
            bytes_of(expected),
            "element {place}: {found:?} instead of {expected:?}, {what}"
        );
    }
}

fn columns_hold<R: Copy, T: Scannable<R> + Debug>(
    device: &Device,
    operation: R,
    initial: T,
    (lines, len): (usize, usize),
    sample: impl Fn(&mut Random) -> T,
) {
    let mut random = Random::new(len as u64);
    let columns: Vec<Vec<T>> = (0..lines)
        .map(|_| (0..len).map(|_| sample(&mut random)).collect())
        .collect();
    let expected = of_rows(device, &columns, operation, initial);
    let margins = [0, 1, 3];
    // Many tiles take seconds.
    let margins: Vec<usize> = match len < tile::<T>() {
        true => margins.into(),
        false => share((type_name::<T>(), len), margins).collect(),
    };
    for margin in margins {
        let what = format!("{lines} columns of {len}, margin {margin}, {device:?}");
        let mut data = vec![T::zeroed(); len * (lines + margin)];
        for (line, column) in columns.iter().enumerate() {
            for (row, &element) in column.iter().enumerate() {
                data[row * (lines + margin) + margin + line] = element;
            }
        }
        let matrix = device.matrix((len, lines + margin), &data).unwrap();
        let x = matrix.slice(.., margin..).unwrap();
        let found = [
            device.scan_columns_inclusive(x, operation),
            device.scan_columns_exclusive(x, operation, initial),
        ];
        for (kind, found) in found.into_iter().enumerate() {
            let found = found.unwrap();
            assert_eq!(found.shape(), (len, lines));
            let found = found.to_vec().unwrap();
            for (line, expected) in expected.iter().enumerate() {
                let of_line: Vec<T> = found.iter().skip(line).step_by(lines).copied().collect();
                let what = format!("column {line}, kind {kind}, {what}");
                assert_same::<T, R>(&of_line, &expected[kind], &what);
            }
        }
        if margin == 1 && len < tile::<T>() {
            let found = device.scan_rows_inclusive(x.t(), operation).unwrap();
            let expected: Vec<T> = expected.iter().flat_map(|kinds| kinds[0].clone()).collect();
            let what = format!("rows, {what}");
            assert_same::<T, R>(&found.to_vec().unwrap(), &expected, &what);
        }
    }
}

fn segments_hold<R: Copy, T: Scannable<R> + Debug>(
    device: &Device,
    operation: R,
    initial: T,
    sample: impl Fn(&mut Random) -> T,
) {
    let mut random = Random::new(11);
    let long = shapes::<T>().into_iter().map(|(_, len)| len);
    let short = (0..150).map(|_| 0).chain((0..200).map(|i| i % 7));
    let mut lengths: Vec<usize> = long.chain(short).chain([2 * tile::<T>() + 1]).collect();
    lengths.sort_by_cached_key(|_| random.bits());
    for margin in [0, 2] {
        let mut offsets = vec![margin];
        for len in &lengths {
            offsets.push(offsets[offsets.len() - 1] + len);
        }
        let elements = offsets[lengths.len()] + margin;
        let data: Vec<T> = (0..elements).map(|_| sample(&mut random)).collect();
        let x = device.upload(&data).unwrap();
        let segments = device.segments(&offsets).unwrap();
        let found = [
            device.scan_segments_inclusive(&x, &segments, operation),
            device.scan_segments_exclusive(&x, &segments, operation, initial),
        ]
        .map(|found| found.unwrap().to_vec().unwrap());
        let nothing = vec![T::zeroed(); margin];
        let mut of_len = BTreeMap::<usize, Vec<usize>>::new();
        for bounds in offsets.windows(2).filter(|it| it[0] < it[1]) {
            of_len
                .entry(bounds[1] - bounds[0])
                .or_default()
                .push(bounds[0]);
        }
        for (len, starts) in of_len {
            let lines: Vec<_> =
                (starts.iter().map(|&start| data[start..][..len].to_vec())).collect();
            let expected = of_rows(device, &lines, operation, initial);
            for (start, expected) in starts.into_iter().zip(expected) {
                for (kind, found) in found.iter().enumerate() {
                    let what = format!("from {start}, length {len}, kind {kind}, {device:?}");
                    assert_same::<T, R>(&found[start..][..len], &expected[kind], &what);
                }
            }
        }
        for found in &found {
            assert_same::<T, R>(&found[..margin], &nothing, "before the segments");
            assert_same::<T, R>(&found[elements - margin..], &nothing, "behind the segments");
        }
    }
}

macro_rules! bits {
    ($($columns:ident, $segments:ident: $operation:ident of $element:ident, $initial:expr, $sample:expr;)*) => {$(
        #[test]
        fn $columns() {
            for device in devices() {
                for shape in shapes::<$element>() {
                    columns_hold(&device, ops::$operation, $initial, shape, $sample);
                }
            }
        }

        #[test]
        fn $segments() {
            for device in devices() {
                segments_hold(&device, ops::$operation, $initial, $sample);
            }
        }
    )*};
}
bits! {
    columns_of_f32, segments_of_f32: Sum of f32, 1.5, |random| random.wide() as f32;
    columns_of_f64, segments_of_f64: Sum of f64, -0.25, |random| random.wide();
    columns_of_f16, segments_of_f16: Product of f16, f16::from_f32(0.5), |random| {
        f16::from_f32(1.0 + f32::from(random.bits() as i8) / 4096.0)
    };
    columns_of_u64, segments_of_u64: Max of u64, 77, |random| random.bits();
}

#[test]
fn columns_and_segments_go_from_group_to_group() {
    for device in devices() {
        let len = (FAN + 1) * tile::<f64>() + 3;
        columns_hold(&device, ops::Sum, 0.5, (2, len), |random: &mut Random| {
            random.wide()
        });
        let mut random = Random::new(1);
        let data: Vec<f64> = (0..2 * len).map(|_| random.wide()).collect();
        let x = device.upload(&data).unwrap();
        let segments = device.segments(&[0, len, 2 * len]).unwrap();
        let found = device
            .scan_segments_inclusive(&x, &segments, ops::Sum)
            .unwrap();
        let found = found.to_vec().unwrap();
        for (found, data) in found.chunks(len).zip(data.chunks(len)) {
            let [expected, _] = of_buffer(&device, data, ops::Sum, 0.0);
            assert_same::<f64, ops::Sum>(found, &expected, "a segment of 34 tiles");
        }
    }
}

#[test]
fn every_schedule_gives_the_same_bits() {
    under_seeds(seeds(4), |device| {
        let len = 2 * tile::<f64>() + 9;
        columns_hold(device, ops::Sum, 0.5, (3, len), |random: &mut Random| {
            random.wide()
        });
        segments_hold(device, ops::Sum, 0.5, |random: &mut Random| random.wide());
    });
}

#[test]
fn lines_that_cannot_be_scanned_are_refused() {
    for device in devices() {
        let x = device.upload(&[1.0_f32; 4]).unwrap();
        let segments = device.segments(&[1, 5]).unwrap();
        let error = device.scan_segments_inclusive(&x, &segments, ops::Sum);
        let error = error.unwrap_err();
        assert_kind!(error is ErrorKind::InvalidOffsets { .. });
        assert_eq!(error.operation(), "scan_segments_inclusive");
        let segments = device.segments(&[1, 3]).unwrap();
        let error = device
            .scan_segments_exclusive(&x, &segments, ops::Max, None)
            .unwrap_err();
        assert_kind!(error is ErrorKind::NoElements { .. });
        let mut results = device.upload(&[7.0_f32; 4]).unwrap();
        device
            .scan_segments_exclusive_into(&x, &segments, ops::Sum, 2.0, &mut results)
            .unwrap();
        assert_eq!(results.to_vec().unwrap(), [7.0, 2.0, 3.0, 7.0]);
        let segments = device.segments(&[2]).unwrap();
        let found = device.scan_segments_inclusive(&x, &segments, ops::Sum);
        assert_eq!(found.unwrap().to_vec().unwrap(), [0.0; 4]);
        let none = device.matrix::<f32>((0, 3), &[]).unwrap();
        let found = device.scan_columns_inclusive(&none, ops::Sum).unwrap();
        assert_eq!(found.shape(), (0, 3));
        let mut other = device.matrix_zeros::<f32>((2, 3)).unwrap();
        let matrix = device.matrix((3, 2), &[1.0_f32; 6]).unwrap();
        let error = device.scan_columns_inclusive_into(&matrix, ops::Sum, &mut other);
        let error = error.unwrap_err();
        assert_kind!(error is ErrorKind::ShapeMismatch { .. });
    }
}
