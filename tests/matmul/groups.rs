//! Products of unequal shapes: each of them has the bits of a chain.

use crate::common::devices;
use crate::common::random::Random;
use crate::harness::{Bits, Host, ORDERS, assert_same_bits, hoppers};
use half::{bf16, f16};
use std::fmt::Debug;
use tilewright::cuda_std::float::Float;
use tilewright::{
    Activation, Arithmetic, Device, Element, ErrorKind, Matmul, MatmulElement, MatmulGroup,
    MatmulInto, Matrix, MatrixView, MatrixViewMut, Order, Profile, SimulatorOptions,
};
use tilewright_test_support::assert_kind;

/// Rows of A, columns of B, columns of A: tails, a vector, nothing to write, nothing to add, several blocks.
const SHAPES: [(usize, usize, usize); 8] = [
    (5, 7, 3),
    (66, 130, 17),
    (1, 9, 40),
    (0, 3, 2),
    (4, 3, 0),
    (70, 1, 5),
    (33, 65, 20),
    (129, 64, 16),
];

/// Matrices whose rows, or columns, are one element longer than their parts that are multiplied.
struct Operands<T: Element> {
    a: Matrix<T>,
    b: Matrix<T>,
    shape: (usize, usize, usize),
}

impl<T: Element + Debug> Operands<T> {
    fn new(device: &Device, number: usize, of: impl Fn(f64) -> T) -> Self {
        let shape = SHAPES[number % SHAPES.len()];
        let (m, n, k) = shape;
        let mut random = Random::new(number as u64);
        let mut matrix = |rows, columns, order: usize| {
            let host = Host::new(rows + 1, columns + 1, |_, _| of(random.signed_unit()));
            host.upload(device, ORDERS[order % 2])
        };
        Self {
            a: matrix(m, k, number),
            b: matrix(k, n, number / 2),
            shape,
        }
    }

    fn views(&self) -> (MatrixView<'_, T>, MatrixView<'_, T>) {
        let (m, n, k) = self.shape;
        let a = self.a.slice(..m, ..k).unwrap();
        (a, self.b.slice(..k, ..n).unwrap())
    }
}

/// Fails unless the products of a group are those of each pair alone, in `arithmetic`.
fn assert_group<T>(device: &Device, arithmetic: Arithmetic, of: impl Fn(f64) -> T + Copy)
where
    T: MatmulInto<T> + MatmulElement<Accumulator: Float, Product = T> + Bits + Debug,
{
    let operands: Vec<_> = (0..16).map(|it| Operands::new(device, it, of)).collect();
    let alone = |(a, b)| {
        let product = Matmul::new(a, b).arithmetic(arithmetic);
        product.run().unwrap().to_vec().unwrap()
    };
    let group = MatmulGroup::new(operands.iter().map(Operands::views));
    let found = group.run().unwrap();
    for (operands, found) in operands.iter().zip(&found) {
        let case = (operands.shape, device);
        assert_eq!(found.shape(), (operands.shape.0, operands.shape.1));
        let expected = alone(operands.views());
        assert_same_bits(&found.to_vec().unwrap(), &expected, &case);
    }
}

/// A simulator that any product fills, for large tiles.
fn easily_filled() -> Device {
    Device::simulator_with(SimulatorOptions::default().with_multiprocessors(1))
}

#[test]
fn of_chains() {
    for device in devices().into_iter().chain([easily_filled()]) {
        assert_group(&device, Arithmetic::Chain, |it| it as f32);
        assert_group(&device, Arithmetic::Chain, |it| it);
    }
}

/// Products that fill a device of one multiprocessor with large tiles, in each pair of orders that has some.
#[test]
fn of_chains_in_large_tiles() {
    let device = easily_filled();
    for number in 0..3 {
        let mut random = Random::new(number as u64);
        let mut matrix = |rows, columns, order: usize| {
            let host = Host::new(rows, columns, |_, _| random.signed_unit() as f32);
            host.upload(&device, ORDERS[order])
        };
        let pairs = [(128, 126, 18), (121, 253, 35)]
            .map(|(m, n, k)| (matrix(m, k, number % 2), matrix(k, n, number / 2)));
        let group = MatmulGroup::new(pairs.iter().map(|(a, b)| (a, b)));
        let (found, report) = device.with_report(|| group.run()).unwrap();
        let name = &report.launches[0].kernel;
        assert!(name.starts_with("matmul_grouped_f32_"), "{name}");
        assert_eq!(report.launches.len(), 1);
        for ((a, b), found) in pairs.iter().zip(&found) {
            let alone = Matmul::new(a, b).arithmetic(Arithmetic::Chain);
            let expected = alone.run().unwrap().to_vec().unwrap();
            assert_same_bits(&found.to_vec().unwrap(), &expected, &(name, a.shape()));
        }
    }
}

#[test]
fn of_halves() {
    for device in hoppers(devices()) {
        assert_group(&device, Arithmetic::Auto, bf16::from_f64);
        assert_group(&device, Arithmetic::Auto, f16::from_f64);
    }
}

/// Whose lines start at multiples of 16 bytes, so that they share a launch for each pair of orders: tails of tiles
/// and of K, several tiles, nothing to add, with an epilogue, into parts of one matrix.
#[test]
fn of_halves_in_shared_launches() {
    fn assert_shared<T>(device: &Device, of: impl Fn(f64) -> T)
    where
        T: MatmulInto<T> + MatmulElement<Accumulator = f32, Product = T> + Bits + Debug,
    {
        const SHAPES: [(usize, usize, usize); 5] = [
            (8, 16, 8),
            (72, 136, 40),
            (64, 64, 96),
            (24, 8, 0),
            (136, 72, 200),
        ];
        let mut random = Random::new(21);
        let mut host = |rows, columns| Host::new(rows, columns, |_, _| of(random.signed_unit()));
        for number in 0..4 {
            let operands = SHAPES.map(|(m, n, k)| {
                let (a, b) = (host(m, k), host(k, n));
                (
                    a.upload(device, ORDERS[number % 2]),
                    b.upload(device, ORDERS[number / 2]),
                )
            });
            let old: Vec<_> = SHAPES.iter().map(|&(m, n, _)| host(m, n + 3)).collect();
            let upload = || -> Vec<Matrix<T>> {
                let upload = |old: &Host<T>| old.upload(device, Order::RowMajor);
                old.iter().map(upload).collect()
            };
            // Rows of the results start anywhere.
            fn parts<T: Element>(whole: &mut [Matrix<T>]) -> Vec<MatrixViewMut<'_, T>> {
                let mut parts = Vec::new();
                for c in whole {
                    let end = c.cols() - 2;
                    parts.push(c.slice_mut(.., 1..end).unwrap());
                }
                parts
            }
            let (mut found, mut expected) = (upload(), upload());
            for ((a, b), c) in operands.iter().zip(&mut parts(&mut expected)) {
                let alone = Matmul::new(a, b).alpha(0.7).beta(-0.3);
                alone.activation(Activation::Silu).run_into(c).unwrap();
            }
            let group = MatmulGroup::new(operands.iter().map(|(a, b)| (a, b)));
            let group = group.alpha(0.7).beta(-0.3).activation(Activation::Silu);
            let mut results = parts(&mut found);
            if device.is_simulator() {
                let run = || group.run_into(&mut results);
                let ((), report) = device.with_report(run).unwrap();
                let names: Vec<_> = report.launches.iter().map(|it| &it.kernel).collect();
                let is_shared = names.len() == 1 && names[0].starts_with("matmul_mma_grouped_");
                assert!(is_shared, "{names:?}");
            } else {
                group.run_into(&mut results).unwrap();
            }
            for (found, expected) in found.iter().zip(&expected) {
                let (found, expected) = (found.to_vec().unwrap(), expected.to_vec().unwrap());
                assert_same_bits(&found, &expected, &(number, device));
            }
        }
    }
    // Enough multiprocessors that no product fills half of them.
    let hopper = SimulatorOptions::default().with_multiprocessors(100);
    let ampere = SimulatorOptions::default().with_profile(Profile::A100);
    let on_gpu = hoppers(devices())
        .into_iter()
        .filter(|it| !it.is_simulator());
    for device in on_gpu.chain([hopper, ampere].map(Device::simulator_with)) {
        assert_shared(&device, f16::from_f64);
        assert_shared(&device, bf16::from_f64);
    }
}

#[test]
fn of_splits() {
    for device in hoppers(devices()) {
        let mut random = Random::new(1);
        let mut matrix = |rows, columns| {
            let host = Host::new(rows, columns, |_, _| random.signed_unit() as f32);
            host.upload(&device, Order::RowMajor)
        };
        let (a, b) = (matrix(40, 64), matrix(64, 70));
        let alone = Matmul::new(&a, &b).arithmetic(Arithmetic::Split);
        let group = MatmulGroup::new([(&a, &b)]).arithmetic(Arithmetic::Split);
        let found = group.run().unwrap().remove(0).to_vec().unwrap();
        assert_same_bits(&found, &alone.run().unwrap().to_vec().unwrap(), &device);
    }
}

/// The first 7 columns, and the others.
fn parts(matrix: &mut Matrix<f32>) -> [MatrixViewMut<'_, f32>; 2] {
    let (left, right) = matrix.split_columns_at_mut(7).unwrap();
    [left, right]
}

/// Into parts of one matrix, to which the products are added.
#[test]
fn with_an_epilogue_into_parts() {
    for device in devices() {
        let operands = [0, 6].map(|it| Operands::new(&device, it, |it| it as f32));
        let [(a, b), (c, d)] = [operands[0].views(), operands[1].views()];
        let c = c.slice(..5, ..).unwrap();
        let before = |order| {
            let host = Host::new(5, 72, |row, column| (row * column % 5) as f32);
            host.upload(&device, order)
        };
        for order in ORDERS {
            let (mut found, mut expected) = (before(order), before(order));
            let mut results = parts(&mut found);
            let group = MatmulGroup::new([(a, b), (c, d)]);
            let group = group.alpha(2.0).beta(0.5).activation(Activation::Relu);
            group.run_into(&mut results).unwrap();
            for (result, (a, b)) in parts(&mut expected).iter_mut().zip([(a, b), (c, d)]) {
                let product = Matmul::new(a, b).arithmetic(Arithmetic::Chain);
                let product = product.alpha(2.0).beta(0.5).activation(Activation::Relu);
                product.run_into(result).unwrap();
            }
            let case = (order, &device);
            assert_same_bits(&found.to_vec().unwrap(), &expected.to_vec().unwrap(), &case);
        }
    }
}

#[test]
fn products_of_the_same_orders_are_one_launch_for_64() {
    let device = Device::simulator();
    let a = device.matrix((2, 2), &[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
    let b = device.matrix((2, 1), &[1.0_f32, 10.0]).unwrap();
    let pairs = (0..70).map(|it| if it % 2 == 0 { (&a, &a) } else { (&a, &b) });
    let (products, report) = device.with_report(|| device.matmul_grouped(pairs)).unwrap();
    let grids: Vec<_> = report
        .launches
        .iter()
        .map(|it| (it.kernel.as_str(), it.grid.x))
        .collect();
    let name = "matmul_grouped_small_f32_nn";
    assert_eq!(grids, [(name, 64), (name, 6)]);
    for (index, product) in products.iter().enumerate() {
        let expected: &[f32] = match index % 2 {
            0 => &[7.0, 10.0, 15.0, 22.0],
            _ => &[21.0, 43.0],
        };
        assert_eq!(product.to_vec().unwrap(), expected, "{index}");
    }
}

#[test]
fn no_products_are_nothing() {
    let device = Device::simulator();
    let none = Vec::<(&Matrix<f32>, &Matrix<f32>)>::new();
    assert!(device.matmul_grouped(none).unwrap().is_empty());
}

#[test]
fn errors_leave_all_results_as_they_were() {
    let device = Device::simulator();
    let a = device.matrix((2, 2), &[1.0_f32; 4]).unwrap();
    let ones = || device.matrix((2, 2), &[1.0_f32; 4]).unwrap();
    let mut results = [ones(), ones(), device.matrix_zeros((2, 3)).unwrap()];
    let group = MatmulGroup::new([(&a, &a), (&a, &a), (&a, &a)]);
    let error = group.run_into(&mut results).unwrap_err();
    assert_eq!(error.operation(), "MatmulGroup::run_into");
    assert_kind!(error is ErrorKind::ShapeMismatch { .. });
    assert_eq!(results[0].to_vec().unwrap(), [1.0; 4]);
    let error = group.run_into(&mut results[..2]).unwrap_err();
    assert_kind!(error is ErrorKind::WrongLength { expected: 3, found: 2, .. });
    let foreign = Device::simulator().matrix((2, 2), &[1.0_f32; 4]).unwrap();
    let error = device.matmul_grouped([(&a, &a), (&a, &foreign)]);
    let error = error.unwrap_err();
    assert_kind!(error is ErrorKind::WrongDevice { .. });
}
