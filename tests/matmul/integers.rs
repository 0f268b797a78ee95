//! Products of i8, whose sums are exact in i32 and wrap around.

use crate::common::random::Random;
use crate::common::{cuda_device, devices, machines, share};
use crate::harness::{Host, ORDERS, Shape, assert_same_bits};
use tilewright::tuning::TileSize;
use tilewright::{Arithmetic, Device, Matmul, MatmulPlan, Matrix, Order};

/// Every way to multiply: on tensor cores if the device has them, by its own kernels and by those of an older device,
/// and on the CUDA cores.
const WAYS: [Way; 7] = [
    Way(Arithmetic::Auto, TileSize::Small, NEWEST),
    Way(Arithmetic::Auto, TileSize::Large, NEWEST),
    Way(Arithmetic::Auto, TileSize::Medium, NEWEST),
    Way(Arithmetic::Auto, TileSize::Small, (8, 0)),
    Way(Arithmetic::Auto, TileSize::Large, (8, 0)),
    Way(Arithmetic::Chain, TileSize::Small, NEWEST),
    Way(Arithmetic::Chain, TileSize::Large, NEWEST),
];

/// No limit to the kernels.
const NEWEST: (u32, u32) = (u32::MAX, 0);

/// The arithmetic, the tiles, and the compute capability of whose kernels it is one.
#[derive(Clone, Copy, Debug)]
struct Way(Arithmetic, TileSize, (u32, u32));

impl Way {
    fn of<'a>(self, product: Matmul<'a, i8>) -> Matmul<'a, i8> {
        let Self(arithmetic, tiles, (major, minor)) = self;
        let product = product.arithmetic(arithmetic).tiles(tiles);
        product.compute_capability(major, minor)
    }
}

/// Whole tiles and tails, rows that are and are not multiples of 4 and of 16 bytes, and vectors, of one part, of
/// several, and of several that are divided among groups.
pub const SHAPES: [Shape; 11] = [
    (1, 1, 1),
    (64, 128, 128),
    (65, 12, 132),
    (130, 136, 129),
    (33, 258, 16),
    (5, 70, 203),
    (16, 24, 0),
    (70, 1, 300),
    (1, 131, 2601),
    (5, 1, 5000),
    (1, 3, 17_000),
];

pub fn random_matrix(random: &mut Random, rows: usize, columns: usize) -> Host<i8> {
    Host::new(rows, columns, |_, _| random.bits() as i8)
}

/// The exact sums of products, in i64.
pub fn exact(a: &Host<i8>, b: &Host<i8>, (m, n, k): Shape) -> Vec<i64> {
    let sum = |i: usize| {
        let terms = (0..k).map(|j| (a.elements[i / n * k + j], b.elements[j * n + i % n]));
        terms.map(|(a, b)| i64::from(a) * i64::from(b)).sum()
    };
    (0..m * n).map(sum).collect()
}

pub fn wrapped(sums: &[i64]) -> Vec<i32> {
    sums.iter().map(|&sum| sum as i32).collect()
}

#[test]
fn products_in_every_order_are_exact() {
    for (m, n, k) in SHAPES {
        let mut random = Random::new((m + n + k) as u64);
        let (a, b) = (
            random_matrix(&mut random, m, k),
            random_matrix(&mut random, k, n),
        );
        let expected = wrapped(&exact(&a, &b, (m, n, k)));
        for device in devices() {
            for number in share((m, n, k), 0..8) {
                let [of_a, of_b, of_c] = [0, 1, 2].map(|bit| ORDERS[number >> bit & 1]);
                let (left, right) = (a.upload(&device, of_a), b.upload(&device, of_b));
                // Each of three ways in each order, in one of the tiles.
                for way in [number % 3, 3 + number % 2, 5 + number / 2 % 2].map(|it| WAYS[it]) {
                    let mut c = device.matrix_zeros::<i32>((m, n, of_c)).unwrap();
                    let product = way.of(Matmul::new(&left, &right));
                    product.run_into(&mut c).unwrap();
                    let case = (way, number, (m, n, k), &device);
                    assert_same_bits(&c.to_vec().unwrap(), &expected, &case);
                }
            }
        }
    }
}

#[test]
fn every_machine_multiplies_exactly() {
    let shape = (37, 70, 75);
    let (m, n, k) = shape;
    let mut random = Random::new(3);
    let (a, b) = (
        random_matrix(&mut random, m, k),
        random_matrix(&mut random, k, n),
    );
    let expected = wrapped(&exact(&a, &b, shape));
    for device in machines() {
        let a = a.upload(&device, Order::ColumnMajor);
        let b = b.upload(&device, Order::RowMajor);
        let c = device.matmul(&a, &b).unwrap();
        assert_same_bits(&c.to_vec().unwrap(), &expected, &device);
        let chain = Matmul::new(&a, &b).arithmetic(Arithmetic::Chain);
        let c = chain.run().unwrap();
        assert_same_bits(&c.to_vec().unwrap(), &expected, &device);
    }
}

/// Parts of larger matrices, with rows that start anywhere, and neighbours that are no zeros.
#[test]
fn parts_are_multiplied_in_place() {
    let shape = (34, 21, 50);
    let (m, n, k) = shape;
    for first in [1, 2, 4, 16] {
        for (of_a, of_b) in [(0, 1), (1, 0)].map(|(a, b)| (ORDERS[a], ORDERS[b])) {
            let mut random = Random::new(first as u64);
            let whole_a = random_matrix(&mut random, m + first + 3, k + first + 5);
            let whole_b = random_matrix(&mut random, k + first + 1, n + first + 7);
            let a = Host::new(m, k, |row, column| {
                whole_a.elements[(row + first) * (k + first + 5) + column + first]
            });
            let b = Host::new(k, n, |row, column| {
                whole_b.elements[(row + first) * (n + first + 7) + column + first]
            });
            let expected = wrapped(&exact(&a, &b, shape));
            for device in devices() {
                let (a, b) = (whole_a.upload(&device, of_a), whole_b.upload(&device, of_b));
                let a = a.slice(first..first + m, first..first + k).unwrap();
                let b = b.slice(first..first + k, first..first + n).unwrap();
                for way in [WAYS[0], WAYS[3], WAYS[5]] {
                    let product = way.of(Matmul::new(a, b));
                    let c = product.run().unwrap().to_vec().unwrap();
                    assert_same_bits(&c, &expected, &(first, way, of_a, &device));
                }
            }
        }
    }
}

#[test]
fn batches_are_multiplied_exactly() {
    const COUNT: usize = 3;
    let (m, n, k) = (20, 36, 40);
    let mut random = Random::new(11);
    let (a, b) = (
        random_matrix(&mut random, COUNT * m, k),
        random_matrix(&mut random, COUNT * k, n),
    );
    let shared = random_matrix(&mut random, k, n);
    let part = |whole: &Host<i8>, rows: usize, index: usize| {
        let columns = whole.elements.len() / (COUNT * rows);
        Host::new(rows, columns, |row, column| {
            whole.elements[(index * rows + row) * columns + column]
        })
    };
    let products = |b: &dyn Fn(usize) -> Host<i8>| -> Vec<i32> {
        let of = |i: usize| wrapped(&exact(&part(&a, m, i), &b(i), (m, n, k)));
        (0..COUNT).flat_map(of).collect()
    };
    let each = products(&|index| part(&b, k, index));
    let all = products(&|_| shared.clone());
    for device in devices() {
        for order in ORDERS {
            let (a, b) = (a.upload(&device, order), b.upload(&device, order));
            let shared = shared.upload(&device, order);
            let a = a.view().batch_rows(COUNT).unwrap();
            let b = b.view().batch_rows(COUNT).unwrap();
            for way in WAYS {
                let case = (order, way, &device);
                let run = |product: Matmul<'_, i8>| -> Vec<i32> {
                    way.of(product).run().unwrap().to_vec().unwrap()
                };
                assert_same_bits(&run(Matmul::new(a, b)), &each, &case);
                assert_same_bits(&run(Matmul::new(a, &shared)), &all, &case);
            }
        }
    }
}

#[test]
fn an_epilogue_wraps_around() {
    let shape = (66, 35, 40);
    let (m, n, k) = shape;
    let mut random = Random::new(7);
    let (a, b) = (
        random_matrix(&mut random, m, k),
        random_matrix(&mut random, k, n),
    );
    let sums = exact(&a, &b, shape);
    let mut word = || random.bits() as i32;
    let mut vector = |len| -> Vec<i32> { (0..len).map(|_| word()).collect() };
    let (row_scale, column_scale) = (vector(m), vector(n));
    let (row_bias, column_bias, old) = (vector(m), vector(n), vector(m * n));
    let (alpha, beta) = (1_000_003_i32, -77_i32);
    let output = |i: usize| {
        let scale = row_scale[i / n].wrapping_mul(column_scale[i % n]);
        let scaled = (sums[i] as i32).wrapping_mul(alpha.wrapping_mul(scale));
        let added = scaled.wrapping_add(beta.wrapping_mul(old[i]));
        added.wrapping_add(row_bias[i / n].wrapping_add(column_bias[i % n]))
    };
    let expected: Vec<i32> = (0..m * n).map(output).collect();
    for device in devices() {
        let (a, b) = (
            a.upload(&device, Order::RowMajor),
            b.upload(&device, Order::RowMajor),
        );
        let upload = |vector: &[i32]| device.upload(vector).unwrap();
        let (row_scale, column_scale) = (upload(&row_scale), upload(&column_scale));
        let (row_bias, column_bias) = (upload(&row_bias), upload(&column_bias));
        for way in WAYS {
            let mut c = device.matrix((m, n), &old).unwrap();
            let product = way
                .of(Matmul::new(&a, &b))
                .alpha(alpha)
                .beta(beta)
                .row_scale(&row_scale)
                .column_scale(&column_scale)
                .row_bias(&row_bias)
                .column_bias(&column_bias);
            product.run_into(&mut c).unwrap();
            assert_same_bits(&c.to_vec().unwrap(), &expected, &(way, &device));
        }
    }
}

/// Long sums of the largest product, beyond i32. The simulator would take long.
#[test]
fn sums_wrap_around_on_a_gpu() {
    let Some(device) = cuda_device() else { return };
    let k = 131_072 + 1000;
    let expected = vec![(k as i64 * 128 * 128) as i32; 6];
    let (a, b) = (Host::new(2, k, |_, _| -128), Host::new(k, 3, |_, _| -128));
    let a = a.upload(&device, Order::RowMajor);
    let b = b.upload(&device, Order::RowMajor);
    for way in WAYS {
        let c = way.of(Matmul::new(&a, &b)).run().unwrap();
        assert_same_bits(&c.to_vec().unwrap(), &expected, &way);
    }
}

#[test]
fn the_plan_says_where() {
    let device = Device::simulator();
    let a: Matrix<i8> = device.matrix_zeros((40, 40)).unwrap();
    let kernel = |arithmetic| -> MatmulPlan {
        Matmul::new(&a, a.t())
            .arithmetic(arithmetic)
            .plan()
            .unwrap()
    };
    assert_eq!(kernel(Arithmetic::Auto).kernel, "matmul_wgmma_deep_i8");
    assert_eq!(
        kernel(Arithmetic::Chain).kernel,
        "matmul_coarsened_small_i8"
    );
}
