//! Products of matrices, by every kernel, for every type, on every device at hand.

#[macro_use]
mod common;

use bytemuck::cast_slice;
use common::exact::{Compensated, Rounding};
use common::product;
use common::random::Random;
use common::sizes::sizes;
use common::{devices, machines};
use ndarray::{ArrayView2, LinalgScalar};
use tilewright::{Device, Error, Matrix, Result, SimulatorOptions};

/// A type to multiply, with its limits.
trait Real: product::Real + Rounding + LinalgScalar {
    const MAX: Self;
    const SMALLEST_NORMAL: Self;
    const SMALLEST_SUBNORMAL: Self;
    /// Its square is subnormal.
    const ROOT_OF_SUBNORMAL: Self;
}

macro_rules! reals {
    ($($real:ty: $root_of_subnormal:literal;)*) => {$(
        impl Real for $real {
            const MAX: Self = <$real>::MAX;
            const SMALLEST_NORMAL: Self = <$real>::MIN_POSITIVE;
            const SMALLEST_SUBNORMAL: Self = <$real>::from_bits(1);
            const ROOT_OF_SUBNORMAL: Self = $root_of_subnormal;
        }
    )*};
}
reals! {
    f32: 1e-21;
    f64: 1e-158;
}

/// A way to multiply.
#[derive(Clone, Copy, Debug)]
enum Kernel {
    Tiled,
    Coarsened,
}

impl Kernel {
    const ALL: [Self; 2] = [Self::Tiled, Self::Coarsened];

    fn name(self) -> &'static str {
        match self {
            Self::Tiled => "matmul_tiled",
            Self::Coarsened => "matmul_coarsened",
        }
    }

    fn multiply<T: Real>(self, device: &Device, a: &Matrix<T>, b: &Matrix<T>) -> Result<Matrix<T>> {
        match self {
            Self::Tiled => device.matmul_tiled(a, b),
            Self::Coarsened => device.matmul_coarsened(a, b),
        }
    }

    fn multiply_into<T: Real>(
        self,
        device: &Device,
        a: &Matrix<T>,
        b: &Matrix<T>,
        c: &mut Matrix<T>,
    ) -> Result<()> {
        match self {
            Self::Tiled => device.matmul_tiled_into(a, b, c),
            Self::Coarsened => device.matmul_coarsened_into(a, b, c),
        }
    }
}

/// Every device at hand with every kernel. The coarsened product takes small tiles for results that
/// would not fill the device, so it comes once more on a device that any result fills.
fn ways() -> impl Iterator<Item = (Device, Kernel)> {
    devices()
        .into_iter()
        .flat_map(|device| Kernel::ALL.map(|kernel| (device.clone(), kernel)))
        .chain([(easily_filled(), Kernel::Coarsened)])
}

/// A simulator with one multiprocessor.
fn easily_filled() -> Device {
    Device::simulator_with(SimulatorOptions::default().with_multiprocessors(1))
}

/// Rows of A, columns of B, columns of A.
#[derive(Clone, Copy, Debug)]
struct Shape {
    m: usize,
    n: usize,
    k: usize,
}

impl Shape {
    const fn new(m: usize, n: usize, k: usize) -> Self {
        Self { m, n, k }
    }
}

/// The table of cases: sizes around every tile in each dimension, alone and together; more blocks
/// than one group of neighbours; long, thin and flat matrices.
fn shapes() -> Vec<Shape> {
    let single = sizes(131).into_iter().flat_map(|size| {
        [
            Shape::new(size, 5, 37),
            Shape::new(5, size, 37),
            Shape::new(37, 5, size),
            Shape::new(size, size, size),
        ]
    });
    const EDGES: [usize; 4] = [1, 17, 64, 129];
    let together = EDGES.into_iter().flat_map(|m| {
        EDGES
            .into_iter()
            .flat_map(move |n| EDGES.map(|k| Shape::new(m, n, k)))
    });
    let large = [
        Shape::new(300, 290, 9),
        Shape::new(1200, 260, 17),
        Shape::new(1, 1, 4099),
        Shape::new(3, 2053, 2),
        Shape::new(2053, 1, 3),
    ];
    single.chain(together).chain(large).collect()
}

/// Two matrices to multiply, row-major.
#[derive(Clone)]
struct Factors<T> {
    shape: Shape,
    a: Vec<T>,
    b: Vec<T>,
}

impl<T: Real> Factors<T> {
    fn new(shape: Shape, mut element: impl FnMut() -> f64) -> Self {
        let mut elements = |count| (0..count).map(|_| T::of(element())).collect();
        Self {
            shape,
            a: elements(shape.m * shape.k),
            b: elements(shape.k * shape.n),
        }
    }

    fn random(shape: Shape) -> Self {
        let mut random = Random::new(1);
        Self::new(shape, || random.wide())
    }

    fn small_integers(shape: Shape) -> Self {
        let mut random = Random::new(2);
        Self::new(shape, || random.integer(-8..=8) as f64)
    }

    /// The products that add up to output (`row`, `column`), in order.
    fn terms(&self, row: usize, column: usize) -> impl Iterator<Item = (T, T)> {
        let Shape { n, k, .. } = self.shape;
        (0..k).map(move |i| (self.a[row * k + i], self.b[i * n + column]))
    }

    fn outputs<R>(&self, output: impl Fn(usize, usize) -> R) -> Vec<R> {
        let Shape { m, n, .. } = self.shape;
        (0..m * n)
            .map(|index| output(index / n, index % n))
            .collect()
    }

    /// The naive product, whose bits every kernel gives.
    fn naive(&self) -> Vec<T> {
        self.outputs(|row, column| product::in_order(self.terms(row, column)))
    }

    /// The product with errors far below what is allowed.
    fn exact(&self) -> Vec<Compensated> {
        self.outputs(|row, column| {
            let mut sum = Compensated::default();
            self.terms(row, column)
                .for_each(|(left, right)| sum.add_product(left.into(), right.into()));
            sum
        })
    }

    /// The product as `ndarray` has it, for integers: an exact sum of zero is +0.
    fn by_ndarray(&self) -> Vec<T> {
        let Shape { m, n, k } = self.shape;
        let a = ArrayView2::from_shape((m, k), &self.a).unwrap();
        let b = ArrayView2::from_shape((k, n), &self.b).unwrap();
        let product = a.dot(&b).mapv(|x| x + T::zero());
        product.into_raw_vec_and_offset().0
    }

    fn upload(&self, device: &Device) -> (Matrix<T>, Matrix<T>) {
        let Shape { m, n, k } = self.shape;
        (
            device.matrix(m, k, &self.a).unwrap(),
            device.matrix(k, n, &self.b).unwrap(),
        )
    }

    fn multiply(&self, device: &Device, kernel: Kernel) -> Vec<T> {
        let (a, b) = self.upload(device);
        // Of a failing test the last such line tells the case.
        println!("{kernel:?} on {device:?}, {:?}", self.shape);
        let c = kernel.multiply(device, &a, &b).unwrap();
        assert_eq!(c.shape(), (self.shape.m, self.shape.n));
        c.to_vec().unwrap()
    }

    /// The runner of all cases: the product by every kernel on every device.
    fn products(&self) -> impl Iterator<Item = Vec<T>> {
        ways().map(|(device, kernel)| self.multiply(&device, kernel))
    }

    /// Fails unless every kernel gives `expected` on every device.
    #[track_caller]
    fn assert_products(&self, expected: &[T]) {
        for product in self.products() {
            self.assert_same(&product, expected);
        }
    }

    /// Fails unless a product has the bits of `expected`.
    #[track_caller]
    fn assert_same(&self, product: &[T], expected: &[T]) {
        product::assert_same_bits(product, expected, self.shape.n, &self.shape);
    }
}

for_each_type! {
    [f32 f64]
    products_of_every_shape_are_right
    products_of_small_integers_are_exact
    every_machine_and_kernel_gives_the_same_bits
    nan_and_infinities_in_a_reach_their_rows_alone
    nan_and_infinities_in_b_reach_their_columns_alone
    zero_times_infinity_is_nan
    overflow_goes_to_infinity
    products_of_subnormals_are_exact
    products_that_underflow_are_subnormal
    without_terms_the_product_is_zero
    products_without_outputs_are_empty
    a_result_that_is_there_is_overwritten
    threads_share_a_device
    mismatched_shapes_are_refused
    results_of_a_wrong_shape_are_refused
    operands_of_another_device_are_refused
    without_memory_the_product_is_an_error_and_the_next_works
    products_that_cannot_be_counted_are_refused
}

/// The naive loop's bits are promised by the library, the error bound by the literature: a kernel
/// that gave up the first would still have to keep the second.
fn products_of_every_shape_are_right<T: Real>() {
    for shape in shapes() {
        let factors = Factors::<T>::random(shape);
        let (naive, exact) = (factors.naive(), factors.exact());
        for product in factors.products() {
            factors.assert_same(&product, &naive);
            for (&found, exact) in product.iter().zip(&exact) {
                exact.assert_close(found, shape.k);
            }
        }
    }
}

fn products_of_small_integers_are_exact<T: Real>() {
    for shape in shapes() {
        let factors = Factors::<T>::small_integers(shape);
        factors.assert_products(&factors.by_ndarray());
    }
}

fn every_machine_and_kernel_gives_the_same_bits<T: Real>() {
    let factors = Factors::<T>::random(Shape::new(141, 150, 70));
    let expected = factors.naive();
    let machines = machines().into_iter().chain([easily_filled()]);
    for (number, machine) in machines.enumerate() {
        for kernel in Kernel::ALL {
            for run in 1..=2 {
                let product = factors.multiply(&machine, kernel);
                let is_same = cast_slice::<T, u8>(&product) == cast_slice::<T, u8>(&expected);
                assert!(is_same, "machine {number}, {kernel:?}, run {run}");
            }
        }
    }
}

const SPECIAL: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

/// Rows and columns of every class: a vector's elements, both ends of tiles, and the last.
const LINES: [usize; 17] = [
    0, 1, 2, 3, 7, 8, 31, 32, 63, 64, 65, 96, 126, 127, 128, 129, 131,
];

/// With whole tiles and a tail in each dimension, for rows of B that are and that are not
/// multiples of 16 bytes.
const SPECIAL_SHAPES: [Shape; 2] = [Shape::new(132, 133, 37), Shape::new(133, 132, 40)];

/// From one turn of `LINES` through K to the next: every k meets several of the lines, and every
/// line several k.
const TURN: usize = 4;

/// Puts NaN and infinities in each of the `LINES` of one operand, each at another k and at
/// `index`, and fails unless exactly these lines of the product, as `line` numbers them, are not
/// finite.
fn assert_special_lines<T: Real>(
    operand: fn(&mut Factors<T>) -> &mut Vec<T>,
    index: fn(Shape, usize, usize) -> usize,
    line: fn(Shape, usize) -> usize,
) {
    for shape in SPECIAL_SHAPES {
        let mut random = Random::new(3);
        let usual = Factors::<T>::new(shape, || 1.0 + random.signed_unit() / 2.0);
        for start in (0..shape.k).step_by(TURN) {
            let mut factors = usual.clone();
            for (step, line) in LINES.into_iter().enumerate() {
                let special = T::of(SPECIAL[(step + start) % SPECIAL.len()]);
                operand(&mut factors)[index(shape, line, (start + step) % shape.k)] = special;
            }
            let expected = factors.naive();
            for (index, &output) in expected.iter().enumerate() {
                let is_special = !output.into().is_finite();
                assert_eq!(
                    is_special,
                    LINES.contains(&line(shape, index)),
                    "the reference"
                );
            }
            factors.assert_products(&expected);
        }
    }
}

fn nan_and_infinities_in_a_reach_their_rows_alone<T: Real>() {
    assert_special_lines::<T>(
        |factors| &mut factors.a,
        |shape, row, k| row * shape.k + k,
        |shape, output| output / shape.n,
    );
}

fn nan_and_infinities_in_b_reach_their_columns_alone<T: Real>() {
    assert_special_lines::<T>(
        |factors| &mut factors.b,
        |shape, column, k| k * shape.n + column,
        |shape, output| output % shape.n,
    );
}

fn zero_times_infinity_is_nan<T: Real>() {
    for shape in SPECIAL_SHAPES {
        let mut factors = Factors::<T>::new(shape, || 0.0);
        let last = factors.a.len() - 1;
        factors.a[last] = T::of(f64::INFINITY);
        let expected = factors.outputs(|row, _| {
            if row == shape.m - 1 {
                T::CANONICAL_NAN
            } else {
                T::zero()
            }
        });
        factors.assert_products(&expected);
    }
}

fn overflow_goes_to_infinity<T: Real>() {
    for shape in SPECIAL_SHAPES {
        let factors = Factors::<T>::new(shape, || T::MAX.into());
        factors.assert_products(&vec![T::of(f64::INFINITY); shape.m * shape.n]);
    }
}

fn products_of_subnormals_are_exact<T: Real>() {
    for shape in SPECIAL_SHAPES {
        let mut factors = Factors::<T>::small_integers(shape);
        let scale = T::SMALLEST_SUBNORMAL.into();
        let expected: Vec<T> = factors
            .by_ndarray()
            .into_iter()
            .map(|x| T::of(x.into() * scale))
            .collect();
        factors
            .a
            .iter_mut()
            .for_each(|x| *x = T::of((*x).into() * scale));
        factors.assert_products(&expected);
    }
}

fn products_that_underflow_are_subnormal<T: Real>() {
    for shape in SPECIAL_SHAPES {
        let root = T::ROOT_OF_SUBNORMAL.into();
        let mut random = Random::new(4);
        let factors = Factors::<T>::new(shape, || root * (1.0 + random.signed_unit() / 2.0));
        let expected = factors.naive();
        assert!(
            expected
                .iter()
                .all(|&x| x != T::zero() && x.into().abs() < T::SMALLEST_NORMAL.into()),
            "the reference"
        );
        factors.assert_products(&expected);
    }
}

fn without_terms_the_product_is_zero<T: Real>() {
    for (m, n) in [(1, 1), (33, 130), (129, 4)] {
        let factors = Factors::<T>::random(Shape::new(m, n, 0));
        let zeros = vec![T::zero(); m * n];
        factors.assert_products(&zeros);
        for (device, kernel) in ways() {
            let (a, b) = factors.upload(&device);
            let mut c = device.matrix(m, n, &vec![T::of(7.0); m * n]).unwrap();
            kernel.multiply_into(&device, &a, &b, &mut c).unwrap();
            assert_eq!(c.to_vec().unwrap(), zeros);
        }
    }
}

fn products_without_outputs_are_empty<T: Real>() {
    for (m, n, k) in [(0, 5, 3), (5, 0, 3), (0, 0, 3), (0, 5, 0), (0, 0, 0)] {
        Factors::<T>::random(Shape::new(m, n, k)).assert_products(&[]);
    }
}

fn a_result_that_is_there_is_overwritten<T: Real>() {
    for shape in [Shape::new(33, 17, 5), Shape::new(128, 128, 16)] {
        let factors = Factors::<T>::random(shape);
        let expected = factors.naive();
        for (device, kernel) in ways() {
            let (a, b) = factors.upload(&device);
            let mut c = device
                .matrix(shape.m, shape.n, &vec![T::of(f64::NAN); shape.m * shape.n])
                .unwrap();
            for _ in 0..2 {
                kernel.multiply_into(&device, &a, &b, &mut c).unwrap();
                assert_eq!(c.to_vec().unwrap(), expected);
            }
        }
    }
}

fn threads_share_a_device<T: Real>() {
    for (device, kernel) in ways() {
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let device = &device;
                scope.spawn(move || {
                    let factors = Factors::<T>::random(Shape::new(50 + thread, 70, 33));
                    let expected = factors.naive();
                    for _ in 0..5 {
                        assert_eq!(factors.multiply(device, kernel), expected);
                    }
                });
            }
        });
    }
}

/// Fails unless the device multiplies as it should: after an error, to show that it still does.
#[track_caller]
fn assert_works<T: Real>(device: &Device, kernel: Kernel) {
    let factors = Factors::<T>::random(Shape::new(5, 7, 9));
    assert_eq!(factors.multiply(device, kernel), factors.naive());
}

fn mismatched_shapes_are_refused<T: Real>() {
    for (device, kernel) in ways() {
        let (a, b) = (
            device.zero_matrix::<T>(3, 4).unwrap(),
            device.zero_matrix(5, 6).unwrap(),
        );
        let mut c = device.zero_matrix(3, 6).unwrap();
        for error in [
            kernel.multiply(&device, &a, &b).unwrap_err(),
            kernel.multiply_into(&device, &a, &b, &mut c).unwrap_err(),
        ] {
            let Error::ShapeMismatch {
                operation,
                left: (3, 4),
                right: (5, 6),
                ..
            } = error
            else {
                panic!("another error: {error}");
            };
            assert_eq!(operation, kernel.name());
        }
        assert_works::<T>(&device, kernel);
    }
}

fn results_of_a_wrong_shape_are_refused<T: Real>() {
    for (device, kernel) in ways() {
        let (a, b) = (
            device.zero_matrix::<T>(3, 4).unwrap(),
            device.zero_matrix(4, 6).unwrap(),
        );
        for (rows, columns) in [(6, 3), (3, 5), (2, 6), (0, 0)] {
            let mut c = device.zero_matrix(rows, columns).unwrap();
            let error = kernel.multiply_into(&device, &a, &b, &mut c).unwrap_err();
            let Error::ShapeMismatch {
                left: (3, 6),
                right,
                ..
            } = error
            else {
                panic!("another error: {error}");
            };
            assert_eq!(right, (rows, columns));
        }
        assert_works::<T>(&device, kernel);
    }
}

fn operands_of_another_device_are_refused<T: Real>() {
    let square = |device: &Device| device.zero_matrix::<T>(4, 4).unwrap();
    let other = Device::simulator();
    let (foreign, mut foreign_result) = (square(&other), square(&other));
    for (device, kernel) in ways() {
        let (own, mut own_result) = (square(&device), square(&device));
        for (error, operand) in [
            (kernel.multiply(&device, &foreign, &own).unwrap_err(), "A"),
            (kernel.multiply(&device, &own, &foreign).unwrap_err(), "B"),
            (
                kernel
                    .multiply_into(&device, &foreign, &own, &mut own_result)
                    .unwrap_err(),
                "A",
            ),
            (
                kernel
                    .multiply_into(&device, &own, &own, &mut foreign_result)
                    .unwrap_err(),
                "C",
            ),
        ] {
            let Error::WrongDevice { what, .. } = error else {
                panic!("another error: {error}");
            };
            assert!(what.ends_with(operand), "{what} instead of {operand}");
        }
        assert_works::<T>(&device, kernel);
    }
}

fn without_memory_the_product_is_an_error_and_the_next_works<T: Real>() {
    let device = Device::simulator_with(SimulatorOptions::default().with_memory_bytes(1 << 16));
    for kernel in Kernel::ALL {
        let (a, b) = (
            device.zero_matrix::<T>(200, 1).unwrap(),
            device.zero_matrix(1, 200).unwrap(),
        );
        let error = kernel.multiply(&device, &a, &b).unwrap_err();
        let Error::OutOfMemory {
            operation,
            requested,
            ..
        } = error
        else {
            panic!("another error: {error}");
        };
        assert_eq!(
            (operation, requested),
            (kernel.name(), 200 * 200 * size_of::<T>() as u64)
        );
        assert_works::<T>(&device, kernel);
    }
}

fn products_that_cannot_be_counted_are_refused<T: Real>() {
    for (device, kernel) in ways() {
        let (a, b) = (
            device.zero_matrix::<T>(1 << 40, 0).unwrap(),
            device.zero_matrix(0, 1 << 40).unwrap(),
        );
        let error = kernel.multiply(&device, &a, &b).unwrap_err();
        assert!(matches!(error, Error::TooLarge { .. }), "{error}");
        assert_works::<T>(&device, kernel);
    }
}
