//! Reductions.

use crate::device_with;
use bytemuck::zeroed_vec;
use half::f16;
use tilewright::ops::{ArgMax, Count};
use tilewright::{Buffer, Device, Element, Reducible, ReducibleLines, ReducibleSegments};

/// Ones at every `STEP`th place and in the last, among zeros: few enough that f32 counts them.
const STEP: usize = 1021;

/// The number of elements, more than 2^31.
const LENGTH: usize = (1 << 31) + 5;

/// The ones among so many elements.
const ONES: usize = LENGTH.div_ceil(STEP) + !(LENGTH - 1).is_multiple_of(STEP) as usize;

fn is_one(index: usize) -> bool {
    index.is_multiple_of(STEP) || index == LENGTH - 1
}

/// The zeros and ones.
fn sparse<T: Element + bytemuck::Zeroable>(one: T) -> Vec<T> {
    let mut data: Vec<T> = zeroed_vec(LENGTH);
    data.iter_mut().step_by(STEP).for_each(|x| *x = one);
    data[LENGTH - 1] = one;
    data
}

/// 4.3 GB.
#[test]
fn sums_of_more_than_2_to_the_31_elements() {
    let Some(device) = device_with(LENGTH * size_of::<f16>()) else {
        return;
    };
    let x = device.upload(&sparse(f16::ONE)).unwrap();
    assert_eq!(device.reduce_sum(&x).unwrap(), ONES as f32);
    let reproducible = device.reduce_sum_reproducible(&x).unwrap();
    assert_eq!(reproducible, ONES as f32);
}

/// 8.6 GB.
#[test]
fn dot_products_of_more_than_2_to_the_31_elements() {
    let Some(device) = device_with(2 * LENGTH * size_of::<f16>()) else {
        return;
    };
    let x = device.upload(&sparse(f16::ONE)).unwrap();
    let mut weights = vec![f16::ONE; LENGTH];
    weights[LENGTH - 1] = f16::from_f32(3.0);
    let weights = device.upload(&weights).unwrap();
    let dot = device.reduce_dot(&x, &weights).unwrap();
    assert_eq!(dot, (ONES + 2) as f32);
}

/// 17.2 GB.
#[test]
fn scans_of_more_than_2_to_the_31_elements() {
    const READ_AT_ONCE: usize = 1 << 28;
    let Some(device) = device_with(2 * LENGTH * size_of::<u32>() + (1 << 28)) else {
        return;
    };
    let x = device.upload(&sparse(1_u32)).unwrap();
    let mut sums = device.uninit::<u32>(LENGTH).unwrap();
    device.scan_inclusive_into(&x, &mut sums).unwrap();
    let mut expected = 0;
    for start in (0..LENGTH).step_by(READ_AT_ONCE) {
        let end = LENGTH.min(start + READ_AT_ONCE);
        let sums = sums.slice(start..end).unwrap().to_vec().unwrap();
        for (index, sum) in (start..end).zip(sums) {
            expected += u32::from(is_one(index));
            assert_eq!(sum, expected, "at {index}");
        }
    }
    assert_eq!(expected as usize, ONES);
}

/// More elements of a line than 32 bits count.
const LONG: usize = (1 << 32) + 3;

/// The results of `operation` for the elements as a buffer, as a row and as a column, and for two segments, the second
/// with the last two elements.
fn at_every_place<R: Copy, T, O>(device: &Device, x: Buffer<T>, operation: R) -> (Vec<O>, Vec<O>)
where
    O: Element,
    T: Reducible<R, Output = O> + ReducibleLines<R> + ReducibleSegments<R>,
{
    let segments = device.segments(&[0, LONG - 2, LONG]).unwrap();
    let of_segments = device.reduce_segments(&x, &segments, operation).unwrap();
    let of_buffer = device.reduce(&x, operation).unwrap();
    let row = x.into_matrix((1, LONG)).unwrap();
    let along = device.reduce_rows(&row, operation).unwrap();
    let column = row.into_buffer().into_matrix((LONG, 1)).unwrap();
    let across = device.reduce_columns(&column, operation).unwrap();
    let (along, across) = (along.to_vec().unwrap(), across.to_vec().unwrap());
    (
        vec![of_buffer, along[0], across[0]],
        of_segments.to_vec().unwrap(),
    )
}

/// 4.6 GB.
#[test]
fn counts_beyond_2_to_the_32() {
    let Some(device) = device_with(LONG + (1 << 28)) else {
        return;
    };
    let mask = device.upload(&vec![1; LONG]).unwrap();
    let (wholes, segments) = at_every_place(&device, mask, Count);
    assert_eq!(wholes, [LONG as u64; 3]);
    assert_eq!(segments, [LONG as u64 - 2, 2]);
}

/// 8.9 GB.
#[test]
fn places_beyond_2_to_the_32() {
    let Some(device) = device_with(LONG * size_of::<f16>() + (1 << 28)) else {
        return;
    };
    let mut data: Vec<f16> = zeroed_vec(LONG);
    data[LONG - 1] = f16::ONE;
    let (wholes, segments) = at_every_place(&device, device.upload(&data).unwrap(), ArgMax);
    assert_eq!(wholes, [LONG as u64 - 1; 3]);
    assert_eq!(segments, [0, 1]);
}
