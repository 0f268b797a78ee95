//! The level 3 of the BLAS: alpha A B + beta C of matrices that may be empty, in every order, for every type of
//! elements and every arithmetic, against the same on the sums of the plain product, one by one.

use crate::common::random::Random;
use crate::common::{devices, share};
use crate::epilogues::{Case, NOTHING, Output, Sum, Vectors};
use crate::harness::{Host, Orders, Shape, assert_same_bits, hoppers, orders, splitters};
use half::{bf16, f16};
use std::any::type_name;
use std::fmt::Debug;
use tilewright::cuda_std::fp8::{F8E4M3, F8E5M2};
use tilewright::{Arithmetic, Device, Element, Matmul, MatmulElement, MatmulInto, Matrix, Order};

/// Nothing, single elements, less than a vector, tails of a warp and of a tile.
const SIZES: [usize; 7] = [0, 1, 2, 3, 5, 9, 33];

/// Lengths from which f32 is split, whole stages and tails.
const SPLIT_SIZES: [usize; 7] = [63, 64, 65, 66, 72, 96, 129];

/// Each way multiplies every n-th of the shapes with three of the sizes; all ways together cover them all.
const SAMPLE: usize = 11;

/// Of every pair of alpha and beta.
type Scalars = [[f64; 3]; 2];
const OF_FLOATS: Scalars = [[0.0, 1.0, 0.7], [0.0, 1.0, 1.3]];
const OF_INTEGERS: Scalars = [[0.0, 1.0, -7.0], [0.0, 1.0, 13.0]];

/// A way to multiply elements of type `T`, its samples, and how its elements are drawn.
#[derive(Clone, Copy)]
struct Way<T: tilewright::MatmulElement> {
    /// The lengths of K.
    depths: [usize; 7],
    scalars: Scalars,
    of: fn(f64) -> T,
    choose: for<'a> fn(Matmul<'a, T>) -> Matmul<'a, T>,
}

impl<T: tilewright::MatmulElement> Way<T> {
    /// By the fastest kernel, with elements that `of` makes from numbers between -1 and 1.
    fn new(of: fn(f64) -> T) -> Self {
        Self {
            depths: SIZES,
            scalars: OF_FLOATS,
            of,
            choose: |product| product,
        }
    }

    fn by(self, choose: for<'a> fn(Matmul<'a, T>) -> Matmul<'a, T>) -> Self {
        Self { choose, ..self }
    }

    /// Some of the shapes, beginning with number `first`, each with its orders, alpha and beta.
    fn samples(self, first: usize) -> impl Iterator<Item = (Shape, Orders, Case)> {
        let Self {
            depths, scalars, ..
        } = self;
        let [alphas, betas] = scalars;
        let with_factors = move |shape, number: usize, alpha, beta| {
            let case = Case {
                alpha,
                beta,
                ..NOTHING
            };
            (shape, orders(number), case)
        };
        let shapes = (first % SAMPLE..343).step_by(SAMPLE).enumerate();
        let samples = shapes.map(move |(number, it)| {
            let shape = (SIZES[it % 7], SIZES[it / 7 % 7], depths[it / 49]);
            // The nine pairs, and the eight orders, come round at different paces.
            with_factors(
                shape,
                number + first,
                alphas[number % 3],
                betas[number / 3 % 3],
            )
        });
        // For every K, and above all for 0, C becomes beta C.
        let scaled = (0..8).map(move |number| {
            let shape = [(33, 9, depths[0]), (5, 33, depths[0])][number / 4];
            with_factors(shape, number, alphas[2], betas[2])
        });
        samples.chain(scaled)
    }
}

/// A matrix that no product may read: without elements that were written, which the simulator reports, or of
/// NaN, which a GPU shows.
fn unread<T: Element + Debug>(
    device: &Device,
    (rows, columns, order): (usize, usize, Order),
    number: usize,
    nan: T,
) -> Matrix<T> {
    match number % 2 {
        0 => device.matrix_uninit((rows, columns, order)).unwrap(),
        _ => Host::new(rows, columns, |_, _| nan).upload(device, order),
    }
}

/// Fails unless samples of the way, from number `first` on, have the epilogue's results for their sums.
fn assert_way<T, O, S>(device: &Device, first: usize, way: Way<T>)
where
    T: MatmulInto<O> + MatmulInto<S> + MatmulElement<Accumulator = S> + Debug,
    O: Output<S>,
    S: Sum + Element,
{
    let samples = way.samples(first).enumerate();
    for (number, ((m, n, k), orders, case)) in share((type_name::<(T, O)>(), first), samples) {
        let mut random = Random::new((49 * m + 7 * n + k) as u64);
        let mut element = |_, _| (way.of)(random.signed_unit());
        let (a, b) = (Host::new(m, k, &mut element), Host::new(k, n, &mut element));
        let old = Host::<O>::new(m, n, |_, _| O::rounded(S::of(9.0 * random.signed_unit())));
        let [of_a, of_b, of_c] = orders;
        let description = ((m, n, k), orders, case, type_name::<(T, O)>(), device);

        let (left, right) = (a.upload(device, of_a), b.upload(device, of_b));
        let plain = (way.choose)(Matmul::new(&left, &right)).run_as::<S>();
        let mut sums = plain.unwrap().to_vec().unwrap();
        let zeros = vec![S::of(0.0); m * n];
        if k == 0 {
            assert_same_bits(&sums, &zeros, &description);
        }

        // A and B are not read where alpha is 0, and C is not where beta is.
        let (left, right) = match case.alpha {
            0.0 => {
                sums = zeros;
                let nan = (way.of)(f64::NAN);
                (
                    unread(device, (m, k, of_a), number, nan),
                    unread(device, (k, n, of_b), number, nan),
                )
            }
            _ => (left, right),
        };
        let mut c = match case.beta {
            0.0 => unread(device, (m, n, of_c), number, O::rounded(S::of(f64::NAN))),
            _ => old.upload(device, of_c),
        };
        let product = (way.choose)(Matmul::new(&left, &right))
            .alpha(S::of(case.alpha))
            .beta(S::of(case.beta));
        product.run_into(&mut c).unwrap();
        let none = Vectors::<S>::new(&mut random, (0, 0));
        let expected: Vec<O> = (0..m * n)
            .map(|i| {
                let c = old.elements[i].widened();
                O::rounded(case.output(&none, sums[i], c, (i / n, i % n)))
            })
            .collect();
        assert_same_bits(&c.to_vec().unwrap(), &expected, &description);
    }
}

#[test]
fn of_chains() {
    for device in devices() {
        let (single, double) = (Way::new(|it| it as f32), Way::new(|it: f64| it));
        assert_way::<f32, f32, f32>(&device, 0, single);
        assert_way::<f64, f64, f64>(&device, 1, double);
        let chain = single.by(|it| it.arithmetic(Arithmetic::Chain));
        assert_way::<f32, f32, f32>(&device, 2, chain);
        let chain = double.by(|it| it.arithmetic(Arithmetic::Chain));
        assert_way::<f64, f64, f64>(&device, 3, chain);
    }
}

#[test]
fn of_splits() {
    for device in splitters(devices()) {
        let way = Way {
            depths: SPLIT_SIZES,
            ..Way::new(|it| it as f32)
        };
        let split = way.by(|it| it.arithmetic(Arithmetic::Split));
        assert_way::<f32, f32, f32>(&device, 4, split);
    }
}

#[test]
fn of_halves() {
    for device in hoppers(devices()) {
        let (f16s, bf16s) = (Way::new(f16::from_f64), Way::new(bf16::from_f64));
        assert_way::<f16, f16, f32>(&device, 5, f16s);
        assert_way::<f16, f32, f32>(&device, 6, f16s);
        assert_way::<bf16, bf16, f32>(&device, 7, bf16s);
        assert_way::<bf16, f32, f32>(&device, 8, bf16s);
        let (f16s, bf16s) = (
            f16s.by(|it| it.compute_capability(8, 0)),
            bf16s.by(|it| it.compute_capability(8, 0)),
        );
        assert_way::<f16, f16, f32>(&device, 9, f16s);
        assert_way::<bf16, f32, f32>(&device, 10, bf16s);
    }
}

#[test]
fn of_8_bit_floats() {
    for device in hoppers(devices()) {
        let e4m3 = Way::new(|it| F8E4M3::from_f32(it as f32));
        let e5m2 = Way::new(|it| F8E5M2::from_f32(it as f32));
        assert_way::<F8E4M3, bf16, f32>(&device, 0, e4m3);
        assert_way::<F8E4M3, f32, f32>(&device, 3, e4m3);
        assert_way::<F8E5M2, bf16, f32>(&device, 6, e5m2);
        assert_way::<F8E5M2, f32, f32>(&device, 9, e5m2);
    }
}

#[test]
fn of_integers() {
    for device in devices() {
        let way = Way {
            scalars: OF_INTEGERS,
            ..Way::new(|it| (127.0 * it) as i8)
        };
        assert_way::<i8, i32, i32>(&device, 1, way);
        let warps = way.by(|it| it.compute_capability(8, 0));
        assert_way::<i8, i32, i32>(&device, 5, warps);
        let chain = way.by(|it| it.arithmetic(Arithmetic::Chain));
        assert_way::<i8, i32, i32>(&device, 9, chain);
    }
}
