//! Arrays of any shape and layout, through the functions that take them.

#![cfg(feature = "ndarray")]

#[macro_use]
mod common;

use common::devices;
use common::layout::{LaidOut, Layout, layouts};
use common::random::Random;
use half::{bf16, f16};
use ndarray::{Array2, LinalgScalar};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::fmt::Debug;
use tilewright::{ChainElement, Device, Error, ErrorKind, ReduceElement};
use tilewright_test_support::assert_kind;

/// An element of arrays of small integers, whose sums and products are exact in every type.
trait Integral: ReduceElement<Sum: From<i16> + Debug> + From<i8> + PartialEq + Debug {
    /// The value in the gaps of a view: a sum or a product that includes it is wrong.
    const FILLER: Self;
}

macro_rules! integrals {
    ($($element:ty: $filler:expr;)*) => {$(
        impl Integral for $element {
            const FILLER: Self = $filler;
        }
    )*};
}
integrals! {
    f32: f32::NAN;
    f64: f64::NAN;
    f16: f16::NAN;
    bf16: bf16::NAN;
    i32: i32::MAX;
    i64: i64::MAX;
}

/// Rows or columns of an array, often none or one. An i16 holds the sum of its integers.
fn extents() -> impl Strategy<Value = usize> {
    prop_oneof![1 => Just(0), 1 => Just(1), 8 => 2..60_usize]
}

fn integers(shape: (usize, usize), seed: u64) -> Array2<i8> {
    let mut random = Random::new(seed);
    Array2::from_shape_simple_fn(shape, || random.integer(-8..=8) as i8)
}

fn laid_out<T: Integral>(elements: &Array2<i8>, layout: Layout) -> LaidOut<T> {
    LaidOut::new(&elements.mapv(T::from), T::FILLER, layout)
}

/// Runs `property` on random arrays, and shrinks one that fails.
fn check<S: Strategy>(inputs: S, property: impl Fn(S::Value)) {
    let config = ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let run = |input| {
        property(input);
        Ok(())
    };
    TestRunner::new(config)
        .run(&inputs, run)
        .unwrap_or_else(|failure| panic!("{failure}"));
}

for_each_type! {
    [f32 f64]
    products_of_any_layout_are_right
}

for_each_type! {
    [f32 f64 f16 bf16 i32 i64]
    sums_of_any_layout_are_right
    arrays_of_any_layout_come_back
}

fn products_of_any_layout_are_right<T: Integral + ChainElement + LinalgScalar>() {
    let sizes = (extents(), extents(), extents());
    check(
        (sizes, layouts(), layouts(), any::<u64>()),
        |((m, n, k), of_a, of_b, seed)| {
            let a = laid_out::<T>(&integers((m, k), seed), of_a);
            let b = laid_out::<T>(&integers((k, n), !seed), of_b);
            let expected = a.view().dot(&b.view());
            assert_eq!(
                tilewright::matmul_tiled(a.view(), b.view()).unwrap(),
                expected
            );
            assert_eq!(
                tilewright::matmul_coarsened(a.view(), b.view()).unwrap(),
                expected
            );
        },
    );
}

fn sums_of_any_layout_are_right<T: Integral>() {
    let devices = devices();
    check(
        ((extents(), extents()), layouts(), any::<u64>()),
        |(shape, layout, seed)| {
            let integers = integers(shape, seed);
            let expected = T::Sum::from(integers.mapv(i16::from).sum());
            let array = laid_out::<T>(&integers, layout);
            for device in &devices {
                let buffer = device.upload_array(array.view()).unwrap();
                assert_eq!(device.reduce_sum(&buffer).unwrap(), expected);
            }
            let elements: Vec<T> = array.view().iter().copied().collect();
            assert_eq!(tilewright::reduce_sum(&elements).unwrap(), expected);
        },
    );
}

fn arrays_of_any_layout_come_back<T: Integral>() {
    let devices = devices();
    check(
        ((extents(), extents()), layouts(), any::<u64>()),
        |(shape, layout, seed)| {
            let array = laid_out::<T>(&integers(shape, seed), layout);
            for device in &devices {
                let matrix = device.matrix_from_array(array.view()).unwrap();
                assert_eq!(matrix.shape(), shape);
                assert_eq!(matrix.to_array2().unwrap(), array.view());
            }
        },
    );
}

/// The two functions that name no device report errors, too.
#[test]
fn arrays_that_do_not_fit_together_are_refused() {
    let (a, b) = (Array2::<f32>::zeros((3, 4)), Array2::zeros((5, 6)));
    for error in [
        tilewright::matmul_tiled(a.view(), b.view()).unwrap_err(),
        tilewright::matmul_coarsened(a.view(), b.view()).unwrap_err(),
    ] {
        assert_kind!(error is ErrorKind::ShapeMismatch { left: (3, 4), right: (5, 6), .. });
    }
}

#[test]
fn more_elements_without_bytes_than_an_array_can_have_are_an_error() {
    let device = Device::simulator();
    let nothing = vec![(); usize::MAX];
    let matrix = device.matrix((usize::MAX, 1), &nothing).unwrap();
    let refused = |error: Option<Error>| {
        let error = error.unwrap();
        assert_kind!(error is ErrorKind::TooLarge { .. });
        error.operation()
    };
    assert_eq!(refused(matrix.to_array2().err()), "to_array2");
    assert_eq!(refused(matrix.into_buffer().to_array1().err()), "to_array1");
}
