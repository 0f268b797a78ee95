//! Sums of every length.

use crate::common::random::Random;
use crate::common::sizes::sizes;
use crate::common::{devices, machines, share};
use crate::samples::{Sample, around_tiles, on_every_device, samples, sum_on, tile};
use bytemuck::bytes_of;
use half::{bf16, f16};
use ndarray::{Array1, s};
use std::any::type_name;
use tilewright::{Device, reduce_sum_height};
use tilewright_kernels::reduce::MAX_BLOCKS;

for_each_type! {
    [f32 f64 f16 bf16 i32 u32 i64 u64]
    sums_of_every_length_are_within_the_error_bound
    sums_of_small_integers_are_exact
    the_tree_over_2_to_the_24_elements_is_low
    every_machine_gives_the_same_bits
    threads_share_a_device
    the_empty_sum_is_zero
    the_result_can_be_written_to_a_buffer
}

/// The table of cases: every size that may matter, the ends of tiles, more partial sums than the
/// last block loads at once, and more tiles than blocks.
fn lengths<T>() -> Vec<usize> {
    let tiles = [3, 5, 13].into_iter().flat_map(around_tiles::<T>);
    let many = [1030, MAX_BLOCKS as usize + 3].map(|tiles| tiles * tile::<T>() + 5);
    sizes(2 * tile::<T>() + 1)
        .into_iter()
        .chain(tiles)
        .chain(many)
        .collect()
}

fn sums_of_every_length_are_within_the_error_bound<T: Sample>() {
    let lengths: Vec<usize> = share(type_name::<T>(), lengths::<T>()).collect();
    let longest = *lengths.iter().max().unwrap();
    on_every_device(&samples::<T>(longest, 1), &lengths, T::verify);
}

fn sums_of_small_integers_are_exact<T: Sample>() {
    let lengths: Vec<usize> = share(("integers", type_name::<T>()), lengths::<T>()).collect();
    let longest = *lengths.iter().max().unwrap();
    let mut random = Random::new(2);
    let integers = Array1::from_shape_simple_fn(longest, || random.integer(T::LEAST_SMALL..=8));
    on_every_device(
        &integers.mapv(T::of_small).to_vec(),
        &lengths,
        |case, sum| {
            let expected = integers.slice(s![..case.len()]).sum();
            assert_eq!(sum, T::sum_of_small(expected), "{} elements", case.len());
        },
    );
}

fn the_tree_over_2_to_the_24_elements_is_low<T: Sample>() {
    assert!(reduce_sum_height::<T>(1 << 24) <= 64);
}

fn every_machine_gives_the_same_bits<T: Sample>() {
    let data = samples::<T>(37 * tile::<T>() + 11, 4);
    let bits = |device: &Device| bytes_of(&sum_on(device, &data)).to_vec();
    let machines = machines();
    let expected = bits(&machines[0]);
    for (number, machine) in machines.iter().enumerate() {
        for run in 1..=2 {
            assert_eq!(bits(machine), expected, "machine {number}, run {run}");
        }
    }
}

/// Sums of one device share its workspace.
fn threads_share_a_device<T: Sample>() {
    for device in devices() {
        std::thread::scope(|scope| {
            for seed in 0..4 {
                let device = &device;
                scope.spawn(move || {
                    let data = samples::<T>((2 + seed as usize) * tile::<T>() + 1, seed);
                    let x = device.upload(&data).unwrap();
                    for _ in 0..10 {
                        T::verify(&data, device.reduce_sum(&x).unwrap());
                    }
                });
            }
        });
    }
}

fn the_empty_sum_is_zero<T: Sample>() {
    for device in devices() {
        assert_eq!(sum_on::<T>(&device, &[]), T::sum_of_small(0));
        let mut result = device.upload(&[T::sum_of_small(7)]).unwrap();
        let empty = device.upload::<T>(&[]).unwrap();
        device.reduce_sum_into(&empty, &mut result).unwrap();
        assert_eq!(result.to_vec().unwrap(), [T::sum_of_small(0)]);
    }
}

fn the_result_can_be_written_to_a_buffer<T: Sample>() {
    let data = samples::<T>(3 * tile::<T>() - 1, 5);
    for device in devices() {
        let mut result = device.upload(&[T::sum_of_small(7)]).unwrap();
        device
            .reduce_sum_into(&device.upload(&data).unwrap(), &mut result)
            .unwrap();
        T::verify(&data, result.to_vec().unwrap()[0]);
    }
}

/// The guide and the function's documentation have the same table.
#[test]
fn the_documented_heights_are_those_of_the_function() {
    let heights = |exponent: u32| {
        let elements = 1_usize << exponent;
        let [half, single, double] = [
            reduce_sum_height::<f16>(elements),
            reduce_sum_height::<f32>(elements),
            reduce_sum_height::<f64>(elements),
        ];
        assert_eq!(reduce_sum_height::<bf16>(elements), half);
        format!("| 2^{exponent} | {half} | {single} | {double} |")
    };
    let documented = |text: &str| -> Vec<String> {
        let rows = text
            .lines()
            .filter_map(|line| line.find("| 2^").map(|at| line[at..].to_owned()));
        rows.collect()
    };
    let expected = [10, 20, 24, 26, 28, 30, 33].map(heights);
    let page = include_str!("../../docs/guide/pages/accuracy.md");
    assert_eq!(documented(page), expected);
    assert_eq!(
        documented(include_str!("../../host/reduce/sum.rs")),
        expected
    );
}
