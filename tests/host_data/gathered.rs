//! Values of chunks that the device holds together, and iterators that fail.

use crate::chunks::cut;
use crate::common::devices;
use crate::common::sample::{Sample, data, tile};
use crate::values::{bits, bits_of_buffer};
use half::{bf16, f16};
use std::any::type_name;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{io, iter};
use tilewright::{Device, Error, ErrorKind, HostReducer, Reducible, SimulatorOptions, ops};
use tilewright_kernels::reduce::MAX_BLOCKS;
use tilewright_test_support::assert_kind;

fn check<R: Copy, T: Reducible<R> + Sample>(operation: R, len: usize, chunk: usize) {
    let x = data::<T>(len);
    for device in devices() {
        let expected = bits_of_buffer(&device, &x, operation);
        let mut reducer = device.host_reducer(chunk).unwrap();
        let chunks = cut(&x).into_iter().map(Ok::<_, Error>);
        let found = reducer.reduce_gathered(len, chunks, operation).unwrap();
        let [of, by] = [type_name::<T>(), type_name::<R>()];
        let case = format!("{len} {of} by {by} in chunks of {chunk}");
        assert_eq!(bits(found), expected, "{case}");
    }
}

fn check_lengths<R: Copy, T: Reducible<R> + Sample>(operation: R) {
    let tile = tile::<T>();
    let lengths = [1, 5, tile, 3 * tile - 1, 7 * tile + 17];
    for (len, chunk) in iter::zip(lengths, [1, 3, 100, tile + 1, 9 * tile]) {
        check::<R, T>(operation, len, chunk);
    }
}

macro_rules! operations {
    ($($operation:ident)*; $elements:tt) => {
        $(operations!(@one $operation $elements);)*
    };
    (@one $operation:ident [$($element:ident)*]) => {
        $(check_lengths::<_, $element>(ops::$operation);)*
    };
}

#[test]
fn operations_that_round() {
    operations! { Sum Product Mean SumOfSquares Norm1 Norm2 Variance; [f32 f64 f16 bf16] }
}

#[test]
fn operations_that_do_not_round() {
    operations! { ArgMax Sum; [i32 u64] }
}

/// More tiles than blocks: a block has elements from both ends of the data.
#[test]
fn sums_in_rounds() {
    let tile = tile::<f64>();
    check::<_, f64>(ops::Sum, (MAX_BLOCKS as usize + 3) * tile + 7, 1 << 19);
}

/// Sums ones, which `chunks` returns, and fails unless the reducer works on.
#[track_caller]
fn sum_of_ones<E: From<Error>>(
    reducer: &mut HostReducer<f32>,
    len: usize,
    chunks: impl Iterator<Item = Result<Vec<f32>, E>>,
) -> Result<f32, E> {
    let sum = reducer.reduce_gathered(len, chunks, ops::Sum);
    let again = [Ok::<_, Error>([2.0, 3.0])];
    let again = reducer.reduce_gathered(2, again, ops::Sum);
    assert_eq!(again.unwrap(), 5.0);
    sum
}

#[test]
fn a_wrong_total_is_an_error() {
    for device in devices() {
        let mut reducer = device.host_reducer::<f32>(64).unwrap();
        // The iterator is endless, so no chunk is taken after the one that exceeds the total.
        for (chunks, stated, total) in [
            (9, 1000, 900),
            (0, 1, 0),
            (usize::MAX, 0, 100),
            (usize::MAX, 950, 1000),
        ] {
            let ones = iter::repeat_with(|| Ok::<_, Error>(vec![1.0; 100])).take(chunks);
            let error = sum_of_ones(&mut reducer, stated, ones).unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::WrongLength { found, expected, .. }
                    if (*found, *expected) == (total, stated)),
                "{error}"
            );
            assert_eq!(error.operation(), "reduce_gathered");
        }
        let none = iter::empty::<Result<Vec<f32>, Error>>();
        assert_eq!(sum_of_ones(&mut reducer, 0, none).unwrap(), 0.0);
    }
}

/// Ones, more or fewer each time.
struct Changing {
    ones: Vec<f32>,
    lengths: RefCell<std::vec::IntoIter<usize>>,
}

impl AsRef<[f32]> for Changing {
    fn as_ref(&self) -> &[f32] {
        &self.ones[..self.lengths.borrow_mut().next().unwrap_or(0)]
    }
}

/// Elements past the end would be read from the device's memory.
#[test]
fn elements_count_when_they_are_taken() {
    for device in devices() {
        let mut reducer = device.host_reducer::<f32>(64).unwrap();
        for (lengths, total) in [
            (vec![1000], 0),
            (vec![1000, 1000, 32], 64),
            (vec![1000, 300, 300, 200], 192),
            (vec![10, 2000, 2000, 2000], 128),
        ] {
            let stated = if total == 128 { 100 } else { 1000 };
            let chunk = || Changing {
                ones: vec![1.0; 2000],
                lengths: RefCell::new(lengths.clone().into_iter()),
            };
            let of_all = [Ok::<_, Error>(chunk())];
            let found = [
                reducer.reduce_gathered(stated, of_all, ops::Sum),
                reducer.reduce_chunks(stated, [chunk()], ops::Max),
            ];
            for error in found.map(Result::unwrap_err) {
                assert!(
                    matches!(error.kind(), ErrorKind::WrongLength { found, expected, .. }
                        if (*found, *expected) == (total, stated)),
                    "{lengths:?}: {error}"
                );
            }
        }
    }
}

#[test]
fn without_elements_there_is_no_least() {
    for device in devices() {
        let mut reducer = device.host_reducer::<f32>(64).unwrap();
        let none = iter::empty::<Result<Vec<f32>, Error>>();
        let error = reducer.reduce_gathered(0, none, ops::Min).unwrap_err();
        assert_kind!(error is ErrorKind::NoElements { .. });
        assert_eq!(error.operation(), "reduce_gathered");
    }
}

#[test]
fn errors_and_panics_of_the_iterator_come_through() {
    for device in devices() {
        let mut reducer = device.host_reducer::<f32>(64).unwrap();
        for good in 0..5 {
            let ones = || iter::repeat_with(|| Ok::<_, Box<dyn std::error::Error>>(vec![1.0; 50]));
            let broken = iter::once_with(|| Err(io::Error::other("no network").into()));
            let failing = ones().take(good).chain(broken).chain(ones());
            let error = sum_of_ones(&mut reducer, 1000, failing).unwrap_err();
            assert_eq!(error.to_string(), "no network");

            let broken = iter::once_with(|| panic!("no more"));
            let failing = ones().take(good).chain(broken);
            let sum = catch_unwind(AssertUnwindSafe(|| {
                drop(sum_of_ones(&mut reducer, 1000, failing));
            }));
            let reason = sum.unwrap_err();
            assert_eq!(reason.downcast_ref(), Some(&"no more"));
            let sum = sum_of_ones(&mut reducer, 1000, ones().take(20));
            assert_eq!(sum.unwrap(), 1000.0);
        }
    }
}

/// The device holds all elements, and frees them afterwards.
#[test]
fn memory_is_enough_or_an_error() {
    let options = SimulatorOptions::default().with_memory_bytes(4 << 20);
    let device = Device::simulator_with(options);
    let mut reducer = device.host_reducer::<f32>(1 << 10).unwrap();
    let sum = |reducer: &mut HostReducer<f32>, len: usize| {
        let ones = iter::repeat_with(|| Ok::<_, Error>(vec![1.0; 1 << 12]));
        reducer.reduce_gathered(len, ones.take(len >> 12), ops::Sum)
    };
    assert_eq!(sum(&mut reducer, 1 << 19).unwrap(), 524_288.0);
    device.synchronize().unwrap();
    let before = device.memory().unwrap().used;
    let error = sum(&mut reducer, 1 << 20).unwrap_err();
    assert_kind!(error is ErrorKind::OutOfMemory { .. });
    assert_eq!(sum(&mut reducer, 1 << 19).unwrap(), 524_288.0);
    device.synchronize().unwrap();
    assert_eq!(device.memory().unwrap().used, before);
}
