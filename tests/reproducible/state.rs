//! States on the host, and calls that are refused.

use crate::common::devices;
use crate::sample::{Exact, Kind, assert_same, expected, state_on};
use crate::samples::tile;
use half::{bf16, f16};
use tilewright::{Device, ErrorKind, ReproducibleSum, SimulatorOptions};
use tilewright_test_support::assert_kind;

for_each_type! {
    [f32 f64 f16 bf16]
    words_are_the_sum
    the_result_can_be_written_to_a_buffer
    results_of_a_wrong_length_are_refused
    operands_of_another_device_are_refused
    without_memory_the_sum_is_an_error_and_the_next_works
}

fn words_are_the_sum<T: Exact>() {
    let empty = ReproducibleSum::<T>::default();
    assert!(empty.words().iter().all(|&word| word == 0));
    let data = Kind::Any.samples::<T>(100, 1);
    let sum: ReproducibleSum<T> = data.iter().copied().collect();
    assert_eq!(ReproducibleSum::from_words(sum.words()), Some(sum));
    assert_ne!(sum, empty);
    for words in [&sum.words()[1..], &[sum.words(), &[0]].concat()] {
        assert_eq!(ReproducibleSum::<T>::from_words(words), None);
    }
    let mut with_specials = sum;
    with_specials.extend([T::NAN, T::INFINITY, T::INFINITY]);
    let counts = with_specials.words().last_chunk::<3>().unwrap();
    assert_eq!(*counts, [1, 2, 0]);
    with_specials.merge(&with_specials.clone());
    let counts = with_specials.words().last_chunk::<3>().unwrap();
    assert_eq!(*counts, [2, 4, 0]);
}

fn the_result_can_be_written_to_a_buffer<T: Exact>() {
    let data = Kind::Ordinary.samples::<T>(3 * tile::<T>() - 1, 5);
    for device in devices() {
        let mut result = device.zeros::<T::Sum>(1).unwrap();
        let x = device.upload(&data).unwrap();
        device
            .reduce_sum_reproducible_into(&x, &mut result)
            .unwrap();
        assert_same(result.to_vec().unwrap()[0], expected(&data));
    }
}

fn results_of_a_wrong_length_are_refused<T: Exact>() {
    for device in devices() {
        let x = device.upload(&[T::MAX]).unwrap();
        for found in [0, 2] {
            let mut result = device.zeros::<T::Sum>(found).unwrap();
            let error = device
                .reduce_sum_reproducible_into(&x, &mut result)
                .unwrap_err();
            assert_kind!(
                error is ErrorKind::WrongLength { expected: 1, found: named, .. } if *named == found
            );
            assert_eq!(error.operation(), "reduce_sum_reproducible_into");
        }
    }
}

fn operands_of_another_device_are_refused<T: Exact>() {
    let foreign = Device::simulator().upload(&[T::MAX]).unwrap();
    for device in devices() {
        let errors = [
            device.reduce_sum_reproducible(&foreign).unwrap_err(),
            device.reproducible_sum(&foreign).unwrap_err(),
        ];
        for (error, operation) in errors
            .iter()
            .zip(["reduce_sum_reproducible", "reproducible_sum"])
        {
            assert_kind!(error is ErrorKind::WrongDevice { .. });
            assert_eq!(error.operation(), operation);
        }
    }
}

fn without_memory_the_sum_is_an_error_and_the_next_works<T: Exact>() {
    const BYTES: u64 = 1 << 17;
    let device = Device::simulator_with(SimulatorOptions::default().with_memory_bytes(BYTES));
    let full = device.zeros::<T>(BYTES as usize / size_of::<T>()).unwrap();
    let error = device.reduce_sum_reproducible(&full).unwrap_err();
    assert_kind!(error is ErrorKind::OutOfMemory { .. });
    drop(full);
    let data = Kind::Ordinary.samples::<T>(1000, 8);
    assert_same(state_on(&device, &data).value(), expected(&data));
}
