//! `matmul`: products by the fastest kernel, of halves on tensor cores, and the arithmetic that is chosen.

use crate::common::random::Random;
use crate::common::{devices, machines};
use crate::harness::{
    Bits, Host, ORDERS, Shape, Way, an_older_device_has_no_kernel, assert_same_bits, hoppers,
    product,
};
use half::{bf16, f16};
use std::fmt::Debug;
use tilewright::tuning::SelectionReason;
use tilewright::{Arithmetic, Device, ErrorKind, Matmul, MatmulElement, MatmulInto, Order};

/// Shapes with whole tiles and tails, and rows that are and are not multiples of 16 bytes.
const SHAPES: [Shape; 7] = [
    (1, 1, 1),
    (128, 256, 64),
    (64, 8, 72),
    (130, 136, 129),
    (257, 33, 200),
    (5, 300, 65),
    (16, 24, 0),
];

trait Half: MatmulInto<Self> + MatmulElement<Product = Self> + Debug + Bits {
    /// The NaN that a product returns for every NaN.
    const CANONICAL_NAN: Self;
    fn of(value: f64) -> Self;
    fn widened(self) -> f64;
}
impl Half for f16 {
    const CANONICAL_NAN: Self = Self::from_bits(0x7fff);
    fn of(value: f64) -> Self {
        Self::from_f64(value)
    }
    fn widened(self) -> f64 {
        self.to_f64()
    }
}
impl Half for bf16 {
    const CANONICAL_NAN: Self = Self::from_bits(0x7fff);
    fn of(value: f64) -> Self {
        Self::from_f64(value)
    }
    fn widened(self) -> f64 {
        self.to_f64()
    }
}

for_each_type! {
    [f16 bf16]
    integers_are_multiplied_exactly
    halves_have_the_same_bits_on_every_machine
    nan_and_infinities_of_halves_reach_their_outputs
    an_older_device_has_no_kernel
}

fn integers_are_multiplied_exactly<T: Half>() {
    for (m, n, k) in SHAPES {
        let mut random = Random::new((m + n + k) as u64);
        let mut element = |_, _| T::of(random.integer(-8..=8) as f64);
        let (a, b) = (Host::new(m, k, &mut element), Host::new(k, n, &mut element));
        let output = |i: usize| -> f64 {
            let terms = (0..k).map(|j| (a.elements[i / n * k + j], b.elements[j * n + i % n]));
            terms.fold(0.0, |sum, (a, b)| sum + a.widened() * b.widened())
        };
        let expected: Vec<T> = (0..m * n).map(|i| T::of(output(i))).collect();
        for device in hoppers(devices()) {
            let found = product(&device, Arithmetic::Auto, &a, &b);
            assert_same_bits(&found, &expected, &((m, n, k), device));
        }
    }
}

fn halves_have_the_same_bits_on_every_machine<T: Half>() {
    let (m, n, k) = (65, 40, 216);
    let mut random = Random::new(5);
    let mut element = |_, _| T::of(random.signed_unit());
    let (a, b) = (Host::new(m, k, &mut element), Host::new(k, n, &mut element));
    let mut first = None;
    for device in hoppers(machines()) {
        let found = product(&device, Arithmetic::Auto, &a, &b);
        assert_same_bits(&found, first.get_or_insert_with(|| found.clone()), &device);
    }
}

/// The values of a line at one of its places and at the next. All others are small whole numbers.
const SPECIAL: [[f64; 2]; 4] = [
    [f64::NAN, 1.0],
    [f64::INFINITY, 1.0],
    [f64::NEG_INFINITY, 2.0],
    [f64::INFINITY, f64::NEG_INFINITY],
];

/// At every place of a stage of 64 and of a tail, each in lines of its own: rows of A, and columns of B.
fn nan_and_infinities_of_halves_reach_their_outputs<T: Half>() {
    const K: usize = 64 + 9;
    const LINES: usize = SPECIAL.len() * K;
    let special = |line: usize, k: usize| {
        let [first, second] = SPECIAL[line % SPECIAL.len()];
        let place = line / SPECIAL.len();
        match k {
            _ if k == place => first,
            _ if k == (place + 1) % K => second,
            _ => (1 + (line + k) % 2) as f64,
        }
    };
    let usual = |line: usize, k: usize| (1 + (line + k) % 3) as f64;
    let of = |lines: usize, element: &dyn Fn(usize, usize) -> f64| {
        (
            Host::new(lines, K, |line, k| T::of(element(line, k))),
            Host::new(K, lines, |k, line| T::of(element(line, k))),
        )
    };
    let [(special_rows, special_columns), (rows, columns)] = [of(LINES, &special), of(10, &usual)];
    for (a, b) in [(&special_rows, &columns), (&rows, &special_columns)] {
        let (m, n) = (a.rows, b.columns);
        let output = |i: usize| -> f64 {
            let terms = (0..K).map(|k| (a.elements[i / n * K + k], b.elements[k * n + i % n]));
            terms.fold(0.0, |sum, (a, b)| sum + a.widened() * b.widened())
        };
        let expected: Vec<T> = (0..m * n)
            .map(|i| match output(i) {
                sum if sum.is_nan() => T::CANONICAL_NAN,
                sum => T::of(sum),
            })
            .collect();
        for device in hoppers(devices()) {
            for capability in [None, Some((8, 0))] {
                let way = Way {
                    device: device.clone(),
                    capability,
                };
                let found = product(&way, Arithmetic::Auto, a, b);
                assert_same_bits(&found, &expected, &((m, n, K), &way));
            }
            // In a batch, each product by a block of one warpgroup.
            const PRODUCTS: usize = LINES / 2;
            let (a, b) = (a.upload(&device, ORDERS[0]), b.upload(&device, ORDERS[1]));
            let products = match m > n {
                true => Matmul::new(a.view().batch_rows(PRODUCTS).unwrap(), &b),
                false => Matmul::new(&a, b.view().batch_columns(PRODUCTS).unwrap()),
            };
            let plan = products.plan().unwrap();
            assert_eq!(plan.reason, SelectionReason::SmallResult, "{plan}");
            let found = products.run().unwrap().to_vec().unwrap();
            let (rows, columns) = match m > n {
                true => (m / PRODUCTS, n),
                false => (m, n / PRODUCTS),
            };
            let of_batch: Vec<T> = (0..m * n)
                .map(|at| {
                    let (product, row, column) =
                        (at / (rows * columns), at / columns % rows, at % columns);
                    match m > n {
                        true => expected[(product * rows + row) * n + column],
                        false => expected[row * n + product * columns + column],
                    }
                })
                .collect();
            assert_same_bits(&found, &of_batch, &((m, n, K), device));
        }
    }
}

#[test]
fn a_chain_has_the_bits_of_the_tiled_product() {
    let (m, n, k) = (33, 34, 100);
    let mut random = Random::new(2);
    let mut element = |_, _| random.signed_unit() as f32;
    let (a, b) = (Host::new(m, k, &mut element), Host::new(k, n, &mut element));
    for device in devices() {
        let found = product(&device, Arithmetic::Chain, &a, &b);
        let (a, b) = (
            a.upload(&device, Order::RowMajor),
            b.upload(&device, Order::RowMajor),
        );
        let tiled = device.matmul_tiled(&a, &b).unwrap().to_vec().unwrap();
        assert_same_bits(&found, &tiled, &device);
    }
}

#[test]
fn an_arithmetic_that_a_product_does_not_have_is_an_error() {
    let device = Device::simulator();
    let a = device.matrix_zeros::<f32>((8, 8)).unwrap();
    let short = Matmul::new(&a, &a).arithmetic(Arithmetic::Split).run();
    assert!(matches!(
        short.unwrap_err().kind(),
        ErrorKind::NoKernel { .. }
    ));
    let b = device.matrix_zeros::<f64>((80, 80)).unwrap();
    let double = Matmul::new(&b, &b).arithmetic(Arithmetic::Split).run();
    assert!(matches!(
        double.unwrap_err().kind(),
        ErrorKind::NoKernel { .. }
    ));
}
