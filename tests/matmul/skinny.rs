//! Results of few rows or columns have kernels of their own, with the bits of all others.

use crate::common::random::Random;
use crate::common::{devices, share};
use crate::harness::{Bits, Host, Shape, assert_same_bits, hoppers, orders};
use half::{bf16, f16};
use std::any::type_name;
use std::fmt::Debug;
use tilewright::cuda_std::fp8::{F8E4M3, F8E5M2};
use tilewright::tuning::{SelectionReason, TileSize};
use tilewright::{Device, Element, Matmul, MatmulInto, Matrix, Order, SimulatorOptions};

/// Few rows and few columns, of results that are not small; whole tiles and tails; rows that are and are not multiples of 16 bytes.
const SHAPES: [Shape; 7] = [
    (2, 194, 64),
    (16, 256, 256),
    (7, 202, 259),
    (198, 3, 96),
    (257, 16, 130),
    (5, 193, 48),
    (3, 200, 0),
];

/// Further tiles, with more room: the number of an order in which all types have such a kernel, a part of its name, and
/// whether only epilogues are tested. The device computes 64 x `round` outputs in one round of tiles of 64 x 64.
fn large_shapes(device: &Device) -> [(Shape, usize, &'static str, bool); 6] {
    let round = 64 * device.properties().multiprocessors as usize;
    [
        ((17, 513, 512), 0, "skinny", true),
        ((516, 32, 520), 7, "skinny", true),
        ((round, 31, 528), 7, "skinny_medium", true),
        ((round, 63, 512), 7, "skinny", true),
        ((33, round + 1, 520), 0, "skinny_tall", false),
        ((round + 3, 97, 520), 7, "skinny_square", false),
    ]
}

/// How a product begins.
pub type New<T, S> = for<'a> fn(&'a Matrix<T>, &'a Matrix<T>) -> Matmul<'a, T, S>;

/// A product with an epilogue, or without one, in place of `old`.
pub fn product<T: MatmulInto<O, S>, O: Element + Bits + Debug, S: Element + From<i8>>(
    new: New<T, S>,
    (a, b): (&Matrix<T>, &Matrix<T>),
    (old, order): (&Host<O>, Order),
    (has_epilogue, tiles): (bool, Option<TileSize>),
) -> Vec<O> {
    let device = a.device();
    let numbers = |len: usize| -> Vec<S> { (0..len).map(|i| S::from(i as i8 % 5 - 1)).collect() };
    let row_scale = device.upload(&numbers(old.rows)).unwrap();
    let column_scale = device.upload(&numbers(old.columns)).unwrap();
    let (row_bias, column_bias) = (&row_scale, &column_scale);
    let mut c = old.upload(device, order);
    let mut product = new(a, b);
    if has_epilogue {
        product = product
            .alpha(S::from(3))
            .beta(S::from(2))
            .row_scale(&row_scale)
            .column_scale(&column_scale)
            .row_bias(row_bias)
            .column_bias(column_bias);
    }
    if let Some(tiles) = tiles {
        product = product.tiles(tiles);
    }
    product.run_into(&mut c).unwrap();
    c.to_vec().unwrap()
}

/// Fails unless products have the bits of those in small tiles.
fn assert_skinny<T, O, S>(
    device: &Device,
    new: New<T, S>,
    of: impl Fn(f64) -> T,
    as_output: fn(i8) -> O,
) where
    T: MatmulInto<O, S> + Debug,
    O: Element + Bits + Debug,
    S: Element + From<i8>,
{
    let skinny = |shape: Shape, number: usize, epilogues: &[bool]| {
        let (m, n, k) = shape;
        let mut random = Random::new((m * n) as u64);
        let a = Host::new(m, k, |_, _| of(random.signed_unit()));
        let b = Host::new(k, n, |_, _| of(random.signed_unit()));
        let old = Host::new(m, n, |row, column| as_output((row * 3 + column) as i8));
        let [of_a, of_b, of_c] = orders(number);
        let (a, b) = (a.upload(device, of_a), b.upload(device, of_b));
        let plan = new(&a, &b).plan_as::<O>().unwrap();
        let is_skinny = plan.reason == SelectionReason::Skinny;
        assert_eq!(plan.kernel.contains("skinny"), is_skinny, "{plan}");
        for &has_epilogue in epilogues {
            let case = (shape, number, has_epilogue, plan.kernel, device);
            let run = |tiles| product(new, (&a, &b), (&old, of_c), (has_epilogue, tiles));
            assert_same_bits(&run(None), &run(Some(TileSize::Small)), &case);
        }
        is_skinny.then_some(plan.kernel)
    };
    let all = SHAPES
        .iter()
        .flat_map(|&shape| (0..8).map(move |number| (shape, number)));
    let name = type_name::<(T, O)>();
    for (shape, number) in share(name, all) {
        // All bytes; halves whose few rows or columns are contiguous.
        let (m, n, _) = shape;
        let [of_a, of_b, _] = orders(number);
        let are_contiguous = match m < n {
            true => of_a == Order::RowMajor,
            false => of_b == Order::ColumnMajor,
        };
        let is_skinny = skinny(shape, number, &[false, true]).is_some();
        assert_eq!(
            is_skinny,
            size_of::<T>() == 1 || are_contiguous,
            "{device:?}"
        );
    }
    for (shape, number, kernel, has_epilogue) in share(name, large_shapes(device)) {
        let epilogues: &[bool] = if has_epilogue {
            &[true]
        } else {
            &[false, true]
        };
        let found = skinny(shape, number, epilogues);
        let has_name = found.is_some_and(|it| it.contains(kernel));
        assert!(has_name, "{found:?}, {shape:?}, {device:?}");
    }
}

#[test]
fn products_of_halves() {
    for device in hoppers(devices()) {
        assert_skinny(
            &device,
            |a, b| Matmul::new(a, b),
            f16::from_f64,
            |it| f16::from_f64(it.into()),
        );
        assert_skinny(&device, |a, b| Matmul::new(a, b), bf16::from_f64, f32::from);
        assert_skinny(
            &device,
            |a, b| Matmul::new(a, b),
            bf16::from_f64,
            |it| bf16::from_f64(it.into()),
        );
        assert_skinny(&device, |a, b| Matmul::new(a, b), f16::from_f64, f32::from);
    }
}

#[test]
fn products_of_bytes() {
    let byte = |it: f64| (127.0 * it) as i8;
    for device in hoppers(devices()) {
        assert_skinny(&device, |a, b| Matmul::new(a, b), byte, i32::from);
        assert_skinny(&device, |a, b| Matmul::dequantized(a, b), byte, f32::from);
        assert_skinny(
            &device,
            |a, b| Matmul::dequantized(a, b),
            byte,
            |it| bf16::from_f64(it.into()),
        );
        assert_skinny(
            &device,
            |a, b| Matmul::dequantized(a, b),
            byte,
            |it| f16::from_f64(it.into()),
        );
    }
}

#[test]
fn products_of_8_bit_floats() {
    let e4m3 = |it: f64| F8E4M3::from_f32(16.0 * it as f32);
    let e5m2 = |it: f64| F8E5M2::from_f32(16.0 * it as f32);
    for device in hoppers(devices()) {
        assert_skinny(
            &device,
            |a, b| Matmul::new(a, b),
            e4m3,
            |it| bf16::from_f64(it.into()),
        );
        assert_skinny(&device, |a, b| Matmul::new(a, b), e4m3, f32::from);
        assert_skinny(
            &device,
            |a, b| Matmul::new(a, b),
            e5m2,
            |it| bf16::from_f64(it.into()),
        );
        assert_skinny(&device, |a, b| Matmul::new(a, b), e5m2, f32::from);
    }
}

/// Two tiles of the few rows or columns beside each other, on devices that compute all tiles in one round.
#[test]
fn two_tiles_of_few_rows() {
    let mut all = hoppers(devices());
    all.push(Device::simulator_with(
        SimulatorOptions::default().with_multiprocessors(32),
    ));
    let (m, n, k) = (97, 514, 512);
    let mut random = Random::new(7);
    let mut host =
        |rows, columns| Host::new(rows, columns, |_, _| bf16::from_f64(random.signed_unit()));
    let (a, b) = (host(m, k), host(k, n));
    for device in all {
        let a = a.upload(&device, Order::RowMajor);
        let b = b.upload(&device, Order::ColumnMajor);
        let in_tiles = |tiles: Option<TileSize>| {
            let product = Matmul::new(&a, &b);
            let product = tiles.into_iter().fold(product, Matmul::tiles);
            product.run().unwrap().to_vec().unwrap()
        };
        let expected = in_tiles(Some(TileSize::Small));
        assert_same_bits(&in_tiles(None), &expected, &device);
    }
}

/// Each product of a batch has the bits that it has alone, where the skinny operand is shared and where it is not.
#[test]
fn batches_of_few_rows() {
    for device in hoppers(devices()) {
        assert_batch(&device, 3, (9, 200, 80), SelectionReason::Skinny);
    }
}

/// Fails unless each product of a batch has the bits that it has alone in small tiles, where B is shared and where it is
/// not.
pub fn assert_batch(device: &Device, count: usize, (m, n, k): Shape, reason: SelectionReason) {
    let mut random = Random::new(5);
    let mut matrix = |rows, columns| {
        let element = |_, _| bf16::from_f64(random.signed_unit());
        Host::new(rows, columns, element).upload(device, Order::RowMajor)
    };
    let (a, b): (Matrix<bf16>, Matrix<bf16>) = (matrix(count * m, k), matrix(count * k, n));
    let alone = |of_a: usize, of_b: usize| {
        let a = a.slice(of_a * m..(of_a + 1) * m, ..).unwrap();
        let b = b.slice(of_b * k..(of_b + 1) * k, ..).unwrap();
        let product = Matmul::new(a, b).tiles(TileSize::Small);
        product.run().unwrap().to_vec().unwrap()
    };
    let (all_a, all_b) = (
        a.view().batch_rows(count).unwrap(),
        b.view().batch_rows(count).unwrap(),
    );
    let plan = Matmul::new(all_a, all_b).plan().unwrap();
    assert_eq!(plan.reason, reason, "{plan}");
    let found = Matmul::new(all_a, all_b).run().unwrap().to_vec().unwrap();
    let expected: Vec<bf16> = (0..count).flat_map(|it| alone(it, it)).collect();
    assert_same_bits(&found, &expected, &("each", device));
    let shared = b.slice(..k, ..).unwrap();
    let found = Matmul::new(all_a, shared).run().unwrap().to_vec().unwrap();
    let expected: Vec<bf16> = (0..count).flat_map(|it| alone(it, 0)).collect();
    assert_same_bits(&found, &expected, &("shared", device));
}
