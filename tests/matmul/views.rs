//! Products of views: parts of larger matrices, in every order, where they lie. Each has the bits of the product of
//! packed copies, and the surroundings of a result do not change.

use crate::common::product::{Host, ORDERS, Real, assert_same_bits};
use crate::common::random::Random;
use crate::common::{devices, machines, share};
use half::bf16;
use std::any::type_name;
use std::fmt::Debug;
use tilewright::cuda_std::fp8::F8E4M3;
use tilewright::{
    Device, Element, ErrorKind, MatmulElement, MatmulInto, Matrix, MatrixView, MatrixViewMut,
    Order, SimulatorOptions,
};

for_each_type! {
    [f32 f64]
    parts_are_read_and_written_where_they_lie
    every_order_of_three_parts
    parts_of_parts_and_empty_parts
    columns_of_one_matrix_are_operand_and_result
    rows_of_one_matrix_are_operand_and_result
    three_parts_of_one_matrix_on_every_machine
    new_results_of_views
}

fn random<T: Real>(rows: usize, columns: usize, seed: u64) -> Host<T> {
    let mut random = Random::new(seed);
    Host::new(rows, columns, || T::of(random.wide()))
}

/// Rows and columns of a larger matrix that surround a part: before it, and after it.
#[derive(Clone, Copy, Debug)]
struct Margins {
    before: (usize, usize),
    behind: (usize, usize),
}

/// Starts at multiples of 16 bytes and not, leading dimensions that are and are not.
const MARGINS: [Margins; 5] = [
    Margins::new((0, 0), (0, 0)),
    Margins::new((0, 4), (1, 4)),
    Margins::new((2, 0), (0, 3)),
    Margins::new((1, 1), (0, 3)),
    Margins::new((3, 5), (2, 7)),
];

impl Margins {
    const fn new(before: (usize, usize), behind: (usize, usize)) -> Self {
        Self { before, behind }
    }

    /// A matrix that has `part` within `filler`.
    fn around<T: Real>(self, part: &Host<T>, filler: T) -> Host<T> {
        let rows = self.before.0 + part.rows + self.behind.0;
        let columns = self.before.1 + part.columns + self.behind.1;
        let mut places = 0..rows * columns;
        Host::new(rows, columns, || {
            let place = places.next().unwrap();
            let row = (place / columns).wrapping_sub(self.before.0);
            let column = (place % columns).wrapping_sub(self.before.1);
            if row < part.rows && column < part.columns {
                part.elements[row * part.columns + column]
            } else {
                filler
            }
        })
    }

    fn part<T: Real>(self, matrix: &Matrix<T>) -> MatrixView<'_, T> {
        let (rows, columns) = matrix.shape();
        let part = matrix.slice(
            self.before.0..rows - self.behind.0,
            self.before.1..columns - self.behind.1,
        );
        part.unwrap()
    }

    fn part_mut<T: Real>(self, matrix: &mut Matrix<T>) -> MatrixViewMut<'_, T> {
        let (rows, columns) = matrix.shape();
        let part = matrix.slice_mut(
            self.before.0..rows - self.behind.0,
            self.before.1..columns - self.behind.1,
        );
        part.unwrap()
    }
}

/// Fails unless every kernel gives the bits of the naive product, from parts within these margins and in
/// these orders: A, B and C.
#[track_caller]
fn assert_parts<T: Real>(
    device: &Device,
    (a, b): (&Host<T>, &Host<T>),
    margins: [Margins; 3],
    orders: [Order; 3],
) {
    let expected = a.times(b);
    let (untouched, nan) = (T::of(7.0), T::of(f64::NAN));
    let surrounded = margins[2].around(&expected, untouched);
    let left = margins[0].around(a, nan).upload(device, orders[0]);
    let right = margins[1].around(b, nan).upload(device, orders[1]);
    let empty = Host::new(a.rows, b.columns, || nan);
    for &kernel in T::KERNELS {
        let mut c = margins[2]
            .around(&empty, untouched)
            .upload(device, orders[2]);
        let (left, right) = (margins[0].part(&left), margins[1].part(&right));
        let mut part = margins[2].part_mut(&mut c);
        kernel
            .multiply_into(device, left, right, &mut part)
            .unwrap();
        let case = (
            kernel,
            orders,
            margins,
            (a.rows, b.columns, a.columns),
            device,
        );
        let found = c.to_vec().unwrap();
        assert_same_bits(&found, &surrounded.elements, c.cols().max(1), &case);
    }
}

/// Around the tiles, whole and not, primes, a single row and a single column.
const SHAPES: [(usize, usize, usize); 8] = [
    (1, 1, 1),
    (1, 37, 5),
    (31, 1, 33),
    (64, 64, 16),
    (65, 132, 17),
    (127, 61, 31),
    (128, 128, 32),
    (132, 68, 40),
];

fn parts_are_read_and_written_where_they_lie<T: Real>() {
    let orders = [
        [Order::RowMajor; 3],
        [Order::ColumnMajor, Order::RowMajor, Order::RowMajor],
        [Order::ColumnMajor, Order::ColumnMajor, Order::ColumnMajor],
    ];
    for device in devices() {
        for (m, n, k) in SHAPES {
            let (a, b) = (random::<T>(m, k, 1), random(k, n, 2));
            let margins = (0..MARGINS.len()).flat_map(|number| orders.map(|it| (number, it)));
            for (number, orders) in share((type_name::<T>(), m, n, k), margins) {
                let margins = MARGINS[number];
                let others = MARGINS[(number + 1) % MARGINS.len()];
                assert_parts(&device, (&a, &b), [margins, margins, others], orders);
            }
        }
    }
}

fn every_order_of_three_parts<T: Real>() {
    let (a, b) = (random::<T>(67, 35, 3), random(35, 70, 4));
    for device in devices() {
        for (of_a, of_b) in ORDERS.into_iter().flat_map(|a| ORDERS.map(|b| (a, b))) {
            for of_c in ORDERS {
                for of_operands in [MARGINS[1], MARGINS[4]] {
                    let margins = [of_operands, of_operands, MARGINS[3]];
                    assert_parts(&device, (&a, &b), margins, [of_a, of_b, of_c]);
                }
            }
        }
    }
}

fn parts_of_parts_and_empty_parts<T: Real>() {
    for device in devices() {
        for (m, n, k) in [(0, 5, 3), (5, 0, 3), (5, 7, 0), (0, 0, 0)] {
            let (a, b) = (random::<T>(m, k, 5), random(k, n, 6));
            for orders in [[Order::RowMajor; 3], [Order::ColumnMajor; 3]] {
                assert_parts(&device, (&a, &b), [MARGINS[4]; 3], orders);
            }
        }
        let matrix = random::<T>(9, 8, 7).upload(&device, Order::RowMajor);
        let part = matrix
            .slice(1.., 2..)
            .unwrap()
            .t()
            .slice(1..5, 3..)
            .unwrap();
        let packed = part.to_matrix().unwrap();
        assert_eq!((part.shape(), part.leading_dimension()), ((4, 5), 8));
        assert_eq!((packed.shape(), packed.order()), ((4, 5), part.order()));
        let found = device.matmul_coarsened(part, part.t()).unwrap();
        let expected = device.matmul_coarsened(&packed, packed.t()).unwrap();
        let (found, expected) = (found.to_vec().unwrap(), expected.to_vec().unwrap());
        assert_same_bits(&found, &expected, 4, &"a part of a part");
    }
}

/// The columns of the one lie between the rows of the other in a row-major matrix.
fn columns_of_one_matrix_are_operand_and_result<T: Real>() {
    for device in devices() {
        for (rows, inner, columns) in [(5, 3, 2), (67, 33, 66), (130, 40, 132)] {
            let (a, b) = (random::<T>(rows, inner, 8), random(inner, columns, 9));
            let expected = a.times(&b);
            let right = b.upload(&device, Order::RowMajor);
            for (order, kernel) in ORDERS
                .into_iter()
                .flat_map(|o| T::KERNELS.iter().map(move |k| (o, *k)))
            {
                let margins = Margins::new((0, 0), (0, columns));
                let mut both = margins.around(&a, T::of(f64::NAN)).upload(&device, order);
                let (left, mut result) = both.split_columns_at_mut(inner).unwrap();
                kernel
                    .multiply_into(&device, left.view(), right.view(), &mut result)
                    .unwrap();
                let case = (kernel, order, (rows, columns, inner), &device);
                let found = result.view().to_vec().unwrap();
                assert_same_bits(&found, &expected.elements, columns, &case);
                assert_same_bits(&left.view().to_vec().unwrap(), &a.elements, inner, &case);
            }
        }
    }
}

/// The rows of the one lie between the columns of the other in a column-major matrix.
fn rows_of_one_matrix_are_operand_and_result<T: Real>() {
    for device in devices() {
        let (a, b) = (random::<T>(66, 35, 10), random(35, 67, 11));
        let expected = a.times(&b);
        let left = a.upload(&device, Order::RowMajor);
        for (order, kernel) in ORDERS
            .into_iter()
            .flat_map(|o| T::KERNELS.iter().map(move |k| (o, *k)))
        {
            let margins = Margins::new((66, 0), (0, 0));
            let mut both = margins.around(&b, T::of(f64::NAN)).upload(&device, order);
            let (mut result, right) = both.split_rows_at_mut(66).unwrap();
            kernel
                .multiply_into(&device, left.view(), right.view(), &mut result)
                .unwrap();
            let found = result.view().to_vec().unwrap();
            assert_same_bits(&found, &expected.elements, 67, &(kernel, order));
            assert_same_bits(&right.view().to_vec().unwrap(), &b.elements, 67, &kernel);
        }
    }
}

/// A, C and B side by side: each element of C lies between elements that other threads read.
fn three_parts_of_one_matrix_on_every_machine<T: Real>() {
    const SIZE: usize = 66;
    let all = random::<T>(SIZE, 3 * SIZE, 12);
    let part = |first: usize| {
        let rows = all.elements.chunks(3 * SIZE);
        let elements = rows
            .flat_map(|row| row[first..first + SIZE].to_vec())
            .collect();
        Host {
            rows: SIZE,
            columns: SIZE,
            elements,
        }
    };
    let expected = part(0).times(&part(2 * SIZE));
    for machine in share(type_name::<T>(), machines()) {
        for (order, kernel) in ORDERS
            .into_iter()
            .flat_map(|o| T::KERNELS.iter().map(move |k| (o, *k)))
        {
            let mut matrix = all.upload(&machine, order);
            let (a, mut others) = matrix.split_columns_at_mut(SIZE).unwrap();
            let (mut c, b) = others.split_columns_at_mut(SIZE).unwrap();
            kernel
                .multiply_into(&machine, a.view(), b.view(), &mut c)
                .unwrap();
            let found = c.view().to_vec().unwrap();
            assert_same_bits(&found, &expected.elements, SIZE, &(kernel, order, &machine));
        }
    }
}

fn new_results_of_views<T: Real>() {
    for device in devices() {
        let matrix = random::<T>(20, 30, 13).upload(&device, Order::RowMajor);
        let (a, b) = (matrix.slice(1..8, 2..9), matrix.slice(4..11, 3..));
        let (a, b) = (a.unwrap(), b.unwrap());
        let (packed_a, packed_b) = (a.to_matrix().unwrap(), b.to_matrix().unwrap());
        let expected = device.matmul_tiled(&packed_a, &packed_b).unwrap();
        for product in [device.matmul_tiled(a, b), device.matmul_coarsened(a, b)] {
            let product = product.unwrap();
            assert_eq!(product.shape(), (7, 27));
            let (found, expected) = (product.to_vec().unwrap(), expected.to_vec().unwrap());
            assert_same_bits(&found, &expected, 27, &device);
        }
    }
}

/// Kernels that copy 16 bytes of B at a time are for rows that start at multiples of it.
#[test]
fn a_plan_follows_where_the_rows_start() {
    let device = Device::simulator_with(SimulatorOptions::default().with_multiprocessors(1));
    let matrix = device.matrix_zeros::<f32>((128, 136)).unwrap();
    let odd = device.matrix_zeros::<f32>((128, 137)).unwrap();
    let kernel = |b: MatrixView<'_, f32>| {
        let a = matrix.slice(.., ..128).unwrap();
        device.matmul_coarsened_plan(a, b).unwrap().kernel
    };
    let aligned = "matmul_coarsened_f32_nn";
    let unaligned = "matmul_coarsened_f32_nn_unaligned";
    assert_eq!(kernel(matrix.slice(.., 4..132).unwrap()), aligned);
    assert_eq!(kernel(matrix.slice(.., 4..131).unwrap()), aligned);
    assert_eq!(kernel(matrix.slice(.., 3..131).unwrap()), unaligned);
    assert_eq!(kernel(odd.slice(.., 4..132).unwrap()), unaligned);
}

#[test]
fn results_of_another_shape_are_refused() {
    for device in devices() {
        let a = device.matrix_zeros::<f32>((4, 4)).unwrap();
        let mut c = device.matrix_zeros::<f32>((5, 5)).unwrap();
        let mut part = c.slice_mut(..3, ..4).unwrap();
        let error = device.matmul_tiled_into(&a, &a, &mut part).unwrap_err();
        let ErrorKind::ShapeMismatch {
            left: (4, 4),
            right: (3, 4),
            ..
        } = error.kind()
        else {
            panic!("another error: {error}");
        };
        device
            .matmul_tiled_into(&a, &a, &mut c.slice_mut(1.., ..4).unwrap())
            .unwrap();
    }
}

/// No row starts after a single one, so its leading dimension may be one that no kernel can compute with.
#[test]
fn the_leading_dimension_of_a_single_row_is_any_number() {
    for device in devices() {
        assert_single_rows(&device, (129, 131, 1), |x| x);
        assert_single_rows(&device, (1, 70, 33), f64::from);
        assert_single_rows(&device, (16, 256, 1), bf16::from_f32);
        assert_single_rows(&device, (1, 1, 300), F8E4M3::from_f32);
    }
}

fn assert_single_rows<T, O>(
    device: &Device,
    (m, n, k): (usize, usize, usize),
    of: impl Fn(f32) -> T,
) where
    T: MatmulElement<Product = O> + MatmulInto<O>,
    O: Element + PartialEq + Debug,
{
    let upload = |len: usize| {
        let elements: Vec<T> = (0..len).map(|i| of((i % 7) as f32 - 3.0)).collect();
        device.upload(&elements).unwrap()
    };
    let (a, b) = (upload(m * k), upload(k * n));
    let [packed_a, packed_b] =
        [(&a, (m, k)), (&b, (k, n))].map(|(x, shape)| x.view().as_matrix(shape).unwrap());
    let expected = device.matmul(packed_a, packed_b).unwrap().to_vec().unwrap();
    for apart in [1 << 40, 1 << 61, (1 << 62) + 3, usize::MAX] {
        let of_rows = |rows: usize, columns: usize| if rows == 1 { apart } else { columns };
        let a = a.view().as_matrix_strided((m, k), of_rows(m, k)).unwrap();
        let b = b.view().as_matrix_strided((k, n), of_rows(k, n)).unwrap();
        let mut c = device.zeros::<O>(m * n).unwrap();
        let place = c.view_mut().into_matrix_strided((m, n), of_rows(m, n));
        device.matmul_into(a, b, &mut place.unwrap()).unwrap();
        assert_eq!(
            c.to_vec().unwrap(),
            expected,
            "{} {apart}",
            type_name::<T>()
        );
    }
}
