//! Products of groups of rows whose sizes are in device memory.

use crate::common::devices;
use crate::common::random::Random;
use crate::harness::{Host, assert_same_bits, hoppers};
use crate::scaled::{Scaled, TILES};
use half::{bf16, f16};
use std::fmt::Debug;
use tilewright::cuda_std::fp8::F8E4M3;
use tilewright::{Arithmetic, Device, ErrorKind, Matmul, MatmulElement, MatmulInto, Order};

/// Columns of the result, and K.
const SIZES: (usize, usize) = (140, 200);

/// Rows of A, and the counts: groups that are empty, whole, of odd sizes, of several tiles, and too long.
const CONTIGUOUS: [(usize, &[u32]); 5] = [
    (300, &[0, 1, 130, 0, 64, 70]),
    (270, &[270]),
    (20, &[5, 0, 3]),
    (100, &[30, u32::MAX, 7]),
    (64, &[0, 0]),
];

/// Rows of each matrix A, and the counts.
const MASKED: [(usize, &[u32]); 3] = [
    (70, &[0, 70, 1, 69]),
    (300, &[257, 128]),
    (10, &[u32::MAX, 4]),
];

/// The group of each row, if it has one: the rows of one matrix.
fn contiguous(rows: usize, counts: &[u32]) -> Vec<Option<usize>> {
    let of =
        |(group, &count): (usize, &u32)| std::iter::repeat_n(Some(group), rows.min(count as usize));
    let mut groups: Vec<Option<usize>> = counts.iter().enumerate().flat_map(of).collect();
    groups.resize(rows, None);
    groups
}

/// The group of each row of matrices that lie one below the other, one for each group.
fn masked(rows: usize, counts: &[u32]) -> Vec<Option<usize>> {
    let row = |at: usize| {
        let (group, row) = (at / rows, at % rows);
        (row < counts[group] as usize).then_some(group)
    };
    (0..rows * counts.len()).map(row).collect()
}

/// A product of rows of A with the matrix B of each row's group; unwritten rows hold `unwritten`.
fn expected<T: Copy>(
    groups: &[Option<usize>],
    unwritten: T,
    mut row: impl FnMut(usize, usize) -> Vec<T>,
) -> Vec<T> {
    let (n, _) = SIZES;
    let of = |(at, group): (usize, &Option<usize>)| match *group {
        Some(group) => row(at, group),
        None => vec![unwritten; n],
    };
    groups.iter().enumerate().flat_map(of).collect()
}

trait Half: MatmulElement<Accumulator = f32, Product = Self> + MatmulInto<Self> + Debug {
    fn of(value: f64) -> Self;
}
impl Half for f16 {
    fn of(value: f64) -> Self {
        Self::from_f64(value)
    }
}
impl Half for bf16 {
    fn of(value: f64) -> Self {
        Self::from_f64(value)
    }
}

for_each_type! {
    [f16 bf16]
    groups_have_the_bits_of_their_own_products
}

fn groups_have_the_bits_of_their_own_products<T: Half + crate::harness::Bits>() {
    let (n, k) = SIZES;
    let mut random = Random::new(9);
    let mut element = |_, _| T::of(random.signed_unit());
    for device in hoppers(devices()) {
        for (case, (rows, counts, is_masked)) in cases().enumerate() {
            let all_rows = if is_masked { rows * counts.len() } else { rows };
            let a = Host::<T>::new(all_rows, k, &mut element).upload(&device, Order::RowMajor);
            // B lies along K in every other case.
            let is_along_k = case % 2 == 0;
            let (rows_of_b, columns_of_b) = if is_along_k { (n, k) } else { (k, n) };
            let shape = (counts.len() * rows_of_b, columns_of_b);
            let b = Host::<T>::new(shape.0, shape.1, &mut element).upload(&device, Order::RowMajor);
            let b = b.view().batch_rows(counts.len()).unwrap();
            let b = if is_along_k { b.t() } else { b };
            let groups = groups_of(rows, counts, is_masked);
            let mut c = device
                .matrix((all_rows, n), &vec![T::of(7.0); all_rows * n])
                .unwrap();
            let counted = device.upload(counts).unwrap();
            // Every row by the matrix of every group.
            let all = Matmul::new(&a, b).arithmetic(Arithmetic::BatchInvariant);
            let all = all.run().unwrap().to_vec().unwrap();
            let alone = |at: usize, group: usize| {
                let first = (group * all_rows + at) * n;
                all[first..first + n].to_vec()
            };
            let written = expected(&groups, T::of(7.0), alone);
            let zero = T::of(0.0);
            let new: Vec<T> = (written.iter().enumerate())
                .map(|(at, &it)| if groups[at / n].is_some() { it } else { zero })
                .collect();
            let found = if is_masked {
                let product = Matmul::new(a.view().batch_rows(counts.len()).unwrap(), b);
                let product = product.row_counts(&counted);
                let mut parts = c.view_mut().into_batch_rows(counts.len()).unwrap();
                product.run_into(&mut parts).unwrap();
                product.run().unwrap()
            } else {
                let product = Matmul::new(&a, b).row_counts(&counted);
                product.run_into(&mut c).unwrap();
                product.run().unwrap()
            };
            let case = (rows, counts, is_masked, &device);
            assert_same_bits(&c.to_vec().unwrap(), &written, &case);
            assert_same_bits(&found.to_vec().unwrap(), &new, &case);
        }
    }
}

/// Rows, counts, and whether each group has a matrix A.
fn cases() -> impl Iterator<Item = (usize, &'static [u32], bool)> {
    let contiguous = CONTIGUOUS
        .into_iter()
        .map(|(rows, counts)| (rows, counts, false));
    contiguous.chain(
        MASKED
            .into_iter()
            .map(|(rows, counts)| (rows, counts, true)),
    )
}

fn groups_of(rows: usize, counts: &[u32], is_masked: bool) -> Vec<Option<usize>> {
    match is_masked {
        true => masked(rows, counts),
        false => contiguous(rows, counts),
    }
}

#[test]
fn groups_with_block_scales_have_the_naive_bits() {
    let (n, k) = SIZES;
    let mut random = Random::new(10);
    for (number, (rows, counts, is_masked)) in cases().enumerate() {
        let all_rows = if is_masked { rows * counts.len() } else { rows };
        let groups = groups_of(rows, counts, is_masked);
        // A product of all rows by each group's matrix.
        let first = Scaled::integers((all_rows, n, k), &mut random);
        let of_group = |_: &u32| {
            let other = Scaled::integers((1, n, k), &mut random);
            let (a, of_a) = (first.a.clone(), first.of_a.clone());
            Scaled { a, of_a, ..other }
        };
        let products: Vec<Scaled> = counts.iter().map(of_group).collect();
        let sums = expected(&groups, 0.0, |at, group| products[group].row(at));
        let halves: Vec<bf16> = sums.iter().map(|&it| bf16::from_f32(it)).collect();
        // B and its scales lie along K.
        let turned = |host: &Host<F8E4M3>| -> Vec<F8E4M3> {
            (0..n * k)
                .map(|at| host.elements[at % k * n + at / k])
                .collect()
        };
        let of_b = |host: &Host<f32>| {
            let (blocks, columns) = (host.rows, host.columns);
            (0..blocks * columns)
                .map(|at| host.elements[at % blocks * columns + at / blocks])
                .collect::<Vec<f32>>()
        };
        let b: Vec<F8E4M3> = products.iter().flat_map(|it| turned(&it.b)).collect();
        let scales: Vec<f32> = products.iter().flat_map(|it| of_b(&it.of_b)).collect();
        for device in hoppers(devices()) {
            let a = first.a.upload(&device, Order::RowMajor);
            let of_a = first.of_a.upload(&device, Order::RowMajor);
            let b = device.matrix((counts.len() * n, k), &b).unwrap();
            let of_b = device
                .matrix((scales.len() / k.div_ceil(128), k.div_ceil(128)), &scales)
                .unwrap();
            let counted = device.upload(counts).unwrap();
            let b = b.view().batch_rows(counts.len()).unwrap().t();
            let of_b = of_b.view().batch_rows(counts.len()).unwrap().t();
            let product = match is_masked {
                true => Matmul::new(a.view().batch_rows(counts.len()).unwrap(), b)
                    .block_scales(of_a.view().batch_rows(counts.len()).unwrap(), of_b),
                false => Matmul::new(&a, b).block_scales(&of_a, of_b),
            };
            let product = product
                .row_counts(&counted)
                .tiles(TILES[number % TILES.len()]);
            let case = (rows, counts, is_masked, &device);
            let found = product.run_as::<f32>().unwrap().to_vec().unwrap();
            assert_same_bits(&found, &sums, &case);
            let found = product.run().unwrap().to_vec().unwrap();
            assert_same_bits(&found, &halves, &case);
        }
    }
}

#[test]
fn other_counts_types_and_orders_are_refused() {
    let device = Device::simulator();
    let a = device.matrix_zeros::<bf16>((8, 16)).unwrap();
    let b = device.matrix_zeros::<bf16>((32, 8)).unwrap();
    let b = b.view().batch_rows(2).unwrap();
    let counts = device.upload(&[1_u32, 2, 3]).unwrap();
    let error = Matmul::new(&a, b).row_counts(&counts).run().unwrap_err();
    assert!(
        matches!(
            error.kind(),
            ErrorKind::WrongLength {
                expected: 2,
                found: 3,
                ..
            }
        ),
        "{error}"
    );
    let counts = counts.slice(..2).unwrap();
    let product = Matmul::new(&a, b).row_counts(counts);
    let error = product.run_as::<f32>().unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::NoKernel { .. }),
        "{error}"
    );
    let turned = device
        .matrix_zeros::<bf16>((8, 16, Order::ColumnMajor))
        .unwrap();
    let error = Matmul::new(&turned, b)
        .row_counts(counts)
        .run()
        .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::NoKernel { .. }),
        "{error}"
    );
    let unscaled = device.matrix_zeros::<F8E4M3>((8, 16)).unwrap();
    let right = device.matrix_zeros::<F8E4M3>((32, 8)).unwrap();
    let product = Matmul::new(&unscaled, right.view().batch_rows(2).unwrap()).row_counts(counts);
    let error = product.run().unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::NoKernel { .. }),
        "{error}"
    );
    // Another arithmetic does not help.
    let left = device.matrix_zeros::<f32>((8, 16)).unwrap();
    let right = device.matrix_zeros::<f32>((32, 8)).unwrap();
    let product = Matmul::new(&left, right.view().batch_rows(2).unwrap()).row_counts(counts);
    for arithmetic in [Arithmetic::Split, Arithmetic::Exact, Arithmetic::Chain] {
        let error = product.arithmetic(arithmetic).run().unwrap_err();
        assert!(error.to_string().contains("rows are counted"), "{error}");
    }
}
