//! Calls that are refused, after which the device still sums.

use crate::common::devices;
use crate::samples::{Sample, samples, sum_on};
use half::{bf16, f16};
use tilewright::{Device, ErrorKind, SimulatorOptions};
use tilewright_test_support::assert_kind;

for_each_type! {
    [f32 f64 f16 bf16 i32 u32 i64 u64]
    results_of_a_wrong_length_are_refused
    operands_of_another_device_are_refused
    without_memory_the_sum_is_an_error_and_the_next_works
}

fn results_of_a_wrong_length_are_refused<T: Sample>() {
    let data = samples::<T>(100, 6);
    for device in devices() {
        let x = device.upload(&data).unwrap();
        for found in [0, 2] {
            let mut result = device.zeros::<T::Sum>(found).unwrap();
            let error = device.reduce_sum_into(&x, &mut result).unwrap_err();
            assert_kind!(
                error is ErrorKind::WrongLength { expected: 1, found: named, .. } if *named == found
            );
        }
        T::verify(&data, device.reduce_sum(&x).unwrap());
    }
}

fn operands_of_another_device_are_refused<T: Sample>() {
    let other = Device::simulator();
    let data = samples::<T>(100, 7);
    let foreign = other.upload(&data).unwrap();
    let mut foreign_result = other.zeros::<T::Sum>(1).unwrap();
    for device in devices() {
        let x = device.upload(&data).unwrap();
        for (error, operation) in [
            (device.reduce_sum(&foreign).unwrap_err(), "reduce_sum"),
            (
                device.reduce_sum_into(&x, &mut foreign_result).unwrap_err(),
                "reduce_sum_into",
            ),
        ] {
            assert_kind!(error is ErrorKind::WrongDevice { .. });
            assert_eq!(error.operation(), operation);
        }
        T::verify(&data, device.reduce_sum(&x).unwrap());
    }
}

/// Memory that is full has room neither for a result nor for the partial sums.
fn without_memory_the_sum_is_an_error_and_the_next_works<T: Sample>() {
    const BYTES: u64 = 1 << 17;
    let device = Device::simulator_with(SimulatorOptions::default().with_memory_bytes(BYTES));
    let elements = BYTES as usize / size_of::<T>();
    for room in [0, 1024] {
        let full = device.zeros::<T>(elements - room / size_of::<T>()).unwrap();
        let error = device.reduce_sum(&full).unwrap_err();
        assert_kind!(error is ErrorKind::OutOfMemory { .. });
        assert_eq!(error.operation(), "reduce_sum");
    }
    let data = samples::<T>(1000, 8);
    T::verify(&data, sum_on(&device, &data));
}
