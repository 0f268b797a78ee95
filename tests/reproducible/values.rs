//! The exact sum, rounded once.

use crate::common::sizes::sizes;
use crate::common::{devices, share};
use crate::sample::{Exact, KINDS, Kind, assert_same, expected, sum_on};
use crate::samples::{around_tiles, tile};
use half::{bf16, f16};
use std::any::type_name;
use tilewright_kernels::reduce::MAX_BLOCKS;

for_each_type! {
    [f32 f64 f16 bf16]
    sums_of_every_length_are_rounded_once
    parts_start_anywhere
    more_tiles_than_blocks_are_summed
    special_elements_win_from_every_position
    partial_sums_do_not_overflow
    zeros_are_positive
    the_least_subnormals_are_counted
}

fn sums_of_every_length_are_rounded_once<T: Exact>() {
    let lengths = sizes(tile::<T>() / 2)
        .into_iter()
        .chain([1, 2, 3].into_iter().flat_map(around_tiles::<T>));
    let longest = 3 * tile::<T>() + 37;
    let data = KINDS.map(|kind| kind.samples::<T>(longest, 1));
    for device in devices() {
        for (number, length) in lengths.clone().enumerate() {
            let case = &data[number % KINDS.len()][longest - length..];
            assert_same(sum_on(&device, case), expected(case));
        }
    }
}

fn parts_start_anywhere<T: Exact>() {
    let length = 2 * tile::<T>() + 9;
    let data = Kind::Outliers.samples::<T>(length + 16, 2);
    for device in devices() {
        let x = device.upload(&data).unwrap();
        for start in 0..=16 {
            let part = x.slice(start..start + length).unwrap();
            let sum = device.reduce_sum_reproducible(part).unwrap();
            assert_same(sum, expected(&data[start..start + length]));
            let state = device.reproducible_sum(part).unwrap();
            assert_same(state.value(), sum);
        }
    }
}

fn more_tiles_than_blocks_are_summed<T: Exact>() {
    let length = (MAX_BLOCKS as usize + 3) * tile::<T>() + 5;
    let data = Kind::Ordinary.samples::<T>(length, 3);
    let sum = expected(&data);
    for device in devices() {
        assert_same(sum_on(&device, &data), sum);
    }
}

/// Every place in a vector, the ends of warps, and of whole tiles.
fn positions<T>() -> impl Iterator<Item = usize> {
    let ends = (1..=3).flat_map(|tiles| {
        let end = tiles * tile::<T>();
        [end - 1, end, end + 1]
    });
    (0..17).chain([31, 32, 63, 64, 1023]).chain(ends)
}

fn special_elements_win_from_every_position<T: Exact>() {
    let usual = Kind::Ordinary.samples::<T>(3 * tile::<T>() + 37, 4);
    for device in devices() {
        let sum_with = |elements: &[(usize, T)]| {
            let mut data = usual.clone();
            for &(position, element) in elements {
                data[position] = element;
            }
            sum_on(&device, &data)
        };
        for position in share(type_name::<T>(), positions::<T>()) {
            let mirror = usual.len() - 1 - position;
            let negative = T::INFINITY.negative();
            for (elements, sum) in [
                (vec![(position, T::INFINITY)], T::INFINITIES[0]),
                (
                    vec![(position, T::INFINITY), (mirror, T::INFINITY)],
                    T::INFINITIES[0],
                ),
                (vec![(position, negative)], T::INFINITIES[1]),
                (vec![(position, T::NAN.negative())], T::NAN_OF_SUM),
                (
                    vec![(position, T::INFINITY), (mirror, negative)],
                    T::NAN_OF_SUM,
                ),
                (vec![(position, T::NAN), (mirror, negative)], T::NAN_OF_SUM),
            ] {
                assert_same(sum_with(&elements), sum);
            }
        }
    }
}

fn partial_sums_do_not_overflow<T: Exact>() {
    let (max, least) = (T::MAX, T::LEAST);
    for device in devices() {
        let many = 2 * tile::<T>();
        let mut data = vec![max; many];
        data.extend(vec![max.negative(); many]);
        data.push(least);
        let sum: f64 = sum_on(&device, &data).into();
        assert_eq!(sum, least.into());
        data.extend([max, least.negative()]);
        let sum: f64 = sum_on(&device, &data).into();
        assert_eq!(sum, max.into());
    }
}

fn zeros_are_positive<T: Exact>() {
    let zero = T::of(0.0);
    for device in devices() {
        for data in [
            vec![],
            vec![zero],
            vec![zero.negative()],
            vec![zero.negative(); 2 * tile::<T>() + 3],
            vec![T::MAX, T::LEAST, T::MAX.negative(), T::LEAST.negative()],
        ] {
            let sum: f64 = sum_on(&device, &data).into();
            assert_same(sum, 0.0);
        }
    }
}

fn the_least_subnormals_are_counted<T: Exact>() {
    for device in devices() {
        for count in [1, 3, 1000, 3 * tile::<T>() + 1] {
            let sum: f64 = sum_on(&device, &vec![T::LEAST.negative(); count]).into();
            assert_eq!(sum, -(count as f64) * T::LEAST.into(), "{count} elements");
        }
    }
}

#[test]
fn sums_beyond_a_type_are_infinite() {
    // The first number of f32 that is not finite any more, and half the distance to it.
    let half = 2_f32.powi(103);
    let below = f32::from_bits(half.to_bits() - 1);
    for device in devices() {
        let sum = |data: &[f32]| sum_on(&device, data);
        assert_eq!(sum(&[f32::MAX, below]), f32::MAX);
        assert_eq!(sum(&[f32::MAX, half]), f32::INFINITY);
        assert_eq!(sum(&[f32::MAX, half, -1e-45]), f32::MAX);
        assert_eq!(sum(&[f32::MIN, -half]), f32::NEG_INFINITY);
        assert_eq!(sum(&[f32::MIN, -half, 1e-45]), f32::MIN);
        let half = 2_f64.powi(970);
        let sum = |data: &[f64]| sum_on(&device, data);
        assert_eq!(sum(&[f64::MAX, half.next_down()]), f64::MAX);
        assert_eq!(sum(&[f64::MAX, half]), f64::INFINITY);
        assert_eq!(sum(&[f64::MAX, half, -5e-324]), f64::MAX);
        assert_eq!(sum(&[f64::MIN, -half, 5e-324]), f64::MIN);
        assert_eq!(sum(&[f64::MIN, f64::MIN]), f64::NEG_INFINITY);
    }
}

#[test]
fn ties_go_to_even_unless_something_follows() {
    for device in devices() {
        let sum = |data: &[f32]| sum_on(&device, data);
        let large = 2_f32.powi(24);
        assert_eq!(sum(&[large, 1.0]), large);
        assert_eq!(sum(&[large, 1.0, 1e-45]), large + 2.0);
        assert_eq!(sum(&[large + 2.0, 1.0]), large + 4.0);
        assert_eq!(sum(&[large + 2.0, 1.0, -1e-45]), large + 2.0);
        let sum = |data: &[f64]| sum_on(&device, data);
        let large = 2_f64.powi(53);
        assert_eq!(sum(&[-large, -1.0]), -large);
        assert_eq!(sum(&[-large, -1.0, -5e-324]), -large - 2.0);
        assert_eq!(sum(&[-large, -1.0, 5e-324]), -large);
    }
}
