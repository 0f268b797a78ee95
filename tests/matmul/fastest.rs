//! `matmul`: products by the fastest kernel, on tensor cores where there are some.

use crate::common::exact::Compensated;
use crate::common::random::Random;
use crate::common::{devices, machines};
use half::{bf16, f16};
use std::fmt::Debug;
use tilewright::{
    Accumulate, Arithmetic, Device, Element, ErrorKind, Matmul, MatmulInto, Matrix, Order,
    SimulatorOptions, TileConfig,
};

pub const ORDERS: [Order; 2] = [Order::RowMajor, Order::ColumnMajor];

/// Rows of A, columns of B, columns of A.
pub type Shape = (usize, usize, usize);

/// Those of the machines that run code for compute capability 9.0, which has warps of 32 threads.
pub fn hoppers(machines: Vec<Device>) -> Vec<Device> {
    let is_hopper = |device: &Device| {
        let properties = device.properties();
        properties.warp_threads == 32
            && matches!(properties.compute_capability, None | Some((9, 0)))
    };
    let (hoppers, others): (Vec<_>, Vec<_>) = machines.into_iter().partition(is_hopper);
    for other in others {
        println!("skipped: {} is not of compute capability 9.0", other.name());
    }
    hoppers
}

/// A matrix on the host, row after row.
#[derive(Clone)]
pub struct Host<T> {
    rows: usize,
    columns: usize,
    pub elements: Vec<T>,
}

impl<T: Element + Debug> Host<T> {
    pub fn new(rows: usize, columns: usize, mut element: impl FnMut(usize, usize) -> T) -> Self {
        let places = (0..rows * columns).map(|i| (i / columns, i % columns));
        Self {
            rows,
            columns,
            elements: places.map(|(row, column)| element(row, column)).collect(),
        }
    }

    pub fn upload(&self, device: &Device, order: Order) -> Matrix<T> {
        let mut matrix = device
            .matrix_uninit::<T>((self.rows, self.columns, order))
            .unwrap();
        let elements: Vec<T> = match order {
            Order::RowMajor => self.elements.clone(),
            Order::ColumnMajor => (0..self.columns)
                .flat_map(|column| (0..self.rows).map(move |row| row * self.columns + column))
                .map(|place| self.elements[place])
                .collect(),
        };
        let line = match order {
            Order::RowMajor => self.columns,
            Order::ColumnMajor => self.rows,
        };
        matrix
            .view_mut()
            .copy_from_strided(&elements, line)
            .unwrap();
        matrix
    }
}

pub trait Bits: Copy {
    fn bits(self) -> u64;
}
impl Bits for f32 {
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}
impl Bits for f64 {
    fn bits(self) -> u64 {
        self.to_bits()
    }
}
impl Bits for i32 {
    fn bits(self) -> u64 {
        u64::from(self as u32)
    }
}
impl Bits for f16 {
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}
impl Bits for bf16 {
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}

fn bits<T: Bits + Copy>(elements: &[T]) -> Vec<u64> {
    elements.iter().map(|it| it.bits()).collect()
}

/// Fails at the first element that has other bits.
#[track_caller]
pub fn assert_same_bits<T: Bits + Copy>(found: &[T], expected: &[T], case: &dyn Debug) {
    let (found, expected) = (bits(found), bits(expected));
    assert_eq!(found.len(), expected.len());
    let different = (0..found.len()).find(|&i| found[i] != expected[i]);
    if let Some(i) = different {
        panic!(
            "{:#x} instead of {:#x} at {i}: {case:?}",
            found[i], expected[i]
        );
    }
}

/// The orders of A, B and C.
type Orders = [Order; 3];

/// Number `number` of the eight ways to order three matrices.
fn orders(number: usize) -> Orders {
    [0, 1, 2].map(|bit| ORDERS[number >> bit & 1])
}

/// The product of matrices in these orders.
fn product_in<T: MatmulInto<T> + Debug>(
    orders: Orders,
    tiles: TileConfig,
    device: &Device,
    arithmetic: Arithmetic,
    a: &Host<T>,
    b: &Host<T>,
) -> Vec<T> {
    let [of_a, of_b, of_c] = orders;
    let (left, right) = (a.upload(device, of_a), b.upload(device, of_b));
    let mut c = device.matrix_zeros::<T>((a.rows, b.columns, of_c)).unwrap();
    let product = Matmul::new(&left, &right)
        .arithmetic(arithmetic)
        .tiles(tiles);
    product.run_into(&mut c).unwrap();
    c.to_vec().unwrap()
}

/// The product of matrices in all orders, and in both sizes of tiles, which all have the same bits.
fn product<T: MatmulInto<T> + Debug + Bits>(
    device: &Device,
    arithmetic: Arithmetic,
    a: &Host<T>,
    b: &Host<T>,
) -> Vec<T> {
    let [small, large] = [TileConfig::Small, TileConfig::Large];
    let first = product_in(orders(0), small, device, arithmetic, a, b);
    for (number, tiles) in (1..8).map(|it| (it, small)).chain([(0, large), (5, large)]) {
        let found = product_in(orders(number), tiles, device, arithmetic, a, b);
        assert_same_bits(&found, &first, &(orders(number), tiles, device));
    }
    first
}

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

trait Half: MatmulInto<Self> + Accumulate<Product = Self> + Debug + Bits {
    fn of(value: f64) -> Self;
    fn widened(self) -> f64;
}
impl Half for f16 {
    fn of(value: f64) -> Self {
        Self::from_f64(value)
    }
    fn widened(self) -> f64 {
        self.to_f64()
    }
}
impl Half for bf16 {
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
    an_older_device_has_no_kernel_for_halves
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

fn an_older_device_has_no_kernel_for_halves<T: Half>() {
    let options = tilewright::SimulatorOptions::default().with_warp_width(64);
    let device = Device::simulator_with(options);
    let a = device.matrix_zeros::<T>((8, 8)).unwrap();
    let error = device.matmul(&a, &a).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::NoKernel { .. }),
        "{error}"
    );
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
