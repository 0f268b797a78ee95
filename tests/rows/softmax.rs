//! Softmax, its logarithm, and the logarithm of the sum, against f64.

use crate::cases::{SHAPES, U, Value, assert_close, assert_same_bits, scores};
use crate::common::{devices, some_machines};
use half::{bf16, f16};
use tilewright::{Device, Profile, SimulatorOptions, row_height};

/// A row's results in f64.
pub struct Reference {
    pub softmax: Vec<f64>,
    pub logarithms: Vec<f64>,
    pub log_sum: f64,
    /// Distances from the largest element.
    pub distances: Vec<f64>,
}

impl Reference {
    pub fn of<T: Value>(row: &[T]) -> Self {
        let row: Vec<f64> = row.iter().map(|x| x.wide()).collect();
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = row.iter().map(|x| (x - largest).exp()).sum();
        Self {
            softmax: row.iter().map(|x| (x - largest).exp() / sum).collect(),
            logarithms: row.iter().map(|x| x - largest - sum.ln()).collect(),
            log_sum: largest + sum.ln(),
            distances: row.iter().map(|x| largest - x).collect(),
        }
    }
}

/// The factor of u in the documented bounds, for an element at `distance` from the largest.
pub fn units<T: Value>(distance: f64, len: usize) -> f64 {
    let constant = if len > 32_768 { 14.0 } else { 8.0 };
    distance + (len as f64).ln() + f64::from(row_height::<T>(len)) + constant
}

/// Results below this are 0.
pub const FLUSHED: f64 = 2.4e-38;

fn results_are_within_their_bounds<T: Value>() {
    for device in devices() {
        for (rows, len) in SHAPES {
            let elements = scores::<T>(rows * len, len as u64);
            let matrix = device.matrix((rows, len), &elements).unwrap();
            let softmax = device.softmax(&matrix).unwrap().to_vec().unwrap();
            let logarithms = device.log_softmax(&matrix).unwrap().to_vec().unwrap();
            let log_sums = device.logsumexp(&matrix).unwrap().to_vec().unwrap();
            for (row, &log_sum) in log_sums.iter().enumerate() {
                let range = row * len..(row + 1) * len;
                let case = format!("row {row} of {rows}x{len}, {device:?}");
                let expected = Reference::of(&elements[range.clone()]);
                let far = |index: usize| units::<T>(expected.distances[index], len) * U;
                assert_close(
                    &softmax[range.clone()],
                    &expected.softmax,
                    |index| far(index) * expected.softmax[index] + FLUSHED,
                    &case,
                );
                assert_close(
                    &logarithms[range],
                    &expected.logarithms,
                    |index| (3.0 * expected.logarithms[index].abs() + units::<T>(0.0, len)) * U,
                    &case,
                );
                let of_sum = expected.log_sum.abs() + (len as f64).ln() + units::<T>(0.0, len);
                assert_close(&[log_sum], &[expected.log_sum], |_| of_sum * U, &case);
            }
        }
    }
}
for_each_type!([f32 f16 bf16] results_are_within_their_bounds);

/// Every machine has the bits of the simulator, in each class of rows.
fn machines_agree<T: Value>() {
    for (rows, len) in [
        (70, 5),
        (37, 100),
        (5, 900),
        (3, 3000),
        (2, 9001),
        (2, 33_000),
        (1, 140_001),
    ] {
        let elements = scores::<T>(rows * len, 7);
        let mut expected: Option<[Vec<T>; 2]> = None;
        for device in some_machines("rows::softmax") {
            let matrix = device.matrix((rows, len), &elements).unwrap();
            let found = [
                device.softmax(&matrix).unwrap().to_vec().unwrap(),
                device.log_softmax(&matrix).unwrap().to_vec().unwrap(),
            ];
            let expected = expected.get_or_insert_with(|| found.clone());
            let case = format!("{rows}x{len}, {device:?}");
            assert_same_bits(&found[0], &expected[0], &case);
            assert_same_bits(&found[1], &expected[1], &case);
        }
    }
}
for_each_type!([f32 f16 bf16] machines_agree);

/// Where a long row is kept changes no bit: in the registers of a cluster, or all of it, some parts or sections, or
/// nothing in shared memory.
fn shared_memory_changes_no_bit<T: Value>() {
    for (rows, len) in [(2, 70_001), (1, 262_145)] {
        let elements = scores::<T>(rows * len, 3);
        let bits = |device: &Device| {
            let matrix = device.matrix((rows, len), &elements).unwrap();
            device.softmax(&matrix).unwrap().to_vec().unwrap()
        };
        let expected = bits(&Device::simulator());
        for profile in Profile::ALL {
            let options = SimulatorOptions::default().with_profile(profile);
            let found = bits(&Device::simulator_with(options));
            assert_same_bits(&found, &expected, profile.name());
        }
    }
}
for_each_type!([f32 bf16] shared_memory_changes_no_bit);

/// A simulator that counts no multiprocessors has a block for each row, as any other.
#[test]
fn a_device_without_multiprocessors_has_results() {
    let (rows, len) = (2, 16_392);
    let elements = scores::<bf16>(rows * len, 5);
    let results = [0, 1, 8].map(|count| {
        let options = SimulatorOptions::default().with_multiprocessors(count);
        let device = Device::simulator_with(options);
        let matrix = device.matrix((rows, len), &elements).unwrap();
        device.softmax(&matrix).unwrap().to_vec().unwrap()
    });
    assert_same_bits(&results[0], &results[2], "none");
    assert_same_bits(&results[1], &results[2], "one");
}

#[test]
fn heights_of_rows_that_no_device_has_do_not_wrap() {
    for len in [1 << 47, 1 << 63, usize::MAX, ((1 << 32) - 1) << 14] {
        assert!(row_height::<f32>(len) > u32::MAX - 64, "{len}");
    }
}
