//! The epilogue of products: `Matmul` against the same arithmetic on the sums, one by one.

mod model;

pub use model::{CASES, Case, NOTHING, Output, Sum, Vectors};

use crate::common::devices;
use crate::common::random::Random;
use crate::harness::{Host, ORDERS, Shape, assert_same_bits, hoppers};
use half::{bf16, f16};
use tilewright::cuda_std::float::Float;
use tilewright::cuda_std::fp8::{F8E4M3, F8E5M2};
use tilewright::tuning::TileSize;
use tilewright::{
    Activation, Arithmetic, Device, ErrorKind, Matmul, MatmulElement, MatmulInto, Order,
};
use tilewright_test_support::assert_kind;

/// A product with tails, and how it is requested.
#[derive(Clone, Copy, Debug)]
struct Request {
    shape: Shape,
    order: Order,
    tiles: TileSize,
    arithmetic: Arithmetic,
    /// Some of the cases: all shapes together have all of them.
    cases: [usize; 3],
}

/// Fails unless the product with each case's epilogue is the case's result for the sums.
fn assert_cases<T, O, S>(device: &Device, request: Request)
where
    T: MatmulInto<O> + MatmulInto<S> + MatmulElement<Accumulator = S> + Output<S>,
    O: Output<S>,
    S: Sum + tilewright::Element + Float,
{
    let Request {
        shape: (m, n, k),
        order,
        tiles,
        arithmetic,
        cases,
    } = request;
    let mut random = Random::new((m + n) as u64);
    let mut element = |_, _| T::rounded(S::of(random.signed_unit()));
    let (a, b) = (Host::new(m, k, &mut element), Host::new(k, n, &mut element));
    let (a, b) = (
        a.upload(device, order),
        b.upload(device, order.transposed()),
    );
    let old = Host::<O>::new(m, n, |_, _| O::rounded(S::of(random.signed_unit())));
    let vectors = Vectors::<S>::new(&mut random, (m, n));
    let upload = |vector: &[S]| device.upload(vector).unwrap();
    let (row_scale, column_scale) = (upload(&vectors.row_scale), upload(&vectors.column_scale));
    let (row_bias, column_bias) = (upload(&vectors.row_bias), upload(&vectors.column_bias));
    let plain = Matmul::new(&a, &b).tiles(tiles).arithmetic(arithmetic);
    let sums = plain.run_as::<S>().unwrap().to_vec().unwrap();
    for case in cases.map(|it| CASES[it]) {
        let mut product = plain
            .alpha(S::of(case.alpha))
            .beta(S::of(case.beta))
            .activation(case.activation);
        if case.row_scale {
            product = product.row_scale(&row_scale);
        }
        if case.column_scale {
            product = product.column_scale(&column_scale);
        }
        if case.row_bias {
            product = product.row_bias(&row_bias);
        }
        if case.column_bias {
            product = product.column_bias(&column_bias);
        }
        // C is not read where beta is 0: the simulator would report that nothing was written there.
        let mut c = match case.beta {
            0.0 => device.matrix_uninit::<O>((m, n, order)).unwrap(),
            _ => old.upload(device, order),
        };
        product.run_into(&mut c).unwrap();
        let expected: Vec<O> = (0..m * n)
            .map(|i| {
                let (sum, place) = (sums[i], (i / n, i % n));
                O::rounded(case.output(&vectors, sum, old.elements[i].widened(), place))
            })
            .collect();
        assert_same_bits(&c.to_vec().unwrap(), &expected, &(case, request, device));
    }
}

/// Whole tiles, and tails; rows that bulk copies can write, and others.
const SHAPES: [Shape; 3] = [(64, 128, 64), (70, 133, 72), (33, 6, 100)];

fn requests(arithmetic: Arithmetic) -> impl Iterator<Item = Request> {
    (0..2 * SHAPES.len()).map(move |number| Request {
        shape: SHAPES[number / 2],
        order: ORDERS[number / 2 % 2],
        tiles: [TileSize::Small, TileSize::Large, TileSize::Medium][number % 3],
        arithmetic,
        cases: [number, (number + 6) % (CASES.len() - 1), CASES.len() - 1],
    })
}

#[test]
fn halves_in_halves() {
    for device in hoppers(devices()) {
        for request in requests(Arithmetic::Auto) {
            assert_cases::<f16, f16, f32>(&device, request);
            assert_cases::<bf16, bf16, f32>(&device, request);
        }
    }
}

#[test]
fn halves_in_f32() {
    for device in hoppers(devices()) {
        for request in requests(Arithmetic::Auto) {
            assert_cases::<f16, f32, f32>(&device, request);
            assert_cases::<bf16, f32, f32>(&device, request);
        }
    }
}

#[test]
fn chains() {
    for device in devices() {
        for request in requests(Arithmetic::Chain) {
            assert_cases::<f32, f32, f32>(&device, request);
            assert_cases::<f64, f64, f64>(&device, request);
        }
    }
}

#[test]
fn splits() {
    for device in hoppers(devices()) {
        for request in requests(Arithmetic::Split) {
            assert_cases::<f32, f32, f32>(&device, request);
        }
    }
}

/// A vector on either side, in both orders of the matrix, with several parts of a line and with one.
#[test]
fn products_with_a_vector() {
    let shapes = [(70, 1, 33), (1, 70, 33), (3, 1, 700), (1, 130, 700)];
    for device in devices() {
        for (number, shape) in shapes.into_iter().enumerate() {
            for order in ORDERS {
                let request = Request {
                    shape,
                    order,
                    tiles: TileSize::Small,
                    arithmetic: Arithmetic::Auto,
                    cases: [2 * number, 2 * number + 1, CASES.len() - 1],
                };
                assert_cases::<f32, f32, f32>(&device, request);
                assert_cases::<f64, f64, f64>(&device, request);
                assert_cases::<f16, f16, f32>(&device, request);
                assert_cases::<bf16, f32, f32>(&device, request);
                assert_cases::<F8E4M3, bf16, f32>(&device, request);
                assert_cases::<F8E5M2, f32, f32>(&device, request);
            }
        }
    }
}

/// x, and its `Gelu`, `GeluTanh` and `Silu`: definitions in 300 bits, rounded to f64.
#[rustfmt::skip]
const ACTIVATED: [(f64, [f64; 3]); 14] = [
    (f64::NEG_INFINITY, [-0.0, -0.0, -0.0]),
    (-103.0, [-0.0, -0.0, -1.9076802726035146e-43]),
    (-89.0, [-0.0, -0.0, -1.982353569998212e-37]),
    (-30.0, [-1.472014178144456e-196, -0.0, -2.8072868906517896e-12]),
    (-14.0, [-1.091095154686992e-43, -2.569400277353559e-94, -1.164139238729785e-5]),
    (-8.0, [-4.976768459417427e-15, -3.1077829375011112e-21, -0.002682801043731825]),
    (-5.5, [-1.0444259356238245e-7, -5.9276402638802624e-9, -0.0223857574374287]),
    (-5.0, [-1.4332578593959695e-6, -2.291796196629506e-7, -0.03346425462142428]),
    (-3.0, [-0.0040496940948902835, -0.003637392081773019, -0.14227761953270035]),
    (-0.5, [-0.15426876936299344, -0.15428599017485609, -0.18877033439907273]),
    (0.25, [0.14967658142073093, 0.149675350701685, 0.14054412522144952]),
    (1.0, [0.8413447460685429, 0.8411919906082767, 0.7310585786300049]),
    (7.0, [6.999999999991041, 6.999999999999997, 6.993622641639195]),
    (f64::INFINITY, [f64::INFINITY; 3]),
];

/// Each activation of each value: the sum of a product with 1. `unit` is the distance of the type's numbers at 1,
/// `least` that of its subnormal ones.
fn assert_activated<T>(device: &Device, unit: f64, least: f64)
where
    T: MatmulInto<T> + MatmulElement<Accumulator = T, Product = T>,
    T: Sum + Into<f64> + Float,
{
    let rows = ACTIVATED.len() + 3;
    let x = |row: usize| match ACTIVATED.get(row) {
        Some(&(x, _)) => x,
        None => [f64::NAN, 0.0, -0.0][row - ACTIVATED.len()],
    };
    let column = Host::new(rows, 1, |row, _| T::of(x(row)));
    let column = column.upload(device, Order::RowMajor);
    let one = Host::new(1, 1, |_, _| T::of(1.0)).upload(device, Order::RowMajor);
    let activations = [Activation::Gelu, Activation::GeluTanh, Activation::Silu];
    for (number, activation) in activations.into_iter().enumerate() {
        let product = Matmul::new(&column, &one).activation(activation);
        let found = product.run().unwrap().to_vec().unwrap();
        let found: Vec<f64> = found.into_iter().map(Into::into).collect();
        for (&found, (x, expected)) in found.iter().zip(ACTIVATED) {
            let expected = expected[number];
            let is_near = (found - expected).abs() <= unit * expected.abs() + least;
            assert!(
                (found == expected || is_near) && found.is_sign_negative() == (x < 0.0),
                "{found} instead of {expected}, {activation:?} of {x} on {device:?}"
            );
        }
        let [nan, zeros @ ..] = &found[ACTIVATED.len()..] else {
            unreachable!("there are three more");
        };
        assert!(nan.is_nan(), "{nan}");
        assert!(zeros.iter().all(|zero| *zero == 0.0), "{zeros:?}");
    }
}

/// Each activation against its definition, with its negative tail and its limits.
#[test]
fn activations_are_what_they_say() {
    for device in devices() {
        assert_activated::<f32>(&device, f32::EPSILON.into(), f32::from_bits(1).into());
        assert_activated::<f64>(&device, f64::EPSILON, f64::from_bits(1));
    }
}

/// A part of a larger matrix, whose rows start anywhere: the surrounding elements do not change.
#[test]
fn products_of_halves_go_into_parts_of_matrices() {
    let (m, n, k) = (70, 30, 64);
    for device in hoppers(devices()) {
        let mut random = Random::new(3);
        let mut element = |_, _| bf16::from_f64(random.signed_unit());
        let (a, b) = (Host::new(m, k, &mut element), Host::new(k, n, &mut element));
        let (a, b) = (
            a.upload(&device, Order::RowMajor),
            b.upload(&device, Order::RowMajor),
        );
        let expected = device.matmul(&a, &b).unwrap().to_vec().unwrap();
        let mut whole = device.matrix_zeros::<bf16>((m + 2, n + 3)).unwrap();
        let mut part = whole.slice_mut(1..m + 1, 1..n + 1).unwrap();
        device.matmul_into(&a, &b, &mut part).unwrap();
        let found = whole.to_vec().unwrap();
        for (i, &found) in found.iter().enumerate() {
            let (row, column) = (i / (n + 3), i % (n + 3));
            let is_within = (1..=m).contains(&row) && (1..=n).contains(&column);
            let expected = match is_within {
                true => expected[(row - 1) * n + column - 1],
                false => bf16::ZERO,
            };
            assert_eq!(found, expected, "at {row}, {column} on {device:?}");
        }
    }
}

#[test]
fn a_vector_of_another_length_is_an_error() {
    let device = Device::simulator();
    let a = device.matrix_zeros::<f32>((4, 4)).unwrap();
    let b = device.matrix_zeros::<f32>((4, 5)).unwrap();
    let bias = device.upload(&[1.0_f32; 4]).unwrap();
    assert!(Matmul::new(&a, &b).row_bias(&bias).run().is_ok());
    let error = Matmul::new(&a, &b).column_bias(&bias).run().unwrap_err();
    assert_kind!(error is ErrorKind::WrongLength { expected: 5, found: 4, .. });
}
