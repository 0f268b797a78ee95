//! The epilogue of products over several devices: the bits of one device.

use super::matmul::{SHARDINGS, Shape, data};
use super::{fault, groups};
use half::f16;
use std::fmt::Debug;
use tilewright::cuda_std::float::Float;
use tilewright::{
    Activation, Device, DeviceGroup, ErrorKind, GroupError, Matmul, MatmulElement, MatmulInto,
    ShardedMatmul, Sharding,
};
use tilewright_test_support::assert_kind;

/// The parts of an epilogue, besides a bias of the columns, which every case has.
#[derive(Clone, Copy, Debug)]
struct Case {
    alpha: f64,
    beta: f64,
    has_scales: bool,
    has_row_bias: bool,
    activation: Activation,
}

const CASES: [Case; 4] = [
    Case {
        alpha: 1.0,
        beta: 0.0,
        has_scales: false,
        has_row_bias: false,
        activation: Activation::Relu,
    },
    Case {
        alpha: -0.75,
        beta: 0.5,
        has_scales: false,
        has_row_bias: true,
        activation: Activation::Identity,
    },
    Case {
        alpha: 1.5,
        beta: -2.0,
        has_scales: true,
        has_row_bias: true,
        activation: Activation::Gelu,
    },
    // A and B are not read.
    Case {
        alpha: 0.0,
        beta: 1.0,
        has_scales: true,
        has_row_bias: false,
        activation: Activation::Silu,
    },
];

/// The operands of a product, on the host.
struct Operands<T, O, S> {
    shape: Shape,
    a: Vec<T>,
    b: Vec<T>,
    c: Vec<O>,
    /// A scale and a bias.
    rows: [Vec<S>; 2],
    columns: [Vec<S>; 2],
    of_sum: fn(f64) -> S,
}

impl<T, O, S> Operands<T, O, S>
where
    T: MatmulInto<O> + MatmulElement<Accumulator = S>,
    O: tilewright::Element,
    S: tilewright::Element + Float,
{
    fn new(
        (m, k, n): Shape,
        of: impl Fn(f64) -> T,
        of_output: impl Fn(f64) -> O,
        of_sum: fn(f64) -> S,
    ) -> Self {
        let vectors = |len: usize| [data(len, of_sum), data(len, |value| of_sum(1.0 - value))];
        Self {
            shape: (m, k, n),
            a: data(m * k, &of),
            b: data(k * n, &of),
            c: data(m * n, of_output),
            rows: vectors(m),
            columns: vectors(n),
            of_sum,
        }
    }

    /// C after the product on one device.
    fn on_one(&self, device: &Device, case: Case) -> Vec<O> {
        let (m, k, n) = self.shape;
        let a = device.matrix((m, k), &self.a).unwrap();
        let b = device.matrix((k, n), &self.b).unwrap();
        let mut c = device.matrix((m, n), &self.c).unwrap();
        let upload = |vector: &Vec<S>| device.upload(vector).unwrap();
        let [row_scale, row_bias] = self.rows.each_ref().map(upload);
        let [column_scale, column_bias] = self.columns.each_ref().map(upload);
        let mut product = Matmul::new(&a, &b)
            .alpha((self.of_sum)(case.alpha))
            .beta((self.of_sum)(case.beta))
            .column_bias(&column_bias)
            .activation(case.activation);
        if case.has_scales {
            product = product.row_scale(&row_scale).column_scale(&column_scale);
        }
        if case.has_row_bias {
            product = product.row_bias(&row_bias);
        }
        product.run_into(&mut c).unwrap();
        c.to_vec().unwrap()
    }

    /// C after the product on a group, where A, B and C are divided like this.
    fn on_group(
        &self,
        group: &DeviceGroup,
        case: Case,
        [of_a, of_b, of_c]: [Sharding; 3],
    ) -> Vec<O> {
        let (m, k, n) = self.shape;
        let a = group.matrix((m, k), &self.a, of_a).unwrap();
        let b = group.matrix((k, n), &self.b, of_b).unwrap();
        let mut c = group.matrix((m, n), &self.c, of_c).unwrap();
        let upload = |shape, vector: &Vec<S>| {
            let vector = group.matrix(shape, vector, Sharding::Replicated);
            vector.unwrap()
        };
        let [row_scale, row_bias] = self.rows.each_ref().map(|it| upload((m, 1), it));
        let [column_scale, column_bias] = self.columns.each_ref().map(|it| upload((1, n), it));
        let mut product = ShardedMatmul::new(&a, &b)
            .alpha((self.of_sum)(case.alpha))
            .beta((self.of_sum)(case.beta))
            .column_bias(&column_bias)
            .activation(case.activation);
        if case.has_scales {
            product = product.row_scale(&row_scale).column_scale(&column_scale);
        }
        if case.has_row_bias {
            product = product.row_bias(&row_bias);
        }
        product.run_into(&mut c).unwrap();
        assert_eq!(c.sharding(), of_c);
        c.to_vec().unwrap()
    }

    /// Fails unless the products on groups have the bits of one device, on groups of `ranks` if they are given.
    #[track_caller]
    fn check(&self, ranks: Option<usize>)
    where
        O: PartialEq + Debug,
    {
        use Sharding::{Columns, Replicated};
        let into_others = [Columns, Replicated].map(|sharding| [Replicated, Replicated, sharding]);
        let is_tested = |group: &DeviceGroup| ranks.is_none_or(|ranks| group.ranks() == ranks);
        for group in groups().into_iter().filter(is_tested) {
            for case in CASES {
                let expected = self.on_one(&group.devices()[0], case);
                for shardings in SHARDINGS.into_iter().chain(into_others) {
                    let found = self.on_group(&group, case, shardings);
                    let what = (self.shape, group.ranks(), shardings, case);
                    assert_eq!(found, expected, "{what:?}");
                }
            }
        }
    }
}

#[test]
fn epilogues_of_f32_have_the_bits_of_one_device() {
    let of = |value| value as f32;
    // A row for each rank or none; a matrix and a vector, either way round; no products.
    for shape in [(7, 9, 5), (4, 6, 1), (1, 6, 4), (3, 0, 2)] {
        Operands::<f32, f32, f32>::new(shape, of, of, of).check(None);
    }
}

#[test]
fn epilogues_of_products_whose_k_one_device_divides_have_its_bits() {
    let of = |value| value;
    Operands::<f64, f64, f64>::new((3, 1030, 2), of, of, of).check(Some(2));
}

#[test]
fn epilogues_of_f16_in_f16_and_in_f32_have_the_bits_of_one_device() {
    let shape = (9, 17, 10);
    let (of, of_sum) = (f16::from_f64, |value| value as f32);
    Operands::<f16, f16, f32>::new(shape, of, of, of_sum).check(Some(4));
    Operands::<f16, f32, f32>::new(shape, of, of_sum, of_sum).check(Some(4));
}

#[test]
fn sums_of_integers_are_scaled_and_added_to() {
    for group in groups() {
        let a = group
            .matrix((2, 2), &[1_i8, 2, 3, 4], Sharding::Rows)
            .unwrap();
        let ones = group
            .matrix((2, 2), &[1_i8; 4], Sharding::Replicated)
            .unwrap();
        let mut c = group
            .matrix((2, 2), &[10, 20, 30, 40], Sharding::Rows)
            .unwrap();
        let product = ShardedMatmul::new(&a, &ones).alpha(2).beta(-1);
        product.run_into(&mut c).unwrap();
        assert_eq!(c.to_vec().unwrap(), [-4, -14, -16, -26]);
        // A new C is zero.
        assert_eq!(product.run().unwrap().to_vec().unwrap(), [6, 6, 14, 14]);
        group.matmul_into(&a, &ones, &mut c).unwrap();
        assert_eq!(c.to_vec().unwrap(), [3, 3, 7, 7]);
    }
}

#[test]
fn epilogues_that_do_not_fit_are_errors() {
    let group = DeviceGroup::simulated(2).unwrap();
    let of_shape = |shape: (usize, usize), sharding| {
        let zeros = vec![0.0_f32; shape.0 * shape.1];
        group.matrix(shape, &zeros, sharding).unwrap()
    };
    let (a, b) = (
        of_shape((4, 2), Sharding::Rows),
        of_shape((2, 3), Sharding::Replicated),
    );
    let product = ShardedMatmul::new(&a, &b);

    let column = of_shape((3, 1), Sharding::Replicated);
    let error = product.column_bias(&column).run().unwrap_err();
    assert_eq!(error.operation(), "ShardedMatmul::run");
    let (left, right) = ((1, 3), (3, 1));
    assert_kind!(
        error is ErrorKind::ShapeMismatch { left: l, right: r, .. } if (*l, *r) == (left, right)
    );
    let divided = of_shape((4, 1), Sharding::Rows);
    let error = product.row_scale(&divided).run();
    assert!(matches!(fault(error), GroupError::Sharding { .. }));
    let other = DeviceGroup::simulated(2).unwrap();
    let foreign = other.matrix((1, 3), &[0.0_f32; 3], Sharding::Replicated);
    let foreign = foreign.unwrap();
    let what = "the column scale";
    let error = product.column_scale(&foreign).run();
    assert_eq!(fault(error), GroupError::OtherGroup { what });

    let mut c = of_shape((4, 3), Sharding::Columns);
    let error = product.run_into(&mut c);
    assert!(matches!(fault(error), GroupError::Sharding { .. }));
    let mut c = of_shape((3, 4), Sharding::Rows);
    let error = product.run_into(&mut c).unwrap_err();
    assert_kind!(error is ErrorKind::ShapeMismatch { .. });
    let mut c = other
        .matrix((4, 3), &[0.0_f32; 12], Sharding::Rows)
        .unwrap();
    let what = "the matrix C";
    assert_eq!(
        fault(product.run_into(&mut c)),
        GroupError::OtherGroup { what }
    );

    // K is divided.
    let (a, b) = (
        of_shape((4, 2), Sharding::Columns),
        of_shape((2, 3), Sharding::Rows),
    );
    let product = ShardedMatmul::new(&a, &b).alpha(2.0);
    assert!(matches!(fault(product.run()), GroupError::Sharding { .. }));
    let mut c = of_shape((4, 3), Sharding::Rows);
    let error = product.run_into(&mut c).unwrap_err();
    assert_eq!(error.operation(), "ShardedMatmul::run_into");
}
