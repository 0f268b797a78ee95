//! Products of f64 by residues: within their bound for lines in range, and those of the chain for others.

use crate::device::Device;
use crate::matmul::arithmetic::Arithmetic;
use crate::matmul::epilogue::Epilogue;
use crate::matmul::execute::Computes as _;
use crate::matmul::operands::Operands;
use crate::matmul::plan::{Request, Steps};
use crate::matmul::staging::{PreparedMatrix, PreparedResidues};
use crate::matrix::{Matrix, Order};
use tilewright_test_support::random::Random;

const M: usize = 40;
const N: usize = 30;
const K: usize = 2048;

/// A part of a product that is large enough.
const REQUEST: Request = Request::PartOf {
    m: 8192,
    n: 8192,
    arithmetic: Arithmetic::Auto,
};

/// Rows of A, and columns of B, that are out of range.
const ROWS_OUT: [usize; 3] = [5, 11, 39];
const COLUMNS_OUT: [usize; 2] = [3, 29];

fn elements() -> [Vec<f64>; 2] {
    let mut random = Random::new(47);
    let mut a: Vec<f64> = (0..M * K).map(|_| random.signed_unit()).collect();
    let mut b: Vec<f64> = (0..K * N).map(|_| random.signed_unit()).collect();
    // Rows of all magnitudes of the type are in range.
    for (row, line) in a.chunks_mut(K).enumerate() {
        let scale = 2f64.powi(20 * row as i32 - 400);
        line.iter_mut().for_each(|it| *it *= scale);
    }
    a[ROWS_OUT[0] * K + 9] = f64::NAN;
    a[ROWS_OUT[1] * K + 1000] = 1e300;
    // Mostly zeros.
    for l in 100..K {
        a[ROWS_OUT[2] * K + l] = 0.0;
        b[l * N + COLUMNS_OUT[1]] = 0.0;
    }
    b[77 * N + COLUMNS_OUT[0]] = f64::NEG_INFINITY;
    [a, b]
}

fn product(device: &Device, request: Request, a: &Matrix<f64>, b: &Matrix<f64>) -> Vec<f64> {
    let operands = Operands::new(a.into(), b.into());
    let mut c = device.matrix_zeros((M, N)).expect("a matrix");
    let (plan, _) = f64::plan(device, request, &operands, &Epilogue::identity()).expect("a plan");
    assert_eq!(matches!(plan.steps, Steps::Residues(_)), request == REQUEST);
    let results = c.view_mut().into();
    f64::write(device, request, &operands, results, &Epilogue::identity()).expect("a product");
    c.to_vec().expect("the elements")
}

/// The same bits with prepared residues of B, in either order of C.
#[test]
fn residues_that_were_made_before_change_no_bit() {
    let device = Device::simulator();
    let [a, b] = elements();
    let a = device.matrix((M, K), &a).expect("a matrix");
    let b = device.matrix((K, N), &b).expect("a matrix");
    let identity = Epilogue::identity();
    let expected = product(&device, REQUEST, &a, &b);
    let (plan, _) = f64::plan(
        &device,
        REQUEST,
        &Operands::new((&a).into(), (&b).into()),
        &identity,
    )
    .expect("a plan");
    let Steps::Residues(residues) = &plan.steps else {
        panic!("the plan is of residues");
    };
    let made = PreparedResidues::new(&device, b.view(), residues, plan.staging[1], false);
    let prepared =
        PreparedMatrix::with_residues(b.view(), Arithmetic::Auto, Some(made.expect("residues")));
    let columns = prepared.out_of_range_columns().expect("the columns");
    let are_out: Vec<_> = (0..N).filter(|&column| columns[column]).collect();
    assert_eq!(are_out, COLUMNS_OUT);
    for order in [Order::RowMajor, Order::ColumnMajor] {
        for prepared in [None, Some(&prepared)] {
            let operands = Operands {
                prepared: [None, prepared],
                ..Operands::new((&a).into(), (&b).into())
            };
            let mut c = device.matrix_zeros((M, N, order)).expect("a matrix");
            f64::write(&device, REQUEST, &operands, c.view_mut().into(), &identity)
                .expect("a product");
            let found = c.to_vec().expect("the elements");
            let are_same = |(found, expected): (&f64, &f64)| found.to_bits() == expected.to_bits();
            assert!(found.iter().zip(&expected).all(are_same), "{order:?}");
        }
    }
}

/// The exact dot product, nearly, and the sum of its terms' magnitudes (Ogita, Rump and Oishi's Dot2).
fn dot(terms: impl Iterator<Item = (f64, f64)>) -> (f64, f64, f64) {
    let (mut sum, mut lost, mut magnitude) = (0.0_f64, 0.0, 0.0);
    for (x, y) in terms {
        let term = x * y;
        let next = sum + term;
        let of_term = next - sum;
        lost += (sum - (next - of_term)) + (term - of_term) + x.mul_add(y, -term);
        (sum, magnitude) = (next, magnitude + term.abs());
    }
    (sum, lost, magnitude)
}

#[test]
fn outputs_of_lines_in_range_meet_the_bound_and_others_are_chains() {
    let device = Device::simulator();
    let [a, b] = elements();
    let of_a = device.matrix((M, K), &a).expect("a matrix");
    let of_b = device.matrix((K, N), &b).expect("a matrix");
    let found = product(&device, REQUEST, &of_a, &of_b);
    let chain = Request::Fastest(Arithmetic::Chain, None);
    let chain = product(&device, chain, &of_a, &of_b);
    let mut differ = 0;
    for (at, (&found, chain)) in found.iter().zip(chain).enumerate() {
        let (i, j) = (at / N, at % N);
        if ROWS_OUT.contains(&i) || COLUMNS_OUT.contains(&j) {
            assert_eq!(found.to_bits(), chain.to_bits(), "{i} {j}");
            continue;
        }
        let (sum, lost, magnitude) = dot((0..K).map(|l| (a[i * K + l], b[l * N + j])));
        let bound = K as f64 * (f64::EPSILON / 2.0) * magnitude;
        let error = ((found - sum) - lost).abs();
        // Integers of 54 bits are far more accurate than the bound.
        assert!(error <= bound / 8.0, "{i} {j}: {error:e} of {bound:e}");
        differ += usize::from(found != chain);
    }
    assert!(differ > M * N / 4, "{differ} outputs differ from the chain");
}

/// Powers of two by which lines are multiplied: at both ends of the range, where outputs overflow and underflow.
const POWERS: [i32; 8] = [-960, -512, -460, 0, 440, 470, 900, 1020];

fn times_power(x: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    x * 2f64.powi(half) * 2f64.powi(exponent - half)
}

#[test]
fn powers_of_two_of_lines_are_those_of_outputs() {
    let device = Device::simulator();
    let mut random = Random::new(48);
    let mut line = || -> Vec<f64> { (0..K).map(|_| random.signed_unit()).collect() };
    let rows: Vec<Vec<f64>> = (0..M).map(|_| line()).collect();
    let columns: Vec<Vec<f64>> = (0..N).map(|_| line()).collect();
    let powers = |at: usize| POWERS[at % POWERS.len()];
    let product_of = |power: &dyn Fn(usize) -> i32| {
        let of_row = |i: usize| rows[i].iter().map(move |x| times_power(*x, power(i)));
        let a: Vec<f64> = (0..M).flat_map(of_row).collect();
        let of_k = |l| (0..N).map(move |j| (j, l));
        let of_column = |(j, l): (usize, usize)| times_power(columns[j][l], power(j));
        let b: Vec<f64> = (0..K).flat_map(of_k).map(of_column).collect();
        let a = device.matrix((M, K), &a).expect("a matrix");
        let b = device.matrix((K, N), &b).expect("a matrix");
        product(&device, REQUEST, &a, &b)
    };
    let (plain, found) = (product_of(&|_| 0), product_of(&powers));
    let mut ends = [0; 3];
    for (at, (plain, found)) in plain.into_iter().zip(found).enumerate() {
        let expected = times_power(plain, powers(at / N) + powers(at % N));
        let is_subnormal = expected.abs() < f64::MIN_POSITIVE;
        ends[usize::from(is_subnormal) + 2 * usize::from(expected.is_infinite())] += 1;
        // Below the normal numbers, `plain` is already rounded.
        let room = if is_subnormal { 1 } else { 0 };
        let [found, expected] = [found, expected].map(f64::to_bits);
        assert!(
            found.abs_diff(expected) <= room,
            "output {at}: {found:x}, not {expected:x}"
        );
    }
    assert!(ends.iter().all(|count| *count > 100), "{ends:?}");
}
