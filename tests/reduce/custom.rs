//! Reductions by operations of this crate's own, in the tree of the library's.

mod lines;
mod tuples;

use tilewright::testing::seeds;
use tilewright::{Device, Element, ErrorKind, ModuleSource, SimulatorOptions, ops};
use tilewright_kernels::reduce::{
    ArgMax, ArgMin, Max, Mean, MinMax, Norm2, Plan, Reduction, Sum, Variance,
};
use tilewright_test_support::assert_kind;

/// What [`ops::Sum`] is.
pub struct OwnSum;

impl Reduction<f32> for OwnSum {
    type Accumulator = f32;
    type Output = f32;
    const IDENTITY: f32 = 0.0;

    fn lift(element: f32, _index: usize) -> f32 {
        element
    }

    fn combine(left: f32, right: f32) -> f32 {
        left + right
    }

    fn finish(total: f32, _elements: usize) -> f32 {
        total
    }
}

/// The sum of the elements times their indices, and how many there are.
pub struct Moment;

impl Reduction<u16> for Moment {
    type Accumulator = [u64; 2];
    type Output = [u64; 2];
    const IDENTITY: [u64; 2] = [0; 2];
    const NEEDS_AN_ELEMENT: bool = true;

    fn lift(element: u16, index: usize) -> [u64; 2] {
        [u64::from(element) * index as u64, 1]
    }

    fn combine(left: [u64; 2], right: [u64; 2]) -> [u64; 2] {
        [left[0] + right[0], left[1] + right[1]]
    }

    fn finish(total: [u64; 2], elements: usize) -> [u64; 2] {
        [total[0], total[1] * u64::from(total[1] == elements as u64)]
    }
}

/// The sum of numbers, which panics where there is another one.
pub struct StrictSum;

impl Reduction<f32> for StrictSum {
    type Accumulator = f32;
    type Output = f32;
    const IDENTITY: f32 = 0.0;

    fn lift(element: f32, _index: usize) -> f32 {
        element
    }

    fn combine(left: f32, right: f32) -> f32 {
        assert!(!(left + right).is_nan());
        left + right
    }

    fn finish(total: f32, _elements: usize) -> f32 {
        total
    }
}

tilewright_kernels::reductions! {
    /// The sum of an array of numbers.
    strict_sum: StrictSum of f32;
    /// The sum of an array.
    own_sum: OwnSum of f32;
    /// The moment of an array.
    moment: Moment of u16;
    /// Sum, maximum and norm in one read.
    several: (Sum, Max, Norm2) of f32;
    /// Index of the minimum, and variance.
    two_of_f64: (ArgMin, Variance) of f64;
    /// Four of each row.
    four_along, four_across: (Sum, Mean, MinMax, OwnSum) of rows of f32;
    /// Two of each segment.
    two_of_segments: (ArgMax, Sum) of segments of f32;
    /// The sum of each row or column.
    own_sum_along, own_sum_across: OwnSum of rows of f32;
    /// The sum of each segment.
    own_sum_segments: OwnSum of segments of f32;
    /// The moment of each row or column.
    moment_along, moment_across: Moment of rows of u16;
    /// The moment of each segment.
    moment_segments: Moment of segments of u16;
    /// The sum of the numbers of each row or column.
    strict_sum_along, strict_sum_across: StrictSum of rows of f32;
}

// SAFETY: (1) there are no images.
pub static KERNELS: ModuleSource = unsafe { ModuleSource::new("custom_reductions", &[]) };

/// Simulators under several seeds: the kernels of this program have no PTX.
pub fn simulators() -> impl Iterator<Item = Device> {
    let options = |seed| SimulatorOptions::default().with_seed(seed);
    seeds(3).map(options).map(Device::simulator_with)
}

/// None, one, those of a vector, of a tile, of two blocks, and one less and more.
fn lengths<T: Element>() -> impl Iterator<Item = usize> {
    let tile = Plan::new(1, size_of::<T>()).tile;
    let borders = [1, 16 / size_of::<T>(), tile, 2 * tile, 5 * tile];
    [0].into_iter()
        .chain(borders.into_iter().flat_map(|it| [it - 1, it, it + 1]))
}

/// Blocks that were stopped have taken tickets, and none is left to set them to 0.
#[test]
fn an_operation_that_panics_leaves_the_next_one_right() {
    let tile = Plan::new(1, size_of::<f32>()).tile;
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        let ones = device.upload(&vec![1.0_f32; 5 * tile]).unwrap();
        for place in [0, 2 * tile, 5 * tile - 1] {
            let mut x = vec![1.0; 5 * tile];
            x[place] = f32::NAN;
            let x = device.upload(&x).unwrap();
            let error = module.reduce(strict_sum, &x).unwrap_err();
            assert!(error.to_string().contains("is_nan"), "{error}");
            let sum = module.reduce(strict_sum, &ones).unwrap();
            assert_eq!(sum, 5.0 * tile as f32);
        }
    }
}

#[test]
fn an_operation_that_the_library_has_gives_its_bits() {
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        for len in lengths::<f32>() {
            let x: Vec<f32> = (0..len).map(|i| ((i * 7919 % 1021) as f32).sin()).collect();
            let x = device.upload(&x).unwrap();
            let expected = device.reduce(&x, ops::Sum).unwrap();
            let found = module.reduce(own_sum, &x).unwrap();
            assert_eq!(found.to_bits(), expected.to_bits(), "{len}");
            let mut result = device.uninit(1).unwrap();
            module.reduce_into(own_sum, &x, &mut result).unwrap();
            assert_eq!(result.to_vec().unwrap()[0].to_bits(), expected.to_bits());
        }
    }
}

/// In parts of a buffer, which start anywhere.
#[test]
fn elements_come_with_their_indices() {
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        for (len, start) in lengths::<u16>()
            .skip(2)
            .zip([0, 1, 7, 8].into_iter().cycle())
        {
            let all: Vec<u16> = (0..start + len + 1)
                .map(|i| (i * 7919 % 1021) as u16)
                .collect();
            let x = device.upload(&all).unwrap();
            let part = &all[start..start + len];
            let sum = part.iter().zip(0..).map(|(x, i)| u64::from(*x) * i).sum();
            let found = module.reduce(moment, x.slice(start..start + len).unwrap());
            assert_eq!(found.unwrap(), [sum, len as u64], "{len} from {start} on");
        }
    }
}

#[test]
fn an_operation_that_needs_an_element_has_no_value_of_none() {
    let device = Device::simulator();
    let module = device.load(&KERNELS).unwrap();
    let none = device.upload::<u16>(&[]).unwrap();
    let error = module.reduce(moment, &none).unwrap_err();
    assert_kind!(error is ErrorKind::NoElements { .. });
    let mut result = device.upload(&[[7_u64; 2]]).unwrap();
    let error = module.reduce_into(moment, &none, &mut result).unwrap_err();
    assert_kind!(error is ErrorKind::NoElements { .. });
    assert_eq!(result.to_vec().unwrap(), [[7; 2]]);
}

#[test]
fn a_result_has_one_element_of_the_same_device() {
    let (device, other) = (Device::simulator(), Device::simulator());
    let module = device.load(&KERNELS).unwrap();
    let x = device.upload(&[1.0_f32]).unwrap();
    let mut two = device.zeros::<f32>(2).unwrap();
    let error = module.reduce_into(own_sum, &x, &mut two).unwrap_err();
    assert_kind!(error is ErrorKind::WrongLength { .. });
    let elsewhere = other.upload(&[1.0_f32]).unwrap();
    let error = module.reduce(own_sum, &elsewhere).unwrap_err();
    assert_kind!(error is ErrorKind::WrongDevice { .. });
    let mut result = other.zeros::<f32>(1).unwrap();
    let error = module.reduce_into(own_sum, &x, &mut result).unwrap_err();
    assert_kind!(error is ErrorKind::WrongDevice { .. });
}
