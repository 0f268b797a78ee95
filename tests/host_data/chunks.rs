//! Values of chunks that come one after another.

use crate::common::devices;
use crate::common::random::Random;
use crate::common::sample::{Sample, data, tile};
use crate::values::{bits, bits_of_buffer};
use half::{bf16, f16};
use std::any::type_name;
use std::fmt::Debug;
use std::iter;
use tilewright::{ReducibleInChunks, ReproducibleElement, ops};

/// `x` in chunks of lengths from 0 to beyond two tiles.
pub fn cut<T: Sample>(x: &[T]) -> Vec<&[T]> {
    let mut random = Random::new(x.len() as u64);
    let mut rest = x;
    let chunks = iter::from_fn(|| {
        let most = if random.bits().is_multiple_of(2) {
            40
        } else {
            2 * tile::<T>() as i64 + 40
        };
        let (chunk, after) = rest.split_at((random.integer(0..=most) as usize).min(rest.len()));
        rest = after;
        (!chunk.is_empty() || !rest.is_empty()).then_some(chunk)
    });
    chunks.collect()
}

const fn lengths<T>() -> [usize; 5] {
    let tile = tile::<T>();
    [1, 5, tile, 3 * tile - 1, 7 * tile + 17]
}

fn check<R: Copy, T: ReducibleInChunks<R> + Sample>(operation: R) {
    let tile = tile::<T>();
    for (len, chunk) in iter::zip(lengths::<T>(), [1, 3, 100, tile + 1, 9 * tile]) {
        let x = data::<T>(len);
        for device in devices() {
            let expected = bits_of_buffer(&device, &x, operation);
            let mut reducer = device.host_reducer(chunk).unwrap();
            let found = reducer.reduce_chunks(len, cut(&x), operation).unwrap();
            let [of, by] = [type_name::<T>(), type_name::<R>()];
            assert_eq!(
                bits(found),
                expected,
                "{len} {of} by {by} in chunks of {chunk}"
            );
        }
    }
}

macro_rules! operations {
    ($($name:ident: [$($operation:ident)*] of $elements:tt;)*) => {$(
        #[test]
        fn $name() {
            $(operations!(@one $operation $elements);)*
        }
    )*};
    (@one $operation:ident [$($element:ident)*]) => {
        $(check::<_, $element>(ops::$operation);)*
    };
}
operations! {
    extremes: [Min Max MinMax] of [f32 f64 f16 bf16 i32 u32 i64 u64];
    places: [ArgMin ArgMax] of [f32 f64 f16 bf16 i32 u32 i64 u64];
    integers: [Sum Product] of [i32 u32 i64 u64];
    norms: [NormInf] of [f32 f64 f16 bf16];
    masks: [Count Any All] of [u8];
}

/// More chunks than results wait for the host, and equal extremes in all of them.
#[test]
fn many_chunks() {
    for device in devices() {
        let mut reducer = device.host_reducer(5).unwrap();
        let x = [2.0, 3.0, 7.0, 7.0].repeat(250);
        let greatest = reducer.reduce_chunks(1000, x.chunks(3), ops::ArgMax);
        let least = reducer.reduce_chunks(1000, x.chunks(9), ops::ArgMin);
        assert_eq!([greatest.unwrap(), least.unwrap()], [2_u64, 0]);
    }
}

for_each_type! {
    [f32 f64 f16 bf16]
    exact_sums_are_those_of_a_buffer
}

fn exact_sums_are_those_of_a_buffer<T: ReproducibleElement<Sum: Debug> + Sample>() {
    for (len, chunk) in iter::zip(lengths::<T>(), [1, 3, 100, tile::<T>() + 1, 1 << 20]) {
        let x = data::<T>(len);
        for device in devices() {
            let expected = device
                .reproducible_sum(&device.upload(&x).unwrap())
                .unwrap();
            let mut reducer = device.host_reducer(chunk).unwrap();
            let of_chunks = reducer.reproducible_sum_chunks(len, cut(&x));
            for found in [of_chunks, reducer.reproducible_sum(&x)] {
                assert_eq!(found.unwrap(), expected, "{len} in chunks of {chunk}");
            }
        }
    }
}
