//! Products of NaN, infinities, and numbers at the ends of a type's range.

use crate::cases::{Operands, Real, Shape};
use crate::common::random::Random;
use crate::common::share;
use std::any::type_name;

for_each_type! {
    [f32 f64]
    nan_and_infinities_in_a_reach_their_rows_alone
    nan_and_infinities_in_b_reach_their_columns_alone
    zero_times_infinity_is_nan
    overflow_goes_to_infinity
    products_of_subnormals_are_exact
    products_that_underflow_are_subnormal
}

const SPECIAL: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

/// Rows and columns of every class: a vector's elements, both ends of tiles, and the last.
const LINES: [usize; 17] = [
    0, 1, 2, 3, 7, 8, 31, 32, 63, 64, 65, 96, 126, 127, 128, 129, 131,
];

/// With whole tiles and a tail in each dimension, for rows of B that are and that are not
/// multiples of 16 bytes.
const SPECIAL_SHAPES: [Shape; 2] = [Shape::new(132, 133, 37), Shape::new(133, 132, 40)];

/// From one turn of `LINES` through K to the next: every k meets several of the lines, and every
/// line several k.
const TURN: usize = 4;

/// Puts NaN and infinities in each of the `LINES` of one operand, each at another k and at
/// `index`, and fails unless exactly these lines of the product, as `line` numbers them, are not
/// finite.
fn assert_special_lines<T: Real>(
    operand: fn(&mut Operands<T>) -> &mut Vec<T>,
    index: fn(Shape, usize, usize) -> usize,
    line: fn(Shape, usize) -> usize,
) {
    for shape in SPECIAL_SHAPES {
        let mut random = Random::new(3);
        let usual = Operands::<T>::new(shape, || 1.0 + random.signed_unit() / 2.0);
        let starts = (0..shape.k).step_by(TURN);
        for start in share((type_name::<T>(), shape.m), starts) {
            let mut operands = usual.clone();
            for (step, line) in LINES.into_iter().enumerate() {
                let special = T::of(SPECIAL[(step + start) % SPECIAL.len()]);
                operand(&mut operands)[index(shape, line, (start + step) % shape.k)] = special;
            }
            let expected = operands.naive();
            for (index, &output) in expected.iter().enumerate() {
                let is_special = !output.into().is_finite();
                assert_eq!(
                    is_special,
                    LINES.contains(&line(shape, index)),
                    "the reference"
                );
            }
            operands.assert_products(&expected);
        }
    }
}

fn nan_and_infinities_in_a_reach_their_rows_alone<T: Real>() {
    assert_special_lines::<T>(
        |operands| &mut operands.a,
        |shape, row, k| row * shape.k + k,
        |shape, output| output / shape.n,
    );
}

fn nan_and_infinities_in_b_reach_their_columns_alone<T: Real>() {
    assert_special_lines::<T>(
        |operands| &mut operands.b,
        |shape, column, k| k * shape.n + column,
        |shape, output| output % shape.n,
    );
}

fn zero_times_infinity_is_nan<T: Real>() {
    for shape in SPECIAL_SHAPES {
        let mut operands = Operands::<T>::new(shape, || 0.0);
        let last = operands.a.len() - 1;
        operands.a[last] = T::of(f64::INFINITY);
        let expected = operands.outputs(|row, _| {
            if row == shape.m - 1 {
                T::CANONICAL_NAN
            } else {
                T::zero()
            }
        });
        operands.assert_products(&expected);
    }
}

fn overflow_goes_to_infinity<T: Real>() {
    for shape in SPECIAL_SHAPES {
        let operands = Operands::<T>::new(shape, || T::MAX.into());
        operands.assert_products(&vec![T::of(f64::INFINITY); shape.m * shape.n]);
    }
}

fn products_of_subnormals_are_exact<T: Real>() {
    for shape in SPECIAL_SHAPES {
        let mut operands = Operands::<T>::small_integers(shape);
        let scale = T::SMALLEST_SUBNORMAL.into();
        let expected: Vec<T> = operands
            .by_ndarray()
            .into_iter()
            .map(|x| T::of(x.into() * scale))
            .collect();
        operands
            .a
            .iter_mut()
            .for_each(|x| *x = T::of((*x).into() * scale));
        operands.assert_products(&expected);
    }
}

fn products_that_underflow_are_subnormal<T: Real>() {
    for shape in SPECIAL_SHAPES {
        let root = T::ROOT_OF_SUBNORMAL.into();
        let mut random = Random::new(4);
        let operands = Operands::<T>::new(shape, || root * (1.0 + random.signed_unit() / 2.0));
        let expected = operands.naive();
        assert!(
            expected
                .iter()
                .all(|&x| x != T::zero() && x.into().abs() < T::SMALLEST_NORMAL.into()),
            "the reference"
        );
        operands.assert_products(&expected);
    }
}
