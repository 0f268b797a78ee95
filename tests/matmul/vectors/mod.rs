//! Products of a matrix and a vector, against the order of additions that the documentation states.

mod layout;
mod stated_order;

pub use stated_order::in_stated_order;

use crate::common::exact::{Compensated, Rounding};
use crate::common::random::Random;
use crate::common::{devices, machines, share};
use crate::epilogues::{Output, Sum};
use crate::harness::{ORDERS, assert_same_bits};
use half::{bf16, f16};
use layout::{Layout, layouts, product_in};
use std::any::type_name;
use tilewright::cuda_std::fp8::{F8E4M3, F8E5M2};
use tilewright::tuning::SelectionReason;
use tilewright::{
    Activation, Arithmetic, Device, Element, ErrorKind, Matmul, MatmulElement, MatmulInto, Order,
    Profile, SimulatorOptions,
};
use tilewright_test_support::assert_kind;

/// Lines and their elements: none, fewer than lanes, tails of vectors, of rounds and of parts, several
/// blocks of lines, short parts and long ones.
const SHAPES: [(usize, usize); 10] = [
    (1, 1),
    (3, 7),
    (5, 0),
    (130, 33),
    (257, 16),
    (70, 131),
    (4, 1029),
    (129, 700),
    (2, 2601),
    (1, 17_000),
];

/// Fails unless products in every layout have the bits of the stated order.
fn assert_products<T, O, S>(devices: &[Device])
where
    T: MatmulInto<O> + MatmulElement<Accumulator = S> + Output<S>,
    O: Output<S>,
    S: Sum + Element,
{
    let vector = 16 / size_of::<T>();
    for (count, k) in SHAPES {
        let mut random = Random::new((count + k) as u64);
        let mut draw = |len: usize| -> Vec<T> {
            (0..len)
                .map(|_| T::rounded(S::of(random.signed_unit())))
                .collect()
        };
        let (lines, v) = (draw(count * k), draw(k));
        let expected: Vec<O> = (0..count)
            .map(|line| {
                let terms: Vec<(S, S)> = (0..k)
                    .map(|at| (lines[line * k + at].widened(), v[at].widened()))
                    .collect();
                O::rounded(in_stated_order(&terms, vector))
            })
            .collect();
        for device in devices {
            for layout in share((type_name::<(T, O)>(), count, k), layouts()) {
                let found = product_in::<T, O>(device, layout, (count, k), &lines, &v);
                assert_same_bits(&found, &expected, &((count, k), layout, device));
            }
        }
    }
}

#[test]
fn sums_of_f32_have_the_stated_order() {
    assert_products::<f32, f32, f32>(&devices());
}

#[test]
fn sums_of_f64_have_the_stated_order() {
    assert_products::<f64, f64, f64>(&devices());
}

#[test]
fn sums_of_f16_have_the_stated_order() {
    assert_products::<f16, f16, f32>(&devices());
    assert_products::<f16, f32, f32>(&devices());
}

#[test]
fn sums_of_bf16_have_the_stated_order() {
    assert_products::<bf16, bf16, f32>(&devices());
    assert_products::<bf16, f32, f32>(&devices());
}

/// Devices that multiply floats of 8 bits by a vector on the CUDA cores: Hopper's tensor cores are as fast.
/// They are two, whatever `TILEWRIGHT_SEEDS` says, in place of the two of `devices`.
fn amperes() -> Vec<Device> {
    let of_seed = |seed| {
        let options = SimulatorOptions::default().with_profile(Profile::A100);
        Device::simulator_with(options.with_seed(seed))
    };
    [0, 7].map(of_seed).into()
}

#[test]
fn sums_of_8_bits_have_the_stated_order() {
    assert_products::<F8E4M3, bf16, f32>(&amperes());
    assert_products::<F8E4M3, f32, f32>(&amperes());
    assert_products::<F8E5M2, bf16, f32>(&amperes());
    assert_products::<F8E5M2, f32, f32>(&amperes());
}

/// NaN and infinities, at both ends of a word, of a vector of 16 bytes and of a round.
#[test]
fn what_is_no_number_goes_through_8_bits() {
    fn assert_sums<T>(of: impl Fn(f32) -> T, largest: f32)
    where
        T: MatmulInto<f32> + MatmulElement<Accumulator = f32> + Output<f32>,
    {
        const K: usize = 515;
        // The values of a line and of v at one place: all others are one.
        let cases = [
            ((f32::NAN, 1.0), f32::NAN),
            ((0.0, f32::NAN), f32::NAN),
            ((f32::INFINITY, -2.0), -2.0 * largest),
            ((-1.0, f32::INFINITY), -largest),
        ];
        for place in [0, 3, 15, 16, 511, 514] {
            for ((of_line, of_v), alone) in cases {
                let fill = |value| -> Vec<T> {
                    (0..K)
                        .map(|at| of(if at == place { value } else { 1.0 }))
                        .collect()
                };
                let (line, v) = (fill(of_line), fill(of_v));
                let expected = match alone.is_nan() {
                    true => f32::from_bits(0x7fff_ffff),
                    false => alone + (K - 1) as f32,
                };
                for device in amperes() {
                    let found = product_in::<T, f32>(&device, ROW_BY_ROW, (1, K), &line, &v);
                    assert_same_bits(&found, &[expected], &(place, of_line, of_v, &device));
                }
            }
        }
    }
    assert_sums(F8E4M3::from_f32, F8E4M3::MAX.to_f32());
    assert_sums(F8E5M2::from_f32, f32::INFINITY);
}

/// Numbers of contiguous lines for which a group adds several parts of one, or all, or four lines at the same time;
/// with and without whole vectors.
#[test]
fn groups_with_several_parts_have_the_same_bits() {
    const LAYOUT: Layout = Layout {
        order: Order::RowMajor,
        is_row: false,
        is_part: false,
    };
    for (count, k) in [
        (1500, 321),
        (1500, 1154),
        (4096, 321),
        (8193, 129),
        (8195, 450),
    ] {
        let mut random = Random::new((count + k) as u64);
        let mut draw =
            |len: usize| -> Vec<f64> { (0..len).map(|_| random.signed_unit()).collect() };
        let (lines, v) = (draw(count * k), draw(k));
        let expected: Vec<f64> = lines
            .chunks(k)
            .map(|line| {
                let terms: Vec<_> = line.iter().copied().zip(v.iter().copied()).collect();
                in_stated_order(&terms, 2)
            })
            .collect();
        for device in devices() {
            let found = product_in::<f64, f64>(&device, LAYOUT, (count, k), &lines, &v);
            assert_same_bits(&found, &expected, &((count, k), &device));
        }
    }
}

#[test]
fn the_bits_are_the_same_on_every_machine() {
    assert_same_on::<bf16>(&machines());
    assert_same_on::<F8E4M3>(&amperes());
}

fn assert_same_on<T>(machines: &[Device])
where
    T: MatmulInto<f32> + MatmulElement<Accumulator = f32> + Output<f32>,
{
    for (count, k) in [(70, 131), (4, 1029), (5, 5000)] {
        let mut random = Random::new(3);
        let mut draw = |len: usize| -> Vec<T> {
            (0..len)
                .map(|_| T::rounded(random.signed_unit() as f32))
                .collect()
        };
        let (lines, v) = (draw(count * k), draw(k));
        let mut first: Option<Vec<f32>> = None;
        for device in machines {
            for layout in share((type_name::<T>(), count, k), layouts()) {
                let found = product_in::<T, f32>(device, layout, (count, k), &lines, &v);
                let first = first.get_or_insert_with(|| found.clone());
                assert_same_bits(&found, first, &(layout, device));
            }
        }
    }
}

for_each_type! {
    [f32 f64]
    sums_are_as_accurate_as_a_chain
    special_numbers_go_through
}

fn sums_are_as_accurate_as_a_chain<T>()
where
    T: MatmulInto<T> + MatmulElement<Accumulator = T, Product = T>,
    T: Sum + Rounding,
{
    for k in [1, 2, 3, 5, 9, 100, 2000] {
        let mut random = Random::new(k as u64);
        let mut draw = || T::of(random.signed_unit() * 10_f64.powi(random.integer(-8..=8) as i32));
        let (line, v): (Vec<T>, Vec<T>) = (0..k).map(|_| (draw(), draw())).unzip();
        let mut exact = Compensated::default();
        for (&left, &right) in line.iter().zip(&v) {
            exact.add_product(left.into(), right.into());
        }
        for device in devices() {
            let [found] = product_in::<T, T>(&device, ROW_BY_ROW, (1, k), &line, &v)[..] else {
                panic!("one sum");
            };
            exact.assert_close(found, k);
        }
    }
}

const ROW_BY_ROW: Layout = Layout {
    order: Order::RowMajor,
    is_row: false,
    is_part: false,
};

fn special_numbers_go_through<T>()
where
    T: MatmulInto<T> + MatmulElement<Accumulator = T, Product = T>,
    T: Sum + Rounding,
{
    const K: usize = 300;
    let (infinity, nan) = (f64::INFINITY, f64::NAN);
    let tiny = Sum::plus(T::of(0.0), T::of(f64::from(f32::MIN_POSITIVE))).into();
    let tiny = if size_of::<T>() == 4 {
        tiny
    } else {
        f64::MIN_POSITIVE
    };
    // The values at two places of a line and of v, and the sum: all others are zero.
    let cases = [
        ([infinity, 1.0], [2.0, 1.0], infinity),
        ([infinity, -infinity], [2.0, 1.0], nan),
        ([nan, 1.0], [-1.0, 1.0], nan),
        ([0.0, 1.0], [infinity, 1.0], nan),
        ([-0.0, 0.0], [1.0, -1.0], 0.0),
        // A product that is rounded to -0.
        ([-tiny, 0.0], [tiny, 0.0], 0.0),
        ([1.0, -1.0], [1.0, 1.0], 0.0),
    ];
    for (line_values, v_values, expected) in cases {
        for places in [[0, 1], [131, 299]] {
            let fill = |values: [f64; 2]| {
                let mut filled = vec![T::of(0.0); K];
                for (place, value) in places.into_iter().zip(values) {
                    filled[place] = T::of(value);
                }
                filled
            };
            let (line, v) = (fill(line_values), fill(v_values));
            for (device, layout) in devices()
                .into_iter()
                .flat_map(|device| layouts().map(move |layout| (device.clone(), layout)))
            {
                let found = product_in::<T, T>(&device, layout, (1, K), &line, &v)[0];
                let expected = match expected.is_nan() {
                    true if size_of::<T>() == 4 => 0x7fff_ffff,
                    true => 0x7fff_ffff_ffff_ffff,
                    false => T::of(expected).bits(),
                };
                let case = (line_values, v_values, layout);
                assert_eq!(found.bits(), expected, "{found:?}: {case:?}");
            }
        }
    }
}

#[test]
fn products_of_a_batch_have_the_bits_of_each() {
    const COUNT: usize = 3;
    let (m, k) = (40, 1500);
    for device in devices() {
        for order in ORDERS {
            let mut random = Random::new(8);
            let mut draw = |len: usize| -> Vec<f32> {
                (0..len).map(|_| random.signed_unit() as f32).collect()
            };
            let a = device
                .matrix((COUNT * m, k, order), &draw(COUNT * m * k))
                .unwrap();
            let v = device.matrix((k, COUNT), &draw(COUNT * k)).unwrap();
            let all = Matmul::new(
                a.view().batch_rows(COUNT).unwrap(),
                v.view().batch_columns(COUNT).unwrap(),
            );
            let mut found = device.matrix_zeros::<f32>((m, COUNT)).unwrap();
            let mut results = found.view_mut().into_batch_columns(COUNT).unwrap();
            all.run_into(&mut results).unwrap();
            for index in 0..COUNT {
                let a = a.slice(index * m..(index + 1) * m, ..).unwrap();
                let v = v.slice(.., index..index + 1).unwrap();
                let alone = device.matmul(a, v).unwrap().to_vec().unwrap();
                let of_batch = found.slice(.., index..index + 1).unwrap().to_vec().unwrap();
                assert_same_bits(&of_batch, &alone, &(index, order, &device));
            }
        }
    }
}

#[test]
fn a_buffer_is_a_vector() {
    for device in devices() {
        let a = device
            .matrix((2, 3), &[1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0])
            .unwrap();
        let x = device.upload(&[0.0, 1.0, 10.0, 100.0]).unwrap();
        let tail = x.slice(1..).unwrap();
        assert_eq!(
            device.matvec(&a, tail).unwrap().to_vec().unwrap(),
            [321.0, 654.0]
        );
        let mut y = device.upload(&[-1.0; 4]).unwrap();
        device
            .matvec_into(a.t(), x.slice(1..3).unwrap(), y.slice_mut(..3).unwrap())
            .unwrap();
        assert_eq!(y.to_vec().unwrap(), [41.0, 52.0, 63.0, -1.0]);
        let error = device.matvec(&a, &x).unwrap_err();
        assert_kind!(error is ErrorKind::ShapeMismatch { .. });
        let error = device.matvec_into(&a, tail, &mut y).unwrap_err();
        assert_kind!(error is ErrorKind::ShapeMismatch { .. });
        let none = device.matrix_zeros::<f64>((0, 3)).unwrap();
        assert!(device.matvec(&none, tail).unwrap().is_empty());
    }
}

/// A and x are not read where alpha is 0: the simulator would report that nothing was written there.
#[test]
fn operands_that_do_not_count_are_not_read() {
    for device in devices() {
        let a = device.matrix_uninit::<f32>((5, 700)).unwrap();
        let x = device.uninit::<f32>(700).unwrap();
        let bias = device.upload(&[2.0_f32]).unwrap();
        let product = Matmul::new(&a, x.view().as_column())
            .alpha(0.0)
            .column_bias(&bias);
        assert_eq!(product.run().unwrap().to_vec().unwrap(), [2.0; 5]);
    }
}

#[test]
fn the_plan_says_that_an_operand_is_a_vector() {
    let device = Device::simulator();
    let a = device.matrix_zeros::<f32>((1000, 1024)).unwrap();
    let x = device.matrix_zeros::<f32>((1024, 1)).unwrap();
    let plan = |product: Matmul<'_, f32>| product.plan().unwrap();
    let rows = plan(Matmul::new(&a, &x));
    assert_eq!(rows.kernel, "matvec_along_f32");
    assert_eq!(rows.reason, SelectionReason::Vector);
    let columns = plan(Matmul::new(x.t(), a.t()));
    assert_eq!(columns.kernel, "matvec_along_f32");
    assert_eq!(
        (rows.block_rows, rows.block_columns),
        (columns.block_columns, columns.block_rows)
    );
    let across = device.matrix_zeros::<f32>((1024, 1000)).unwrap();
    assert_eq!(
        plan(Matmul::new(x.t(), &across)).kernel,
        "matvec_across_f32"
    );
    let chain = plan(Matmul::new(&a, &x).arithmetic(Arithmetic::Chain));
    assert_eq!(chain.kernel, "matmul_coarsened_medium_f32_nn_unaligned");
    let activated = Matmul::new(&a, &x).activation(Activation::Relu);
    assert_eq!(plan(activated).kernel, "matvec_along_f32");
}
