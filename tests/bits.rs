//! The bits of products and sums: the sign of zeros, and the one NaN.

#[macro_use]
mod common;

use common::product::{Host, ORDERS, Real, assert_products, assert_same_bits};
use common::random::Random;
use common::{devices, machines, share};
use half::{bf16, f16};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::any::type_name;
use tilewright::{Device, Order, ReduceElement, SimulatorOptions};
use tilewright_kernels::reduce::{MAX_BLOCKS, Plan};

/// A type with values whose sums and products have a sign, or a NaN, that is easily lost.
trait Edge: Real {
    /// Its square underflows to zero.
    const TINY: Self;
    const SMALLEST_SUBNORMAL: Self;
    const MAX: Self;
    /// NaN of either sign, quiet and signalling, with several payloads.
    const NANS: [Self; 5];
}

macro_rules! edges {
    ($($real:ty: $tiny:literal, $nans:expr;)*) => {$(
        impl Edge for $real {
            const TINY: Self = $tiny;
            const SMALLEST_SUBNORMAL: Self = Self::from_bits(1);
            const MAX: Self = Self::MAX;
            const NANS: [Self; 5] = $nans;
        }
    )*};
}
edges! {
    f32: 1e-30, [
        Self::from_bits(0x7fc0_0000),
        Self::from_bits(0xffc0_0000),
        Self::from_bits(0x7fc1_2345),
        Self::from_bits(0x7f80_0001),
        Self::from_bits(0xffbf_ffff),
    ];
    f64: 1e-200, [
        Self::from_bits(0x7ff8_0000_0000_0000),
        Self::from_bits(0xfff8_0000_0000_0000),
        Self::from_bits(0x7ff8_0001_2345_6789),
        Self::from_bits(0x7ff0_0000_0000_0001),
        Self::from_bits(0xfff7_ffff_ffff_ffff),
    ];
}

for_each_type! {
    [f32 f64]
    products_that_underflow_keep_their_sign
    zeros_of_either_sign_are_right_at_the_edges_of_every_tile
    every_machine_gives_the_same_signs
    any_product_has_the_bits_of_the_loop
    every_nan_of_a_product_is_the_canonical_one
}

/// A zero of either sign, or a number whose products with its like are zeros of either sign.
fn vanishing<T: Edge>(random: &mut Random) -> T {
    let magnitude = if random.bits().is_multiple_of(4) {
        0.0
    } else {
        T::TINY.into()
    };
    T::of(if random.bits().is_multiple_of(2) {
        magnitude
    } else {
        -magnitude
    })
}

/// k around the borders of threads, tiles and stages.
const SOME_K: [usize; 20] = [
    1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 63, 65, 128, 130,
];

/// The first output is a sum of products of which each underflows to -0; the others are sums of
/// zeros of either sign. A column-major C is the product of the transposes, whose B has rows that
/// are multiples of 16 bytes; those of the other are not.
fn check_products_that_underflow<T: Edge>(device: &Device, k: usize) {
    const N: usize = 5;
    let mut random = Random::new(k as u64);
    let mut a = Host::<T>::new(4, k, || vanishing(&mut random));
    let mut b = Host::<T>::new(k, N, || vanishing(&mut random));
    a.elements[..k].fill(T::of(-T::TINY.into()));
    b.elements.iter_mut().step_by(N).for_each(|x| *x = T::TINY);
    let first = a.times(&b).elements[0];
    assert_eq!(first.bits(), T::of(-0.0).bits(), "the reference");
    assert_products(device, &a, &b, &ORDERS);
}

/// On a GPU, for every k.
fn products_that_underflow_keep_their_sign<T: Edge>() {
    for device in devices() {
        for k in 1..=130 {
            if !device.is_simulator() || SOME_K.contains(&k) {
                check_products_that_underflow::<T>(&device, k);
            }
        }
    }
}

/// Minutes of two cores.
#[test]
#[ignore = "takes minutes: cargo test --test bits -- --ignored"]
fn products_that_underflow_keep_their_sign_for_every_k_in_the_simulator() {
    let device = Device::simulator();
    for k in (1..=130).filter(|k| !SOME_K.contains(k)) {
        check_products_that_underflow::<f32>(&device, k);
        check_products_that_underflow::<f64>(&device, k);
    }
}

/// Blocks that lie within C, whose last tile of K alone has an edge, and blocks that do not.
fn zeros_of_either_sign_are_right_at_the_edges_of_every_tile<T: Edge>() {
    const SHAPES: [(usize, usize, usize); 7] = [
        (128, 128, 1),
        (64, 64, 17),
        (128, 128, 33),
        (129, 132, 23),
        (132, 129, 40),
        (127, 65, 24),
        (257, 130, 9),
    ];
    for device in devices() {
        for (m, n, k) in share(type_name::<T>(), SHAPES) {
            let mut random = Random::new(1);
            let a = Host::<T>::new(m, k, || vanishing(&mut random));
            let b = Host::<T>::new(k, n, || vanishing(&mut random));
            assert_products(&device, &a, &b, &[Order::RowMajor]);
        }
    }
}

/// By both entry points, too, on a device whose results get small tiles and one whose get large.
fn every_machine_gives_the_same_signs<T: Edge>() {
    let mut random = Random::new(2);
    let a = Host::<T>::new(130, 35, || vanishing(&mut random));
    let b = Host::<T>::new(35, 69, || vanishing(&mut random));
    let expected = a.times(&b).elements;
    let multiprocessors = [1, 1000];
    let devices = multiprocessors.map(|multiprocessors| {
        let options = SimulatorOptions::default().with_multiprocessors(multiprocessors);
        Device::simulator_with(options)
    });
    let machines = machines().into_iter().chain(devices);
    for device in share(type_name::<T>(), machines) {
        assert_products(&device, &a, &b, &[Order::RowMajor]);
        let (left, right) = (
            a.upload(&device, Order::RowMajor),
            b.upload(&device, Order::RowMajor),
        );
        for product in [
            device.matmul_tiled(&left, &right).unwrap(),
            device.matmul_coarsened(&left, &right).unwrap(),
        ] {
            assert_same_bits(&product.to_vec().unwrap(), &expected, b.columns, &device);
        }
    }
}

/// An element from which every special case of a sum of products comes.
fn special<T: Edge>(random: &mut Random) -> T {
    let magnitude = match random.bits() % 64 {
        0 => return T::NANS[random.bits() as usize % T::NANS.len()],
        1 => f64::INFINITY,
        2 => T::MAX.into(),
        3..8 => T::SMALLEST_SUBNORMAL.into(),
        8..16 => 1.0,
        16..32 => 0.0,
        32..40 => random.wide(),
        _ => T::TINY.into(),
    };
    T::of(if random.bits().is_multiple_of(2) {
        magnitude
    } else {
        -magnitude
    })
}

fn any_product_has_the_bits_of_the_loop<T: Edge>() {
    let config = ProptestConfig {
        cases: share(type_name::<T>(), 0..24).count() as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let device = devices().pop().unwrap();
    let inputs = (1..140_usize, 1..140_usize, 0..70_usize, any::<u64>());
    TestRunner::new(config)
        .run(&inputs, |(m, n, k, seed)| {
            let mut random = Random::new(seed);
            let a = Host::<T>::new(m, k, || special(&mut random));
            let b = Host::<T>::new(k, n, || special(&mut random));
            assert_products(&device, &a, &b, &[ORDERS[seed as usize % 2]]);
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}

/// From the NaN of either operand, from inf 0 and from inf - inf, at each k: a row of A and a
/// column of B for each of them.
fn every_nan_of_a_product_is_the_canonical_one<T: Edge>() {
    const WAYS: usize = 7;
    const ZERO: usize = 5;
    const INFINITIES: usize = 6;
    for device in devices() {
        for depth in [1, 9, 17, 33] {
            for at in share((type_name::<T>(), depth), 0..depth) {
                let mut a = Host::<T>::new(WAYS, depth, || T::of(1.0));
                let mut b = Host::<T>::new(depth, WAYS, || T::of(1.0));
                for (way, &nan) in T::NANS.iter().enumerate() {
                    a.elements[way * depth + at] = nan;
                    b.elements[at * WAYS + way] = nan;
                }
                a.elements[ZERO * depth + at] = T::of(f64::INFINITY);
                b.elements[at * WAYS + ZERO] = T::of(0.0);
                a.elements[INFINITIES * depth] = T::of(f64::INFINITY);
                a.elements[INFINITIES * depth + at] = T::of(f64::NEG_INFINITY);
                let product = a.times(&b);
                for way in (0..WAYS).filter(|&way| way != INFINITIES || at > 0) {
                    let output = product.elements[way * WAYS + way];
                    assert_eq!(output.bits(), T::CANONICAL_NAN.bits(), "the reference");
                }
                assert_products(&device, &a, &b, &[Order::RowMajor]);
            }
        }
    }
}

/// A type whose sums have a sign, or a NaN, that is easily lost.
trait Term: ReduceElement<Sum: Real> {
    /// NaN of either sign, quiet and signalling, with several payloads.
    const NANS: [Self; 5];

    fn of(value: f64) -> Self;
}

macro_rules! terms {
    ($($term:ty: $nans:expr, $of:expr;)*) => {$(
        impl Term for $term {
            const NANS: [Self; 5] = $nans;

            fn of(value: f64) -> Self {
                $of(value)
            }
        }
    )*};
}
terms! {
    f32: <Self as Edge>::NANS, |value| value as f32;
    f64: <Self as Edge>::NANS, |value| value;
    f16: [
        f16::from_bits(0x7e00),
        f16::from_bits(0xfe00),
        f16::from_bits(0x7e12),
        f16::from_bits(0x7c01),
        f16::from_bits(0xfdff),
    ], f16::from_f64;
    bf16: [
        bf16::from_bits(0x7fc0),
        bf16::from_bits(0xffc0),
        bf16::from_bits(0x7fd2),
        bf16::from_bits(0x7f81),
        bf16::from_bits(0xffbf),
    ], bf16::from_f64;
}

for_each_type! {
    [f32 f64 f16 bf16]
    every_nan_of_a_sum_is_the_canonical_one
    a_sum_of_zeros_is_positive
}

/// Around the borders of vectors, warps, blocks and tiles.
fn lengths<T>() -> Vec<usize> {
    let tile = Plan::new(1, size_of::<T>()).tile;
    let around = [1, 4, 8, 32, 256, 1024, tile - 1, tile, 3 * tile];
    around.into_iter().flat_map(|n| [n, n + 1]).collect()
}

/// The least number of elements that has more tiles than blocks.
fn more_tiles_than_blocks<T>() -> usize {
    MAX_BLOCKS as usize * Plan::new(1, size_of::<T>()).tile + 1
}

fn sum<T: Term>(device: &Device, terms: &[T]) -> u64 {
    let terms = device.upload(terms).unwrap();
    device.reduce_sum(&terms).unwrap().bits()
}

/// In rounds of f32 and of f16, whose sums lose a NaN in no other way than those of f64 and bf16.
#[test]
fn a_nan_of_the_last_round_is_the_canonical_one() {
    fn holds<T: Term>() {
        let mut many = vec![T::of(1.0); more_tiles_than_blocks::<T>()];
        *many.last_mut().unwrap() = T::NANS[1];
        for device in devices() {
            assert_eq!(sum(&device, &many), T::Sum::CANONICAL_NAN.bits());
        }
    }
    holds::<f32>();
    holds::<f16>();
}

/// In rounds of f64 and of bf16.
#[test]
fn a_sum_of_many_negative_zeros_is_positive() {
    fn holds<T: Term>() {
        let many = vec![T::of(-0.0); more_tiles_than_blocks::<T>()];
        for device in devices() {
            assert_eq!(sum(&device, &many), 0);
        }
    }
    holds::<f64>();
    holds::<bf16>();
}

fn every_nan_of_a_sum_is_the_canonical_one<T: Term>() {
    let (infinity, negative) = (T::of(f64::INFINITY), T::of(f64::NEG_INFINITY));
    for device in devices() {
        for length in lengths::<T>() {
            let mut terms = vec![T::of(1.0); length];
            let case = format!("{length} elements on {device:?}");
            for at in [0, length / 2, length - 1] {
                for nan in T::NANS {
                    let usual = std::mem::replace(&mut terms[at], nan);
                    assert_eq!(sum(&device, &terms), T::Sum::CANONICAL_NAN.bits(), "{case}");
                    terms[at] = usual;
                }
            }
            if length > 1 {
                for ends in [(infinity, negative), (negative, infinity)] {
                    (terms[0], terms[length - 1]) = ends;
                    assert_eq!(sum(&device, &terms), T::Sum::CANONICAL_NAN.bits(), "{case}");
                }
            }
        }
    }
}

/// Of zeros alone, whatever their signs, and of terms that cancel.
fn a_sum_of_zeros_is_positive<T: Term>() {
    for device in devices() {
        assert_eq!(sum::<T>(&device, &[]), 0, "no elements");
        for length in lengths::<T>() {
            let mut terms = vec![T::of(-0.0); length];
            assert_eq!(sum(&device, &terms), 0, "{length} times -0 on {device:?}");
            if length > 1 {
                (terms[0], terms[length - 1]) = (T::of(-1.5), T::of(1.5));
                assert_eq!(
                    sum(&device, &terms),
                    0,
                    "{length} that cancel on {device:?}"
                );
            }
        }
    }
}
