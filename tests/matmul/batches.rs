//! Batches of products: each of them has the bits that it has alone.

use crate::common::random::Random;
use crate::common::{devices, share};
use crate::harness::{Bits, Host, ORDERS, assert_same_bits, hoppers, splitters};
use half::{bf16, f16};
use std::any::type_name;
use std::collections::HashMap;
use std::fmt::Debug;
use tilewright::cuda_std::float::Float;
use tilewright::tuning::TileSize;
use tilewright::{
    Activation, Arithmetic, Device, ErrorKind, Matmul, MatmulElement, MatmulInto, Matrix,
    MatrixBatch, Order,
};
use tilewright_test_support::assert_kind;

/// Rows and columns of A and columns of B: with tails, and rows that are no multiples of 16 bytes.
const SHAPES: [(usize, usize, usize); 2] = [(70, 72, 136), (5, 66, 9)];

const COUNT: usize = 3;

/// The operands of a batch, each with its matrices in a larger one.
struct Operands<T: tilewright::Element> {
    a: Matrix<T>,
    b: Matrix<T>,
    /// Whether the matrices of A and of B are side by side, instead of one below the other.
    beside: [bool; 2],
}

/// Matrix `index` of `COUNT` in `whole`.
fn part<T: tilewright::Element>(
    whole: &Matrix<T>,
    beside: bool,
    index: usize,
) -> tilewright::MatrixView<'_, T> {
    let (rows, columns) = whole.shape();
    let cut = |len: usize| index * (len / COUNT)..(index + 1) * (len / COUNT);
    match beside {
        true => whole.slice(.., cut(columns)).unwrap(),
        false => whole.slice(cut(rows), ..).unwrap(),
    }
}

fn batch<T: tilewright::Element>(whole: &Matrix<T>, beside: bool) -> MatrixBatch<'_, T> {
    match beside {
        true => whole.view().batch_columns(COUNT).unwrap(),
        false => whole.view().batch_rows(COUNT).unwrap(),
    }
}

impl<T: MatmulInto<T> + Debug> Operands<T> {
    fn new(
        device: &Device,
        (m, k, n): (usize, usize, usize),
        number: usize,
        mut element: impl FnMut() -> T,
    ) -> Self {
        let beside = [number & 1 == 1, number & 2 == 2];
        let order = |bit: usize| ORDERS[number >> bit & 1];
        let mut matrix = |rows: usize, columns: usize, beside: bool, order| {
            let (rows, columns) = match beside {
                true => (rows, COUNT * columns),
                false => (COUNT * rows, columns),
            };
            Host::new(rows, columns, |_, _| element()).upload(device, order)
        };
        Self {
            a: matrix(m, k, beside[0], order(2)),
            b: matrix(k, n, beside[1], order(3)),
            beside,
        }
    }
}

/// Fails unless the products of batches, and of a batch and a matrix, are those of the single matrices.
fn assert_batches<T>(device: &Device, arithmetic: Arithmetic, of: impl Fn(f64) -> T)
where
    T: MatmulInto<T> + MatmulElement<Accumulator: Float, Product = T> + Debug + Bits,
{
    for (index, (m, k, n)) in SHAPES.into_iter().enumerate() {
        let numbers = (0..16).filter(|it| it % 3 == index);
        for number in share((type_name::<T>(), index), numbers) {
            let tiles = [TileSize::Small, TileSize::Large, TileSize::Medium][number / 2 % 3];
            let mut random = Random::new(number as u64);
            let operands = Operands::new(device, (m, k, n), number, || of(random.signed_unit()));
            let case = (number, (m, k, n), tiles, arithmetic, device);
            let (a, b) = (
                batch(&operands.a, operands.beside[0]),
                batch(&operands.b, operands.beside[1]),
            );
            let product = |a, b| {
                Matmul::new(a, b)
                    .arithmetic(arithmetic)
                    .tiles(tiles)
                    .activation(Activation::Relu)
            };
            let mut known = HashMap::<(usize, usize), Vec<T>>::new();
            let mut alone = |of_a: usize, of_b: usize| {
                let of_pair = || {
                    let a = part(&operands.a, operands.beside[0], of_a);
                    let b = part(&operands.b, operands.beside[1], of_b);
                    product(a.into(), b.into()).run().unwrap().to_vec().unwrap()
                };
                known.entry((of_a, of_b)).or_insert_with(of_pair).clone()
            };
            let expected: Vec<T> = (0..COUNT).flat_map(|it| alone(it, it)).collect();
            let found = product(a, b).run().unwrap();
            assert_same_bits(&found.to_vec().unwrap(), &expected, &case);

            let shared = part(&operands.b, operands.beside[1], 1);
            let expected: Vec<T> = (0..COUNT).flat_map(|it| alone(it, 1)).collect();
            let found = product(a, shared.into()).run().unwrap();
            assert_same_bits(&found.to_vec().unwrap(), &expected, &case);

            // Into matrices side by side, in the other order.
            let shared = part(&operands.a, operands.beside[0], 2);
            let mut whole = device
                .matrix_zeros::<T>((m, COUNT * n, Order::ColumnMajor))
                .unwrap();
            let mut results = whole.view_mut().into_batch_columns(COUNT).unwrap();
            product(shared.into(), b).run_into(&mut results).unwrap();
            for index in 0..COUNT {
                let found = part(&whole, true, index).to_vec().unwrap();
                assert_same_bits(&found, &alone(2, index), &(case, index));
            }
        }
    }
}

#[test]
fn of_halves() {
    for device in hoppers(devices()) {
        assert_batches(&device, Arithmetic::Auto, f16::from_f64);
        assert_batches(&device, Arithmetic::Auto, bf16::from_f64);
    }
}

#[test]
fn of_chains() {
    for device in devices() {
        assert_batches(&device, Arithmetic::Chain, |it| it as f32);
        assert_batches(&device, Arithmetic::Chain, |it| it);
    }
}

#[test]
fn of_splits() {
    for device in splitters(devices()) {
        assert_batches(&device, Arithmetic::Split, |it| it as f32);
    }
}

/// Fails unless products of slices of batches, with gaps between their matrices, have the bits of those of the
/// single slices, and leave the gaps of C as they were.
fn assert_slices<T>(device: &Device, arithmetic: Arithmetic, of: impl Fn(f64) -> T)
where
    T: MatmulInto<T> + MatmulElement<Accumulator: Float, Product = T> + Debug + Bits,
{
    // Rows and columns before and after those of the slices: starts that are and are not multiples of 16 bytes.
    const MARGINS: [[usize; 2]; 2] = [[8, 16], [1, 2]];
    let (m, k, n) = (66, 72, 68);
    // Each bit with and without the others.
    for number in share(type_name::<T>(), [0, 3, 5, 6, 9, 10, 12, 15]) {
        let [before, after] = MARGINS[number / 2 % 2];
        let wide = |len: usize| before + len + after;
        let mut random = Random::new(number as u64);
        let shape = (wide(m), wide(k), wide(n));
        let mut element = || of(random.signed_unit());
        let operands = Operands::new(device, shape, number, &mut element);
        let [beside_a, beside_b] = operands.beside;
        let cut = |len: usize| before..before + len;
        let tiles = [TileSize::Small, TileSize::Large, TileSize::Medium][number / 2 % 3];
        let (order, beside) = (ORDERS[number / 4 % 2], number & 1 == 1);
        let case = (number, arithmetic, tiles, order, device);
        let product = |a, b| Matmul::new(a, b).arithmetic(arithmetic).tiles(tiles);

        let (rows, columns) = match beside {
            true => (wide(m), COUNT * wide(n)),
            false => (COUNT * wide(m), wide(n)),
        };
        let old = Host::new(rows, columns, |_, _| element());
        let mut whole = old.upload(device, order);
        let results = match beside {
            true => whole.view_mut().into_batch_columns(COUNT).unwrap(),
            false => whole.view_mut().into_batch_rows(COUNT).unwrap(),
        };
        let mut results = results.into_slice(cut(m), cut(n)).unwrap();
        let a = batch(&operands.a, beside_a).slice(cut(m), cut(k)).unwrap();
        let b = batch(&operands.b, beside_b).slice(cut(k), cut(n)).unwrap();
        product(a, b).run_into(&mut results).unwrap();

        let mut expected = old;
        for index in 0..COUNT {
            let a = part(&operands.a, beside_a, index)
                .slice(cut(m), cut(k))
                .unwrap();
            let b = part(&operands.b, beside_b, index)
                .slice(cut(k), cut(n))
                .unwrap();
            let alone = product(a.into(), b.into()).run().unwrap().to_vec().unwrap();
            let (above, left) = match beside {
                true => (before, index * wide(n) + before),
                false => (index * wide(m) + before, before),
            };
            for (row, outputs) in alone.chunks(n).enumerate() {
                let start = (above + row) * columns + left;
                expected.elements[start..start + n].copy_from_slice(outputs);
            }
        }
        assert_same_bits(&whole.to_vec().unwrap(), &expected.elements, &case);
    }
}

#[test]
fn of_slices() {
    for device in devices() {
        assert_slices(&device, Arithmetic::Chain, |it| it as f32);
        assert_slices(&device, Arithmetic::Auto, |it| it);
    }
    for device in hoppers(devices()) {
        assert_slices(&device, Arithmetic::Split, |it| it as f32);
        assert_slices(&device, Arithmetic::Auto, f16::from_f64);
        assert_slices(&device, Arithmetic::Auto, bf16::from_f64);
    }
}

/// i8, in lines that are read in place, with gaps, and in lines that are transposed.
#[test]
fn of_slices_of_integers() {
    const MARGIN: usize = 16;
    let (m, k, n) = (33, 48, 20);
    let mut random = Random::new(23);
    let mut element = |_, _| random.bits() as i8;
    let a = Host::new(COUNT * (m + MARGIN), k + MARGIN, &mut element);
    let b = Host::new(COUNT * (k + MARGIN), n + MARGIN, &mut element);
    for device in devices() {
        for (of_a, of_b) in [(0, 1), (1, 0)].map(|(a, b)| (ORDERS[a], ORDERS[b])) {
            let (a, b) = (a.upload(&device, of_a), b.upload(&device, of_b));
            let of_a = batch(&a, false).slice(MARGIN.., MARGIN..).unwrap();
            let of_b = batch(&b, false).slice(MARGIN.., MARGIN..).unwrap();
            let products = Matmul::new(of_a, of_b).run().unwrap();
            let each = (0..COUNT).flat_map(|index| {
                let a = part(&a, false, index).slice(MARGIN.., MARGIN..).unwrap();
                let b = part(&b, false, index).slice(MARGIN.., MARGIN..).unwrap();
                Matmul::new(a, b).run().unwrap().to_vec().unwrap()
            });
            let each: Vec<i32> = each.collect();
            assert_same_bits(&products.to_vec().unwrap(), &each, &device);
        }
    }
}

/// A vector with a batch, and batches of vectors, with gaps.
#[test]
fn of_slices_with_vectors() {
    let (m, k) = (9, 700);
    let mut random = Random::new(29);
    let mut element = |_, _| random.signed_unit() as f32;
    let a = Host::new(COUNT * (m + 2), k + 3, &mut element);
    let x = Host::new(COUNT * k, 5, &mut element);
    for device in devices() {
        for order in ORDERS {
            let (a, x) = (a.upload(&device, order), x.upload(&device, order));
            let of_a = |index| part(&a, false, index).slice(1..m + 1, 3..).unwrap();
            let of_x = |index| part(&x, false, index).slice(.., 2..3).unwrap();
            let batch_a = batch(&a, false).slice(1..m + 1, 3..).unwrap();
            let batch_x = batch(&x, false).slice(.., 2..3).unwrap();
            let run = |product: Matmul<'_, f32>| product.run().unwrap().to_vec().unwrap();
            let each = (0..COUNT).flat_map(|it| run(Matmul::new(of_a(it), of_x(it))));
            let each: Vec<f32> = each.collect();
            assert_same_bits(&run(Matmul::new(batch_a, batch_x)), &each, &device);
            let shared = (0..COUNT).flat_map(|it| run(Matmul::new(of_a(it), of_x(1))));
            let shared: Vec<f32> = shared.collect();
            assert_same_bits(&run(Matmul::new(batch_a, of_x(1))), &shared, &device);
        }
    }
}

#[test]
fn a_slice_beyond_the_matrices_is_an_error() {
    let device = Device::simulator();
    let mut whole = device.matrix_zeros::<f32>((6, 4)).unwrap();
    let batch = whole.view().batch_rows(3).unwrap();
    // The matrices have two rows, though the whole has more.
    for error in [
        batch.slice(1..3, ..).unwrap_err(),
        batch.slice(.., 2..5).unwrap_err(),
    ] {
        assert_kind!(error is ErrorKind::OutOfRange { .. });
    }
    let results = whole.view_mut().into_batch_rows(3).unwrap();
    let error = results.into_slice(..3, ..).unwrap_err();
    assert_eq!(error.operation(), "into_slice");
    assert_kind!(error is ErrorKind::OutOfRange { .. });
}

#[test]
fn parts_of_unequal_size_are_an_error() {
    let device = Device::simulator();
    let a = device.matrix_zeros::<f32>((7, 4)).unwrap();
    for count in [0, 2, 8] {
        let error = a.view().batch_rows(count).unwrap_err();
        assert_kind!(error is ErrorKind::UnevenBatch { len: 7, .. });
    }
}

#[test]
fn batches_of_different_numbers_are_an_error() {
    let device = Device::simulator();
    let a = device.matrix_zeros::<f32>((6, 6)).unwrap();
    let (two, three) = (
        a.view().batch_rows(2).unwrap(),
        a.view().batch_columns(3).unwrap(),
    );
    let error = Matmul::new(two, three.t()).run().unwrap_err();
    assert_kind!(error is ErrorKind::ShapeMismatch { .. });
    let error = Matmul::new(two, a.view().batch_columns(3).unwrap())
        .run()
        .unwrap_err();
    assert_kind!(error is ErrorKind::BatchMismatch { left: 2, right: 3, .. });
    let mut c = device.matrix_zeros::<f32>((3, 6)).unwrap();
    let error = Matmul::new(two, &a).run_into(&mut c).unwrap_err();
    assert_kind!(error is ErrorKind::BatchMismatch { left: 2, right: 1, .. });
}
