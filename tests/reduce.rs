//! Sums, for every type on every device at hand.

#[macro_use]
mod common;

use bytemuck::bytes_of;
use common::exact::{Compensated, Rounding};
use common::random::Random;
use common::sizes::sizes;
use common::{devices, machines};
use half::{bf16, f16};
use ndarray::{Array1, s};
use std::fmt::Debug;
use tilewright::{Device, Error, ReduceElement, SimulatorOptions, reduce_sum_height};
use tilewright_kernels::reduce::{MAX_BLOCKS, Plan};

/// A type to sum: where its test data comes from, and how a sum of it is judged.
trait Sample: ReduceElement<Sum: Debug> + Debug {
    /// A value that makes sums hard: floats of many magnitudes and both signs, any integer.
    fn sample(random: &mut Random) -> Self;

    /// The least of the small integers whose floating-point sums are exact; the greatest is 8.
    const LEAST_SMALL: i64;

    /// A small integer as an element.
    fn of_small(value: i64) -> Self;

    /// A sum of small integers as a sum of elements.
    fn sum_of_small(value: i64) -> Self::Sum;

    /// Fails unless `sum` is as near to the true sum of `data` as it must be.
    fn verify(data: &[Self], sum: Self::Sum);
}

/// A type to sum in floating point.
trait FloatSample: Sample<Sum: Into<f64>> + Into<f64> {
    const SMALLEST_SUBNORMAL: Self;

    fn of(value: f64) -> Self;
}

/// A type to sum exactly.
trait IntegerSample: Sample {
    const MIN: Self;
    const MAX: Self;
}

macro_rules! float_samples {
    ($($float:ty: $of:expr;)*) => {$(
        impl Sample for $float {
            fn sample(random: &mut Random) -> Self {
                Self::of(random.wide())
            }

            const LEAST_SMALL: i64 = -8;

            fn of_small(value: i64) -> Self {
                Self::of(value as f64)
            }

            fn sum_of_small(value: i64) -> Self::Sum {
                value as Self::Sum
            }

            fn verify(data: &[Self], sum: Self::Sum) {
                verify_float(data, sum);
            }
        }

        impl FloatSample for $float {
            const SMALLEST_SUBNORMAL: Self = <$float>::from_bits(1);

            fn of(value: f64) -> Self {
                $of(value)
            }
        }
    )*};
}
float_samples! {
    f32: |value| value as f32;
    f64: |value| value;
    f16: f16::from_f64;
    bf16: bf16::from_f64;
}

macro_rules! integer_samples {
    ($($integer:ty)*) => {$(
        impl Sample for $integer {
            fn sample(random: &mut Random) -> Self {
                random.bits() as Self
            }

            const LEAST_SMALL: i64 = if <$integer>::MIN == 0 { 0 } else { -8 };

            fn of_small(value: i64) -> Self {
                value as Self
            }

            fn sum_of_small(value: i64) -> Self::Sum {
                value as Self::Sum
            }

            fn verify(data: &[Self], sum: Self::Sum) {
                let exact: i128 = data.iter().map(|&x| i128::from(x)).sum();
                // The sum of up to 2^63 elements fits i128; `as` keeps what wrapping keeps.
                assert_eq!(sum, exact as Self::Sum);
            }
        }

        impl IntegerSample for $integer {
            const MIN: Self = <$integer>::MIN;
            const MAX: Self = <$integer>::MAX;
        }
    )*};
}
integer_samples! {
    i32 u32 i64 u64
}

fn verify_float<T: ReduceElement<Sum: Rounding> + Into<f64>>(data: &[T], sum: T::Sum) {
    let mut exact = Compensated::default();
    for &element in data {
        exact.add(element.into());
    }
    exact.assert_close(sum, reduce_sum_height::<T>(data.len()) as usize);
}

fn samples<T: Sample>(count: usize, seed: u64) -> Vec<T> {
    let mut random = Random::new(seed);
    (0..count).map(|_| T::sample(&mut random)).collect()
}

fn sum_on<T: Sample>(device: &Device, data: &[T]) -> T::Sum {
    device.reduce_sum(&device.upload(data).unwrap()).unwrap()
}

/// The runner of all cases: sums the first `length` elements of `data` on every device.
fn on_every_device<T: Sample>(data: &[T], lengths: &[usize], verify: impl Fn(&[T], T::Sum)) {
    for device in devices() {
        for &length in lengths {
            let case = &data[..length];
            verify(case, sum_on(&device, case));
        }
    }
}

/// Elements that a block takes in one round.
fn tile<T>() -> usize {
    Plan::new(1, size_of::<T>()).tile
}

/// Whole tiles with a few elements less and more.
fn around_tiles<T>(tiles: usize) -> [usize; 5] {
    let elements = tiles * tile::<T>();
    [
        elements - 7,
        elements - 1,
        elements,
        elements + 1,
        elements + 37,
    ]
}

for_each_type! {
    [f32 f64 f16 bf16 i32 u32 i64 u64]
    sums_of_every_length_are_within_the_error_bound
    sums_of_small_integers_are_exact
    the_tree_over_2_to_the_24_elements_is_low
    every_machine_gives_the_same_bits
    threads_share_a_device
    the_empty_sum_is_zero
    the_result_can_be_written_to_a_buffer
    results_of_a_wrong_length_are_refused
    operands_of_another_device_are_refused
    without_memory_the_sum_is_an_error_and_the_next_works
}

for_each_type! {
    [f32 f64 f16 bf16]
    nan_and_infinities_come_through_from_every_position
    opposite_infinities_give_nan
    subnormals_are_kept
}

for_each_type! {
    [i32 u32 i64 u64]
    extremes_are_exact_or_wrap
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
    let lengths = lengths::<T>();
    let longest = *lengths.iter().max().unwrap();
    on_every_device(&samples::<T>(longest, 1), &lengths, T::verify);
}

fn sums_of_small_integers_are_exact<T: Sample>() {
    let lengths = lengths::<T>();
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

fn results_of_a_wrong_length_are_refused<T: Sample>() {
    let data = samples::<T>(100, 6);
    for device in devices() {
        let x = device.upload(&data).unwrap();
        for found in [0, 2] {
            let mut result = device.zeros::<T::Sum>(found).unwrap();
            let error = device.reduce_sum_into(&x, &mut result).unwrap_err();
            assert!(
                matches!(&error, Error::WrongLength { operation: "reduce_sum", expected: 1, found: named }
                    if *named == found),
                "{error}"
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
        for error in [
            device.reduce_sum(&foreign).unwrap_err(),
            device.reduce_sum_into(&x, &mut foreign_result).unwrap_err(),
        ] {
            assert!(
                matches!(
                    error,
                    Error::WrongDevice {
                        operation: "reduce_sum",
                        ..
                    }
                ),
                "{error}"
            );
        }
        T::verify(&data, device.reduce_sum(&x).unwrap());
    }
}

/// Memory that is full has room neither for a result nor for the partial sums.
fn without_memory_the_sum_is_an_error_and_the_next_works<T: Sample>() {
    const BYTES: u64 = 1 << 16;
    let device = Device::simulator_with(SimulatorOptions::default().with_memory_bytes(BYTES));
    let elements = BYTES as usize / size_of::<T>();
    for room in [0, 1024] {
        let full = device.zeros::<T>(elements - room / size_of::<T>()).unwrap();
        let error = device.reduce_sum(&full).unwrap_err();
        assert!(
            matches!(
                error,
                Error::OutOfMemory {
                    operation: "reduce_sum",
                    ..
                }
            ),
            "{error}"
        );
    }
    let data = samples::<T>(1000, 8);
    T::verify(&data, sum_on(&device, &data));
}

/// Every place in a vector, a warp's first and last lanes, each vector of a thread, whole tiles
/// and the tail.
fn positions<T>() -> Vec<usize> {
    let first_vectors = 0..64;
    let around = sizes(3 * tile::<T>()).into_iter();
    let tail = 3 * tile::<T>()..length_of_positions::<T>();
    first_vectors.chain(around).chain(tail).collect()
}

fn length_of_positions<T>() -> usize {
    3 * tile::<T>() + 37
}

fn nan_and_infinities_come_through_from_every_position<T: FloatSample>() {
    let mut data = samples::<T>(length_of_positions::<T>(), 9);
    for device in devices() {
        for position in positions::<T>() {
            for special in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let usual = std::mem::replace(&mut data[position], T::of(special));
                let sum: f64 = sum_on(&device, &data).into();
                data[position] = usual;
                let came_through = if special.is_nan() {
                    sum.is_nan()
                } else {
                    sum == special
                };
                assert!(came_through, "{special} at {position} gives {sum}");
            }
        }
    }
}

fn opposite_infinities_give_nan<T: FloatSample>() {
    let usual = samples::<T>(length_of_positions::<T>(), 10);
    for device in devices() {
        for position in positions::<T>() {
            let mut data = usual.clone();
            data[position] = T::of(f64::INFINITY);
            data[usual.len() - 1 - position] = T::of(f64::NEG_INFINITY);
            let sum: f64 = sum_on(&device, &data).into();
            assert!(
                sum.is_nan(),
                "infinities at {position} and its mirror give {sum}"
            );
        }
    }
}

fn subnormals_are_kept<T: FloatSample>() {
    for device in devices() {
        for count in [1, 3, 31, 1000, 3 * tile::<T>() + 1] {
            let sum: f64 = sum_on(&device, &vec![T::SMALLEST_SUBNORMAL; count]).into();
            // A whole multiple, below 2^24, of the smallest subnormal: exact in T and in f64.
            assert_eq!(
                sum,
                count as f64 * T::SMALLEST_SUBNORMAL.into(),
                "{count} elements"
            );
        }
    }
}

fn extremes_are_exact_or_wrap<T: IntegerSample>() {
    let lengths = [1, 2, 3, 1000, 3 * tile::<T>() + 3];
    for extreme in [T::MIN, T::MAX] {
        on_every_device(&vec![extreme; lengths[4]], &lengths, T::verify);
    }
}

/// The README and the function's documentation have the same table.
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
    assert_eq!(documented(include_str!("../README.md")), expected);
    assert_eq!(documented(include_str!("../host/reduce.rs")), expected);
}
