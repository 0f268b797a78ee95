//! Exact products: every output against integers of any length, bit by bit.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;
mod accumulator;
mod netlib;
mod orders;
mod prepared;
mod reference;
mod uses;

use common::random::Random;
use common::{devices, share};
use reference::{Float, dot};
use tilewright::tuning::TileSize;
use tilewright::{Arithmetic, Device, Matmul, Matrix, MatrixView};

/// The distribution of elements.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Between -1 and 1.
    Uniform,
    /// Of all magnitudes of the type.
    Wide,
    /// Small integers, with many sums that are 0 or halfway between two numbers.
    Integers,
    /// Between 1 and 2, and their negatives after them, so that most of a sum cancels.
    Cancelling,
    /// Some infinities, NaN and zeros among others.
    Specials,
    /// Near the least numbers of the type.
    Subnormal,
    /// One large element in each line.
    Spiked,
}

const KINDS: [Kind; 7] = [
    Kind::Uniform,
    Kind::Wide,
    Kind::Integers,
    Kind::Cancelling,
    Kind::Specials,
    Kind::Subnormal,
    Kind::Spiked,
];

fn element<T: Float>(kind: Kind, random: &mut Random, k: usize) -> T {
    let unit = random.signed_unit();
    let power = |exponent: i64| 2f64.powi(exponent as i32);
    T::of_f64(match kind {
        Kind::Uniform => unit,
        Kind::Wide => unit * power(random.integer(-T::BIAS..=T::BIAS)),
        Kind::Integers => random.integer(-5..=5) as f64,
        Kind::Cancelling => match k.is_multiple_of(2) {
            true => 1.0 + unit.abs(),
            false => -1.0 - unit.abs() * power(-30),
        },
        Kind::Specials => match random.integer(0..=200) {
            0 => f64::INFINITY,
            1 => f64::NEG_INFINITY,
            2 => f64::NAN,
            3..=20 => 0.0,
            _ => unit,
        },
        Kind::Subnormal => unit * power(-T::BIAS + random.integer(-20..=20)),
        Kind::Spiked => unit * power(if k == 3 { T::BIAS - 30 } else { 30 - T::BIAS }),
    })
}

/// A row-major host matrix.
struct Host<T> {
    elements: Vec<T>,
    columns: usize,
}

impl<T: Float> Host<T> {
    fn new((rows, columns): (usize, usize), element: impl FnMut(usize, usize) -> T) -> Self {
        let mut element = element;
        let at = |i| (i / columns, i % columns);
        let elements = (0..rows * columns).map(at).map(|(i, j)| element(i, j));
        Self {
            elements: elements.collect(),
            columns,
        }
    }

    fn at(&self, row: usize, column: usize) -> T {
        self.elements[row * self.columns + column]
    }

    fn on(&self, device: &Device) -> Matrix<T> {
        let rows = self.elements.len() / self.columns.max(1);
        device
            .matrix((rows, self.columns), &self.elements)
            .expect("a matrix")
    }

    /// The transpose, so that `t()` of it has these elements in column-major order.
    fn transposed_on(&self, device: &Device) -> Matrix<T> {
        let rows = self.elements.len() / self.columns.max(1);
        let turned = Self::new((self.columns, rows), |i, j| self.at(j, i));
        turned.on(device)
    }
}

/// The bits of the product of `a` and `b`, which has K = `k`.
fn expected<T: Float>(a: &Host<T>, b: &Host<T>, (m, n, k): (usize, usize, usize)) -> Vec<u64> {
    let output = |i, j| dot((0..k).map(|l| (a.at(i, l), b.at(l, j))));
    let at = |number: usize| (number / n, number % n);
    let outputs = (0..m * n).map(at).map(|(i, j)| output(i, j));
    outputs.map(Float::to_u64).collect()
}

fn bits<T: Float>(c: &Matrix<T>) -> Vec<u64> {
    let elements = c.to_vec().expect("the elements");
    elements.into_iter().map(Float::to_u64).collect()
}

fn assert_exact<T: Float>(
    kind: Kind,
    shape: (usize, usize, usize),
    way: &str,
    c: &Matrix<T>,
    expected: &[u64],
) {
    let found = bits(c);
    let wrong = (0..found.len())
        .filter(|&i| found[i] != expected[i])
        .collect::<Vec<_>>();
    if let Some(&first) = wrong.first() {
        panic!(
            "{kind:?} {shape:?} {way}: {} of {} outputs differ; number {first} is {:?}, not {:?}",
            wrong.len(),
            found.len(),
            T::from_u64(found[first]),
            T::from_u64(expected[first]),
        );
    }
}

const SHAPES: [(usize, usize, usize); 8] = [
    (1, 1, 1),
    (3, 5, 7),
    (17, 9, 100),
    (2, 33, 257),
    (65, 1, 30),
    (40, 70, 33),
    (5, 3, 0),
    (64, 130, 64),
];

/// All outputs are computed one by one, and by products of residues, from operands in either order.
fn every_output_is_rounded_once<T: Float>() {
    for device in devices() {
        for (number, shape) in SHAPES.into_iter().enumerate() {
            let (m, n, k) = shape;
            // Products of residues take a simulator seconds, as do thousands of outputs one by one.
            let of_residues: Vec<_> = match device.is_simulator() {
                true => share((size_of::<T>(), number), KINDS).collect(),
                false => KINDS.to_vec(),
            };
            for kind in KINDS {
                if !of_residues.contains(&kind) && m * n > 200 {
                    continue;
                }
                let mut random = Random::new(number as u64 + 1);
                let a = Host::<T>::new((m, k), |_, l| element(kind, &mut random, l));
                let b = Host::<T>::new((k, n), |l, _| element(kind, &mut random, l));
                let expected = expected(&a, &b, shape);
                let (da, db) = (matrix(&device, &a, (m, k)), matrix(&device, &b, (k, n)));
                let (ta, tb) = (turned(&device, &a, (m, k)), turned(&device, &b, (k, n)));
                let exact = |a: MatrixView<'_, T>, b: MatrixView<'_, T>| {
                    device.matmul_exact(a, b).expect("a product")
                };
                assert_exact(
                    kind,
                    shape,
                    "one by one",
                    &exact(da.view(), db.view()),
                    &expected,
                );
                if !of_residues.contains(&kind) {
                    continue;
                }
                // One way for each kind, so that each shape has all of them.
                let ways = [
                    ("nn", da.view(), db.view()),
                    ("tt", ta.t(), tb.t()),
                    ("nt", da.view(), tb.t()),
                ];
                let (way, a, b) = ways[kind as usize % ways.len()];
                let product = Matmul::new(a, b)
                    .arithmetic(Arithmetic::Exact)
                    .tiles(TileSize::Small);
                assert_exact(
                    kind,
                    shape,
                    way,
                    &product.run().expect("a product"),
                    &expected,
                );
            }
        }
    }
}

fn matrix<T: Float>(device: &Device, host: &Host<T>, shape: (usize, usize)) -> Matrix<T> {
    match shape.0 * shape.1 {
        0 => device.matrix_zeros(shape).expect("a matrix"),
        _ => host.on(device),
    }
}

fn turned<T: Float>(device: &Device, host: &Host<T>, (rows, columns): (usize, usize)) -> Matrix<T> {
    match rows * columns {
        0 => device.matrix_zeros((columns, rows)).expect("a matrix"),
        _ => host.transposed_on(device),
    }
}

for_each_type!([f32 f64] every_output_is_rounded_once);
