//! Values of data that is read at any place.

use crate::common::sample::{Sample, data, tile};
use crate::common::{devices, share};
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

/// How a reducer gets its elements.
#[derive(Clone, Copy, Debug)]
enum By {
    Slices,
    Reads,
}
use By::{Reads, Slices};

/// Fails unless `x` has the bits of a buffer, in each of the `ways`: the elements of a chunk, and how they come.
#[track_caller]
fn check<R: Copy, T: Reducible<R>>(x: &[T], operation: R, ways: &[(usize, By)]) {
    for device in devices() {
        let expected = bits_of_buffer(&device, x, operation);
        for &(chunk, by) in ways {
            let mut reducer = device.host_reducer(chunk).unwrap();
            let found = match by {
                Slices => reducer.reduce(x, operation),
                Reads => reducer.reduce_from(x.len(), operation, |start, elements| {
                    elements.copy_from_slice(&x[start..start + elements.len()]);
                    Ok::<_, Error>(())
                }),
            };
            let [of, operation] = [type_name::<T>(), type_name::<R>()];
            let case = format!("{} {of} by {operation}, {chunk} by {by:?}", x.len());
            assert_eq!(bits(found.unwrap()), expected, "{case}");
        }
    }
}

/// One element and few, and numbers that end within a tile and with one; in chunks of less than a tile, of one, of
/// some, or of all. How elements come does not depend on the operation: each draws some ways.
fn check_lengths<R: Copy, T: Reducible<R> + Sample>(operation: R) {
    let tile = tile::<T>();
    for len in [1, 5, tile, 3 * tile - 1, 7 * tile + 17] {
        let chunks = [1, tile, 3 * tile + 100, 9 * tile];
        let drawn = |by| {
            let names = (type_name::<(R, T)>(), len, by as u8);
            share(names, chunks).map(move |chunk| (chunk, by))
        };
        let ways: Vec<_> = drawn(Slices).chain(drawn(Reads)).collect();
        check(&data::<T>(len), operation, &ways);
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

/// More tiles than blocks: a thread adds in rounds, and chunks are strided. Few blocks have the last round.
fn check_rounds<R: Copy, T: Reducible<R> + Sample>(
    operation: R,
    rounds: usize,
    ways: &[(usize, By)],
) {
    let tiles = (rounds - 1) * MAX_BLOCKS as usize + 43;
    let x = data::<T>(tiles * tile::<T>() + 7);
    check(&x, operation, ways);
}

#[test]
fn sums_in_rounds() {
    let tile = tile::<f64>();
    // Parts of two blocks, though a chunk has fewer elements; parts of five and six blocks; one part.
    let some = 11 * tile;
    let ways = [(1, Reads), (some, Slices), (some, Reads), (1 << 23, Slices)];
    check_rounds::<_, f64>(ops::Sum, 2, &ways);
    check_rounds::<_, f64>(ops::Norm1, 3, &[(1 << 20, Slices), (1 << 20, Reads)]);
}

#[test]
fn places_in_rounds() {
    check_rounds::<_, u64>(ops::ArgMin, 2, &[(7 * 2 * tile::<u64>(), Slices)]);
    check_rounds::<_, i64>(ops::ArgMax, 2, &[(1 << 18, Reads)]);
}

#[test]
fn slices_of_any_start() {
    let x = data::<f64>(20_000);
    for start in [1, 3, 2048] {
        check(&x[start..], ops::Sum, &[(4096, Slices), (4096, Reads)]);
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
