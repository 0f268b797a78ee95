//! Values of data that is read at any place.

use crate::common::devices;
use crate::common::sample::{Sample, data, tile};
use half::{bf16, f16};
use std::any::type_name;
use tilewright::{Device, Element, Error, Reducible, ops};
use tilewright_kernels::reduce::MAX_BLOCKS;

/// The bits of the value of a buffer with all of `x`.
pub fn bits_of_buffer<R, T: Reducible<R>>(device: &Device, x: &[T], operation: R) -> Vec<u8> {
    bits(
        device
            .reduce(&device.upload(x).unwrap(), operation)
            .unwrap(),
    )
}

pub fn bits(value: impl Element) -> Vec<u8> {
    bytemuck::bytes_of(&value).to_vec()
}

/// Fails unless `x` has the bits of a buffer, by slices and by reads, in chunks of each of `chunks` elements.
#[track_caller]
fn check<R: Copy, T: Reducible<R>>(x: &[T], operation: R, chunks: &[usize]) {
    for device in devices() {
        let expected = bits_of_buffer(&device, x, operation);
        for chunk in chunks {
            let case = || {
                let [of, by] = [type_name::<T>(), type_name::<R>()];
                format!("{} {of} by {by} in chunks of {chunk}", x.len())
            };
            let mut reducer = device.host_reducer(*chunk).unwrap();
            let found = reducer.reduce(x, operation).unwrap();
            assert_eq!(bits(found), expected, "{}", case());
            let found = reducer.reduce_from(x.len(), operation, |start, elements| {
                elements.copy_from_slice(&x[start..start + elements.len()]);
                Ok::<_, Error>(())
            });
            assert_eq!(bits(found.unwrap()), expected, "{}, read", case());
        }
    }
}

/// One element and few, and numbers that end within a tile and with one; in chunks of less than a tile, of one, of
/// some, and of all.
fn check_lengths<R: Copy, T: Reducible<R> + Sample>(operation: R) {
    let tile = tile::<T>();
    for len in [1, 5, tile, 3 * tile - 1, 7 * tile + 17] {
        check(
            &data::<T>(len),
            operation,
            &[1, tile, 3 * tile + 100, 9 * tile],
        );
    }
}

macro_rules! operations {
    ($($name:ident: [$($operation:ident)*] of [$($element:ident)*];)*) => {$(
        #[test]
        fn $name() {
            operations!(@each [$($operation)*] [$($element)*]);
        }
    )*};
    (@each [$($operation:ident)*] $elements:tt) => {
        $(operations!(@one $operation $elements);)*
    };
    (@one $operation:ident [$($element:ident)*]) => {
        $(check_lengths::<_, $element>(ops::$operation);)*
    };
}
operations! {
    sums_and_products: [Sum Product] of [f32 f64 f16 bf16 i32 u32 i64 u64];
    means: [Mean] of [f32 f64 f16 bf16 i32 u32 i64 u64];
    extremes: [Min Max MinMax] of [f32 f64 f16 bf16 i32 u32 i64 u64];
    places: [ArgMin ArgMax] of [f32 f64 f16 bf16 i32 u32 i64 u64];
    norms: [SumOfSquares Norm1 Norm2 NormInf Variance] of [f32 f64 f16 bf16];
    masks: [Count Any All] of [u8];
}

/// More tiles than blocks: a thread adds in rounds, and chunks are strided.
fn check_rounds<R: Copy, T: Reducible<R> + Sample>(operation: R, rounds: usize, chunks: &[usize]) {
    let len = rounds * MAX_BLOCKS as usize * tile::<T>() - 5 * tile::<T>() + 7;
    let x = data::<T>(len);
    check(&x, operation, chunks);
}

#[test]
fn sums_in_rounds() {
    let tile = tile::<f64>();
    // Parts of two blocks, though a chunk has fewer elements; parts of five and six blocks; one part.
    check_rounds::<_, f64>(ops::Sum, 2, &[1, 11 * tile, 1 << 23]);
    check_rounds::<_, f64>(ops::Norm1, 3, &[1 << 20]);
}

#[test]
fn places_in_rounds() {
    check_rounds::<_, u64>(ops::ArgMin, 2, &[7 * 2 * tile::<u64>()]);
    check_rounds::<_, i64>(ops::ArgMax, 2, &[1 << 18]);
}

#[test]
fn slices_of_any_start() {
    let x = data::<f64>(20_000);
    for start in [1, 3, 2048] {
        check(&x[start..], ops::Sum, &[4096]);
    }
}

#[test]
fn a_device_reduces_slices_of_any_size() {
    for device in devices() {
        for len in [0, 1, 5000, (64 << 20) / 8 + 1] {
            let x = data::<f64>(len);
            let value = device.reduce_host(&x, ops::Sum).unwrap();
            assert_eq!(bits(value), bits_of_buffer(&device, &x, ops::Sum), "{len}");
        }
    }
}

/// A reducer keeps its memory from one reduction to the next, with whatever length.
#[test]
fn a_reducer_reduces_again() {
    for device in devices() {
        let mut reducer = device.host_reducer::<f32>(10_000).unwrap();
        for len in [100, 50_000, 0, 3, 1 << 20, 77] {
            let x = data::<f32>(len);
            let value = reducer.reduce(&x, ops::Sum).unwrap();
            assert_eq!(bits(value), bits_of_buffer(&device, &x, ops::Sum), "{len}");
            let least = reducer.reduce(&[&x[..], &[-1e30]].concat(), ops::ArgMin);
            assert_eq!(least.unwrap(), len as u64);
        }
    }
}
