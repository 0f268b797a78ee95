//! Products with a small result, for which K is divided, against the order of additions that the
//! documentation states.

use crate::common::exact::{Compensated, Rounding};
use crate::common::random::Random;
use crate::common::{devices, machines, share, some_machines};
use crate::epilogues::Sum;
use crate::harness::{Host, ORDERS, Shape, assert_same_bits, hoppers, unlimited};
use crate::vectors::in_stated_order;
use std::any::type_name;
use std::fmt::Debug;
use tilewright::cuda_std::float::Float;
use tilewright::tuning::{SelectionReason, Staging};
use tilewright::{Activation, Arithmetic, Device, Matmul, MatmulElement, MatmulInto, Order};

/// The number and the length of parts that the documentation states; the last one has what is left.
fn parts((m, n, k): Shape) -> (usize, usize) {
    let blocks = m.div_ceil(64) * n.div_ceil(64);
    let count = (264 / blocks).min(k / 64);
    assert!(count >= 3 && k >= 1024, "K is not divided");
    let mut len = k / count / 16 * 16;
    if k.div_ceil(len) * blocks > 264 {
        len = k.div_ceil(count).next_multiple_of(16);
    }
    (k.div_ceil(len), len)
}

/// One output: a chain for each part, and the sum of these.
fn output<S: Sum>(shape: Shape, terms: &[(S, S)]) -> S {
    let (_, len) = parts(shape);
    let of_part = |part: &[(S, S)]| {
        let zero = S::of(0.0);
        (
            part.iter()
                .fold(zero, |sum, (left, right)| left.mul_add(*right, sum)),
            S::of(1.0),
        )
    };
    let sums: Vec<(S, S)> = terms.chunks(len).map(of_part).collect();
    in_stated_order(&sums, 16 / size_of::<S>())
}

/// Equal parts, parts with a shorter one, one block of outputs and several; with tails.
const SHAPES: [Shape; 4] = [(64, 16, 1024), (66, 5, 1030), (5, 3, 1100), (2, 2, 4200)];

struct Case<S> {
    a: Host<S>,
    b: Host<S>,
    sums: Vec<S>,
}

impl<S: Sum> Case<S> {
    fn new(shape: Shape) -> Self {
        let (m, n, k) = shape;
        let mut random = Random::new((m + k) as u64);
        let mut element = |_, _| S::of(random.signed_unit());
        let (a, b) = (Host::new(m, k, &mut element), Host::new(k, n, &mut element));
        let sums = (0..m * n)
            .map(|at| output(shape, &terms(shape, &a, &b, at)))
            .collect();
        Self { a, b, sums }
    }
}

/// The terms of output `at`, row after row.
fn terms<S: Sum>((_, n, k): Shape, a: &Host<S>, b: &Host<S>, at: usize) -> Vec<(S, S)> {
    (0..k)
        .map(|j| (a.elements[at / n * k + j], b.elements[j * n + at % n]))
        .collect()
}

for_each_type! {
    [f32 f64]
    sums_have_the_stated_order
    sums_are_within_the_bound
    epilogues_come_at_last
}

fn sums_have_the_stated_order<T>()
where
    T: MatmulInto<T> + MatmulElement<Accumulator = T, Product = T> + Sum + Debug,
{
    for (number, shape) in SHAPES.into_iter().enumerate() {
        let case = Case::<T>::new(shape);
        let machines = if number == 1 { machines() } else { devices() };
        for device in &machines {
            let orders = ORDERS.into_iter().flat_map(|a| ORDERS.map(|b| (a, b)));
            for (of_a, of_b) in share((type_name::<T>(), shape), orders) {
                let (a, b) = (case.a.upload(device, of_a), case.b.upload(device, of_b));
                let product = Matmul::new(&a, &b);
                let parts = parts(shape).0;
                assert_eq!(
                    product.plan().unwrap().reason,
                    SelectionReason::InParts { parts }
                );
                let found = product.run().unwrap().to_vec().unwrap();
                assert_same_bits(&found, &case.sums, &(shape, of_a, of_b, device));
            }
        }
    }
}

fn sums_are_within_the_bound<T>()
where
    T: MatmulInto<T> + MatmulElement<Accumulator = T, Product = T> + Sum + Rounding,
{
    for shape in SHAPES {
        let case = Case::<T>::new(shape);
        for (at, sum) in case.sums.iter().enumerate() {
            let mut exact = Compensated::default();
            for (left, right) in terms(shape, &case.a, &case.b, at) {
                exact.add_product(left.into(), right.into());
            }
            exact.assert_close(*sum, shape.2);
        }
    }
}

/// In a part of a matrix of either order, with vectors of rows and columns.
fn epilogues_come_at_last<T>()
where
    T: MatmulInto<T> + MatmulElement<Accumulator = T, Product = T> + Float + Sum + Debug,
{
    let (m, n, k) = SHAPES[1];
    let case = Case::<T>::new(SHAPES[1]);
    let half = T::of(0.5);
    for (device, order) in devices()
        .into_iter()
        .flat_map(|it| ORDERS.map(|order| (it.clone(), order)))
    {
        let (a, b) = (case.a.upload(&device, order), case.b.upload(&device, order));
        let mut random = Random::new(k as u64);
        let mut vector =
            |len: usize| -> Vec<T> { (0..len).map(|_| T::of(random.signed_unit())).collect() };
        let (scale, bias, before) = (vector(m), vector(n), vector(m * n));
        let (scales, biases) = (
            device.upload(&scale).unwrap(),
            device.upload(&bias).unwrap(),
        );
        let mut whole = device.matrix_zeros::<T>((m + 1, n + 2, order)).unwrap();
        let mut c = whole.slice_mut(1.., 1..n + 1).unwrap();
        c.copy_from_strided(
            &in_order(&before, (m, n), order),
            if order == Order::RowMajor { n } else { m },
        )
        .unwrap();
        Matmul::new(&a, &b)
            .beta(half)
            .row_scale(&scales)
            .column_bias(&biases)
            .activation(Activation::Relu)
            .run_into(&mut c)
            .unwrap();
        let expected: Vec<T> = (0..m * n)
            .map(|at| {
                let sum = Sum::times(case.sums[at], scale[at / n]);
                let output = Sum::plus(Sum::mul_add(half, before[at], sum), bias[at % n]);
                if output < T::of(0.0) {
                    T::of(0.0)
                } else {
                    output
                }
            })
            .collect();
        assert_same_bits(&c.view().to_vec().unwrap(), &expected, &(order, &device));
    }
}

/// Elements that are given row after row, in `order`.
fn in_order<T: Copy>(elements: &[T], (m, n): (usize, usize), order: Order) -> Vec<T> {
    match order {
        Order::RowMajor => elements.to_vec(),
        Order::ColumnMajor => (0..m * n).map(|at| elements[at % m * n + at / m]).collect(),
    }
}

#[test]
fn a_chain_is_not_divided() {
    let device = Device::simulator();
    let a = device.matrix_zeros::<f64>((2, 1024)).unwrap();
    let product = Matmul::new(&a, a.t());
    let plan = |product: Matmul<'_, f64>| product.plan().unwrap().reason;
    assert_eq!(plan(product), SelectionReason::InParts { parts: 16 });
    let chain = plan(product.arithmetic(Arithmetic::Chain));
    assert!(!matches!(chain, SelectionReason::InParts { .. }), "{chain}");
}

/// Parts that are split, and a rest that is not, each output within the bound of f32.
#[test]
fn parts_that_are_taken_apart_are_as_accurate_as_f32() {
    let (m, n, k) = (256, 272, 4100);
    let mut random = Random::new(44);
    let mut element = |_, _| random.signed_unit() as f32;
    let (a, mut b) = (Host::new(m, k, &mut element), Host::new(k, n, &mut element));
    // Columns 128 to 255 are left to the CUDA cores, in all parts, for an element of the last one.
    b.elements[(k - 1) * n + 200] = 1e-30;
    let machines = some_machines("parts that are split");
    for device in hoppers(machines).into_iter().map(unlimited) {
        let (on_a, on_b) = (
            a.upload(&device, Order::RowMajor),
            b.upload(&device, Order::ColumnMajor),
        );
        let bias: Vec<f32> = (0..n).map(|column| column as f32).collect();
        let bias = device.upload(&bias).unwrap();
        let product = Matmul::new(&on_a, &on_b).column_bias(&bias).alpha(2.0);
        let plan = product.plan().unwrap();
        assert_eq!(plan.reason, SelectionReason::InParts { parts: 9 });
        assert!(plan.kernel.starts_with("matmul_split"), "{plan}");
        let found = product.run().unwrap().to_vec().unwrap();
        // Some outputs of each row, and of each column.
        for (at, found) in found.iter().enumerate().filter(|(at, _)| at % 13 == 0) {
            let mut exact = Compensated::default();
            for (left, right) in terms((m, n, k), &a, &b, at) {
                exact.add_product((2.0 * left).into(), right.into());
            }
            exact.add_product((at % n) as f64, 1.0);
            exact.assert_close(*found, k);
        }
        // An operand that was split before is found in parts, too.
        let prepared = device.prepare(&on_b).unwrap();
        let panels: Vec<bool> = (0..n).map(|column| column / 128 == 1).collect();
        assert_eq!(prepared.out_of_range_columns().unwrap(), panels);
        let of_prepared = Matmul::with_prepared(&on_a, &prepared);
        let of_prepared = of_prepared.column_bias(&bias).alpha(2.0);
        let plan_of_prepared = of_prepared.plan().unwrap();
        assert_eq!(plan_of_prepared.kernel, plan.kernel);
        assert_eq!(
            plan_of_prepared.staging,
            [Staging::Split, Staging::Prepared]
        );
        // Into a column-major matrix, for which the transposed product is computed.
        let mut again = device.matrix_zeros((m, n, Order::ColumnMajor)).unwrap();
        of_prepared.run_into(&mut again).unwrap();
        assert_same_bits(&again.to_vec().unwrap(), &found, &device);
    }
}
