//! What becomes of a product's sums: `Matmul` against the same arithmetic on the sums, one by one.

mod model;

pub use model::{CASES, Case, NOTHING, Output, Sum, Vectors};

use crate::common::devices;
use crate::common::random::Random;
use crate::harness::{Host, ORDERS, Shape, assert_same_bits, hoppers};
use half::{bf16, f16};
use tilewright::cuda_std::float::Float;
use tilewright::cuda_std::fp8::{F8E4M3, F8E5M2};
use tilewright::{
    Accumulate, Activation, Arithmetic, Device, ErrorKind, Matmul, MatmulElement, MatmulInto,
    Order, TileConfig,
};

/// A product with tails, and how it is requested.
#[derive(Clone, Copy, Debug)]
struct Request {
    shape: Shape,
    order: Order,
    tiles: TileConfig,
    arithmetic: Arithmetic,
    /// Some of the cases: all shapes together have all of them.
    cases: [usize; 3],
}

/// Fails unless the product with each case's epilogue is what the case makes of the sums.
fn assert_cases<T, O, S>(device: &Device, request: Request)
where
    T: MatmulElement + MatmulInto<O> + MatmulInto<S> + Accumulate<Accumulator = S> + Output<S>,
    O: Output<S>,
    S: Sum + tilewright::Accumulator + Float,
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
        tiles: [TileConfig::Small, TileConfig::Large, TileConfig::Medium][number % 3],
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
                    tiles: TileConfig::Small,
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

/// Each activation against its definition, in f64 and with functions of the host.
#[test]
fn activations_are_what_they_say() {
    let gelu_tanh = |x: f64| {
        let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
        0.5 * x * (1.0 + inner.tanh())
    };
    let silu = |x: f64| x / (1.0 + (-x).exp());
    // Phi(x) x, from tables of the normal distribution.
    let gelus = [
        (0.0, 0.0),
        (1.0, 0.841_344_746),
        (-1.0, -0.158_655_254),
        (2.5, 2.484_475_84),
    ];
    let values = [-30.0, -3.0, -0.5, 0.0, 0.25, 1.0, 7.0, 40.0];
    fn activated<T>(device: &Device, activation: Activation, x: &[f64]) -> Vec<f64>
    where
        T: MatmulElement + MatmulInto<T> + Accumulate<Accumulator = T, Product = T>,
        T: Sum + Into<f64> + Float + tilewright::Accumulator,
    {
        let column = Host::new(x.len(), 1, |row, _| T::of(x[row]));
        let one = Host::new(1, 1, |_, _| T::of(1.0));
        let (a, b) = (
            column.upload(device, Order::RowMajor),
            one.upload(device, Order::RowMajor),
        );
        let product = Matmul::new(&a, &b).activation(activation).run().unwrap();
        product
            .to_vec()
            .unwrap()
            .into_iter()
            .map(Into::into)
            .collect()
    }
    // 1 + tanh loses digits where tanh is near -1, so the error is one of x.
    let close = |x: f64, found: f64, expected: f64, tolerance: f64| {
        assert!(
            (found - expected).abs() <= tolerance * x.abs(),
            "{found} instead of {expected} of {x}"
        );
    };
    for device in devices() {
        for (activation, definition) in [
            (Activation::GeluTanh, &gelu_tanh as &dyn Fn(f64) -> f64),
            (Activation::Silu, &silu),
        ] {
            let single = activated::<f32>(&device, activation, &values);
            let double = activated::<f64>(&device, activation, &values);
            for (i, &x) in values.iter().enumerate() {
                close(x, single[i], definition(x), 1e-6);
                close(x, double[i], definition(x), 1e-15);
            }
        }
        let (x, expected): (Vec<f64>, Vec<f64>) = gelus.into_iter().unzip();
        let single = activated::<f32>(&device, Activation::Gelu, &x);
        let double = activated::<f64>(&device, Activation::Gelu, &x);
        for (i, &expected) in expected.iter().enumerate() {
            close(x[i], single[i], expected, 1e-6);
            close(x[i], double[i], expected, 1e-8);
        }
    }
}

/// A part of a larger matrix, whose rows start anywhere: what lies around it stays.
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
    assert!(
        matches!(
            error.kind(),
            ErrorKind::WrongLength {
                expected: 5,
                found: 4,
                ..
            }
        ),
        "{error}"
    );
}
