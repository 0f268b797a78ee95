//! Every operation for every type that it is for: the tables of kernels are the tables of tests.

pub mod erased;
pub mod judge;
mod model;
mod ranges;
mod scales;
mod spread;
pub mod values;

use crate::common::{devices, machines, share};
use crate::samples::tile;
use erased::Operation;
use half::{bf16, f16};
use judge::Judge;
use std::any::type_name;
use std::fmt::Debug;
use tilewright::{Device, Element, ErrorKind, ReduciblePairs, ops};
use tilewright_kernels::reduce::Reduction;
use tilewright_test_support::assert_kind;
use values::{Value, assert_same, at_border_of_tiles, at_borders_of_tiles, input, inputs};

/// Around vectors, warps, blocks and tiles.
fn lengths<T>() -> Vec<usize> {
    let tile = tile::<T>();
    vec![
        0,
        1,
        2,
        3,
        33,
        257,
        1000,
        tile - 1,
        tile,
        tile + 1,
        3 * tile + 37,
        9 * tile + 5,
    ]
}

/// Makes an input when it is drawn.
type Make<T> = Box<dyn Fn() -> Vec<T>>;

/// The inputs of all lengths, and those with special elements at the borders of tiles and of their parts, by number.
fn all_inputs<T: Value>() -> impl Iterator<Item = (usize, Make<T>)> {
    let lengths = lengths::<T>().into_iter();
    let of_lengths = lengths.flat_map(|length| {
        (0..inputs::<T>(length))
            .map(move |number| -> Make<T> { Box::new(move || input(length, number)) })
    });
    let at_borders = (0..at_borders_of_tiles::<T>())
        .map(|number| -> Make<T> { Box::new(move || at_border_of_tiles(number)) });
    of_lengths.chain(at_borders).enumerate()
}

/// Holds all inputs against the model of the tree and the reference, from an aligned
/// start and from another, with the result on the host and on the device.
fn run<T: Value>(operation: &dyn Operation<T>) {
    for device in devices() {
        for (number, make) in share(operation.name(), all_inputs::<T>()) {
            let input = make();
            let case = format!("input {number}, of {} elements, {device:?}", input.len());
            let x = device.upload(&input).unwrap();
            if input.is_empty() && operation.needs_an_element() {
                let error = operation.reduce(&device, x.view()).unwrap_err();
                assert_kind!(error is ErrorKind::NoElements { .. });
                continue;
            }
            let expected = operation.of_buffer(&input, &case);
            let found = operation.reduce(&device, x.view()).unwrap();
            found.assert_same(&expected, &case);
        }
        the_start_does_not_matter(&device, operation);
    }
    every_machine_gives_the_bits_of_the_model(operation);
}

fn the_start_does_not_matter<T: Value>(device: &Device, operation: &dyn Operation<T>) {
    let length = 2 * tile::<T>() + 3;
    let input = input::<T>(length + 3, 0);
    let x = device.upload(&input).unwrap();
    for start in 1..=3 {
        let part = start..start + length;
        let expected = operation.model(&input[part.clone()]);
        let part = x.slice(part).unwrap();
        let case = format!("{length} elements from {start} on, {device:?}");
        let found = operation.reduce(device, part).unwrap();
        found.assert_same(&expected, &case);
        let found = operation.reduce_into(device, part).unwrap();
        found.assert_same(&expected, &case);
    }
}

fn every_machine_gives_the_bits_of_the_model<T: Value>(operation: &dyn Operation<T>) {
    let input = input::<T>(5 * tile::<T>() + 11, 0);
    let expected = operation.model(&input);
    let machines = machines().into_iter().enumerate();
    for (number, machine) in share(operation.name(), machines) {
        let x = machine.upload(&input).unwrap();
        let found = operation.reduce(&machine, x.view()).unwrap();
        found.assert_same(&expected, &format!("machine {number}"));
    }
}

/// [`run`] for two arrays: the second is the first, turned around. Each input on two simulators, and on the GPU.
fn run_pairs<R, T>(
    operation: impl Fn(&Device, &[T], &[T], usize) -> <R as Reduction<[T; 2]>>::Output,
) where
    R: Judge<[T; 2], Output: Debug + Element>,
    T: Value + ReduciblePairs<R>,
{
    let (simulators, gpus): (Vec<Device>, Vec<Device>) =
        machines().into_iter().partition(Device::is_simulator);
    for (number, make) in share(type_name::<(R, T)>(), all_inputs::<T>()) {
        let x = make();
        let y: Vec<T> = x.iter().rev().copied().collect();
        let pairs: Vec<[T; 2]> = x.iter().zip(&y).map(|(x, y)| [*x, *y]).collect();
        let expected = model::value::<R, [T; 2]>(&pairs, size_of::<T>());
        let case = format!("input {number}, of {} elements", x.len());
        R::judge(&pairs, expected, &case);
        let of_turn = |turn| simulators.get((2 * number + turn) % simulators.len().max(1));
        let two = [of_turn(0), of_turn(1)].into_iter().flatten();
        for (turn, machine) in two.chain(&gpus).enumerate() {
            // From either start on one of the machines, and from the other in another case.
            let start = (number / simulators.len().max(1) + turn) % 2;
            let case = format!("{case} from {start} on, {machine:?}");
            assert_same(operation(machine, &x, &y, start), expected, &case);
        }
    }
}

/// The dot product of copies of which the second starts at element `start` of its buffer.
fn dot<T: Value + ReduciblePairs<ops::Dot>>(
    device: &Device,
    x: &[T],
    y: &[T],
    start: usize,
) -> T::Output {
    let behind: Vec<T> = std::iter::repeat_n(T::zeroed(), start)
        .chain(y.iter().copied())
        .collect();
    let (x, y) = (device.upload(x).unwrap(), device.upload(&behind).unwrap());
    let y = y.slice(start..).unwrap();
    let mut result = device.zeros(1).unwrap();
    device.reduce_dot_into(x.view(), y, &mut result).unwrap();
    let value = device.reduce_dot(x.view(), y).unwrap();
    assert_eq!(
        bytemuck::bytes_of(&result.to_vec().unwrap()[0]),
        bytemuck::bytes_of(&value)
    );
    value
}

#[test]
fn buffers_of_different_lengths_have_no_dot_product() {
    for device in devices() {
        let (x, y) = (
            device.zeros::<f32>(3).unwrap(),
            device.zeros::<f32>(2).unwrap(),
        );
        let error = device.reduce_dot(&x, &y).unwrap_err();
        assert_kind!(error is ErrorKind::WrongLength { expected: 3, found: 2, .. });
    }
}

macro_rules! tests_of_reductions {
    ($($name:ident: $operation:ident of $element:ident;)*) => {$(
        #[test]
        fn $name() {
            run::<$element>(&ops::$operation);
        }
    )*};
}
tilewright_kernels::for_each_reduction!(tests_of_reductions);

/// Sums have kernels of their own, in a table of their own.
macro_rules! tests_of_sums {
    ($($kernel:ident, $unaligned:ident: sum of $element:ident in $sum:ident;)*) => {$(
        #[test]
        fn $kernel() {
            run::<$element>(&ops::Sum);
        }
    )*};
}
tilewright_kernels::for_each_sum!(tests_of_sums);

macro_rules! tests_of_pairs {
    ($($name:ident: $operation:ident of $element:ident;)*) => {$(
        #[test]
        fn $name() {
            run_pairs::<ops::$operation, $element>(dot);
        }
    )*};
}
tilewright_kernels::for_each_pair_reduction!(tests_of_pairs);
