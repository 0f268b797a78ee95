//! Products of narrow elements with a small result, for which K is divided: against the products of the parts,
//! added in order.

#![expect(non_snake_case, reason = "tests are named after types")]

use crate::common::exact::Compensated;
use crate::common::random::Random;
use crate::common::{devices, share};
use crate::harness::{Bits, Host, ORDERS, Shape, assert_same_bits, hoppers};
use half::{bf16, f16};
use std::any::type_name;
use std::fmt::Debug;
use tilewright::cuda_std::fp8::{F8E4M3, F8E5M2};
use tilewright::tuning::SelectionReason;
use tilewright::{
    Activation, Arithmetic, Device, Matmul, MatmulElement, MatmulInto, MatrixView, Order,
};

trait Narrow:
    MatmulInto<<Self as MatmulElement>::Accumulator>
    + MatmulInto<<Self as MatmulElement>::Product>
    + MatmulElement<Accumulator: Bits + Debug, Product: Bits + Debug>
    + Debug
{
    /// The capabilities whose kernels multiply the type; `None` is that of the device.
    const KERNELS: &[Option<(u32, u32)>];
    fn random(random: &mut Random) -> Self;
    fn value(self) -> f64;
    fn plus(sum: Self::Accumulator, other: Self::Accumulator) -> Self::Accumulator;
    fn rounded(sum: Self::Accumulator) -> Self::Product;
}

macro_rules! floats {
    ($($element:ident by $kernels:expr, $from:expr, $value:expr, $rounded:expr;)*) => {$(
        impl Narrow for $element {
            const KERNELS: &[Option<(u32, u32)>] = $kernels;
            fn random(random: &mut Random) -> Self {
                $from(random.signed_unit() as f32)
            }
            fn value(self) -> f64 {
                f64::from($value(self))
            }
            fn plus(sum: f32, other: f32) -> f32 {
                sum + other
            }
            fn rounded(sum: f32) -> Self::Product {
                $rounded(sum)
            }
        }
    )*};
}
floats! {
    f16 by &[None, Some((8, 0))], f16::from_f32, f16::to_f32, f16::from_f32;
    bf16 by &[None, Some((8, 0))], bf16::from_f32, bf16::to_f32, bf16::from_f32;
    F8E4M3 by &[None], F8E4M3::from_f32, Into::<f32>::into, bf16::from_f32;
    F8E5M2 by &[None], F8E5M2::from_f32, Into::<f32>::into, bf16::from_f32;
}

impl Narrow for i8 {
    const KERNELS: &[Option<(u32, u32)>] = &[None, Some((8, 0)), Some((7, 5))];
    fn random(random: &mut Random) -> Self {
        random.integer(-128..=127) as i8
    }
    fn value(self) -> f64 {
        self.into()
    }
    fn plus(sum: i32, other: i32) -> i32 {
        sum.wrapping_add(other)
    }
    fn rounded(sum: i32) -> i32 {
        sum
    }
}

for_each_type! {
    [f16 bf16 F8E4M3 F8E5M2 i8]
    sums_of_parts_are_added_in_order
    a_product_with_the_transpose_has_the_same_parts
}

for_each_type! {
    [f16 bf16]
    sums_of_halves_are_within_the_bound
    epilogues_come_at_last
}

/// Equal parts, and parts with a shorter one; tails of tiles, rows that are and are not multiples of 16 bytes. K is that of
/// elements of 16 bits.
const SHAPES: [Shape; 2] = [(4, 8, 3072), (130, 33, 3329)];

/// The shapes, with as many bytes along K.
fn shapes<T>() -> [Shape; 2] {
    SHAPES.map(|(m, n, k)| (m, n, k * 2 / size_of::<T>()))
}

/// The number and the length of parts that the documentation states; the last one has what is left.
fn parts<T>((m, n, k): Shape) -> (usize, usize) {
    let tiles = m.div_ceil(128) * n.div_ceil(128);
    let of_bytes = |bytes: usize| bytes / size_of::<T>();
    let count = (132 / tiles).min(k / of_bytes(1024));
    let mut len = k / count / 128 * 128;
    if k.div_ceil(len) * tiles > 132 {
        len = k.div_ceil(count).next_multiple_of(128);
    }
    let fewest = if size_of::<T>() == 1 { 6 } else { 2 };
    let is_divided = count >= fewest && k >= of_bytes(6144) && k - len >= of_bytes(4096);
    assert!(is_divided, "K is not divided");
    (k.div_ceil(len), len)
}

/// A product by the kernels of a device of `capability`.
fn product<'a, T: Narrow>(
    a: MatrixView<'a, T>,
    b: MatrixView<'a, T>,
    capability: Option<(u32, u32)>,
) -> Matmul<'a, T> {
    let product = Matmul::new(a, b);
    match capability {
        Some((major, minor)) => product.compute_capability(major, minor),
        None => product,
    }
}

/// The sums, from products of the parts that are launched one by one.
fn sums_of_parts<T: Narrow>(
    shape: Shape,
    (a, b): (MatrixView<'_, T>, MatrixView<'_, T>),
    capability: Option<(u32, u32)>,
) -> Vec<T::Accumulator> {
    let (count, len) = parts::<T>(shape);
    let k = shape.2;
    (0..count)
        .map(|part| {
            let (start, end) = (part * len, k.min((part + 1) * len));
            let (a, b) = (a.slice(.., start..end), b.slice(start..end, ..));
            let part = product::<T>(a.unwrap(), b.unwrap(), capability);
            let reason = part.plan().unwrap().reason;
            assert!(
                !matches!(reason, SelectionReason::InParts { .. }),
                "{reason}"
            );
            part.run_as::<T::Accumulator>().unwrap().to_vec().unwrap()
        })
        .reduce(|mut sums, part| {
            for (sum, of_part) in sums.iter_mut().zip(part) {
                *sum = T::plus(*sum, of_part);
            }
            sums
        })
        .unwrap()
}

fn operands<T: Narrow>((m, n, k): Shape) -> (Host<T>, Host<T>) {
    let mut random = Random::new((m + n + k) as u64);
    let mut element = |_, _| T::random(&mut random);
    (Host::new(m, k, &mut element), Host::new(k, n, &mut element))
}

fn sums_of_parts_are_added_in_order<T: Narrow>() {
    for (number, shape) in shapes::<T>().into_iter().enumerate() {
        let (a, b) = operands::<T>(shape);
        // The kernels of older devices are divided in the same way.
        let kernels = if number == 0 { T::KERNELS } else { &[None] };
        for (device, &capability) in hoppers(devices())
            .iter()
            .flat_map(|device| kernels.iter().map(move |it| (device, it)))
        {
            let upload = |of_a, of_b| (a.upload(device, of_a), b.upload(device, of_b));
            let (left, right) = upload(Order::RowMajor, Order::RowMajor);
            let sums = sums_of_parts(shape, (left.view(), right.view()), capability);
            let whole = product(left.view(), right.view(), capability);
            let (count, _) = parts::<T>(shape);
            let reason = whole.plan().unwrap().reason;
            assert_eq!(reason, SelectionReason::InParts { parts: count });
            let outputs: Vec<_> = sums.iter().copied().map(T::rounded).collect();
            let found = whole.run().unwrap();
            assert_same_bits(&found.to_vec().unwrap(), &outputs, &(shape, capability));
            let orders = ORDERS.into_iter().flat_map(|a| ORDERS.map(|b| (a, b)));
            for (of_a, of_b) in share((type_name::<T>(), shape), orders) {
                let (left, right) = upload(of_a, of_b);
                let whole = product(left.view(), right.view(), capability);
                let found = whole.run_as::<T::Accumulator>().unwrap();
                let case = (shape, of_a, of_b, capability, device);
                assert_same_bits(&found.to_vec().unwrap(), &sums, &case);
            }
        }
    }
}

fn a_product_with_the_transpose_has_the_same_parts<T: Narrow>() {
    let (rows, columns) = (6300 / size_of::<T>(), 70);
    let (a, _) = operands::<T>((rows, 0, columns));
    for device in hoppers(devices()) {
        let a = a.upload(&device, Order::RowMajor);
        let full = device.matmul(a.t(), &a).unwrap().to_vec().unwrap();
        let gram = device.gram(&a).unwrap().to_vec().unwrap();
        let at = |row: usize, column: usize| full[row.max(column) * columns + row.min(column)];
        let expected: Vec<_> = (0..columns * columns)
            .map(|place| at(place / columns, place % columns))
            .collect();
        assert_same_bits(&gram, &expected, &device);
    }
}

fn sums_of_halves_are_within_the_bound<T: Narrow<Accumulator = f32>>() {
    for shape in shapes::<T>() {
        let (_, n, k) = shape;
        let (a, b) = operands::<T>(shape);
        for device in hoppers(devices()) {
            let (left, right) = (
                a.upload(&device, Order::RowMajor),
                b.upload(&device, Order::RowMajor),
            );
            let found = Matmul::new(&left, &right).run_as::<f32>().unwrap();
            for (at, sum) in found.to_vec().unwrap().into_iter().enumerate() {
                let mut exact = Compensated::default();
                for j in 0..k {
                    let (left, right) = (a.elements[at / n * k + j], b.elements[j * n + at % n]);
                    exact.add_product(left.value(), right.value());
                }
                exact.assert_close(sum, k);
            }
        }
    }
}

/// In a part of a matrix of either order, with vectors of rows and columns.
fn epilogues_come_at_last<T>()
where
    T: Narrow<Accumulator = f32, Product = T>,
{
    let shape = shapes::<T>()[1];
    let (m, n, _) = shape;
    let (a, b) = operands::<T>(shape);
    for (device, order) in hoppers(devices())
        .into_iter()
        .flat_map(|it| ORDERS.map(|order| (it.clone(), order)))
    {
        let (a, b) = (a.upload(&device, order), b.upload(&device, order));
        // The kernels of the transposed product have the same bits.
        let sums = sums_of_parts(shape, (a.view(), b.view()), None);
        let mut random = Random::new(5);
        let mut vector =
            |len: usize| -> Vec<f32> { (0..len).map(|_| random.signed_unit() as f32).collect() };
        let (scale, bias, before) = (vector(m), vector(n), vector(m * n));
        let before: Vec<T> = before.into_iter().map(T::rounded).collect();
        let (scales, biases) = (
            device.upload(&scale).unwrap(),
            device.upload(&bias).unwrap(),
        );
        let mut whole = device.matrix_zeros::<T>((m + 1, n + 2, order)).unwrap();
        let mut c = whole.slice_mut(1.., 1..n + 1).unwrap();
        let (lines, line) = match order {
            Order::RowMajor => (before.clone(), n),
            Order::ColumnMajor => (transposed(&before, (m, n)), m),
        };
        c.copy_from_strided(&lines, line).unwrap();
        Matmul::new(&a, &b)
            .alpha(2.0)
            .beta(0.5)
            .row_scale(&scales)
            .column_bias(&biases)
            .activation(Activation::Relu)
            .run_into(&mut c)
            .unwrap();
        let expected: Vec<T> = (0..m * n)
            .map(|at| {
                let sum = sums[at] * (2.0 * scale[at / n]);
                let output = 0.5_f32.mul_add(before[at].value() as f32, sum) + bias[at % n];
                T::rounded(output.max(0.0))
            })
            .collect();
        assert_same_bits(&c.view().to_vec().unwrap(), &expected, &(order, &device));
        // The matrix around it is as it was.
        let around = whole.to_vec().unwrap();
        let touched = around.iter().filter(|it| it.bits() != 0).count();
        assert!(touched <= m * n, "{touched} elements are not zero");
    }
}

/// Row after row from column after column, and the other way round.
fn transposed<T: Copy>(elements: &[T], (m, n): (usize, usize)) -> Vec<T> {
    (0..m * n).map(|at| elements[at % m * n + at / m]).collect()
}

/// A batch of one matrix has the parts, and the bits, of the matrix alone.
#[test]
fn a_batch_of_one_has_the_bits_of_its_matrix() {
    fn assert_same<T: MatmulInto<T> + MatmulElement<Product = T> + Bits + Debug>(
        (rows, k): (usize, usize),
        element: fn(usize) -> T,
    ) {
        let device = Device::simulator();
        let elements: Vec<T> = (0..rows * k).map(element).collect();
        let a = device.matrix((rows, k), &elements).unwrap();
        let alone = Matmul::new(&a, a.t());
        let plan = alone.plan().unwrap();
        assert!(plan.parts > 1, "{plan}");
        let batch = a.view().batch_rows(1).unwrap();
        let found = Matmul::new(batch, batch.t()).run().unwrap();
        let expected = alone.run().unwrap().to_vec().unwrap();
        assert_same_bits(&found.to_vec().unwrap(), &expected, &plan);
    }
    assert_same((8, 4096), |i| {
        f16::from_f32((i * 7 % 61) as f32 / 32.0 - 1.0)
    });
    assert_same((130, 2048), |i| (i * 7 % 61) as f32 / 32.0 - 1.0);
}

#[test]
fn a_sum_of_bytes_beyond_i32_wraps_around() {
    let device = Device::simulator();
    let k = 1 << 17;
    // Two rows: one would be a vector.
    let a = device.matrix((2, k), &vec![i8::MIN; 2 * k]).unwrap();
    let product = Matmul::new(&a, a.t());
    assert!(matches!(
        product.plan().unwrap().reason,
        SelectionReason::InParts { .. }
    ));
    let expected = (k as i64 * 128 * 128) as i32;
    assert_eq!(product.run().unwrap().to_vec().unwrap(), [expected; 4]);
    // In one chain the same.
    let chain = product.arithmetic(Arithmetic::Chain).run().unwrap();
    assert_eq!(chain.to_vec().unwrap(), [expected; 4]);
}
