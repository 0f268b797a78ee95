//! The operands of a test's products, and the expected results.

use crate::common::devices;
use crate::common::exact::{Compensated, Rounding};
use crate::common::product;
use crate::common::random::Random;
use crate::common::sizes::sizes;
use ndarray::{ArrayView2, LinalgScalar};
use tilewright::{Arithmetic, Device, Matmul, Matrix, Result, SimulatorOptions};

/// A type to multiply, with its limits.
pub trait Real: product::Real + Rounding + LinalgScalar {
    const MAX: Self;
    const SMALLEST_NORMAL: Self;
    const SMALLEST_SUBNORMAL: Self;
    /// Its square is subnormal.
    const ROOT_OF_SUBNORMAL: Self;
    /// The ways to multiply that promise the bits of a chain.
    const METHODS: &'static [Kernel];
}

macro_rules! reals {
    ($($real:ty: $root_of_subnormal:literal, [$($kernel:ident),*];)*) => {$(
        impl Real for $real {
            const MAX: Self = <$real>::MAX;
            const SMALLEST_NORMAL: Self = <$real>::MIN_POSITIVE;
            const SMALLEST_SUBNORMAL: Self = <$real>::from_bits(1);
            const ROOT_OF_SUBNORMAL: Self = $root_of_subnormal;
            const METHODS: &'static [Kernel] = &[$(Kernel::$kernel),*];
        }
    )*};
}
reals! {
    f32: 1e-21, [Tiled, Coarsened];
    f64: 1e-158, [Tiled, Coarsened, Fastest];
}

/// A way to multiply.
#[derive(Clone, Copy, Debug)]
pub enum Kernel {
    Tiled,
    Coarsened,
    /// A chain in f64, as long as no operand is a vector and K is small: on tensor cores, where there are any.
    Fastest,
}

impl Kernel {
    pub fn name(self) -> &'static str {
        match self {
            Self::Tiled => "matmul_tiled",
            Self::Coarsened => "matmul_coarsened",
            Self::Fastest => "matmul",
        }
    }

    pub fn multiply<T: Real>(
        self,
        device: &Device,
        a: &Matrix<T>,
        b: &Matrix<T>,
    ) -> Result<Matrix<T>> {
        match self {
            Self::Tiled => device.matmul_tiled(a, b),
            Self::Coarsened => device.matmul_coarsened(a, b),
            Self::Fastest if is_no_chain(a, b) => {
                Matmul::new(a, b).arithmetic(Arithmetic::Chain).run()
            }
            Self::Fastest => device.matmul(a, b),
        }
    }

    pub fn multiply_into<T: Real>(
        self,
        device: &Device,
        a: &Matrix<T>,
        b: &Matrix<T>,
        c: &mut Matrix<T>,
    ) -> Result<()> {
        match self {
            Self::Tiled => device.matmul_tiled_into(a, b, c),
            Self::Coarsened => device.matmul_coarsened_into(a, b, c),
            Self::Fastest if is_no_chain(a, b) => {
                let product = Matmul::new(a, b);
                product.arithmetic(Arithmetic::Chain).run_into(c)
            }
            Self::Fastest => device.matmul_into(a, b, c),
        }
    }
}

/// Whether `matmul` may add in another order than a chain: with a vector, or in parts of K.
fn is_no_chain<T: Real>(a: &Matrix<T>, b: &Matrix<T>) -> bool {
    a.rows() == 1 || b.cols() == 1 || a.cols() >= 256
}

/// Every device at hand with every kernel. Most take small tiles for results that would not fill the
/// device, so they come once more on a device that any result fills.
pub fn ways<T: Real>() -> impl Iterator<Item = (Device, Kernel)> {
    let of = |device: Device, kernels: &'static [Kernel]| {
        kernels.iter().map(move |kernel| (device.clone(), *kernel))
    };
    let (_, tiles_of_two_sizes) = T::METHODS.split_first().expect("there are kernels");
    devices()
        .into_iter()
        .flat_map(move |device| of(device, T::METHODS))
        .chain(of(easily_filled(), tiles_of_two_sizes))
}

/// A simulator with one multiprocessor.
pub fn easily_filled() -> Device {
    Device::simulator_with(SimulatorOptions::default().with_multiprocessors(1))
}

/// Rows of A, columns of B, columns of A.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

impl Shape {
    pub const fn new(m: usize, n: usize, k: usize) -> Self {
        Self { m, n, k }
    }
}

/// The table of cases: sizes around every tile in each dimension, alone and together; more blocks
/// than one group of neighbours; long, thin and flat matrices.
pub fn shapes() -> Vec<Shape> {
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
pub struct Operands<T> {
    pub shape: Shape,
    pub a: Vec<T>,
    pub b: Vec<T>,
}

impl<T: Real> Operands<T> {
    pub fn new(shape: Shape, mut element: impl FnMut() -> f64) -> Self {
        let mut elements = |count| (0..count).map(|_| T::of(element())).collect();
        Self {
            shape,
            a: elements(shape.m * shape.k),
            b: elements(shape.k * shape.n),
        }
    }

    pub fn random(shape: Shape) -> Self {
        let mut random = Random::new(1);
        Self::new(shape, || random.wide())
    }

    pub fn small_integers(shape: Shape) -> Self {
        let mut random = Random::new(2);
        Self::new(shape, || random.integer(-8..=8) as f64)
    }

    /// The products that add up to output (`row`, `column`), in order.
    pub fn terms(&self, row: usize, column: usize) -> impl Iterator<Item = (T, T)> {
        let Shape { n, k, .. } = self.shape;
        (0..k).map(move |i| (self.a[row * k + i], self.b[i * n + column]))
    }

    pub fn outputs<R>(&self, output: impl Fn(usize, usize) -> R) -> Vec<R> {
        let Shape { m, n, .. } = self.shape;
        (0..m * n)
            .map(|index| output(index / n, index % n))
            .collect()
    }

    /// The naive product, whose bits every kernel gives.
    pub fn naive(&self) -> Vec<T> {
        self.outputs(|row, column| product::in_order(self.terms(row, column)))
    }

    /// The product with errors far below the tolerance.
    pub fn exact(&self) -> Vec<Compensated> {
        self.outputs(|row, column| {
            let mut sum = Compensated::default();
            self.terms(row, column)
                .for_each(|(left, right)| sum.add_product(left.into(), right.into()));
            sum
        })
    }

    /// The product as `ndarray` has it, for integers: an exact sum of zero is +0.
    pub fn by_ndarray(&self) -> Vec<T> {
        let Shape { m, n, k } = self.shape;
        let a = ArrayView2::from_shape((m, k), &self.a).unwrap();
        let b = ArrayView2::from_shape((k, n), &self.b).unwrap();
        let product = a.dot(&b).mapv(|x| x + T::zero());
        product.into_raw_vec_and_offset().0
    }

    pub fn upload(&self, device: &Device) -> (Matrix<T>, Matrix<T>) {
        let Shape { m, n, k } = self.shape;
        (
            device.matrix((m, k), &self.a).unwrap(),
            device.matrix((k, n), &self.b).unwrap(),
        )
    }

    pub fn multiply(&self, device: &Device, kernel: Kernel) -> Vec<T> {
        let (a, b) = self.upload(device);
        // If a test fails, the last of these lines names the case.
        println!("{kernel:?} on {device:?}, {:?}", self.shape);
        let c = kernel.multiply(device, &a, &b).unwrap();
        assert_eq!(c.shape(), (self.shape.m, self.shape.n));
        c.to_vec().unwrap()
    }

    /// The runner of all cases: the product by every kernel on every device.
    pub fn products(&self) -> impl Iterator<Item = Vec<T>> {
        ways::<T>().map(|(device, kernel)| self.multiply(&device, kernel))
    }

    /// Fails unless every kernel gives `expected` on every device.
    #[track_caller]
    pub fn assert_products(&self, expected: &[T]) {
        for product in self.products() {
            self.assert_same(&product, expected);
        }
    }

    /// Fails unless a product has the bits of `expected`.
    #[track_caller]
    pub fn assert_same(&self, product: &[T], expected: &[T]) {
        product::assert_same_bits(product, expected, self.shape.n, &self.shape);
    }
}
