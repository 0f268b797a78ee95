//! The largest elements of buffers and rows, against a stable sort.

use crate::common::devices;
use crate::common::random::Random;
use half::{bf16, f16};
use std::cmp::Ordering;
use std::fmt::Debug;
use tilewright::{Device, ErrorKind, TopKElement, half};
use tilewright_test_support::assert_kind;

/// A type to select from.
trait Sample: TopKElement + Debug {
    /// One of a few values, so that many are equal, or of all bit patterns.
    fn sample(random: &mut Random, is_any: bool) -> Self;

    /// The order of maxima: by which the largest is first.
    fn descending(&self, other: &Self) -> Ordering;

    /// With the canonical NaN.
    fn canonical(self) -> Self;
}

macro_rules! floats {
    ($($float:ident: $bits:ident, $nan:literal, $of:expr;)*) => {$(
        impl Sample for $float {
            fn sample(random: &mut Random, is_any: bool) -> Self {
                match is_any {
                    true => Self::from_bits(random.bits() as $bits),
                    false => $of((random.bits() % 7) as f32 - 3.0),
                }
            }

            fn descending(&self, other: &Self) -> Ordering {
                match (self.is_nan(), other.is_nan()) {
                    (false, false) => other.total_cmp(self),
                    (left, right) => right.cmp(&left),
                }
            }

            fn canonical(self) -> Self {
                if self.is_nan() { Self::from_bits($nan) } else { self }
            }
        }
    )*};
}
floats! {
    f32: u32, 0x7fff_ffff, |x| x;
    f64: u64, 0x7fff_ffff_ffff_ffff, f64::from;
    f16: u16, 0x7fff, f16::from_f32;
    bf16: u16, 0x7fff, bf16::from_f32;
}

macro_rules! integers {
    ($($integer:ident)*) => {$(
        impl Sample for $integer {
            fn sample(random: &mut Random, is_any: bool) -> Self {
                match is_any {
                    true => random.bits() as Self,
                    false => (random.bits() % 5) as Self,
                }
            }

            fn descending(&self, other: &Self) -> Ordering {
                other.cmp(self)
            }

            fn canonical(self) -> Self {
                self
            }
        }
    )*};
}
integers! { i32 u32 i64 u64 }

/// The largest of `row` by a stable sort.
fn naive<T: Sample>(row: &[T], k: usize) -> (Vec<T>, Vec<u64>) {
    let mut places: Vec<usize> = (0..row.len()).collect();
    places.sort_by(|&left, &right| row[left].descending(&row[right]));
    places.truncate(k);
    let values = places.iter().map(|&place| row[place].canonical());
    (
        values.collect(),
        places.iter().map(|&place| place as u64).collect(),
    )
}

fn assert_same<T: Sample>(found: (Vec<T>, Vec<u64>), expected: (Vec<T>, Vec<u64>), what: &str) {
    assert_eq!(found.1, expected.1, "{what}");
    let bytes = |values: &[T]| bytemuck::cast_slice::<T, u8>(values).to_vec();
    assert!(bytes(&found.0) == bytes(&expected.0), "{what}");
}

fn assert_rows<T: Sample>(device: &Device, (rows, len): (usize, usize), k: usize, is_any: bool) {
    let mut random = Random::new((rows * len + k) as u64);
    let data: Vec<T> = (0..rows * (len + 3))
        .map(|_| T::sample(&mut random, is_any))
        .collect();
    let matrix = device.matrix((rows, len + 3), &data).unwrap();
    let x = matrix.slice(.., 1..len + 1).unwrap();
    let (values, columns) = device.top_k_rows(x, k).unwrap();
    let (values, columns) = (values.to_vec().unwrap(), columns.to_vec().unwrap());
    for row in 0..rows {
        let expected = naive(&data[row * (len + 3) + 1..][..len], k);
        let found = (
            values[row * k..][..k].to_vec(),
            columns[row * k..][..k].to_vec(),
        );
        assert_same(
            found,
            expected,
            &format!("row {row} of {rows} x {len}, k = {k}"),
        );
    }
}

fn the_largest_are_those_of_a_stable_sort<T: Sample>() {
    for device in devices() {
        for is_any in [false, true] {
            for (len, k) in [
                (1, 1),
                (7, 7),
                (255, 3),
                (300, 257),
                (5000, 2048),
                (17_000, 5),
            ] {
                assert_rows::<T>(&device, (3, len), k, is_any);
            }
        }
    }
}

for_each_type! {
    [f32 f64 f16 bf16 i32 u32 i64 u64]
    the_largest_are_those_of_a_stable_sort
}

/// Three launches, of ever fewer chunks; ties that go over chunks.
#[test]
fn long_buffers_are_selected_in_several_launches() {
    for device in devices() {
        for is_any in [false, true] {
            let mut random = Random::new(5);
            let len = if is_any { 90_000 } else { 70_001 };
            let data: Vec<f32> = (0..len).map(|_| f32::sample(&mut random, is_any)).collect();
            let x = device.upload(&data).unwrap();
            for k in [1, 8, 2000] {
                let (values, indices) = device.top_k(&x, k).unwrap();
                let found = (values.to_vec().unwrap(), indices.to_vec().unwrap());
                assert_same(found, naive(&data, k), &format!("{k} of {len}"));
            }
        }
    }
}

#[test]
fn none_are_none_and_more_than_there_are_is_refused() {
    for device in devices() {
        let x = device.upload(&[1_i32, 2]).unwrap();
        assert!(device.top_k(&x, 0).unwrap().0.is_empty());
        let error = device.top_k(&x, 3).unwrap_err();
        assert_kind!(error is ErrorKind::TooLarge { .. });
        let expected =
            "a selection of 3 of 2 elements is too large: select at most as many as there are";
        assert_eq!(error.kind().to_string(), expected);
        assert_eq!(error.operation(), "top_k");
        let long = device.zeros::<f32>(3000).unwrap();
        let error = device.top_k(&long, 2049).unwrap_err();
        assert_kind!(error is ErrorKind::TooLarge { .. });
        let none = device.matrix::<f32>((0, 4), &[]).unwrap();
        assert_eq!(device.top_k_rows(&none, 2).unwrap().0.shape(), (0, 2));
        let matrix = device.matrix((2, 2), &[1, 2, 3, 4]).unwrap();
        let error = device.top_k_rows(matrix.t(), 1).unwrap_err();
        assert_kind!(error is ErrorKind::NoKernel { .. });
    }
}
