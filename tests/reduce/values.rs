//! Sums of NaN, infinities, and numbers at the ends of a type's range.

use crate::common::sizes::sizes;
use crate::common::{devices, share};
use crate::samples::{FloatSample, IntegerSample, on_every_device, samples, sum_on, tile};
use half::{bf16, f16};
use std::any::type_name;

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
        for position in share(type_name::<T>(), positions::<T>()) {
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
