//! The inputs of scans, and the check of the sums.

use crate::common::exact::{Compensated, Rounding};
use crate::common::random::Random;
use crate::model;
use bytemuck::{bytes_of, cast_slice};
use std::fmt::Debug;
use tilewright::cuda_std::float::Float;
use tilewright::{Buffer, Device, ScanElement, scan_height};
use tilewright_kernels::scan::ScanPlan;

/// A type to scan: where its test data comes from, and how its sums are judged.
pub trait Sample: ScanElement + Debug {
    /// A value that makes sums hard: floats of many magnitudes and both signs, any integer.
    fn sample(random: &mut Random) -> Self;

    /// The sum as a kernel adds.
    fn plus(self, other: Self) -> Self;

    /// The value with the canonical NaN for every NaN.
    fn finished(self) -> Self;

    const ZERO: Self;

    /// Fails unless every sum is as near to the true one of its elements of `data` as it must be.
    fn verify(data: &[Self], inclusive: &[Self], exclusive: &[Self]);
}

macro_rules! float_samples {
    ($($float:ident)*) => {$(
        impl Sample for $float {
            fn sample(random: &mut Random) -> Self {
                random.wide() as Self
            }

            fn plus(self, other: Self) -> Self {
                self + other
            }

            fn finished(self) -> Self {
                self.canonical_nan()
            }

            const ZERO: Self = 0.0;

            fn verify(data: &[Self], inclusive: &[Self], exclusive: &[Self]) {
                verify_floats(data, inclusive, exclusive);
            }
        }
    )*};
}
float_samples! { f32 f64 }

macro_rules! integer_samples {
    ($($integer:ident)*) => {$(
        impl Sample for $integer {
            fn sample(random: &mut Random) -> Self {
                random.bits() as Self
            }

            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn finished(self) -> Self {
                self
            }

            const ZERO: Self = 0;

            fn verify(data: &[Self], inclusive: &[Self], exclusive: &[Self]) {
                let mut sum: Self = 0;
                for (place, element) in data.iter().enumerate() {
                    assert_eq!(exclusive[place], sum, "element {place}");
                    sum = sum.wrapping_add(*element);
                    assert_eq!(inclusive[place], sum, "element {place}");
                }
            }
        }
    )*};
}
integer_samples! { i32 u32 i64 u64 }

fn verify_floats<T: ScanElement + Rounding + Into<f64>>(
    data: &[T],
    inclusive: &[T],
    exclusive: &[T],
) {
    let height = scan_height::<T>(data.len()) as usize;
    let mut exact = Compensated::default();
    for (place, element) in data.iter().enumerate() {
        exact.assert_close(exclusive[place], height);
        exact.add((*element).into());
        exact.assert_close(inclusive[place], height);
    }
}

pub fn samples<T: Sample>(count: usize, seed: u64) -> Vec<T> {
    let mut random = Random::new(seed);
    (0..count).map(|_| T::sample(&mut random)).collect()
}

/// Elements of a tile.
pub fn tile<T>() -> usize {
    ScanPlan::new(1, size_of::<T>()).tile
}

/// Both scans of `data` have the bits of the model, and its sums are right.
#[track_caller]
pub fn assert_scans<T: Sample>(device: &Device, data: &[T]) {
    let x = device.upload(data).unwrap();
    let expected = [false, true].map(|is_exclusive| model::scan(data, is_exclusive));
    let what = format!("{} elements, {device:?}", data.len());
    assert_sums(&device.scan_inclusive(&x).unwrap(), &expected[0], &what);
    assert_sums(&device.scan_exclusive(&x).unwrap(), &expected[1], &what);
    T::verify(data, &expected[0], &expected[1]);
}

#[track_caller]
pub fn assert_sums<T: Sample>(found: &Buffer<T>, expected: &[T], what: &str) {
    let found = found.to_vec().unwrap();
    if cast_slice::<T, u8>(&found) == cast_slice::<T, u8>(expected) {
        return;
    }
    assert_eq!(found.len(), expected.len(), "{what}");
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(
            bytes_of(found),
            bytes_of(expected),
            "element {place}: {found:?} instead of {expected:?}, {what}"
        );
    }
}
