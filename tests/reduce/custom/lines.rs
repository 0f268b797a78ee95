//! Rows, columns and segments.

use super::*;
use tilewright_test_support::assert_kind;

/// Lengths with one part, some parts and several sections, and those around them.
const LENGTHS: [usize; 10] = [1, 3, 4, 127, 129, 1025, 2049, 4097, 16_384, 33_000];

fn numbers(count: usize) -> Vec<f32> {
    (0..count)
        .map(|i| ((i * 7919 % 1021) as f32).sin())
        .collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// In either order, with gaps between the rows, and as segments.
#[test]
fn an_operation_that_the_library_has_gives_its_bits_for_rows_columns_and_segments() {
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        for len in LENGTHS {
            let rows = if len > 4096 { 3 } else { 35 };
            let data = numbers(rows * (len + 1));
            let matrix = device.matrix((rows, len + 1), &data).unwrap();
            let x = matrix.slice(.., ..len).unwrap();
            let expected = device.reduce_rows(x, ops::Sum).unwrap().to_vec().unwrap();
            let along = module.reduce_rows(own_sum_along, x).unwrap();
            assert_eq!(bits(&along.to_vec().unwrap()), bits(&expected), "{len}");
            let across = module.reduce_columns(own_sum_along, x.t()).unwrap();
            assert_eq!(bits(&across.to_vec().unwrap()), bits(&expected), "{len}");

            let columns = device.reduce_columns(x, ops::Sum).unwrap();
            let mut found = device.uninit(len).unwrap();
            module
                .reduce_columns_into(own_sum_along, x, &mut found)
                .unwrap();
            let (found, columns) = (found.to_vec().unwrap(), columns.to_vec().unwrap());
            assert_eq!(bits(&found), bits(&columns), "columns of {len} rows");

            let offsets: Vec<_> = (0..rows).map(|row| row * len).chain([rows * len]).collect();
            let segments = device.segments(&offsets).unwrap();
            let dense: Vec<f32> = data
                .chunks(len + 1)
                .flat_map(|row| &row[..len])
                .copied()
                .collect();
            let dense = device.upload(&dense).unwrap();
            let of_segments = module.reduce_segments(own_sum_segments, &dense, &segments);
            let of_segments = of_segments.unwrap().to_vec().unwrap();
            assert_eq!(bits(&of_segments), bits(&expected), "segments of {len}");
        }
    }
}

#[test]
fn elements_come_with_their_indices_in_the_line() {
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        let offsets = [2, 2 + 1, 2 + 1 + 128, 400, 400 + 5000, 40_000];
        let data: Vec<u16> = (0..40_003).map(|i| (i * 7919 % 1021) as u16).collect();
        let moments = |part: &[u16]| {
            let sum = part.iter().zip(0..).map(|(x, i)| u64::from(*x) * i).sum();
            [sum, part.len() as u64]
        };
        let expected: Vec<_> = offsets
            .windows(2)
            .map(|bounds| moments(&data[bounds[0]..bounds[1]]))
            .collect();
        let x = device.upload(&data).unwrap();
        let segments = device.segments(&offsets).unwrap();
        let found = module.reduce_segments(moment_segments, &x, &segments);
        assert_eq!(found.unwrap().to_vec().unwrap(), expected);

        let matrix = device.matrix((13, 3000), &data[..39_000]).unwrap();
        let expected: Vec<_> = data[..39_000].chunks(3000).map(moments).collect();
        for found in [
            module.reduce_rows(moment_along, &matrix),
            module.reduce_columns(moment_along, matrix.t()),
        ] {
            assert_eq!(found.unwrap().to_vec().unwrap(), expected);
        }
    }
}

#[test]
fn lines_without_elements_have_no_value_if_the_operation_needs_one() {
    let device = Device::simulator();
    let module = device.load(&KERNELS).unwrap();
    let is_empty = |error: &tilewright::Error| matches!(error.kind(), ErrorKind::NoElements { .. });
    let none = device.matrix::<u16>((2, 0), &[]).unwrap();
    let error = module.reduce_rows(moment_along, &none).unwrap_err();
    assert!(is_empty(&error), "{error}");
    assert!(
        module
            .reduce_columns(moment_along, &none)
            .unwrap()
            .is_empty()
    );
    let x = device.upload(&[1_u16, 2]).unwrap();
    let segments = device.segments(&[0, 1, 1, 2]).unwrap();
    let error = module
        .reduce_segments(moment_segments, &x, &segments)
        .unwrap_err();
    assert!(is_empty(&error), "{error}");

    let none = device.matrix::<f32>((2, 0), &[]).unwrap();
    let sums = module.reduce_rows(own_sum_along, &none).unwrap();
    assert_eq!(sums.to_vec().unwrap(), [0.0; 2]);
    let x = device.upload(&[1.0_f32, 2.0]).unwrap();
    let sums = module.reduce_segments(own_sum_segments, &x, &segments);
    assert_eq!(sums.unwrap().to_vec().unwrap(), [1.0, 0.0, 2.0]);
}

/// Blocks that were stopped have taken tickets, and none is left to set them to 0.
#[test]
fn an_operation_that_panics_leaves_the_next_rows_right() {
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        let len = 70_000;
        let mut data = vec![1.0_f32; 2 * len];
        let ones = device.matrix((2, len), &data).unwrap();
        data[len / 2] = f32::NAN;
        let with_nan = device.matrix((2, len), &data).unwrap();
        let error = module.reduce_rows(strict_sum_along, &with_nan).unwrap_err();
        assert!(error.to_string().contains("is_nan"), "{error}");
        let sums = module.reduce_rows(strict_sum_along, &ones).unwrap();
        assert_eq!(sums.to_vec().unwrap(), [len as f32; 2]);
    }
}

#[test]
fn values_of_a_wrong_length_or_device_are_refused() {
    let (device, other) = (Device::simulator(), Device::simulator());
    let module = device.load(&KERNELS).unwrap();
    let matrix = device.matrix((2, 3), &[1.0_f32; 6]).unwrap();
    let mut three = device.zeros(3).unwrap();
    let error = module
        .reduce_rows_into(own_sum_along, &matrix, &mut three)
        .unwrap_err();
    assert_kind!(error is ErrorKind::WrongLength { .. });
    assert_eq!(error.operation(), "reduce_rows_into");
    let foreign = other.matrix((2, 3), &[1.0_f32; 6]).unwrap();
    let error = module.reduce_rows(own_sum_along, &foreign).unwrap_err();
    assert_kind!(error is ErrorKind::WrongDevice { .. });
    let x = device.upload(&[1.0_f32]).unwrap();
    let segments = device.segments(&[0, 2]).unwrap();
    assert!(
        module
            .reduce_segments(own_sum_segments, &x, &segments)
            .is_err()
    );
}
