//! The inputs of sums, and the check of their results.

use crate::common::devices;
use crate::common::exact::{Compensated, Rounding};
use crate::common::random::Random;
use half::{bf16, f16};
use std::fmt::Debug;
use tilewright::{Device, ReduceElement, reduce_sum_height};
use tilewright_kernels::reduce::Plan;

/// A type to sum: where its test data comes from, and how a sum of it is judged.
pub trait Sample: ReduceElement<Sum: Debug> + Debug {
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
pub trait FloatSample: Sample<Sum: Into<f64>> + Into<f64> {
    const SMALLEST_SUBNORMAL: Self;

    fn of(value: f64) -> Self;
}

/// A type to sum exactly.
pub trait IntegerSample: Sample {
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

pub fn samples<T: Sample>(count: usize, seed: u64) -> Vec<T> {
    let mut random = Random::new(seed);
    (0..count).map(|_| T::sample(&mut random)).collect()
}

pub fn sum_on<T: Sample>(device: &Device, data: &[T]) -> T::Sum {
    device.reduce_sum(&device.upload(data).unwrap()).unwrap()
}

/// The runner of all cases: sums the first `length` elements of `data` on every device.
pub fn on_every_device<T: Sample>(data: &[T], lengths: &[usize], verify: impl Fn(&[T], T::Sum)) {
    for device in devices() {
        for &length in lengths {
            let case = &data[..length];
            verify(case, sum_on(&device, case));
        }
    }
}

/// Elements that a block takes in one round.
pub fn tile<T>() -> usize {
    Plan::new(1, size_of::<T>()).tile
}

/// Whole tiles with a few elements less and more.
pub fn around_tiles<T>(tiles: usize) -> [usize; 5] {
    let elements = tiles * tile::<T>();
    [
        elements - 7,
        elements - 1,
        elements,
        elements + 1,
        elements + 37,
    ]
}
