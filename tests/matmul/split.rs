//! f32 products on tensor cores, of operands that are taken apart into halves.

use crate::common::exact::Compensated;
use crate::common::random::Random;
use crate::common::{devices, machines};
use crate::harness::{Host, assert_same_bits, hoppers, orders, product, product_in};
use std::fmt::Debug;
use tilewright::{Arithmetic, Device, SimulatorOptions, TileConfig};

/// Fails unless each output is within gamma_k |A||B| of the exact one, or has the bits of the chain.
#[track_caller]
fn assert_accurate(a: &Host<f32>, b: &Host<f32>, found: &[f32], case: &dyn Debug) {
    let (n, k) = (b.columns, a.columns);
    for (i, &found) in found.iter().enumerate() {
        let (row, column) = (i / n, i % n);
        let terms = || (0..k).map(|j| (a.elements[row * k + j], b.elements[j * n + column]));
        if terms().all(|(a, b)| a.is_finite() && b.is_finite()) {
            let mut exact = Compensated::default();
            terms().for_each(|(a, b)| exact.add_product(a.into(), b.into()));
            exact.assert_close(found, k);
        } else {
            let chain = terms().fold(0.0_f32, |sum, (a, b)| a.mul_add(b, sum));
            let is_same = chain.to_bits() == found.to_bits() || chain.is_nan() && found.is_nan();
            assert!(
                is_same,
                "{found} instead of {chain} at {row}, {column}: {case:?}"
            );
        }
    }
}

/// How elements of A and of B are drawn.
type Draw = fn(&mut Random) -> f64;
const DISTRIBUTIONS: [(&str, Draw, Draw); 6] = [
    (
        "uniform in [-1, 1)",
        Random::signed_unit,
        Random::signed_unit,
    ),
    (
        "uniform in [0, 1)",
        |random| random.signed_unit().abs(),
        |random| random.signed_unit().abs(),
    ),
    (
        "large",
        |random| random.signed_unit() * 1e36,
        Random::signed_unit,
    ),
    (
        "subnormal and large",
        |random| random.signed_unit() * 1e-39,
        |random| random.signed_unit() * 1e36,
    ),
    ("27 binades", far_apart, far_apart),
    (
        "integers",
        |random| random.integer(-1000..=1000) as f64,
        |random| random.integer(-1000..=1000) as f64,
    ),
];

/// Numbers of 27 binades, none of which is left to the ordinary units.
fn far_apart(random: &mut Random) -> f64 {
    let x = random.signed_unit();
    (x / 2.0 + 0.5_f64.copysign(x)) * (random.integer(-26..=0) as f64).exp2()
}

#[test]
fn split_products_are_as_accurate_as_f32() {
    for (number, (name, of_a, of_b)) in DISTRIBUTIONS.into_iter().enumerate() {
        for (m, n, k) in [(130, 70, 130), (20, 129, 1030), (64, 64, 64)] {
            let mut random = Random::new(k as u64);
            let a = Host::new(m, k, |_, _| of_a(&mut random) as f32);
            let b = Host::new(k, n, |_, _| of_b(&mut random) as f32);
            for device in hoppers(devices()) {
                let orders = orders(number + m);
                let found = product_in(
                    orders,
                    TileConfig::Large,
                    &device,
                    Arithmetic::Split,
                    &a,
                    &b,
                );
                assert_accurate(&a, &b, &found, &(name, orders, (m, n, k), &device));
            }
        }
    }
}

/// Lines that no cluster keeps: one operand of neighbours along k, and one across.
#[test]
fn split_products_of_long_lines() {
    let (m, n, k) = (2, 3, 13313);
    let mut random = Random::new(k as u64);
    let mut element = |_, _| random.signed_unit() as f32;
    let (a, b) = (Host::new(m, k, &mut element), Host::new(k, n, &mut element));
    for device in hoppers(devices()) {
        // Two hundred stages take the simulator seconds.
        let unlimited = SimulatorOptions::default().with_time_limit(None);
        let device = match device.is_simulator() {
            true => Device::simulator_with(unlimited),
            false => device,
        };
        let split = Arithmetic::Split;
        let found = product_in(orders(0), TileConfig::Large, &device, split, &a, &b);
        assert_accurate(&a, &b, &found, &device);
    }
}

#[test]
fn split_products_of_small_integers_are_exact() {
    let (m, n, k) = (70, 130, 300);
    let mut random = Random::new(9);
    let mut element = |_, _| random.integer(-100..=100) as f32;
    let (a, b) = (Host::new(m, k, &mut element), Host::new(k, n, &mut element));
    let output = |i: usize| -> f32 {
        let terms = (0..k).map(|j| a.elements[i / n * k + j] * b.elements[j * n + i % n]);
        terms.sum()
    };
    let expected: Vec<f32> = (0..m * n).map(output).collect();
    for device in hoppers(devices()) {
        let found = product(&device, Arithmetic::Split, &a, &b);
        assert_same_bits(&found, &expected, &device);
    }
}

/// Lines with elements far apart, infinite and NaN: their panels are left to the ordinary units.
#[test]
fn wide_lines_are_computed_in_order() {
    let (m, n, k) = (260, 140, 96);
    let specials: [fn(usize) -> f32; 5] = [
        |_| f32::NAN,
        |_| f32::INFINITY,
        |k| if k % 2 == 0 { 1e36 } else { 1e-44 },
        |k| (-(k as f32)).exp2(),
        |k| if k == 17 { f32::NEG_INFINITY } else { 0.0 },
    ];
    for (number, special) in specials.into_iter().enumerate() {
        for in_a in [false, true] {
            let mut random = Random::new(11);
            let mut a = Host::new(m, k, |_, _| random.signed_unit() as f32);
            let mut b = Host::new(k, n, |_, _| random.signed_unit() as f32);
            for j in 0..k {
                if in_a {
                    a.elements[131 * k + j] = special(j);
                } else {
                    b.elements[j * n + 3] = special(j);
                }
            }
            for device in hoppers(devices()) {
                let orders = orders(number + 3 * usize::from(in_a));
                let found = product_in(
                    orders,
                    TileConfig::Large,
                    &device,
                    Arithmetic::Split,
                    &a,
                    &b,
                );
                assert_accurate(&a, &b, &found, &(in_a, special(1), orders, &device));
            }
        }
    }
}

#[test]
fn split_products_have_the_same_bits_on_every_machine() {
    let (m, n, k) = (66, 130, 200);
    let mut random = Random::new(21);
    let mut element = |_, _| random.signed_unit() as f32;
    let (a, b) = (Host::new(m, k, &mut element), Host::new(k, n, &mut element));
    let mut first = None;
    for device in hoppers(machines()) {
        let found = product(&device, Arithmetic::Split, &a, &b);
        assert_same_bits(&found, first.get_or_insert_with(|| found.clone()), &device);
    }
}
