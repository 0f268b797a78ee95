//! Reductions over several devices: the bits of one.

use super::groups;
use crate::common::sample::{Sample, data, tile};
use half::{bf16, f16};
use std::fmt::Debug;
use tilewright::{Buffer, Device, DeviceGroup, ErrorKind, ReduceElement, Reducible, ops};
use tilewright_test_support::assert_kind;

/// None, one, fewer than most groups have devices, and numbers that end within a tile and with one.
fn lengths<T>() -> [usize; 5] {
    [0, 1, 5, 3 * tile::<T>(), 4 * tile::<T>() + 17]
}

/// The value of `operation` on one device, if it has one.
fn on_one<R: Copy, T: Reducible<R>>(data: &[T], operation: R) -> Option<T::Output> {
    let device = Device::simulator();
    let value = device.reduce(&device.upload(data).unwrap(), operation);
    match value {
        Err(error) if matches!(error.kind(), ErrorKind::NoElements { .. }) => None,
        value => Some(value.unwrap()),
    }
}

/// Fails unless all groups reduce `data` to the bits that one device has.
#[track_caller]
fn check<R: Copy, T: Reducible<R>>(data: &[T], operation: R) {
    let expected = on_one(data, operation);
    for group in groups() {
        let x = group.upload(data).unwrap();
        let found = match group.reduce(&x, operation) {
            Err(error) if matches!(error.kind(), ErrorKind::NoElements { .. }) => None,
            value => Some(value.unwrap()),
        };
        let bits =
            |value: &Option<T::Output>| value.map(|value| bytemuck::bytes_of(&value).to_vec());
        let (ranks, len) = (group.ranks(), data.len());
        assert_eq!(
            bits(&found),
            bits(&expected),
            "{len} elements, {ranks} ranks"
        );
    }
}

fn sums_have_the_bits_of_one_device<T: Sample + ReduceElement<Sum: Debug> + PartialEq>() {
    for len in lengths::<T>() {
        check(&data::<T>(len), ops::Sum);
    }
}
for_each_type!([f32 f64 f16 bf16 i32 u32 i64 u64] sums_have_the_bits_of_one_device);

/// A buffer that starts with `part` and whose elements come back.
fn buffers_come_back<T: Sample + ReduceElement<Sum: Debug> + PartialEq>() {
    for group in groups() {
        for len in lengths::<T>() {
            let data = data::<T>(len);
            let mut x = group.zeros::<T>(len).unwrap();
            assert!(x.to_vec().unwrap().iter().all(|it| *it == T::of(0.0)));
            x.copy_from_slice(&data).unwrap();
            assert_eq!(x.to_vec().unwrap(), data);
            assert_eq!((x.len(), x.is_empty()), (len, len == 0));
        }
    }
}
for_each_type!([f16 f32 f64] buffers_come_back);

macro_rules! all_operations {
    ($($name:ident: [$($operation:ident)*] of $element:ident;)*) => {$(
        #[test]
        fn $name() {
            for len in [0, 3, 2 * tile::<$element>() + 9] {
                let data = data::<$element>(len);
                $(check(&data, ops::$operation);)*
            }
        }
    )*};
}
all_operations! {
    of_f32: [Min Max MinMax ArgMin ArgMax Product Mean SumOfSquares Norm1 Norm2 NormInf Variance] of f32;
    of_f64: [Min Max MinMax ArgMin ArgMax Product Mean SumOfSquares Norm1 Norm2 NormInf Variance] of f64;
    of_bf16: [ArgMin Mean Norm2] of bf16;
    of_i64: [Min ArgMax Product Mean] of i64;
}

#[test]
fn masks_have_the_values_of_one_device() {
    let mut mask = vec![0_u8; 3 * tile::<u8>() + 1];
    mask[40_000] = 7;
    check(&mask, ops::Count);
    check(&mask, ops::Any);
    check(&mask, ops::All);
}

#[test]
fn dot_products_have_the_bits_of_one_device() {
    let device = Device::simulator();
    for len in lengths::<f32>() {
        let (x, y) = (data::<f32>(len), data::<f32>(len + 1));
        let y = &y[1..];
        let views = (device.upload(&x).unwrap(), device.upload(y).unwrap());
        let expected = device.reduce_dot(&views.0, &views.1).unwrap();
        for group in groups() {
            let (x, y) = (group.upload(&x).unwrap(), group.upload(y).unwrap());
            let found: f32 = group.reduce_dot(&x, &y).unwrap();
            assert_eq!(found.to_bits(), expected.to_bits(), "{}", group.ranks());
        }
    }
    let group = DeviceGroup::simulated(2).unwrap();
    let (x, y) = (group.zeros::<f32>(2).unwrap(), group.zeros(3).unwrap());
    let error = group.reduce_dot(&x, &y).unwrap_err();
    assert_kind!(error is ErrorKind::WrongLength { expected: 2, found: 3, .. });
}

#[test]
fn nan_and_infinity_come_through_as_on_one_device() {
    let mut data = data::<f32>(3 * tile::<f32>());
    data[2 * tile::<f32>()] = f32::from_bits(0xffc0_1234);
    check(&data, ops::Sum);
    check(&data, ops::ArgMax);
    data[2 * tile::<f32>()] = f32::INFINITY;
    data[7] = f32::NEG_INFINITY;
    check(&data, ops::Sum);
    check(&data, ops::Norm2);
}

#[test]
fn a_buffer_of_more_tiles_than_blocks_has_the_bits_of_one_device() {
    // A round of tiles, and a part of a second.
    let round = 2048 * tile::<f64>();
    let len = round + 5 * tile::<f64>() + 3;
    let mut data: Vec<f64> = (0..len).map(|i| (i % 1013) as f64 * 0.1).collect();
    // In the second run of rank 0, behind lesser ones of all ranks.
    data[round + 1] = 1e9;
    let expected = on_one(&data, ops::Sum).unwrap();
    let group = DeviceGroup::simulated(3).unwrap();
    let x = group.upload(&data).unwrap();
    assert_eq!(group.reduce_sum(&x).unwrap().to_bits(), expected.to_bits());
    assert_eq!(group.reduce(&x, ops::ArgMax).unwrap(), round as u64 + 1);
    assert!(x.to_vec().unwrap() == data);
    for rank in 0..3 {
        let runs = x.runs(rank).unwrap().count();
        assert_eq!(runs, 1 + usize::from(rank == 0));
    }
}

#[test]
fn states_of_ranks_are_merged_to_that_of_one_device() {
    let data = data::<f64>(3 * tile::<f64>() + 100);
    let device = Device::simulator();
    let expected = device
        .reproducible_sum(&device.upload(&data).unwrap())
        .unwrap();
    for group in groups() {
        let found = group.reproducible_sum(&group.upload(&data).unwrap());
        assert_eq!(found.unwrap(), expected);
    }
}

#[test]
fn results_are_left_on_every_device_with_the_bits_of_one() {
    let x = data::<f32>(3 * tile::<f32>() + 5);
    let y: Vec<_> = x.iter().rev().copied().collect();
    let sum = on_one(&x, ops::Sum).unwrap();
    let place = on_one(&x, ops::ArgMax).unwrap();
    let one = Device::simulator();
    let dot = one.reduce_dot(&one.upload(&x).unwrap(), &one.upload(&y).unwrap());
    let dot = dot.unwrap();
    for group in groups() {
        let (x, y) = (group.upload(&x).unwrap(), group.upload(&y).unwrap());
        let mut sums = new_results(&group, 1);
        group.reduce_into(&x, ops::Sum, &mut sums).unwrap();
        assert!(sums.iter().all(|it| it.to_vec().unwrap() == [sum]));
        group.reduce_dot_into(&x, &y, &mut sums).unwrap();
        assert!(sums.iter().all(|it| it.to_vec().unwrap() == [dot]));
        let mut places = new_results(&group, 1);
        group.reduce_into(&x, ops::ArgMax, &mut places).unwrap();
        assert!(places.iter().all(|it| it.to_vec().unwrap() == [place]));
        let mut places = new_results(&group, 3);
        let parts = places.iter_mut().map(|it| it.slice_mut(1..2).unwrap());
        group.reduce_into(&x, ops::ArgMax, parts).unwrap();
        assert!(
            places
                .iter()
                .all(|it| it.to_vec().unwrap() == [0, place, 0])
        );

        let error = group.reduce_into(&x, ops::Sum, &mut new_results(&group, 2));
        let error = error.unwrap_err();
        assert_kind!(error is ErrorKind::WrongLength { expected: 1, found: 2, .. });
        let too_few = &mut sums[1..];
        let error = group.reduce_dot_into(&x, &y, too_few).unwrap_err();
        let (of_group, of_slice) = (group.ranks(), group.ranks() - 1);
        assert!(matches!(
            error.kind(),
            ErrorKind::WrongLength { expected, found, .. } if (*expected, *found) == (of_group, of_slice)
        ));
    }
}

/// A buffer of `len` elements on each device.
fn new_results<T: tilewright::Element>(group: &DeviceGroup, len: usize) -> Vec<Buffer<T>> {
    let zeros = |device: &Device| device.zeros(len).unwrap();
    group.devices().iter().map(zeros).collect()
}
