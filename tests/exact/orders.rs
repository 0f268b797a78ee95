//! Many random products: every output right, whatever the order of k.

use crate::common::devices;
use crate::common::random::Random;
use crate::reference::{self, Float};
use crate::{Host, Kind, accumulator, bits, element};
use std::thread;
use tilewright::tuning::TileSize;
use tilewright::{Arithmetic, Device, Matmul};

/// How much is tested: `on_gpu` on a GPU, 1 in `share` of that on a simulator, unless `TILEWRIGHT_EXACT` says how much.
fn amount(device: &Device, on_gpu: u64, share: u64) -> u64 {
    match std::env::var("TILEWRIGHT_EXACT") {
        Ok(amount) => amount.parse().expect("a number"),
        Err(_) if device.is_simulator() => on_gpu / share,
        Err(_) => on_gpu,
    }
}

/// Kinds without infinities and NaN.
const FINITE: [Kind; 6] = [
    Kind::Uniform,
    Kind::Wide,
    Kind::Integers,
    Kind::Cancelling,
    Kind::Subnormal,
    Kind::Spiked,
];

/// One in this many outputs is compared with integers of any length, too.
const COMPARED: usize = 1009;

/// Compares products of random shapes and layouts with the accumulator, until there are enough outputs.
fn outputs_are_rounded_once<T: Float>() {
    for device in devices() {
        let mut left = amount(&device, 5_000_000, 1000) as i64;
        let most = if device.is_simulator() { 40 } else { 700 };
        let mut random = Random::new(size_of::<T>() as u64);
        for round in 0.. {
            if left <= 0 {
                break;
            }
            let kind = FINITE[round % FINITE.len()];
            let mut side = |least| random.integer(least..=most) as usize;
            let (m, n, k) = (side(1), side(1), side(1).min(100));
            let a = Host::<T>::new((m, k), |_, l| element(kind, &mut random, l));
            let b = Host::<T>::new((k, n), |l, _| element(kind, &mut random, l));
            let (da, db) = (a.on(&device), b.on(&device));
            let (ta, tb) = (a.transposed_on(&device), b.transposed_on(&device));
            let x = if round & 1 == 0 { da.view() } else { ta.t() };
            let y = if round & 2 == 0 { db.view() } else { tb.t() };
            let product = Matmul::new(x, y).arithmetic(Arithmetic::Exact);
            let product = match round & 4 {
                0 => product.tiles(TileSize::Small),
                _ => product,
            };
            let found = bits(&product.run().expect("a product"));
            assert_all(&found, &a, &b, (n, k), &(kind, round));
            left -= (m * n) as i64;
        }
    }
}

/// Fails unless these are the outputs of A B.
fn assert_all<T: Float>(
    found: &[u64],
    a: &Host<T>,
    b: &Host<T>,
    (n, k): (usize, usize),
    case: &(Kind, usize),
) {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let part = found.len().div_ceil(threads);
    thread::scope(|scope| {
        for (number, found) in found.chunks(part).enumerate() {
            scope.spawn(move || {
                for (at, &found) in (number * part..).zip(found) {
                    let terms = || (0..k).map(|l| (a.at(at / n, l), b.at(l, at % n)));
                    let expected: T = accumulator::dot(terms());
                    assert_eq!(
                        found,
                        expected.to_u64(),
                        "{case:?}, output {at} of {n} columns"
                    );
                    if at % COMPARED == 0 {
                        assert_eq!(reference::dot(terms()), expected, "the references");
                    }
                }
            });
        }
    });
}

for_each_type!([f32 f64] outputs_are_rounded_once);

/// The order of k changes no bit.
#[test]
fn the_order_of_k_is_irrelevant() {
    for device in devices() {
        let (m, n, k) = (12, 17, 90);
        for round in 0..amount(&device, 1000, 125) {
            let mut random = Random::new(round);
            let kind =
                [Kind::Uniform, Kind::Wide, Kind::Cancelling, Kind::Spiked][round as usize % 4];
            let a = Host::<f64>::new((m, k), |_, l| element(kind, &mut random, l));
            let b = Host::<f64>::new((k, n), |l, _| element(kind, &mut random, l));
            let mut order: Vec<usize> = (0..k).collect();
            for i in (1..k).rev() {
                order.swap(i, random.integer(0..=i as i64) as usize);
            }
            let pa = Host::new((m, k), |i, l| a.at(i, order[l]));
            let pb = Host::new((k, n), |l, j| b.at(order[l], j));
            let product = |a: &Host<f64>, b: &Host<f64>| {
                let (a, b) = (a.on(&device), b.on(&device));
                let product = Matmul::new(&a, &b).arithmetic(Arithmetic::Exact);
                bits(&product.tiles(TileSize::Small).run().expect("a product"))
            };
            assert_eq!(product(&a, &b), product(&pa, &pb), "{kind:?}");
        }
    }
}
