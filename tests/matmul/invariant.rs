//! `Arithmetic::BatchInvariant`: an output has the same bits in every product with its row and its column.

#![expect(non_snake_case, reason = "tests are named after types")]

use crate::common::devices;
use crate::common::random::Random;
use crate::harness::{Bits, Host, ORDERS, ampere, assert_same_bits, hoppers, unlimited};
use half::{bf16, f16};
use std::fmt::Debug;
use std::ops::Range;
use tilewright::cuda_std::fp8::{F8E4M3, F8E5M2};
use tilewright::{Arithmetic, Device, Matmul, MatmulElement, MatmulGroup, MatmulInto, Matrix};

trait Invariant:
    MatmulInto<<Self as MatmulElement>::Accumulator> + MatmulElement<Accumulator: Bits + Debug> + Debug
{
    /// Enough that `Auto` adds a vector in another order, or divides the K of a single product.
    const K: usize = 640;
    /// Whether `Auto` has other bits for some of the shapes.
    const DEPENDS_OTHERWISE: bool = true;
    fn of(value: f64) -> Self;
    fn devices() -> Vec<Device> {
        devices().into_iter().chain([ampere()]).collect()
    }
}

impl Invariant for f16 {
    fn of(value: f64) -> Self {
        Self::from_f64(value)
    }
}
impl Invariant for bf16 {
    fn of(value: f64) -> Self {
        Self::from_f64(value)
    }
}
impl Invariant for f32 {
    fn of(value: f64) -> Self {
        value as Self
    }
}
impl Invariant for f64 {
    fn of(value: f64) -> Self {
        value
    }
}
impl Invariant for i8 {
    const DEPENDS_OTHERWISE: bool = false;
    fn of(value: f64) -> Self {
        (value * 128.0) as Self
    }
}

macro_rules! floats_of_bytes {
    ($($element:ident)*) => {$(
        impl Invariant for $element {
            const K: usize = 6144;
            fn of(value: f64) -> Self {
                Self::from_f32(value as f32)
            }
            fn devices() -> Vec<Device> {
                hoppers(devices())
            }
        }
    )*};
}
floats_of_bytes! { F8E4M3 F8E5M2 }

for_each_type! {
    [f16 bf16 f32 f64 i8 F8E4M3 F8E5M2]
    an_output_has_the_same_bits_in_every_product
}

for_each_type! {
    [f16 bf16 f32 f64]
    products_of_a_group_have_the_bits_of_each_alone
}

const M: usize = 34;
const N: usize = 24;

/// Rows of A and columns of B whose product is compared with that of all of them.
const PARTS: [(Range<usize>, Range<usize>); 4] =
    [(0..1, 0..N), (5..6, 7..8), (3..20, 8..N), (0..M, 9..10)];

/// The number of products into which the rows of A are divided.
const BATCH: usize = 2;

/// Operands whose magnitudes change along K, so that even short sums of totals are rounded.
fn operands<T: Invariant>(device: &Device, orders: usize) -> (Matrix<T>, Matrix<T>) {
    let mut random = Random::new(T::K as u64);
    let mut element = |k: usize| {
        let binade = (k / 128 * 7 % 9) as i32 - 4;
        T::of(random.signed_unit() * 2.0_f64.powi(binade))
    };
    let a = Host::new(M, T::K, |_, k| element(k));
    let b = Host::new(T::K, N, |k, _| element(k));
    (
        a.upload(device, ORDERS[orders & 1]),
        b.upload(device, ORDERS[orders >> 1]),
    )
}

/// The products of parts and of batches with this arithmetic, each with the outputs of `whole` that it should have.
fn products<T: Invariant>(
    (a, b): (&Matrix<T>, &Matrix<T>),
    arithmetic: Arithmetic,
    whole: &[T::Accumulator],
) -> Vec<[Vec<T::Accumulator>; 2]> {
    let of_parts = PARTS.map(|(rows, columns)| {
        let expected = rows
            .clone()
            .flat_map(|row| whole[row * N..][columns.clone()].to_vec());
        let expected = expected.collect();
        let of_a = a.slice(rows, ..).unwrap();
        let of_b = b.slice(.., columns).unwrap();
        let product = Matmul::new(of_a, of_b).arithmetic(arithmetic);
        [product.run_as().unwrap().to_vec().unwrap(), expected]
    });
    let batch = a.view().batch_rows(BATCH).unwrap();
    let of_batch = Matmul::new(batch, b).arithmetic(arithmetic);
    let of_batch = of_batch.run_as().unwrap().to_vec().unwrap();
    of_parts
        .into_iter()
        .chain([[of_batch, whole.to_vec()]])
        .collect()
}

fn an_output_has_the_same_bits_in_every_product<T: Invariant>() {
    for (number, device) in T::devices().into_iter().map(unlimited).enumerate() {
        let (a, b) = operands::<T>(&device, number % 4);
        let whole = |arithmetic| {
            let product = Matmul::new(&a, &b).arithmetic(arithmetic);
            product.run_as().unwrap().to_vec().unwrap()
        };
        let expected = whole(Arithmetic::BatchInvariant);
        let found = products((&a, &b), Arithmetic::BatchInvariant, &expected);
        for (place, [found, expected]) in found.iter().enumerate() {
            assert_same_bits(found, expected, &(place, &device));
        }
        // The shapes are such that another arithmetic would fail.
        let otherwise = products((&a, &b), Arithmetic::Auto, &whole(Arithmetic::Auto));
        let depends = otherwise.iter().any(|[found, expected]| {
            found
                .iter()
                .zip(expected)
                .any(|(a, b)| a.bits() != b.bits())
        });
        assert_eq!(depends, T::DEPENDS_OTHERWISE, "{device:?}");
    }
}

fn products_of_a_group_have_the_bits_of_each_alone<T>()
where
    T: Invariant + MatmulElement<Product: Bits + Debug> + MatmulInto<<T as MatmulElement>::Product>,
{
    let device = unlimited(devices().swap_remove(0));
    let (a, b) = operands::<T>(&device, 0);
    let pairs =
        PARTS.map(|(rows, columns)| (a.slice(rows, ..).unwrap(), b.slice(.., columns).unwrap()));
    let group = MatmulGroup::new(pairs).arithmetic(Arithmetic::BatchInvariant);
    let product = Matmul::new(&a, &b).arithmetic(Arithmetic::BatchInvariant);
    let whole = product.run().unwrap().to_vec().unwrap();
    for ((rows, columns), found) in PARTS.into_iter().zip(group.run().unwrap()) {
        let expected: Vec<_> = rows
            .clone()
            .flat_map(|row| whole[row * N..][columns.clone()].to_vec())
            .collect();
        assert_same_bits(&found.to_vec().unwrap(), &expected, &(rows, columns));
    }
}
