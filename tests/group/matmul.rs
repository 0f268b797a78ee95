//! Products over several devices: the bits of one.

use super::{fault, groups};
use crate::common::random::Random;
use half::f16;
use std::fmt::Debug;
use tilewright::{
    Arithmetic, Device, DeviceGroup, ErrorKind, GroupError, Matmul, MatmulElement, ShardedMatmul,
    Sharding,
};
use tilewright_test_support::assert_kind;

/// M, K and N.
pub type Shape = (usize, usize, usize);

/// How A and B are divided for a product that has the bits of one device, and how the product is.
pub const SHARDINGS: [[Sharding; 3]; 4] = [
    [Sharding::Rows, Sharding::Replicated, Sharding::Rows],
    [Sharding::Replicated, Sharding::Columns, Sharding::Columns],
    [Sharding::Replicated, Sharding::Replicated, Sharding::Rows],
    [Sharding::Rows, Sharding::Columns, Sharding::Rows],
];

pub fn data<T>(len: usize, of: impl Fn(f64) -> T) -> Vec<T> {
    let mut random = Random::new(len as u64 + 1);
    (0..len).map(|_| of(random.signed_unit())).collect()
}

/// The product on one device.
pub fn on_one<T: MatmulElement>(
    device: &Device,
    (m, k, n): Shape,
    a: &[T],
    b: &[T],
) -> Vec<<T as MatmulElement>::Product> {
    let (a, b) = (
        device.matrix((m, k), a).unwrap(),
        device.matrix((k, n), b).unwrap(),
    );
    device.matmul(&a, &b).unwrap().to_vec().unwrap()
}

/// Fails unless the products of these shapes have the bits of one device, on groups of `ranks` if they are given.
#[track_caller]
fn check<T>(shapes: &[Shape], ranks: Option<usize>, of: impl Fn(f64) -> T)
where
    T: MatmulElement<Product: PartialEq + Debug>,
{
    for &(m, k, n) in shapes {
        let (a, b) = (data(m * k, &of), data(k * n, &of));
        let is_tested = |group: &DeviceGroup| ranks.is_none_or(|ranks| group.ranks() == ranks);
        for group in groups().into_iter().filter(is_tested) {
            let expected = on_one(&group.devices()[0], (m, k, n), &a, &b);
            for [of_a, of_b, of_c] in SHARDINGS {
                let a = group.matrix((m, k), &a, of_a).unwrap();
                let b = group.matrix((k, n), &b, of_b).unwrap();
                let c = group.matmul(&a, &b).unwrap();
                assert_eq!((c.shape(), c.sharding()), ((m, n), of_c));
                let case = (m, k, n, group.ranks(), of_a, of_b);
                assert_eq!(c.to_vec().unwrap(), expected, "{case:?}");
            }
        }
    }
}

#[test]
fn products_of_f32_have_the_bits_of_one_device() {
    // A row for each rank or none; a matrix and a vector, either way round; no products.
    let shapes = [(7, 9, 5), (4, 6, 1), (1, 6, 4), (3, 0, 2)];
    check(&shapes, None, |value| value as f32);
}

#[test]
fn each_arithmetic_has_the_bits_of_one_device() {
    let is_tested = |group: &DeviceGroup| group.ranks() == 2 || !group.devices()[0].is_simulator();
    for group in groups().into_iter().filter(is_tested) {
        let one = &group.devices()[0];
        let (m, k, n) = match one.is_simulator() {
            // Halves of f32 are for K of 60 and more.
            true => (9, 65, 14),
            // Enough for tensor cores, where the caller leaves the choice.
            false => (770, 768, 769),
        };
        let (a, b) = (
            data(m * k, |value| value as f32),
            data(k * n, |value| value as f32),
        );
        let on_one = (
            one.matrix((m, k), &a).unwrap(),
            one.matrix((k, n), &b).unwrap(),
        );
        for arithmetic in [Arithmetic::Auto, Arithmetic::Chain, Arithmetic::Split] {
            let expected = Matmul::new(&on_one.0, &on_one.1).arithmetic(arithmetic);
            let expected = expected.run().unwrap().to_vec().unwrap();
            for [of_a, of_b, _] in SHARDINGS {
                let a = group.matrix((m, k), &a, of_a).unwrap();
                let b = group.matrix((k, n), &b, of_b).unwrap();
                let product = ShardedMatmul::new(&a, &b).arithmetic(arithmetic);
                let found = product.run().unwrap().to_vec().unwrap();
                let case = (group.ranks(), arithmetic, of_a, of_b);
                assert!(found == expected, "{case:?}");
            }
        }
    }
}

/// Exact products of random shapes, operands and shardings: few on simulated groups, 1,000 on GPUs.
#[test]
fn exact_products_have_the_bits_of_one_device() {
    for group in groups() {
        let device = &group.devices()[0];
        let cases = if device.is_simulator() { 2 } else { 1000 };
        for case in 0..cases {
            let mut random = Random::new(case + 1);
            let [m, n, k] = [(); 3].map(|()| random.integer(1..=70) as usize);
            let mut elements = |len| -> Vec<f64> { (0..len).map(|_| random.wide()).collect() };
            let (a, b) = (elements(m * k), elements(k * n));
            let [of_a, of_b, _] = SHARDINGS[case as usize % SHARDINGS.len()];
            let sharded_a = group.matrix((m, k), &a, of_a).unwrap();
            let sharded_b = group.matrix((k, n), &b, of_b).unwrap();
            let product = ShardedMatmul::new(&sharded_a, &sharded_b);
            let found = product.arithmetic(Arithmetic::Exact).run().unwrap();
            let a = device.matrix((m, k), &a).unwrap();
            let b = device.matrix((k, n), &b).unwrap();
            let expected = device.matmul_exact(&a, &b).unwrap();
            let bits = |of: Vec<f64>| of.into_iter().map(f64::to_bits).collect::<Vec<_>>();
            let (found, expected) = (found.to_vec().unwrap(), expected.to_vec().unwrap());
            let case = (group.ranks(), of_a, of_b, (m, n, k));
            assert!(bits(found) == bits(expected), "{case:?}");
        }
    }
}

#[test]
fn products_whose_k_one_device_divides_have_its_bits() {
    check(&[(3, 1030, 2)], Some(2), |value| value);
}

#[test]
fn products_of_f16_have_the_bits_of_one_device() {
    // One row for a rank, which alone would be a vector.
    check(&[(3, 9, 5)], Some(3), f16::from_f64);
}

#[test]
fn a_divided_k_is_added_in_an_order_of_the_ranks() {
    let (m, k, n) = (5, 11, 3);
    let (a, b) = (
        data(m * k, |value| value as f32),
        data(k * n, |value| value as f32),
    );
    for group in groups() {
        let a = group.matrix((m, k), &a, Sharding::Columns).unwrap();
        let b = group.matrix((k, n), &b, Sharding::Rows).unwrap();
        let c = group.matmul_reduce_scatter(&a, &b).unwrap();
        assert_eq!((c.shape(), c.sharding()), ((m, n), Sharding::Rows));
        // The products of the ranks, added by one device.
        let one = Device::simulator();
        let mut products = Vec::new();
        for rank in 0..group.ranks() {
            let (a, b) = (a.shard(rank).unwrap(), b.shard(rank).unwrap());
            let shape = (m, a.cols(), n);
            let factors = (a.to_vec().unwrap(), b.to_vec().unwrap());
            products.extend(on_one(&one, shape, &factors.0, &factors.1));
        }
        let products = one.matrix((group.ranks(), m * n), &products).unwrap();
        let expected = one.reduce_columns(&products, tilewright::ops::Sum).unwrap();
        assert_eq!(c.to_vec().unwrap(), expected.to_vec().unwrap());
    }
}

#[test]
fn matrices_that_do_not_fit_together_are_errors() {
    let group = DeviceGroup::simulated(2).unwrap();
    let matrix = |sharding| group.matrix((2, 2), &[1.0_f32; 4], sharding).unwrap();
    let (rows, columns) = (matrix(Sharding::Rows), matrix(Sharding::Columns));
    for (a, b) in [(&columns, &rows), (&rows, &rows), (&columns, &columns)] {
        let error = group.matmul(a, b);
        assert!(matches!(fault(error), GroupError::Sharding { .. }));
    }
    let error = group.matmul_reduce_scatter(&rows, &rows);
    assert!(matches!(fault(error), GroupError::Sharding { .. }));
    let narrow = group
        .matrix((1, 2), &[1.0_f32; 2], Sharding::Replicated)
        .unwrap();
    let error = group.matmul(&rows, &narrow).unwrap_err();
    assert_kind!(error is ErrorKind::ShapeMismatch { left: (2, 2), right: (1, 2), .. });
    let other = DeviceGroup::simulated(2).unwrap();
    let what = "the matrix A";
    assert_eq!(
        fault(other.matmul(&rows, &columns)),
        GroupError::OtherGroup { what }
    );
}
