//! Products of e4m3 with block scales, against a naive reference with the same order of additions.

use crate::common::random::Random;
use crate::common::{devices, machines};
use crate::harness::{Host, ORDERS, Shape, assert_same_bits, hoppers};
use half::bf16;
use std::fmt::Debug;
use tilewright::cuda_std::fp8::F8E4M3;
use tilewright::tuning::TileSize;
use tilewright::{Activation, Arithmetic, Device, Element, ErrorKind, Matmul, Matrix, Order};

/// Elements of a block along K, and along N.
pub const BLOCK: usize = 128;

pub const TILES: [TileSize; 3] = [TileSize::Small, TileSize::Medium, TileSize::Large];

/// Integers up to here are exact, and so are all sums of 128 of their products.
const INTEGERS: i64 = 8;

/// Whole tiles and tails, rows that are not multiples of 16 bytes, one block and many, none. Up to 128 rows are few.
const SHAPES: [Shape; 9] = [
    (1, 1, 1),
    (128, 128, 128),
    (66, 132, 140),
    (5, 70, 259),
    (100, 400, 520),
    (16, 24, 0),
    (129, 24, 0),
    (130, 400, 259),
    (300, 200, 640),
];

/// Operands with the scales of their blocks.
pub struct Scaled {
    pub a: Host<F8E4M3>,
    pub b: Host<F8E4M3>,
    pub of_a: Host<f32>,
    pub of_b: Host<f32>,
}

impl Scaled {
    /// Integers whose sums of 128 products are exact, and any scales.
    pub fn integers((m, n, k): Shape, random: &mut Random) -> Self {
        let mut element = |_, _| F8E4M3::from_f32(random.integer(-INTEGERS..=INTEGERS) as f32);
        let (a, b) = (Host::new(m, k, &mut element), Host::new(k, n, &mut element));
        let mut scale = |_, _| (0.1 + random.signed_unit().abs()) as f32;
        let blocks = k.div_ceil(BLOCK);
        Self {
            a,
            b,
            of_a: Host::new(m, blocks, &mut scale),
            of_b: Host::new(blocks, n.div_ceil(BLOCK), &mut scale),
        }
    }

    /// The sum of block `block` of an output, in any order: it is exact.
    fn partial(&self, row: usize, column: usize, block: usize) -> f32 {
        let (k, n) = (self.a.columns, self.b.columns);
        let end = k.min((block + 1) * BLOCK);
        let terms = (block * BLOCK..end).map(|at| {
            let (a, b) = (
                self.a.elements[row * k + at],
                self.b.elements[at * n + column],
            );
            a.to_f32() * b.to_f32()
        });
        terms.sum()
    }

    /// The outputs of one row.
    pub fn row(&self, row: usize) -> Vec<f32> {
        let (blocks, of_columns) = (self.of_a.columns, self.of_b.columns);
        let output = |column: usize| {
            (0..blocks).fold(0.0_f32, |total, block| {
                let of_a = self.of_a.elements[row * blocks + block];
                let of_b = self.of_b.elements[block * of_columns + column / BLOCK];
                self.partial(row, column, block).mul_add(of_a * of_b, total)
            })
        };
        (0..self.b.columns).map(output).collect()
    }

    fn outputs(&self) -> Vec<f32> {
        (0..self.a.rows).flat_map(|row| self.row(row)).collect()
    }

    fn upload(&self, device: &Device, orders: [Order; 4]) -> Uploaded {
        Uploaded {
            a: self.a.upload(device, orders[0]),
            b: self.b.upload(device, orders[1]),
            of_a: self.of_a.upload(device, orders[2]),
            of_b: self.of_b.upload(device, orders[3]),
        }
    }
}

struct Uploaded {
    a: Matrix<F8E4M3>,
    b: Matrix<F8E4M3>,
    of_a: Matrix<f32>,
    of_b: Matrix<f32>,
}

impl Uploaded {
    fn product(&self) -> Matmul<'_, F8E4M3> {
        Matmul::new(&self.a, &self.b).block_scales(&self.of_a, &self.of_b)
    }
}

/// The matrices of all products, one below the other.
fn stacked<T: Element + Debug>(all: &[Scaled], of: fn(&Scaled) -> &Host<T>) -> Host<T> {
    Host {
        rows: of(&all[0]).rows * all.len(),
        columns: of(&all[0]).columns,
        elements: all.iter().flat_map(|it| of(it).elements.clone()).collect(),
    }
}

const ALONG_K: [Order; 4] = [
    Order::RowMajor,
    Order::ColumnMajor,
    Order::RowMajor,
    Order::ColumnMajor,
];

#[test]
fn blocks_are_scaled_as_they_are_added() {
    for (number, shape) in SHAPES.into_iter().enumerate() {
        let mut random = Random::new((shape.0 + shape.1 + shape.2) as u64);
        let host = Scaled::integers(shape, &mut random);
        let expected = host.outputs();
        let rounded: Vec<bf16> = expected.iter().map(|&it| bf16::from_f32(it)).collect();
        for device in hoppers(devices()) {
            let operands = host.upload(&device, ALONG_K);
            // Each tile's outputs of either type, in every other shape.
            for (turn, tiles) in (number..).zip(TILES) {
                let product = operands.product().tiles(tiles);
                if turn % 2 == 0 {
                    let found = product.run_as::<f32>().unwrap().to_vec().unwrap();
                    assert_same_bits(&found, &expected, &(shape, tiles, &device));
                } else {
                    let found = product.run().unwrap().to_vec().unwrap();
                    assert_same_bits(&found, &rounded, &(shape, tiles, &device));
                }
            }
        }
    }
}

#[test]
fn operands_and_scales_lie_in_any_order() {
    let mut random = Random::new(3);
    for rows in [70, 140] {
        let host = Scaled::integers((rows, 140, 300), &mut random);
        in_any_order(&host);
    }
}

fn in_any_order(host: &Scaled) {
    let expected = host.outputs();
    for device in hoppers(devices()) {
        for number in 0..16 {
            let orders = [0, 1, 2, 3].map(|bit| ORDERS[number >> bit & 1]);
            let operands = host.upload(&device, orders);
            let product = operands.product().tiles(TILES[number % TILES.len()]);
            let found = product.run_as::<f32>().unwrap().to_vec().unwrap();
            assert_same_bits(&found, &expected, &(orders, &device));
        }
    }
}

/// A batch, an epilogue, and a result in a part of a matrix whose rows are not aligned.
#[test]
fn a_batch_with_an_epilogue_is_written_in_place() {
    for shape in [(20, 130, 150), (140, 130, 150)] {
        batch_with_an_epilogue(3, shape);
    }
}

fn batch_with_an_epilogue(count: usize, shape: Shape) {
    let mut random = Random::new(4);
    let all: Vec<Scaled> = (0..count)
        .map(|_| Scaled::integers(shape, &mut random))
        .collect();
    let bias: Vec<f32> = (0..shape.1).map(|j| j as f32 - 60.0).collect();
    let expected: Vec<bf16> = (all.iter().flat_map(Scaled::outputs).enumerate())
        .map(|(i, sum)| bf16::from_f32((sum * 0.5 + bias[i % shape.1]).max(0.0)))
        .collect();
    for device in hoppers(devices()) {
        let a = stacked(&all, |it| &it.a).upload(&device, Order::RowMajor);
        let b = stacked(&all, |it| &it.b).upload(&device, Order::RowMajor);
        let of_a = stacked(&all, |it| &it.of_a).upload(&device, Order::RowMajor);
        let of_b = stacked(&all, |it| &it.of_b).upload(&device, Order::RowMajor);
        let bias = device.upload(&bias).unwrap();
        for tiles in TILES {
            let product = Matmul::new(
                a.view().batch_rows(count).unwrap(),
                b.view().batch_rows(count).unwrap(),
            )
            .tiles(tiles)
            .alpha(0.5)
            .column_bias(&bias)
            .activation(Activation::Relu);
            let product = product.block_scales(
                of_a.view().batch_rows(count).unwrap(),
                of_b.view().batch_rows(count).unwrap(),
            );
            let mut wide = device
                .matrix_zeros::<bf16>((shape.0 * count, shape.1 + 3))
                .unwrap();
            let part = wide.slice_mut(.., 1..=shape.1).unwrap();
            let mut parts = part.into_batch_rows(count).unwrap();
            product.run_into(&mut parts).unwrap();
            let found = wide.slice(.., 1..=shape.1).unwrap().to_vec().unwrap();
            assert_same_bits(&found, &expected, &(tiles, &device));
        }
    }
}

#[test]
fn the_bits_depend_on_neither_the_other_rows_nor_the_machine() {
    let mut random = Random::new(5);
    let shape = (150, 140, 520);
    let mut host = Scaled::integers(shape, &mut random);
    // Sums that are not exact.
    for element in host.a.elements.iter_mut().chain(&mut host.b.elements) {
        *element = F8E4M3::from_f32(random.signed_unit() as f32);
    }
    let mut first: Option<Vec<f32>> = None;
    for device in hoppers(machines()) {
        let operands = host.upload(&device, ALONG_K);
        for tiles in TILES {
            let all = operands.product().tiles(tiles).run_as::<f32>().unwrap();
            let all = all.to_vec().unwrap();
            let expected = first.get_or_insert_with(|| all.clone());
            assert_same_bits(&all, expected, &(tiles, &device));
            let (a, of_a) = (
                operands.a.slice(7..8, ..).unwrap(),
                operands.of_a.slice(7..8, ..).unwrap(),
            );
            let row = Matmul::new(a, &operands.b)
                .block_scales(of_a, &operands.of_b)
                .arithmetic(Arithmetic::BatchInvariant)
                .run_as::<f32>()
                .unwrap();
            let of_row = &expected[7 * shape.1..8 * shape.1];
            assert_same_bits(&row.to_vec().unwrap(), of_row, &(tiles, &device));
        }
    }
}

#[test]
fn scales_of_other_shapes_are_refused() {
    let device = Device::simulator();
    let host = Scaled::integers((4, 130, 200), &mut Random::new(6));
    let right = host.upload(&device, ALONG_K);
    let kind = |of_a: &Matrix<f32>, of_b: &Matrix<f32>| {
        let product = Matmul::new(&right.a, &right.b).block_scales(of_a, of_b);
        product.run().unwrap_err().into_kind()
    };
    let short = device.matrix_zeros::<f32>((4, 1)).unwrap();
    let error = kind(&short, &right.of_b);
    assert!(
        matches!(
            error,
            ErrorKind::ShapeMismatch {
                left: (4, 2),
                right: (4, 1),
                ..
            }
        ),
        "{error:?}"
    );
    let error = kind(&right.of_a, &short);
    assert!(
        matches!(
            error,
            ErrorKind::ShapeMismatch {
                left: (2, 2),
                right: (4, 1),
                ..
            }
        ),
        "{error:?}"
    );
    let mut turned = device
        .matrix_zeros::<f32>((4, 130, Order::ColumnMajor))
        .unwrap();
    let error = right.product().run_into(&mut turned).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::NoKernel { .. }),
        "{error}"
    );
    let error = right
        .product()
        .arithmetic(Arithmetic::Exact)
        .run()
        .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::NoKernel { .. }),
        "{error}"
    );
}

#[test]
fn a_batch_of_one_is_one_matrix() {
    let (m, n, k) = (3, 130, 200);
    let sizes = Scaled::integers((m, n, k), &mut Random::new(12));
    for device in hoppers(machines()) {
        let Uploaded { a, b, of_a, of_b } = sizes.upload(&device, ALONG_K);
        let expected = sizes.outputs();
        let one = Matmul::new(&a, &b).block_scales(of_a.view().batch_rows(1).unwrap(), &of_b);
        let found = one.run_as::<f32>().unwrap().to_vec().unwrap();
        assert_same_bits(&found, &expected, &device);
        let one = Matmul::new(a.view().batch_rows(1).unwrap(), &b).block_scales(&of_a, &of_b);
        let found = one.run_as::<f32>().unwrap().to_vec().unwrap();
        assert_same_bits(&found, &expected, &device);
    }
}
