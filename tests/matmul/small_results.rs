//! Small results of halves have a block for each tile, with the bits of clusters.

use crate::common::random::Random;
use crate::common::{devices, share};
use crate::harness::{Bits, Host, Shape, assert_same_bits, hoppers, orders};
use crate::skinny::{New, assert_batch, product};
use half::{bf16, f16};
use std::any::type_name;
use std::fmt::Debug;
use tilewright::tuning::{SelectionReason, TileSize};
use tilewright::{Device, Element, Matmul, MatmulInto, Order};

/// Whole tiles and tails; one stage, both, more than those, and none; rows that are and are not multiples of 16 bytes.
const SHAPES: [Shape; 7] = [
    (64, 64, 64),
    (192, 64, 128),
    (33, 61, 65),
    (5, 6, 48),
    (40, 130, 72),
    (64, 8, 104),
    (3, 40, 0),
];

/// Fails unless products have the bits of those by clusters.
fn assert_single<T, O>(device: &Device, new: New<T, f32>, of: fn(f64) -> T, as_output: fn(f64) -> O)
where
    T: MatmulInto<O, f32> + Debug,
    O: Element + Bits + Debug,
{
    let all = SHAPES
        .iter()
        .flat_map(|&shape| (0..8).map(move |number| (shape, number)));
    for (shape, number) in share(type_name::<(T, O)>(), all) {
        let (m, n, k) = shape;
        let mut random = Random::new((m * n) as u64);
        let a = Host::new(m, k, |_, _| of(random.signed_unit()));
        let b = Host::new(k, n, |_, _| of(random.signed_unit()));
        let old = Host::new(m, n, |_, _| as_output(random.signed_unit()));
        let [of_a, of_b, of_c] = orders(number);
        let (a, b) = (a.upload(device, of_a), b.upload(device, of_b));
        let plan = new(&a, &b).plan_as::<O>().unwrap();
        assert_eq!(plan.reason, SelectionReason::SmallResult, "{plan}");
        for has_epilogue in [false, true] {
            let case = (shape, number, has_epilogue, plan.kernel, device);
            let run = |tiles| product(new, (&a, &b), (&old, of_c), (has_epilogue, tiles));
            assert_same_bits(&run(None), &run(Some(TileSize::Small)), &case);
        }
    }
}

#[test]
fn products_of_all_types() {
    for device in hoppers(devices()) {
        assert_single(
            &device,
            |a, b| Matmul::new(a, b),
            f16::from_f64,
            f16::from_f64,
        );
        assert_single(
            &device,
            |a, b| Matmul::new(a, b),
            f16::from_f64,
            |it| it as f32,
        );
        assert_single(
            &device,
            |a, b| Matmul::new(a, b),
            bf16::from_f64,
            bf16::from_f64,
        );
        assert_single(
            &device,
            |a, b| Matmul::new(a, b),
            bf16::from_f64,
            |it| it as f32,
        );
    }
}

/// With as many tiles as multiprocessors, a long K is no reason for clusters. Each product has the bits that it has
/// alone, with or without a shared operand.
#[test]
fn batches_with_a_long_k() {
    const COUNT: usize = 3;
    for device in hoppers(devices()) {
        let count = COUNT.max(device.properties().multiprocessors.div_ceil(2) as usize);
        assert_batch(&device, count, (60, 24, 592), SelectionReason::SmallResult);
    }
}

/// A product of a matrix and its transpose is symmetric, with the bits of the product of two matrices.
#[test]
fn a_matrix_and_its_transpose() {
    for device in hoppers(devices()) {
        let mut random = Random::new(9);
        let a = Host::new(96, 60, |_, _| f16::from_f64(random.signed_unit()));
        let a = a.upload(&device, Order::RowMajor);
        let found = device.gram(&a).unwrap().to_vec().unwrap();
        let product = Matmul::new(a.t(), &a);
        assert_eq!(product.plan().unwrap().reason, SelectionReason::SmallResult);
        let expected = product.tiles(TileSize::Small).run().unwrap();
        assert_same_bits(&found, &expected.to_vec().unwrap(), &device);
    }
}
