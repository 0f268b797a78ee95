//! Products of operands in every order: row-major, column-major, transposed, for every kernel.

#[macro_use]
mod common;

use bytemuck::{Zeroable, bytes_of};
use common::random::Random;
use common::{devices, machines};
use std::fmt::Debug;
use tilewright::{Coarsening, Device, Factor, Matrix, MatrixView, Order, Result};

/// A type to multiply.
trait Real: Factor + Zeroable + Into<f64> + PartialEq + Debug {
    fn of(value: f64) -> Self;

    fn mul_add(self, factor: Self, summand: Self) -> Self;
}

macro_rules! reals {
    ($($real:ty)*) => {$(
        impl Real for $real {
            fn of(value: f64) -> Self {
                value as Self
            }

            fn mul_add(self, factor: Self, summand: Self) -> Self {
                self.mul_add(factor, summand)
            }
        }
    )*};
}
reals!(f32 f64);

const ORDERS: [Order; 2] = [Order::RowMajor, Order::ColumnMajor];

/// Every kernel: the coarsened product's with the tiles of either size.
#[derive(Clone, Copy, Debug)]
enum Kernel {
    Tiled,
    Coarsened(Coarsening),
}

impl Kernel {
    const ALL: [Self; 3] = [
        Self::Tiled,
        Self::Coarsened(Coarsening::Small),
        Self::Coarsened(Coarsening::Large),
    ];

    fn multiply_into<T: Real>(
        self,
        device: &Device,
        a: MatrixView<'_, T>,
        b: MatrixView<'_, T>,
        c: &mut Matrix<T>,
    ) -> Result<()> {
        match self {
            Self::Tiled => device.matmul_tiled_into(a, b, c),
            Self::Coarsened(coarsening) => device.matmul_coarsened_with_into(coarsening, a, b, c),
        }
    }
}

/// A matrix on the host, row after row.
#[derive(Clone)]
struct Host<T> {
    rows: usize,
    columns: usize,
    elements: Vec<T>,
}

impl<T: Real> Host<T> {
    fn new(rows: usize, columns: usize, mut element: impl FnMut() -> f64) -> Self {
        let elements = (0..rows * columns).map(|_| T::of(element())).collect();
        Self {
            rows,
            columns,
            elements,
        }
    }

    fn column_after_column(&self) -> Vec<T> {
        (0..self.columns)
            .flat_map(|column| {
                (0..self.rows).map(move |row| self.elements[row * self.columns + column])
            })
            .collect()
    }

    fn upload(&self, device: &Device, order: Order) -> Matrix<T> {
        match order {
            Order::RowMajor => device.matrix(self.rows, self.columns, &self.elements),
            Order::ColumnMajor => {
                device.column_major_matrix(self.rows, self.columns, &self.column_after_column())
            }
        }
        .unwrap()
    }

    /// The naive product, whose bits every kernel gives.
    fn times(&self, right: &Self) -> Vec<T> {
        let (depth, columns) = (self.columns, right.columns);
        (0..self.rows * columns)
            .map(|output| {
                let (row, column) = (output / columns, output % columns);
                (0..depth).fold(T::zeroed(), |sum, k| {
                    let left = self.elements[row * depth + k];
                    left.mul_add(right.elements[k * columns + column], sum)
                })
            })
            .collect()
    }
}

/// NaN is NaN whatever its bits.
fn have_same_bits<T: Real>(found: &[T], expected: &[T]) -> bool {
    let is_nan = |value: T| Into::<f64>::into(value).is_nan();
    found.len() == expected.len()
        && found.iter().zip(expected).all(|(&found, &expected)| {
            bytes_of(&found) == bytes_of(&expected) || (is_nan(found) && is_nan(expected))
        })
}

/// Fails unless every kernel gives the bits of the naive product on `device`, from operands in
/// every order to a result in each of `orders_of_c`.
#[track_caller]
fn assert_products<T: Real>(device: &Device, a: &Host<T>, b: &Host<T>, orders_of_c: &[Order]) {
    let expected = a.times(b);
    for (of_a, of_b) in ORDERS.into_iter().flat_map(|a| ORDERS.map(|b| (a, b))) {
        let (left, right) = (a.upload(device, of_a), b.upload(device, of_b));
        for kernel in Kernel::ALL {
            for &of_c in orders_of_c {
                let filler = Host::new(a.rows, b.columns, || f64::NAN);
                let mut c = filler.upload(device, of_c);
                kernel
                    .multiply_into(device, left.view(), right.view(), &mut c)
                    .unwrap();
                assert_eq!(c.order(), of_c);
                let product = c.to_vec().unwrap();
                assert!(
                    have_same_bits(&product, &expected),
                    "{kernel:?}, A {of_a:?}, B {of_b:?}, C {of_c:?}, {}x{} times {}x{} on {device:?}",
                    a.rows,
                    a.columns,
                    b.rows,
                    b.columns
                );
            }
        }
    }
}

fn random<T: Real>(rows: usize, columns: usize, seed: u64) -> Host<T> {
    let mut random = Random::new(seed);
    Host::new(rows, columns, || random.wide())
}

for_each_type! {
    [f32 f64]
    operands_in_every_order_give_the_same_bits
    every_machine_gives_the_same_bits
    special_values_reach_their_outputs_alone
    a_transpose_is_no_copy
}

/// Sizes around the tiles, whole and not, multiples of 16 bytes and not.
fn operands_in_every_order_give_the_same_bits<T: Real>() {
    const SHAPES: [(usize, usize, usize); 16] = [
        (0, 3, 2),
        (3, 0, 2),
        (3, 2, 0),
        (1, 1, 1),
        (1, 37, 5),
        (31, 33, 32),
        (64, 64, 16),
        (65, 63, 17),
        (67, 130, 9),
        (128, 128, 32),
        (127, 129, 31),
        (132, 136, 40),
        (133, 128, 48),
        (128, 134, 33),
        (1, 2, 521),
        (260, 131, 8),
    ];
    for device in devices() {
        for (m, n, k) in SHAPES {
            assert_products::<T>(&device, &random(m, k, 1), &random(k, n, 2), &ORDERS);
        }
    }
}

fn every_machine_gives_the_same_bits<T: Real>() {
    for machine in machines() {
        for (m, n) in [(130, 69), (132, 68)] {
            let (a, b) = (random(m, 35, 3), random(35, n, 4));
            assert_products::<T>(&machine, &a, &b, &[Order::RowMajor]);
        }
    }
}

/// Zeros that a kernel fills in must meet no infinity, and an infinity only its row or column.
fn special_values_reach_their_outputs_alone<T: Real>() {
    for device in devices() {
        for (m, n, k) in [(133, 70, 37), (132, 72, 40)] {
            let (mut a, mut b) = (random::<T>(m, k, 5), random::<T>(k, n, 6));
            for (place, row) in [0, 5, 63, 64, 131].into_iter().enumerate() {
                a.elements[row * k + (place * 9) % k] = T::of(f64::INFINITY);
            }
            b.elements[(k - 1) * n + (n - 1)] = T::of(f64::NEG_INFINITY);
            assert_products(&device, &a, &b, &[Order::RowMajor]);
        }
    }
}

fn a_transpose_is_no_copy<T: Real>() {
    for device in devices() {
        let host = random::<T>(5, 7, 7);
        let matrix = host.upload(&device, Order::RowMajor);
        let view = matrix.t();
        assert_eq!((view.shape(), view.order()), ((7, 5), Order::ColumnMajor));
        assert_eq!((view.rows(), view.cols()), (7, 5));
        assert!(std::ptr::eq(view.as_buffer(), matrix.as_buffer()));
        assert_eq!(
            (view.t().shape(), view.t().order()),
            ((5, 7), Order::RowMajor)
        );

        let gram = device.matmul_coarsened(matrix.t(), &matrix).unwrap();
        let also = device
            .matmul_tiled(MatrixView::from(&view), matrix.view())
            .unwrap();
        assert_eq!((gram.shape(), also.shape()), ((7, 7), (7, 7)));
        assert_eq!(gram.to_vec().unwrap(), also.to_vec().unwrap());

        let address = matrix.as_buffer().device_address();
        let transposed = matrix.into_transposed();
        assert_eq!(transposed.as_buffer().device_address(), address);
        assert_eq!(transposed.shape(), (7, 5));
        assert_eq!(transposed.to_vec().unwrap(), host.column_after_column());
    }
}

/// The large tiles where they fill the device, the small ones elsewhere.
#[test]
fn the_default_coarsening_follows_the_blocks() {
    use tilewright::SimulatorOptions;
    let device = Device::simulator_with(SimulatorOptions::default().with_multiprocessors(4));
    // 6 blocks of 128 x 128 for 4 multiprocessors.
    assert_eq!(
        device.default_coarsening::<f32>(384, 256),
        Coarsening::Large
    );
    assert_eq!(
        device.default_coarsening::<f32>(384, 128),
        Coarsening::Small
    );
    // Those of f64 are 128 x 64.
    assert_eq!(
        device.default_coarsening::<f64>(384, 128),
        Coarsening::Large
    );
    assert_eq!(device.default_coarsening::<f64>(0, 128), Coarsening::Small);
}
