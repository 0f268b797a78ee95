//! f32 products on tensor cores, of split operands.

use crate::common::exact::Compensated;
use crate::common::random::Random;
use crate::common::{devices, machines, share};
use crate::harness::{
    Host, ORDERS, Shape, Way, ampere, assert_same_bits, hoppers, orders, product, product_in,
    unlimited,
};
use std::fmt::Debug;
use tilewright::tuning::TileSize;
use tilewright::{Arithmetic, Device, Matmul, MatrixBatch, Order};

/// With `wgmma` and with `mma.sync` on each of the machines that run code for compute capability 9.0, and with
/// `mma.sync` as an A100 does.
fn ways(machines: Vec<Device>) -> Vec<Way> {
    let hoppers = hoppers(machines).into_iter();
    let ways = hoppers.flat_map(|device| {
        [None, Some((8, 0))].map(|capability| Way {
            device: device.clone(),
            capability,
        })
    });
    ways.chain([Way::from(&ampere())]).collect()
}

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
    ("26 binades", far_apart, far_apart),
    (
        "integers",
        |random| random.integer(-1000..=1000) as f64,
        |random| random.integer(-1000..=1000) as f64,
    ),
];

/// Numbers of 26 binades, none of which is left to the CUDA cores.
fn far_apart(random: &mut Random) -> f64 {
    let x = random.signed_unit();
    (x / 2.0 + 0.5_f64.copysign(x)) * (random.integer(-25..=0) as f64).exp2()
}

#[test]
fn split_products_are_as_accurate_as_f32() {
    // Lines that 32 are kept of by a block, that 8 are, and that are kept by a cluster.
    const SHAPES: [Shape; 4] = [
        (130, 70, 130),
        (20, 129, 1030),
        (17, 70, 1540),
        (64, 64, 64),
    ];
    for (number, (name, of_a, of_b)) in DISTRIBUTIONS.into_iter().enumerate() {
        for (m, n, k) in share(("accurate", number), SHAPES) {
            let mut random = Random::new(k as u64);
            let a = Host::new(m, k, |_, _| of_a(&mut random) as f32);
            let b = Host::new(k, n, |_, _| of_b(&mut random) as f32);
            for way in ways(devices()) {
                let orders = orders(number + m);
                let found = product_in(orders, TileSize::Large, &way, Arithmetic::Split, &a, &b);
                assert_accurate(&a, &b, &found, &(name, orders, (m, n, k), &way));
            }
        }
    }
}

/// Lines that no cluster keeps: one operand of neighbours along k, and one across. With `wgmma`, and on an A100.
#[test]
fn split_products_of_long_lines() {
    let (m, n, k) = (2, 3, 13313);
    let mut random = Random::new(k as u64);
    let mut element = |_, _| random.signed_unit() as f32;
    let (a, b) = (Host::new(m, k, &mut element), Host::new(k, n, &mut element));
    let ways = ways(devices()).into_iter();
    for way in ways.filter(|it| it.capability != Some((8, 0))) {
        let way = Way {
            device: unlimited(way.device),
            ..way
        };
        let split = Arithmetic::Split;
        let found = product_in(orders(0), TileSize::Large, &way, split, &a, &b);
        assert_accurate(&a, &b, &found, &way);
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
    for way in ways(devices()) {
        let found = product(&way, Arithmetic::Split, &a, &b);
        assert_same_bits(&found, &expected, &way);
    }
}

/// A line, element by element.
type Line = fn(usize) -> f32;

/// Lines with elements far apart, infinite and NaN: their panels are left to the CUDA cores.
#[test]
fn wide_lines_are_computed_in_order() {
    let shape = (260, 140, 96);
    let specials: [Line; 6] = [
        |_| f32::NAN,
        |_| f32::INFINITY,
        |k| if k % 2 == 0 { 1e36 } else { 1e-44 },
        |k| (-(k as f32)).exp2(),
        |k| if k == 17 { f32::NEG_INFINITY } else { 0.0 },
        // From the least of all numbers, 2^-149, to 2^127.
        |k| ((k * 276 / 95) as f64 - 149.0).exp2() as f32,
    ];
    let cases = specials.into_iter().enumerate();
    let cases = cases.flat_map(|case| [false, true].map(|in_a| (case, in_a)));
    for ((number, special), in_a) in share("wide", cases) {
        let line = if in_a { 131 } else { 3 };
        let element = |usual, is_special, _, k| if is_special { special(k) } else { usual };
        assert_special_lines(
            shape,
            number + 3 * usize::from(in_a),
            in_a,
            &[line],
            &element,
        );
    }
}

/// Rows of A from 2^30 down to 2^-30, each with its own scale: none is left to the CUDA cores, and the bound holds in
/// each. A row that spans as many powers of two is left to them, with its panel.
#[test]
fn graded_rows_are_taken_apart_and_rows_of_graded_elements_are_not() {
    const EXPONENTS: usize = 60;
    let (m, n, k) = (200, 24, 128);
    let mut random = Random::new(60);
    let mut scaled = |step: usize, steps: usize| {
        let exponent = 30 - (EXPONENTS * step / (steps - 1)) as i32;
        (random.signed_unit() * f64::from(exponent).exp2()) as f32
    };
    let a = Host::new(m, k, |row, _| scaled(row, m));
    // 2^0.
    let b = Host::new(k, n, |_, _| scaled(1, 3));
    let mut with_wide = a.clone();
    (0..k).for_each(|column| with_wide.elements[150 * k + column] = scaled(column, k));
    for way in ways(devices()) {
        for (a, is_wide) in [(&a, false), (&with_wide, true)] {
            let found = product_in(orders(0), TileSize::Large, &way, Arithmetic::Split, a, &b);
            assert_accurate(a, &b, &found, &(is_wide, &way));
            if way.capability.is_none() {
                let a = a.upload(&way.device, Order::RowMajor);
                let prepared = way.device.prepare(a.t()).unwrap();
                let expected: Vec<bool> = (0..m).map(|row| is_wide && row >= 128).collect();
                assert_eq!(
                    prepared.out_of_range_columns().unwrap(),
                    expected,
                    "{way:?}"
                );
            }
        }
    }
}

/// One element makes a line wide: in the first and the last line of a group of 32 and of a panel, and in the
/// first, at borders, and in the last of its places. Each of two panels has one such line.
#[test]
fn one_element_makes_a_line_wide() {
    const LINES: usize = 132;
    const K: usize = 70;
    let elements = [f32::NAN, f32::INFINITY, 1e36];
    let pairs = [[0, 128], [31, LINES - 1], [32, 130], [127, 128]];
    let places = [0, 15, 16, 31, 32, 63, 64, K - 1];
    for (number, place) in places.into_iter().enumerate() {
        for (turn, lines) in share(("one element", number), pairs.into_iter().enumerate()) {
            let (special, in_a) = (elements[(number + turn) % 3], (number + turn) % 2 == 0);
            let shape = if in_a { (LINES, 8, K) } else { (8, LINES, K) };
            let element = |usual, is_special, line, k| match is_special && k == place {
                true => special,
                // Zeros at each place, so that no large product hides the small ones.
                false if !is_special && line < 2 && (line + k) % 2 == 0 => 0.0,
                false => usual,
            };
            assert_special_lines(shape, number / 2 + turn, in_a, &lines, &element);
        }
    }
}

/// Blocks keep 8 rows or columns: the first and the last one of such a group, contiguous or not.
#[test]
fn one_element_makes_a_longer_line_wide() {
    const LINES: usize = 132;
    const K: usize = 520;
    let element = |usual, is_special, _, k| match is_special && k == K - 1 {
        true => f32::INFINITY,
        false => usual,
    };
    let lines = [0, 7, 8, 127, LINES - 1].into_iter().enumerate();
    let cases = lines.flat_map(|(turn, line)| {
        [turn, turn + 3]
            .into_iter()
            .flat_map(move |number| [false, true].map(|in_a| (line, number, in_a)))
    });
    for (line, number, in_a) in share("one element makes a longer line wide", cases) {
        let shape = if in_a { (LINES, 8, K) } else { (8, LINES, K) };
        assert_special_lines(shape, number, in_a, &[line], &element);
    }
}

/// An element of either operand, of the random one that it may replace, whether it is of a special line, and its
/// line and place.
type Element<'a> = &'a dyn Fn(f32, bool, usize, usize) -> f32;

/// Fails unless the product of operands, one of them with special lines, is accurate in the orders of this number.
fn assert_special_lines(
    (m, n, k): Shape,
    number: usize,
    in_a: bool,
    lines: &[usize],
    element: Element<'_>,
) {
    let mut random = Random::new(11);
    let mut element = |line, k, is_operand: bool| {
        let is_special = is_operand && lines.contains(&line);
        element(random.signed_unit() as f32, is_special, line, k)
    };
    let a = Host::new(m, k, |row, k| element(row, k, in_a));
    let b = Host::new(k, n, |k, column| element(column, k, !in_a));
    for way in ways(devices()) {
        let (orders, split) = (orders(number), Arithmetic::Split);
        let found = product_in(orders, TileSize::Large, &way, split, &a, &b);
        assert_accurate(&a, &b, &found, &(number, in_a, lines, orders, &way));
    }
}

#[test]
fn split_products_have_the_same_bits_on_every_machine() {
    let (m, n, k) = (66, 130, 200);
    let mut random = Random::new(21);
    let mut element = |_, _| random.signed_unit() as f32;
    let (a, b) = (Host::new(m, k, &mut element), Host::new(k, n, &mut element));
    let mut all: Vec<(Way, Vec<f32>)> = Vec::new();
    for way in ways(machines()) {
        let found = product(&way, Arithmetic::Split, &a, &b);
        // Warps add in another order than warpgroups, and an A100 rounds otherwise.
        let of_ampere = |it: &Way| it.device.properties().compute_capability == Some((8, 0));
        let kind = |it: &Way| (it.capability, of_ampere(it));
        match all.iter().find(|(other, _)| kind(other) == kind(&way)) {
            Some((_, first)) => assert_same_bits(&found, first, &way),
            None => all.push((way, found)),
        }
    }
    assert_eq!(all.len(), 3);
}

/// Batches in which each matrix has its own words, and one that all products share; and products that leave out the
/// tiles above the diagonal.
#[test]
fn batches_by_warps_have_the_bits_of_single_products() {
    let (count, m, n, k) = (3, 70, 130, 96);
    let mut random = Random::new(33);
    let mut element = |row, column| match (row, column) {
        (75, 3) => f32::INFINITY,
        _ => random.signed_unit() as f32,
    };
    let a = Host::new(count * m, k, &mut element);
    let b = Host::new(k, n, &mut element);
    let way = |product: Matmul<'_, f32>| {
        let product = product
            .arithmetic(Arithmetic::Split)
            .compute_capability(8, 0);
        assert!(
            product
                .plan()
                .unwrap()
                .kernel
                .starts_with("matmul_mma_split")
        );
        product.run().unwrap().to_vec().unwrap()
    };
    for device in hoppers(devices()) {
        for order in ORDERS {
            let (a, b) = (a.upload(&device, Order::RowMajor), b.upload(&device, order));
            let batch: MatrixBatch<'_, f32> = a.view().batch_rows(count).unwrap();
            let found = way(Matmul::new(batch, &b));
            for index in 0..count {
                let rows = index * m..(index + 1) * m;
                let alone = way(Matmul::new(a.slice(rows, ..).unwrap(), &b));
                assert_same_bits(
                    &found[index * m * n..][..m * n],
                    &alone,
                    &(index, order, &device),
                );
            }
            let alone = way(Matmul::new(b.t(), &b));
            let gram = way(Matmul::gram(&b));
            let lower = |c: &[f32]| -> Vec<f32> {
                let places = (0..n).flat_map(|row| (0..=row).map(move |column| row * n + column));
                places.map(|place| c[place]).collect()
            };
            assert_same_bits(&lower(&gram), &lower(&alone), &(order, &device));
        }
    }
}
