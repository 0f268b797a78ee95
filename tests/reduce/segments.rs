//! Segments, for every operation and type that has kernels for them: the table of kernels is the table
//! of tests.

use crate::common::{devices, machines, share};
use crate::lines::assert_values;
use crate::operations::erased::{Operation, Values};
use crate::operations::values::{LENGTH_OF_PARTS, Value, at_borders, input, inputs};
use half::{bf16, f16};
use tilewright::{BufferView, Device, ErrorKind, Segments, SimulatorOptions, ops};
use tilewright_test_support::assert_kind;

/// Elements of segments: around the vectors of a lane, the rounds of a group of lanes, the rounds of one, two,
/// four and eight parts, and the sections of a line, long ones among short ones, more than a block has of both.
pub const LENGTHS: [usize; 50] = [
    1, 2, 3, 4, 5, 7, 8, 9, 31, 16_384, 32, 33, 34, 63, 64, 65, 96, 97, 127, 128, 129, 130, 1, 1,
    200, 511, 1023, 1024, 1025, 3, 2049, 4096, 4097, 8192, 2000, 6, 40, 300, 301, 302, 303, 304,
    305, 306, 307, 10, 33_000, 17, 1, 2,
];

/// The offsets of segments of these lengths, from `start` on.
pub fn offsets(start: usize, lengths: &[usize]) -> Vec<usize> {
    let ends = lengths.iter().scan(start, |end, len| {
        *end += len;
        Some(*end)
    });
    std::iter::once(start).chain(ends).collect()
}

/// Every segment has the bits of the model, which are those of a row, and the value of a loop.
fn holds<T: Value>(device: &Device, operation: &dyn Operation<T>, data: &[T], offsets: &[usize]) {
    let x = device.upload(data).unwrap();
    let segments = device.segments(offsets).unwrap();
    let of_segment = |bounds: &[usize]| {
        let elements = &data[bounds[0]..bounds[1]];
        let what = format!("{} elements from {}", elements.len(), bounds[0]);
        operation.of_line(elements, &what)
    };
    let expected = Values::concat(offsets.windows(2).map(of_segment).collect());
    let what = format!("segments from {}, {device:?}", offsets[0]);
    let found = operation.reduce_segments(device, &x, &segments).unwrap();
    found.assert_same(&expected, &what);
    let found = operation
        .reduce_segments_into(device, &x, &segments)
        .unwrap();
    found.assert_same(&expected, &what);
}

fn run<T: Value>(operation: &dyn Operation<T>) {
    for device in devices() {
        for start in [0, 1] {
            let offsets = offsets(start, &LENGTHS);
            let length = offsets[LENGTHS.len()] + 3;
            for number in share((operation.name(), start), 0..inputs::<T>(length)) {
                holds(&device, operation, &input(length, number), &offsets);
            }
        }
        let data = at_borders::<T>();
        let starts = offsets(0, &vec![LENGTH_OF_PARTS; data.len()]);
        holds(&device, operation, &data.concat(), &starts);
        some_without_elements(&device, operation);
    }
    let offsets = offsets(2, &[70, 3000, 1, 129, 5, 1200]);
    let data = input::<T>(offsets[6], 0);
    for machine in share(operation.name(), machines()) {
        holds(&machine, operation, &data, &offsets);
    }
}

/// Segments without elements, also the first and the last one, and those around the last of a block.
fn some_without_elements<T: Value>(device: &Device, operation: &dyn Operation<T>) {
    let mut lengths = [3; 35];
    for place in [0, 1, 7, 30, 31, 32, 34] {
        lengths[place] = 0;
    }
    lengths[33] = 130;
    let offsets = offsets(1, &lengths);
    let data = input::<T>(offsets[35], 0);
    a_value_for_the_empty(device, operation, &data, &offsets);
    // A single run of empty segments, and none.
    a_value_for_the_empty(device, operation, &data, &[1, 4, 4, 4, 9]);
    a_value_for_the_empty(device, operation, &data, &[2, 2, 2]);
    a_value_for_the_empty(device, operation, &data, &[0, 3, 5]);
    if !operation.needs_an_element() {
        holds(device, operation, &data, &offsets);
        return;
    }
    let (x, segments) = (
        device.upload(&data).unwrap(),
        device.segments(&offsets).unwrap(),
    );
    let error = operation
        .reduce_segments(device, &x, &segments)
        .unwrap_err();
    assert_kind!(error is ErrorKind::NoElements { .. });
}

/// The value that is given for empty segments, and for all others the bits of `reduce_segments`.
fn a_value_for_the_empty<T: Value>(
    device: &Device,
    operation: &dyn Operation<T>,
    data: &[T],
    offsets: &[usize],
) {
    let x = device.upload(data).unwrap();
    let segments = device.segments(offsets).unwrap();
    let fallback = &data[..5];
    let of_segment = |bounds: &[usize]| match &data[bounds[0]..bounds[1]] {
        [] => operation.of_line(fallback, "the value for empty segments"),
        elements => operation.of_line(elements, "a segment among empty ones"),
    };
    let expected = Values::concat(offsets.windows(2).map(of_segment).collect());
    let found = operation.reduce_segments_or(device, &x, &segments, fallback);
    for found in found.unwrap() {
        found.assert_same(&expected, &format!("{offsets:?}, {device:?}"));
    }
}

macro_rules! tests_of_segments {
    ($($operation:ident of $element:ident: $name:ident at $blocks:literal blocks;)*) => {$(
        #[test]
        fn $name() {
            run::<$element>(&ops::$operation);
        }
    )*};
}
tilewright_kernels::for_each_segment_reduction!(tests_of_segments);

#[test]
fn no_segments_have_no_values() {
    for device in devices() {
        let x = device.upload(&[1.0_f32, 2.0]).unwrap();
        let nowhere = device.segments(&[7]).unwrap();
        assert!(nowhere.is_empty());
        let none = device.reduce_segments(&x, &nowhere, ops::Min).unwrap();
        assert!(none.is_empty());
    }
}

#[test]
fn many_short_segments_and_a_long_one_keep_their_places() {
    let mut lengths: Vec<usize> = (0..5000).map(|number| number * 7 % 65).collect();
    lengths[3000] = 300_000;
    let offsets = offsets(0, &lengths);
    for device in devices() {
        let x = device.upload(&vec![1_u32; offsets[5000]]).unwrap();
        let segments = device.segments(&offsets).unwrap();
        assert_eq!(segments.len(), 5000);
        let sums = device.reduce_segments(&x, &segments, ops::Sum).unwrap();
        let expected: Vec<u64> = lengths.iter().map(|&len| len as u64).collect();
        assert_values(&sums, &expected, "lengths");
    }
}

fn is_out_of_range(device: &Device, x: BufferView<'_, i32>, segments: &Segments) -> bool {
    let error = device.reduce_segments(x, segments, ops::Sum).unwrap_err();
    matches!(error.kind(), ErrorKind::InvalidOffsets { reason } if reason.contains("has 2 elements"))
}

#[test]
fn offsets_that_descend_or_go_past_the_end_are_refused() {
    for device in devices() {
        let error = device.segments(&[0, 3, 2, 5]).unwrap_err();
        assert!(
            matches!(
                error.kind(),
                ErrorKind::InvalidOffsets { reason } if reason.starts_with("offset 2 is 2, below offset 1, which is 3")
            ),
            "{error}"
        );
        assert_eq!(error.operation(), "segments");
        let error = device.segments(&[]).unwrap_err();
        assert_kind!(error is ErrorKind::InvalidOffsets { .. });
        let x = device.upload(&[1, 2, 3]).unwrap();
        let segments = device.segments(&[0, 3]).unwrap();
        assert!(is_out_of_range(&device, x.slice(1..).unwrap(), &segments));
        let sums = device.reduce_segments(&x, &segments, ops::Sum).unwrap();
        assert_eq!(sums.to_vec().unwrap(), [6]);
    }
}

#[test]
fn offsets_that_no_buffer_has_are_refused_at_once() {
    let options = SimulatorOptions::default().with_memory_bytes(1 << 30);
    let device = Device::simulator_with(options);
    // Each segment is divided into the most parts: their list would have 64 GiB.
    let offsets: Vec<usize> = (0..1 << 20).map(|segment| segment << 40).collect();
    let error = device.segments(&offsets).unwrap_err();
    assert_kind!(error is ErrorKind::OutOfMemory { .. });
}

#[test]
fn operands_of_another_device_and_values_of_a_wrong_length_are_refused() {
    let other = Device::simulator();
    let foreign = other.segments(&[0, 1]).unwrap();
    for device in devices() {
        let x = device.upload(&[1.0_f32]).unwrap();
        let error = device.reduce_segments(&x, &foreign, ops::Sum).unwrap_err();
        assert_kind!(error is ErrorKind::WrongDevice { .. });
        let segments = device.segments(&[0, 1]).unwrap();
        let mut values = device.zeros::<f32>(2).unwrap();
        let error = device
            .reduce_segments_into(&x, &segments, ops::Sum, &mut values)
            .unwrap_err();
        assert_kind!(error is ErrorKind::WrongLength { .. });
    }
}
