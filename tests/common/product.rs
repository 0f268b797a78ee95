//! The product that every kernel gives, bit for bit, and the runner of all kernels.

use bytemuck::Zeroable;
use std::fmt::Debug;
use tilewright::tuning::TileSize;
use tilewright::{
    Arithmetic, AsMatrixViewMut, ChainElement, Device, Matmul, Matrix, MatrixView, Order, Result,
};

/// A type to multiply.
pub trait Real: ChainElement + Zeroable + Into<f64> + PartialEq + Debug {
    /// The NaN that a product returns for every NaN.
    const CANONICAL_NAN: Self;
    /// The kernels.
    const KERNELS: &'static [Kernel];

    fn of(value: f64) -> Self;

    fn mul_add(self, factor: Self, summand: Self) -> Self;

    fn bits(self) -> u64;

    fn is_nan(self) -> bool {
        self.into().is_nan()
    }
}

macro_rules! reals {
    ($($real:ty: $canonical_nan:literal, $kernels:expr;)*) => {$(
        impl Real for $real {
            const CANONICAL_NAN: Self = Self::from_bits($canonical_nan);
            const KERNELS: &'static [Kernel] = $kernels;

            fn of(value: f64) -> Self {
                value as Self
            }

            fn mul_add(self, factor: Self, summand: Self) -> Self {
                self.mul_add(factor, summand)
            }

            fn bits(self) -> u64 {
                self.to_bits().into()
            }
        }
    )*};
}
reals! {
    f32: 0x7fff_ffff, Kernel::ORDINARY;
    f64: 0x7fff_ffff_ffff_ffff, &Kernel::ALL;
}

/// One output: the loop in order of k from +0 on, a rounding for each step, one NaN for all.
pub fn in_order<T: Real>(terms: impl Iterator<Item = (T, T)>) -> T {
    let sum = terms.fold(T::zeroed(), |sum, (left, right)| left.mul_add(right, sum));
    if sum.is_nan() { T::CANONICAL_NAN } else { sum }
}

/// Fails unless `found` has the bits of `expected`, row by row of `columns` elements.
#[track_caller]
pub fn assert_same_bits<T: Real>(found: &[T], expected: &[T], columns: usize, case: &dyn Debug) {
    assert_eq!(found.len(), expected.len(), "{case:?}");
    for (index, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            found.bits() == expected.bits(),
            "{found:?} ({:#x}) instead of {expected:?} ({:#x}) at ({}, {}): {case:?}",
            found.bits(),
            expected.bits(),
            index / columns,
            index % columns
        );
    }
}

pub const ORDERS: [Order; 2] = [Order::RowMajor, Order::ColumnMajor];

/// Every kernel: the coarsened product's with the tiles of each size, and those that `matmul` has in their
/// place for chains of f64.
#[derive(Clone, Copy, Debug)]
pub enum Kernel {
    Tiled,
    Coarsened(TileSize),
    Fastest(TileSize),
}

impl Kernel {
    const ALL: [Self; 7] = [
        Self::Tiled,
        Self::Coarsened(TileSize::Small),
        Self::Coarsened(TileSize::Medium),
        Self::Coarsened(TileSize::Large),
        Self::Fastest(TileSize::Small),
        Self::Fastest(TileSize::Medium),
        Self::Fastest(TileSize::Large),
    ];

    /// Those on the CUDA cores.
    const ORDINARY: &[Self] = Self::ALL.split_at(4).0;

    pub fn multiply_into<T: Real>(
        self,
        device: &Device,
        a: MatrixView<'_, T>,
        b: MatrixView<'_, T>,
        c: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        match self {
            Self::Tiled => device.matmul_tiled_into(a, b, c),
            Self::Coarsened(tiles) => device.matmul_coarsened_with_into(tiles, a, b, c),
            Self::Fastest(tiles) => {
                let mut c = c.as_matrix_view_mut();
                let product = Matmul::new(a, b).tiles(tiles);
                product.arithmetic(Arithmetic::Chain).run_into(&mut c)
            }
        }
    }
}

/// A matrix on the host, row after row.
#[derive(Clone, Debug)]
pub struct Host<T> {
    pub rows: usize,
    pub columns: usize,
    pub elements: Vec<T>,
}

impl<T: Real> Host<T> {
    pub fn new(rows: usize, columns: usize, mut element: impl FnMut() -> T) -> Self {
        Self {
            rows,
            columns,
            elements: (0..rows * columns).map(|_| element()).collect(),
        }
    }

    pub fn column_after_column(&self) -> Vec<T> {
        (0..self.columns)
            .flat_map(|column| {
                (0..self.rows).map(move |row| self.elements[row * self.columns + column])
            })
            .collect()
    }

    pub fn upload(&self, device: &Device, order: Order) -> Matrix<T> {
        match order {
            Order::RowMajor => device.matrix((self.rows, self.columns), &self.elements),
            Order::ColumnMajor => device.matrix(
                (self.rows, self.columns, Order::ColumnMajor),
                &self.column_after_column(),
            ),
        }
        .unwrap()
    }

    /// The naive product, whose bits every kernel gives.
    pub fn times(&self, right: &Self) -> Self {
        let (depth, columns) = (self.columns, right.columns);
        let mut outputs = 0..self.rows * columns;
        Self::new(self.rows, columns, || {
            let output = outputs.next().unwrap();
            let (row, column) = (output / columns, output % columns);
            in_order((0..depth).map(|k| {
                let left = self.elements[row * depth + k];
                (left, right.elements[k * columns + column])
            }))
        })
    }
}

/// Fails unless every kernel gives the bits of the naive product on `device`, from operands in
/// every order to a result in each of `orders_of_c`.
#[track_caller]
pub fn assert_products<T: Real>(device: &Device, a: &Host<T>, b: &Host<T>, orders_of_c: &[Order]) {
    let expected = a.times(b);
    for (of_a, of_b) in ORDERS.into_iter().flat_map(|a| ORDERS.map(|b| (a, b))) {
        let (left, right) = (a.upload(device, of_a), b.upload(device, of_b));
        for &kernel in T::KERNELS {
            for &of_c in orders_of_c {
                let filler = Host::new(a.rows, b.columns, || T::of(f64::NAN));
                let mut c = filler.upload(device, of_c);
                kernel
                    .multiply_into(device, left.view(), right.view(), &mut c)
                    .unwrap();
                assert_eq!(c.order(), of_c);
                let case = (
                    (kernel, of_a, of_b, of_c),
                    (a.rows, b.columns, a.columns),
                    device,
                );
                let product = c.to_vec().unwrap();
                assert_same_bits(&product, &expected.elements, b.columns, &case);
            }
        }
    }
}
