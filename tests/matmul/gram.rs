//! Products of a matrix with its transpose: half of them is computed, with the bits of `matmul`.

use crate::common::devices;
use crate::common::random::Random;
use crate::harness::{Bits, Host, ORDERS, assert_same_bits, hoppers, splitters};
use half::{bf16, f16};
use std::fmt::Debug;
use tilewright::cuda_std::fp8::{F8E4M3, F8E5M2};
use tilewright::tuning::TileSize;
use tilewright::{
    Arithmetic, Device, Element, ErrorKind, Matmul, MatmulElement, MatmulInto, MatrixView, Order,
};
use tilewright_test_support::assert_kind;

const TILES: [TileSize; 3] = [TileSize::Small, TileSize::Medium, TileSize::Large];

/// Rows of A, and its columns: within a tile, several rows of tiles with tails, nothing to add.
const SHAPES: [(usize, usize); 4] = [(5, 1), (66, 30), (19, 197), (0, 70)];

/// The outputs on and below the diagonal of `full`, each also at the mirrored place.
fn mirrored<T: Copy>(full: &[T], n: usize) -> Vec<T> {
    let places = (0..n * n).map(|it| (it / n, it % n));
    places
        .map(|(row, column)| full[row.max(column) * n + row.min(column)])
        .collect()
}

/// A matrix in each order, packed and as a part of a larger one, in turns.
fn operand<T: Element + Debug>(
    device: &Device,
    (rows, columns): (usize, usize),
    number: usize,
    mut element: impl FnMut() -> T,
) -> tilewright::Matrix<T> {
    let gap = number / 2 % 2;
    let host = Host::new(rows + gap, columns + gap, |_, _| element());
    host.upload(device, ORDERS[number % 2])
}

fn part<T: Element>(matrix: &tilewright::Matrix<T>, shape: (usize, usize)) -> MatrixView<'_, T> {
    matrix.slice(..shape.0, ..shape.1).unwrap()
}

/// Fails unless the products with transposes are those of `matmul`, in `arithmetic`.
fn assert_grams<T, O>(device: &Device, arithmetic: Arithmetic, of: impl Fn(f64) -> T)
where
    T: MatmulInto<O> + Debug,
    O: Element + Bits + Debug,
{
    for (number, shape) in SHAPES.into_iter().cycle().take(12).enumerate() {
        let n = shape.1;
        let mut random = Random::new(number as u64);
        let a = operand(device, shape, number, || of(random.signed_unit()));
        let a = part(&a, shape);
        let tiles = TILES[number / 4];
        let case = (number, shape, tiles, arithmetic, device);
        println!("{case:?}");
        let full = Matmul::new(a.t(), a).arithmetic(arithmetic).tiles(tiles);
        let expected = mirrored(&full.run_as::<O>().unwrap().to_vec().unwrap(), n);
        let gram = Matmul::gram(a).arithmetic(arithmetic).tiles(tiles);
        let found = gram.run_as::<O>().unwrap();
        assert_same_bits(&found.to_vec().unwrap(), &expected, &case);
        let mut columns = device
            .matrix_zeros::<O>((n, n, Order::ColumnMajor))
            .unwrap();
        gram.run_into(&mut columns).unwrap();
        assert_same_bits(&columns.to_vec().unwrap(), &expected, &case);
    }
}

#[test]
fn of_chains() {
    for device in devices() {
        assert_grams::<f32, f32>(&device, Arithmetic::Chain, |it| it as f32);
        assert_grams::<f64, f64>(&device, Arithmetic::Chain, |it| it);
        assert_grams::<i8, i32>(&device, Arithmetic::Chain, |it| (it * 128.0) as i8);
    }
}

#[test]
fn of_halves() {
    for device in hoppers(devices()) {
        assert_grams::<f16, f16>(&device, Arithmetic::Auto, f16::from_f64);
        assert_grams::<bf16, f32>(&device, Arithmetic::Auto, bf16::from_f64);
    }
}

#[test]
fn of_bytes() {
    for device in hoppers(devices()) {
        assert_grams::<i8, i32>(&device, Arithmetic::Auto, |it| (it * 128.0) as i8);
        assert_grams::<F8E4M3, bf16>(&device, Arithmetic::Auto, |it| F8E4M3::from_f32(it as f32));
        assert_grams::<F8E5M2, f32>(&device, Arithmetic::Auto, |it| F8E5M2::from_f32(it as f32));
    }
}

/// Of lines that all fit into halves, and of some that do not.
#[test]
fn of_splits() {
    for device in splitters(devices()) {
        for widest in [1.0, 1e30] {
            let shape = (70, 300);
            let mut random = Random::new(3);
            let host = Host::new(shape.0, shape.1, |row, column| {
                let is_wide = (row, column) == (3, 140);
                random.signed_unit() as f32 * if is_wide { widest as f32 } else { 1.0 }
            });
            let a = host.upload(&device, Order::RowMajor);
            let product = |of: Matmul<'_, f32>| {
                let c = of.arithmetic(Arithmetic::Split).run().unwrap();
                c.to_vec().unwrap()
            };
            let expected = mirrored(&product(Matmul::new(a.t(), &a)), shape.1);
            assert_same_bits(&product(Matmul::gram(&a)), &expected, &(widest, &device));
        }
    }
}

#[test]
fn of_parts_of_k() {
    for device in devices() {
        let mut random = Random::new(4);
        let a = Host::new(1030, 70, |_, _| random.signed_unit());
        let a = a.upload(&device, Order::RowMajor);
        let full = device.matmul(a.t(), &a).unwrap().to_vec().unwrap();
        let found = device.gram(&a).unwrap().to_vec().unwrap();
        assert_same_bits(&found, &mirrored(&full, 70), &device);
    }
}

fn assert_epilogue<T>(device: &Device, of: impl Fn(f64) -> T)
where
    T: MatmulInto<T> + MatmulElement<Accumulator = f32, Product = T> + Debug + Bits,
{
    let (shape, n) = ((9, 130), 130);
    let mut random = Random::new(5);
    let a = operand(device, shape, 0, || of(random.signed_unit()));
    let before = Host::new(n, n, |row, column| of((row * column % 7) as f64));
    let scale: Vec<f32> = (0..n).map(|it| (it % 5) as f32 - 2.0).collect();
    let scale = device.upload(&scale).unwrap();
    for order in ORDERS {
        let run = |product: Matmul<'_, T>| {
            let mut c = before.upload(device, order);
            let product = product.alpha(0.5).beta(2.0).row_bias(&scale);
            product.column_bias(&scale).run_into(&mut c).unwrap();
            c.to_vec().unwrap()
        };
        let full = run(Matmul::new(a.t(), &a).arithmetic(Arithmetic::Auto));
        let found = run(Matmul::gram(&a));
        assert_same_bits(&found, &mirrored(&full, n), &(order, device));
    }
}

#[test]
fn with_an_epilogue() {
    for device in devices() {
        assert_epilogue(&device, |it| it as f32);
    }
    for device in hoppers(devices()) {
        assert_epilogue(&device, bf16::from_f64);
    }
}

#[test]
fn of_a_batch() {
    for device in devices() {
        let mut random = Random::new(6);
        let a = Host::new(3 * 7, 70, |_, _| random.signed_unit() as f32);
        let a = a.upload(&device, Order::RowMajor);
        let grams = Matmul::gram(a.view().batch_rows(3).unwrap());
        let found = grams.run().unwrap().to_vec().unwrap();
        let alone = (0..3).flat_map(|it| {
            let a = a.slice(7 * it..7 * (it + 1), ..).unwrap();
            device.gram(a).unwrap().to_vec().unwrap()
        });
        assert_same_bits(&found, &alone.collect::<Vec<_>>(), &device);
    }
}

/// Blocks above the diagonal add nothing.
#[test]
fn tiles_above_the_diagonal_are_left_out() {
    let device = Device::simulator();
    let a = device.matrix_zeros::<f32>((16, 320)).unwrap();
    let gram = Matmul::gram(&a)
        .arithmetic(Arithmetic::Chain)
        .tiles(TileSize::Medium);
    let (_, report) = device.with_report(|| gram.run()).unwrap();
    let names: Vec<_> = report
        .launches
        .iter()
        .map(|it| it.kernel.as_str())
        .collect();
    assert_eq!(names, ["matmul_coarsened_medium_f32_tn", "mirror_u32"]);
    let tiles = 5 * 6 / 2;
    let operations = report.launches[0].counts.total().flops_f32;
    assert_eq!(operations, 2 * tiles * 64 * 64 * 16);
}

#[test]
fn a_result_of_another_shape_is_an_error() {
    let device = Device::simulator();
    let a = device.matrix_zeros::<f32>((2, 3)).unwrap();
    let mut c = device.matrix_zeros::<f32>((2, 2)).unwrap();
    let error = device.gram_into(&a, &mut c).unwrap_err();
    assert_eq!(error.operation(), "gram_into");
    assert_kind!(error is ErrorKind::ShapeMismatch { left: (3, 3), .. });
}
