//! Calls that are refused, the state after an error, and the use of memory.

use crate::common::devices;
use crate::common::sample::data;
use std::io;
use std::iter;
use tilewright::{Device, Error, ErrorKind, SimulatorOptions, ops};
use tilewright_test_support::assert_kind;

#[test]
fn operations_that_need_an_element_refuse_none() {
    for device in devices() {
        let mut reducer = device.host_reducer::<f32>(100).unwrap();
        let no_read = |_: usize, _: &mut [f32]| -> Result<(), Error> { unreachable!() };
        let none: [&[f32]; 0] = [];
        for (error, call) in [
            (
                device.reduce_host::<_, f32>(&[], ops::Min).unwrap_err(),
                "reduce_host",
            ),
            (reducer.reduce(&[], ops::Max).unwrap_err(), "reduce"),
            (
                reducer.reduce_from(0, ops::ArgMax, no_read).unwrap_err(),
                "reduce_from",
            ),
            (
                reducer.reduce_chunks(0, none, ops::ArgMin).unwrap_err(),
                "reduce_chunks",
            ),
        ] {
            assert_kind!(error is ErrorKind::NoElements { .. });
            assert_eq!(error.operation(), call);
        }
        assert_eq!(reducer.reduce(&[], ops::Product).unwrap(), 1.0);
        assert_eq!(reducer.reduce_from(0, ops::Sum, no_read).unwrap(), 0.0);
        assert_eq!(reducer.reduce_chunks(0, none, ops::NormInf).unwrap(), 0.0);
        assert_eq!(reducer.reproducible_sum(&[]).unwrap().value(), 0.0);
    }
}

#[test]
fn chunks_have_the_stated_number_of_elements() {
    for device in devices() {
        let mut reducer = device.host_reducer::<i32>(100).unwrap();
        for (stated, chunks, found) in [
            (10, vec![vec![1; 9]], 9),
            (10, vec![], 0),
            (0, vec![vec![1]], 1),
            (1000, vec![vec![1; 500], vec![1; 499]], 999),
            // The last one is not taken.
            (1000, vec![vec![1; 999], vec![1; 2], vec![1; 5]], 1001),
        ] {
            let error = reducer
                .reduce_chunks(stated, &chunks, ops::Sum)
                .unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::WrongLength { expected, found: named, .. }
                    if (*expected, *named) == (stated, found)),
                "{error}"
            );
            assert_eq!(error.operation(), "reduce_chunks");
        }
        let endless = iter::repeat([1; 10]);
        let error = reducer.reduce_chunks(35, endless, ops::Sum).unwrap_err();
        assert_kind!(error is ErrorKind::WrongLength { found: 40, .. });
        assert_eq!(reducer.reduce_chunks(3, [[1, 2, 3]], ops::Sum).unwrap(), 6);
    }
}

#[test]
fn chunks_of_a_sum_have_the_stated_number_of_elements() {
    let device = Device::simulator();
    let mut reducer = device.host_reducer::<f32>(100).unwrap();
    let error = reducer
        .reproducible_sum_chunks(3, [[1.0], [2.0]])
        .unwrap_err();
    assert_eq!(error.operation(), "reproducible_sum_chunks");
    assert_eq!(
        error.kind().to_string(),
        "the data of all chunks has 2 elements, and needs 3: the number that the call was given"
    );
}

/// An error of a reader comes back as it is, and the reducer works on.
#[test]
fn errors_of_a_reader_are_returned() {
    for device in devices() {
        let mut reducer = device.host_reducer::<f64>(4096).unwrap();
        for good in 0..4 {
            let mut reads = 0;
            let read = |_: usize, elements: &mut [f64]| -> Result<(), Box<dyn std::error::Error>> {
                reads += 1;
                elements.fill(1.0);
                match reads > good {
                    true => Err(io::Error::other("no disk"))?,
                    false => Ok(()),
                }
            };
            let error = reducer.reduce_from(100_000, ops::Sum, read).unwrap_err();
            assert_eq!(error.to_string(), "no disk");
            assert_eq!(reads, good + 1);
            let x = data::<f64>(20_000);
            let expected = device.reduce_sum(&device.upload(&x).unwrap()).unwrap();
            assert_eq!(reducer.reduce(&x, ops::Sum).unwrap(), expected);
        }
    }
}

/// Each element is read once, in runs of whole tiles.
#[test]
fn elements_are_read_once() {
    let device = Device::simulator();
    let tile = 2048;
    // More tiles than blocks.
    let len = (2048 + 48) * tile - 500;
    let mut times = vec![0_u8; len];
    let mut reducer = device.host_reducer::<f64>(1 << 20).unwrap();
    let sum = reducer.reduce_from(len, ops::Sum, |start, elements| {
        assert!(start.is_multiple_of(tile));
        assert!(elements.len().is_multiple_of(tile) || start + elements.len() == len);
        elements.fill(1.0);
        times[start..start + elements.len()]
            .iter_mut()
            .for_each(|it| *it += 1);
        Ok::<_, Error>(())
    });
    assert_eq!(sum.unwrap(), len as f64);
    assert!(times.iter().all(|it| *it == 1));
}

#[test]
fn memory_is_bounded_and_returns() {
    // The memory of a GPU is that of all tests.
    let device = Device::simulator();
    // The workspace of reductions stays.
    device.reduce_host(&[1.0_f64], ops::Sum).unwrap();
    device.synchronize().unwrap();
    let before = device.memory().unwrap().used;
    let chunk = 1 << 17;
    let len = 1 << 19;
    let mut reducer = device.host_reducer::<f64>(chunk).unwrap();
    let mut most = 0;
    let read = |_: usize, elements: &mut [f64]| {
        elements.fill(0.5);
        most = device.memory()?.used.max(most);
        Ok::<_, Error>(())
    };
    let sum = reducer.reduce_from(len, ops::Sum, read);
    assert_eq!(sum.unwrap(), len as f64 / 2.0);
    let chunks = 2 * 8 * chunk as u64;
    assert!(
        (chunks..chunks + (1 << 20)).contains(&(most - before)),
        "{before} {most}"
    );
    drop(reducer);
    device.synchronize().unwrap();
    assert_eq!(device.memory().unwrap().used, before);
}

#[test]
fn a_device_without_memory_for_the_data_reduces_it() {
    let device = Device::simulator_with(SimulatorOptions::default().with_memory_bytes(4 << 20));
    let x = vec![0.25_f64; 1 << 20];
    assert!(device.upload(&x).is_err());
    let mut reducer = device.host_reducer(1 << 17).unwrap();
    assert_eq!(reducer.reduce(&x, ops::Sum).unwrap(), f64::from(1 << 18));
    let mut too_large = device.host_reducer(1 << 20).unwrap();
    let error = too_large.reduce(&x, ops::Sum).unwrap_err();
    assert_kind!(error is ErrorKind::OutOfMemory { .. });
    drop(too_large);
    assert_eq!(reducer.reduce(&x, ops::Sum).unwrap(), f64::from(1 << 18));
}
