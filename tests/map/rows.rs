//! Maps of rows that see a value of the row.

use crate::simulators;
use half::{bf16, f16};
use tilewright::{Device, Element, ErrorKind, ModuleSource, RowElement, half};
use tilewright_kernels::map::RowMapKernel;
use tilewright_kernels::reduce::Reduction;
use tilewright_kernels::rows::{RowMap, RowPlan};
use tilewright_test_support::assert_kind;

/// Exact integers: the number of elements above 2, the sum of their indices, and the last bit of the length.
pub struct Census;

impl Reduction<f32> for Census {
    type Accumulator = [u64; 2];
    type Output = [u64; 2];
    const IDENTITY: [u64; 2] = [0; 2];

    fn lift(element: f32, index: usize) -> [u64; 2] {
        match element > 2.0 {
            true => [1, index as u64],
            false => [0, 0],
        }
    }

    fn combine(left: [u64; 2], right: [u64; 2]) -> [u64; 2] {
        [left[0] + right[0], left[1] + right[1]]
    }

    fn finish([count, indices]: [u64; 2], elements: usize) -> [u64; 2] {
        [count + elements as u64 % 2, indices]
    }
}

impl RowMap for Census {
    fn map(element: f32, [count, indices]: [u64; 2], index: usize) -> f32 {
        element + ((count + indices) % 64) as f32 + (index % 16) as f32
    }
}

/// Exact integers: the elements, weighted by their index.
pub struct Balance;

impl Reduction<f32> for Balance {
    type Accumulator = u64;
    type Output = u64;
    const IDENTITY: u64 = 0;

    fn lift(element: f32, index: usize) -> u64 {
        element as u64 * (1 + index as u64 % 3)
    }

    fn combine(left: u64, right: u64) -> u64 {
        left + right
    }

    fn finish(total: u64, elements: usize) -> u64 {
        total + elements as u64
    }
}

impl RowMap for Balance {
    fn map(element: f32, sum: u64, index: usize) -> f32 {
        element + (sum % 64) as f32 + (index % 8) as f32
    }
}

/// The powers of twice the elements' distance from the largest.
pub struct Powers;

impl Reduction<f32> for Powers {
    type Accumulator = f32;
    type Output = f32;
    const IDENTITY: f32 = f32::NEG_INFINITY;

    fn lift(element: f32, _index: usize) -> f32 {
        element
    }

    fn combine(left: f32, right: f32) -> f32 {
        tilewright::cuda_std::math::maximum(left, right)
    }

    fn finish(largest: f32, _elements: usize) -> f32 {
        largest
    }
}

impl RowMap for Powers {
    fn map(element: f32, largest: f32, _index: usize) -> f32 {
        tilewright::cuda_std::math::exp(2.0 * (element - largest))
    }
}

/// The elements, divided by their sum.
pub struct Shares;

impl Reduction<f32> for Shares {
    type Accumulator = f32;
    type Output = f32;
    const IDENTITY: f32 = 0.0;

    fn lift(element: f32, _index: usize) -> f32 {
        element
    }

    fn combine(left: f32, right: f32) -> f32 {
        left + right
    }

    fn finish(sum: f32, _elements: usize) -> f32 {
        sum
    }
}

impl RowMap for Shares {
    fn map(element: f32, sum: f32, _index: usize) -> f32 {
        element / sum
    }
}

/// A softmax with twice the exponent: the largest element, and the sum of e^(2 (x - largest)).
pub struct SharpSoftmax;

impl Reduction<f32> for SharpSoftmax {
    type Accumulator = [f32; 2];
    type Output = [f32; 2];
    const IDENTITY: [f32; 2] = [f32::NEG_INFINITY, 0.0];

    fn lift(element: f32, _index: usize) -> [f32; 2] {
        [element, 1.0]
    }

    fn combine(left: [f32; 2], right: [f32; 2]) -> [f32; 2] {
        let largest = tilewright::cuda_std::math::maximum(left[0], right[0]);
        [largest, scaled(left, largest) + scaled(right, largest)]
    }

    fn finish(total: [f32; 2], _elements: usize) -> [f32; 2] {
        total
    }
}

fn scaled([own, sum]: [f32; 2], largest: f32) -> f32 {
    match own == largest {
        true => sum,
        false => sum * tilewright::cuda_std::math::exp(2.0 * (own - largest)),
    }
}

impl RowMap for SharpSoftmax {
    fn map(element: f32, [largest, sum]: [f32; 2], _index: usize) -> f32 {
        tilewright::cuda_std::math::exp(2.0 * (element - largest)) / sum
    }
}

tilewright_kernels::maps! {
    /// Census of f32.
    census_f32: Census of rows of f32;
    /// Census of f16.
    census_f16: Census of rows of f16;
    /// Census of bf16.
    census_bf16: Census of rows of bf16;
    /// Census and balance of f32.
    balance_f32: Census then Balance of rows of f32;
    /// Census and balance of f16.
    balance_f16: Census then Balance of rows of f16;
    /// Census and balance of bf16.
    balance_bf16: Census then Balance of rows of bf16;
    /// A softmax, in one step.
    sharp_softmax: SharpSoftmax of rows of f32;
    /// A softmax, in two steps.
    stepped_softmax: Powers then Shares of rows of f32;
}

// SAFETY: (1) there are no images.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("custom_row_maps", &[]) };

/// Lengths of every class: one vector, several, blocks of each size, and long rows of several sections.
const LENGTHS: [usize; 14] = [
    1, 3, 4, 8, 64, 127, 128, 1000, 1025, 4096, 5001, 32_768, 32_769, 70_000,
];

/// Elements from 0 to 3, which all types have.
fn element(place: usize) -> f32 {
    (place * 7919 % 1021 % 4) as f32
}

fn mapped<M: RowMap>(x: &[f32]) -> (M::Output, Vec<f32>) {
    let lifted = x.iter().enumerate().map(|(i, &x)| M::lift(x, i));
    let value = M::finish(lifted.fold(M::IDENTITY, M::combine), x.len());
    let results = x.iter().enumerate().map(|(i, &x)| M::map(x, value, i));
    (value, results.collect())
}

fn mapped_twice(x: &[f32]) -> (u64, Vec<f32>) {
    mapped::<Balance>(&mapped::<Census>(x).1)
}

macro_rules! exact {
    ($($name:ident: $kernel:ident of $element:ident from $narrow:expr, $widen:expr, as $expected:expr;)*) => {$(
        #[test]
        fn $name() {
            for (number, device) in simulators().enumerate() {
                let module = device.load(&KERNELS).unwrap();
                for (len, gap) in LENGTHS.into_iter().flat_map(|len| [(len, 0), (len, 1)]) {
                    let rows = match len {
                        ..=1024 => 37,
                        32_768 | 70_000 => 1,
                        _ => 2,
                    };
                    let all: Vec<f32> = (0..rows * (len + gap)).map(element).collect();
                    let narrow: Vec<$element> = all.iter().copied().map($narrow).collect();
                    let mut matrix = device.matrix((rows, len + gap), &narrow).unwrap();
                    let x = matrix.slice(.., ..len).unwrap();
                    let mut results = device.matrix_zeros((rows, len)).unwrap();
                    let mut values = device.zeros(rows).unwrap();
                    module.map_rows_with_values_into($kernel, x, &mut results, &mut values).unwrap();
                    let found = results.to_vec().unwrap();
                    let values = values.to_vec().unwrap();
                    if number == 0 {
                        let again = module.map_rows($kernel, x).unwrap().to_vec().unwrap();
                        assert!(found == again, "{len}");
                    }
                    let mut part = matrix.slice_mut(.., ..len).unwrap();
                    module.map_rows_in_place($kernel, &mut part).unwrap();
                    let in_place = matrix.slice(.., ..len).unwrap().to_vec().unwrap();
                    assert!(found == in_place, "{len}");
                    for row in 0..rows {
                        let (value, results) = $expected(&all[row * (len + gap)..][..len]);
                        assert_eq!(values[row], value, "row {row} of {len}, gap {gap}");
                        let found: Vec<f32> = found[row * len..][..len].iter().copied().map($widen).collect();
                        assert!(found == results, "row {row} of {len}, gap {gap}");
                    }
                }
            }
        }
    )*};
}
exact! {
    rows_of_f32_are_mapped: census_f32 of f32 from |x| x, |x| x, as mapped::<Census>;
    rows_of_f32_are_mapped_twice: balance_f32 of f32 from |x| x, |x| x, as mapped_twice;
    rows_of_f16_are_mapped: census_f16 of f16 from f16::from_f32, f16::to_f32, as mapped::<Census>;
    rows_of_f16_are_mapped_twice: balance_f16 of f16 from f16::from_f32, f16::to_f32, as mapped_twice;
    rows_of_bf16_are_mapped: census_bf16 of bf16 from bf16::from_f32, bf16::to_f32, as mapped::<Census>;
    rows_of_bf16_are_mapped_twice: balance_bf16 of bf16 from bf16::from_f32, bf16::to_f32, as mapped_twice;
}

#[test]
fn a_softmax_of_ones_own_is_near_the_true_one_with_the_same_bits_everywhere() {
    assert_softmax(sharp_softmax);
    assert_softmax(stepped_softmax);
}

fn assert_softmax<K: RowMapKernel<Element = f32, Operation: Reduction<f32, Output: Element>>>(
    kernel: impl Fn() -> K + Copy + Send + Sync + 'static,
) {
    for len in LENGTHS {
        let x: Vec<f32> = (0..2 * len)
            .map(|i| ((i * 7919 % 1021) as f32 - 510.0) / 50.0)
            .collect();
        let mut first: Option<Vec<u32>> = None;
        for device in simulators() {
            let module = device.load(&KERNELS).unwrap();
            let matrix = device.matrix((2, len), &x).unwrap();
            let found = module.map_rows(kernel, &matrix).unwrap().to_vec().unwrap();
            let bits: Vec<u32> = found.iter().map(|x| x.to_bits()).collect();
            if let Some(first) = &first {
                assert!(*first == bits, "{len}");
                continue;
            }
            first = Some(bits);
            for (row, found) in x.chunks(len).zip(found.chunks(len)) {
                let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let power = |x: f32| (2.0 * (f64::from(x) - f64::from(largest))).exp();
                let sum: f64 = row.iter().copied().map(power).sum();
                for (&x, &found) in row.iter().zip(found) {
                    let expected = power(x) / sum;
                    let error = (f64::from(found) - expected).abs();
                    assert!(error <= 2e-5 * expected + 1e-37, "{found} for {expected}");
                }
            }
        }
    }
}

#[test]
fn nan_and_infinities_reach_the_operation() {
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        let x = [
            f32::NAN,
            1.0,
            f32::NEG_INFINITY,
            1.0,
            f32::NEG_INFINITY,
            f32::NEG_INFINITY,
        ];
        let matrix = device.matrix((3, 2), &x).unwrap();
        let in_one = module.map_rows(sharp_softmax, &matrix).unwrap();
        let in_two = module.map_rows(stepped_softmax, &matrix).unwrap();
        for found in [in_one, in_two].map(|it| it.to_vec().unwrap()) {
            assert!(found[0].is_nan() && found[1].is_nan() && found[4].is_nan());
            assert_eq!(found[2..4], [0.0, 1.0]);
        }
    }
}

#[test]
fn what_has_no_kernel_is_refused_and_nothing_is_nothing() {
    let device = Device::simulator();
    let module = device.load(&KERNELS).unwrap();
    let x = device.matrix((2, 3), &[1.0_f32; 6]).unwrap();
    let error = module.map_rows(census_f32, x.t()).unwrap_err();
    assert_kind!(error is ErrorKind::NoKernel { .. });
    assert_eq!(error.operation(), "map_rows");
    let mut results = device.matrix_zeros((3, 2)).unwrap();
    let error = module
        .map_rows_into(census_f32, &x, &mut results)
        .unwrap_err();
    assert_kind!(error is ErrorKind::ShapeMismatch { .. });
    let mut values = device.zeros(3).unwrap();
    let mut results = device.matrix_zeros((2, 3)).unwrap();
    let error = module.map_rows_with_values_into(census_f32, &x, &mut results, &mut values);
    let error = error.unwrap_err();
    assert_kind!(error is ErrorKind::WrongLength { .. });

    let none = device.matrix::<f32>((3, 0), &[]).unwrap();
    assert_eq!(module.map_rows(census_f32, &none).unwrap().shape(), (3, 0));
    let mut results = device.matrix_zeros((3, 0)).unwrap();
    module
        .map_rows_with_values_into(census_f32, &none, &mut results, &mut values)
        .unwrap();
    assert_eq!(values.to_vec().unwrap(), [[0, 0]; 3]);
}

/// The plan is that of the library's row operations.
#[test]
fn lengths_cover_every_class() {
    fn classes<T: RowElement>() -> usize {
        let mut plans: Vec<_> = LENGTHS
            .map(|len| RowPlan::new(len, size_of::<T>()))
            .to_vec();
        plans.dedup_by_key(|plan| format!("{:?}", plan.class));
        plans.len()
    }
    assert!(classes::<f32>() >= 7 && classes::<f16>() >= 7);
}
