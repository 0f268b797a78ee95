//! Products of 8-bit floats, whose totals are in f32.

#![expect(non_snake_case, reason = "tests are named after types")]

use crate::common::random::Random;
use crate::common::{devices, machines, share};
use crate::harness::{
    Bits, Host, ORDERS, Shape, an_older_device_has_no_kernel, assert_same_bits, hoppers,
};
use half::bf16;
use std::any::type_name;
use std::fmt::Debug;
use tilewright::cuda_std::fp8::{F8E4M3, F8E5M2};
use tilewright::tuning::{SelectionReason, TileSize};
use tilewright::{Activation, Matmul, MatmulElement, MatmulInto, Matrix, Order};

trait Float8:
    MatmulInto<bf16>
    + MatmulInto<f32>
    + MatmulElement<Accumulator = f32, Product = bf16>
    + Debug
    + Into<f32>
{
    /// Integers up to here are exact, and so are all sums of 128 of their products.
    const INTEGERS: i64;
    fn of(value: f64) -> Self;
}
impl Float8 for F8E4M3 {
    const INTEGERS: i64 = 8;
    fn of(value: f64) -> Self {
        Self::from_f32(value as f32)
    }
}
impl Float8 for F8E5M2 {
    const INTEGERS: i64 = 4;
    fn of(value: f64) -> Self {
        Self::from_f32(value as f32)
    }
}

for_each_type! {
    [F8E4M3 F8E5M2]
    integers_are_multiplied_exactly_in_every_order
    eight_bits_have_the_same_bits_on_every_machine
    long_sums_keep_more_bits_than_the_tensor_core
    not_a_number_and_infinities_reach_their_outputs
    an_older_device_has_no_kernel
}

const TILES: [TileSize; 3] = [TileSize::Small, TileSize::Medium, TileSize::Large];

/// Whole tiles and tails, and rows that are and are not multiples of 16 bytes.
const SHAPES: [Shape; 5] = [
    (1, 1, 1),
    (128, 128, 128),
    (66, 132, 140),
    (5, 70, 259),
    (16, 24, 0),
];

fn operands<T: Float8>((m, n, k): Shape, mut element: impl FnMut() -> f64) -> (Host<T>, Host<T>) {
    let mut element = |_, _| T::of(element());
    (Host::new(m, k, &mut element), Host::new(k, n, &mut element))
}

/// The sums, in f64.
fn exact<T: Float8>(a: &Host<T>, b: &Host<T>, (m, n, k): Shape) -> Vec<f64> {
    let widened = |element: T| f64::from(Into::<f32>::into(element));
    let sum = |i: usize| {
        let terms = (0..k).map(|j| (a.elements[i / n * k + j], b.elements[j * n + i % n]));
        terms.fold(0.0, |sum, (a, b)| sum + widened(a) * widened(b))
    };
    (0..m * n).map(sum).collect()
}

fn product<T: MatmulInto<O>, O: Bits + tilewright::Element>(
    (a, b): (&Matrix<T>, &Matrix<T>),
    order: Order,
    tiles: TileSize,
) -> Vec<O> {
    let device = a.device();
    let mut c = device
        .matrix_zeros::<O>((a.rows(), b.cols(), order))
        .unwrap();
    let product = Matmul::new(a, b).tiles(tiles);
    product.run_into(&mut c).unwrap();
    c.to_vec().unwrap()
}

fn integers_are_multiplied_exactly_in_every_order<T: Float8>() {
    for shape in SHAPES {
        let mut random = Random::new((shape.0 + shape.1 + shape.2) as u64);
        let limit = T::INTEGERS;
        let (a, b) = operands::<T>(shape, || random.integer(-limit..=limit) as f64);
        let sums = exact(&a, &b, shape);
        let singles: Vec<f32> = sums.iter().map(|&sum| sum as f32).collect();
        let halves: Vec<bf16> = sums.iter().map(|&sum| bf16::from_f64(sum)).collect();
        for device in hoppers(devices()) {
            for number in share((shape, type_name::<T>()), 0..8) {
                let [of_a, of_b, of_c] = [0, 1, 2].map(|bit| ORDERS[number >> bit & 1]);
                let (left, right) = (a.upload(&device, of_a), b.upload(&device, of_b));
                // Each size of tiles with each type, in some of the orders.
                let (tiles, other) = (TILES[number % 3], TILES[(number + 1) % 3]);
                let case = (shape, number, &device);
                let found = product::<T, f32>((&left, &right), of_c, tiles);
                assert_same_bits(&found, &singles, &case);
                let found = product::<T, bf16>((&left, &right), of_c, other);
                assert_same_bits(&found, &halves, &case);
            }
        }
    }
}

fn eight_bits_have_the_same_bits_on_every_machine<T: Float8>() {
    let mut random = Random::new(5);
    let (a, b) = operands::<T>((65, 40, 300), || random.signed_unit());
    let mut first = None;
    for device in hoppers(machines()) {
        for (order, tiles) in [(ORDERS[0], TILES[0]), (ORDERS[1], TILES[1])] {
            let (left, right) = (a.upload(&device, order), b.upload(&device, order));
            let found = product::<T, f32>((&left, &right), order, tiles);
            let first = first.get_or_insert_with(|| found.clone());
            assert_same_bits(&found, first, &(&device, order, tiles));
        }
    }
}

/// A sum of 2048 positive products that stayed in the tensor core would lose a tenth.
fn long_sums_keep_more_bits_than_the_tensor_core<T: Float8>() {
    let shape = (2, 8, 2048);
    let mut random = Random::new(6);
    let (a, b) = operands::<T>(shape, || random.signed_unit().abs());
    let sums = exact(&a, &b, shape);
    for device in hoppers(devices()) {
        let (left, right) = (
            a.upload(&device, Order::RowMajor),
            b.upload(&device, Order::ColumnMajor),
        );
        let found = product::<T, f32>((&left, &right), Order::RowMajor, TileSize::Small);
        for (found, exact) in found.into_iter().zip(&sums) {
            let error = (f64::from(found) - exact).abs() / exact;
            assert!(error < 0.005, "{found} instead of {exact}");
        }
    }
}

/// At every place of a stage of 128 and of a tail, each in a row of its own; in tiles of each size, and in skinny ones,
/// which are selected.
fn not_a_number_and_infinities_reach_their_outputs<T: Float8>() {
    const K: usize = 128 + 9;
    let specials = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let shape = (specials.len() * K, 9, K);
    let (mut a, b) = operands::<T>(shape, || 1.0);
    for (row, line) in a.elements.chunks_exact_mut(K).enumerate() {
        line[row / specials.len()] = T::of(specials[row % specials.len()]);
    }
    let sums = exact(&a, &b, shape);
    let expected: Vec<f32> = sums
        .iter()
        .map(|&sum| match sum.is_nan() {
            true => f32::from_bits(0x7fff_ffff),
            false => sum as f32,
        })
        .collect();
    for device in hoppers(devices()) {
        for (number, tiles) in TILES.into_iter().enumerate() {
            let [of_a, of_b, of_c] = [0, 1, 2].map(|bit| ORDERS[number >> bit & 1]);
            let (left, right) = (a.upload(&device, of_a), b.upload(&device, of_b));
            let found = product::<T, f32>((&left, &right), of_c, tiles);
            assert_same_bits(&found, &expected, &(tiles, &device));
            let selected = Matmul::new(&left, &right);
            let plan = selected.plan_as::<f32>().unwrap();
            assert_eq!(plan.reason, SelectionReason::Skinny, "{plan}");
            let found = selected.run_as::<f32>().unwrap().to_vec().unwrap();
            assert_same_bits(&found, &expected, &(number, &device));
        }
    }
}

/// The sums of scaled elements, scaled back by row and column, as quantised matrices are multiplied.
#[test]
fn scales_and_an_activation_come_before_rounding() {
    let shape = (33, 20, 48);
    let (m, n, _) = shape;
    let mut random = Random::new(8);
    let (a, b) = operands::<F8E4M3>(shape, || random.integer(-8..=8) as f64);
    let rows: Vec<f32> = (0..m).map(|i| 0.5 + i as f32).collect();
    let columns: Vec<f32> = (0..n).map(|j| 0.25 * (j + 1) as f32).collect();
    let sums = exact(&a, &b, shape);
    let expected: Vec<bf16> = (0..m * n)
        .map(|i| {
            let scaled = sums[i] as f32 * (rows[i / n] * columns[i % n]);
            bf16::from_f32(if scaled < 0.0 { 0.0 } else { scaled })
        })
        .collect();
    for device in hoppers(devices()) {
        let (a, b) = (
            a.upload(&device, Order::RowMajor),
            b.upload(&device, Order::ColumnMajor),
        );
        let (rows, columns) = (
            device.upload(&rows).unwrap(),
            device.upload(&columns).unwrap(),
        );
        for tiles in TILES {
            let product = Matmul::new(&a, &b)
                .tiles(tiles)
                .row_scale(&rows)
                .column_scale(&columns)
                .activation(Activation::Relu);
            let found = product.run().unwrap().to_vec().unwrap();
            assert_same_bits(&found, &expected, &(tiles, &device));
        }
    }
}
