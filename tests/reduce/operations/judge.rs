//! The naive reference of each operation.

use super::spread::{judge_norm, judge_variance};
use super::values::{Value, assert_same};
use crate::common::exact::Compensated;
use bytemuck::{Pod, bytes_of};
use tilewright::ops::{
    All, Any, ArgMax, ArgMin, Count, Dot, Max, Mean, Min, MinMax, Norm1, Norm2, NormInf, Product,
    Sum, SumOfSquares, Variance,
};
use tilewright_kernels::reduce::lines::LinePlan;
use tilewright_kernels::reduce::{Magnitude, Number, Ordered, Plan, Real, Reduction};

/// An operation whose values are compared with a loop's.
pub trait Judge<T: Pod>: Reduction<T> {
    /// Fails unless `value` is that of `elements`, which are not none if the operation needs one.
    fn judge(elements: &[T], value: Self::Output, case: &str);
}

/// The element that none is better than, or the canonical NaN.
fn best<T: Value>(elements: &[T], is_better: fn(T, T) -> bool) -> T {
    if elements.iter().any(|element| element.is_nan()) {
        return T::nan().expect("the type has a NaN");
    }
    let better = |best, &element| {
        if is_better(element, best) {
            element
        } else {
            best
        }
    };
    elements.iter().fold(elements[0], better)
}

/// The index of the first element that none is better than, or of the first NaN.
fn place<T: Value>(elements: &[T], is_better: fn(T, T) -> bool) -> u64 {
    if let Some(nan) = elements.iter().position(|element| element.is_nan()) {
        return nan as u64;
    }
    let mut best = 0;
    for (index, &element) in elements.iter().enumerate() {
        if is_better(element, elements[best]) {
            best = index;
        }
    }
    best as u64
}

fn is_before<T: Value>(left: T, right: T) -> bool {
    left.order(right).is_lt()
}

fn is_behind<T: Value>(left: T, right: T) -> bool {
    left.order(right).is_gt()
}

macro_rules! orders {
    ($($operation:ident: $elements:ident => $value:ty, $reference:expr;)*) => {$(
        impl<T: Value + Ordered> Judge<T> for $operation {
            fn judge($elements: &[T], value: $value, case: &str) {
                assert_same(value, $reference, case);
            }
        }
    )*};
}
orders! {
    Min: elements => T, best(elements, is_before);
    Max: elements => T, best(elements, is_behind);
    MinMax: elements => [T; 2], [best(elements, is_before), best(elements, is_behind)];
    ArgMin: elements => u64, place(elements, |left, right| left < right);
    ArgMax: elements => u64, place(elements, |left, right| left > right);
}

impl<T: Value + Real + Magnitude> Judge<T> for NormInf {
    fn judge(elements: &[T], value: T, case: &str) {
        if elements.iter().any(|element| element.is_nan()) {
            assert_same(value, T::nan().expect("the type has a NaN"), case);
            return;
        }
        let magnitudes = elements.iter().map(|element| element.real().abs());
        let greatest = magnitudes.fold(0.0, f64::max);
        assert_eq!(value.real().to_bits(), greatest.to_bits(), "{case}");
    }
}

impl Judge<u8> for Count {
    fn judge(mask: &[u8], value: u64, case: &str) {
        assert_same(
            value,
            mask.iter().filter(|byte| **byte != 0).count() as u64,
            case,
        );
    }
}

impl Judge<u8> for Any {
    fn judge(mask: &[u8], value: u8, case: &str) {
        assert_same(value, u8::from(mask.iter().any(|byte| *byte != 0)), case);
    }
}

impl Judge<u8> for All {
    fn judge(mask: &[u8], value: u8, case: &str) {
        assert_same(value, u8::from(mask.iter().all(|byte| *byte != 0)), case);
    }
}

/// A value in f32 or f64, and the largest relative and absolute error of rounding to it.
pub struct Rounded {
    pub value: f64,
    pub relative: f64,
    pub absolute: f64,
    pub greatest: f64,
}

/// `x` times 2^`exponent`, of up to twice the range of f64.
pub fn times_power(x: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    x * 2.0_f64.powi(half) * 2.0_f64.powi(exponent - half)
}

impl Rounded {
    fn of<O: Pod>(value: O) -> Self {
        match *bytes_of(&value) {
            [a, b, c, d] => Self {
                value: f32::from_le_bytes([a, b, c, d]).into(),
                relative: f64::from(f32::EPSILON) / 2.0,
                absolute: f64::from(f32::from_bits(1)),
                greatest: f32::MAX.into(),
            },
            ref bytes => Self {
                value: f64::from_le_bytes(bytes.try_into().expect("f32 or f64")),
                relative: f64::EPSILON / 2.0,
                absolute: f64::from_bits(1),
                greatest: f64::MAX,
            },
        }
    }

    /// As if the elements had been multiplied by 2^`exponent`.
    pub fn times_power(self, exponent: i32) -> Self {
        Self {
            value: times_power(self.value, exponent),
            absolute: times_power(self.absolute, exponent),
            greatest: times_power(self.greatest, exponent),
            ..self
        }
    }

    /// Fails unless the value is `exact` with an error of at most `bound`, rounded.
    #[track_caller]
    fn assert_near(&self, exact: f64, lost: f64, bound: f64, case: &str) {
        if exact.abs() > self.greatest {
            assert_eq!(self.value, exact.signum() * f64::INFINITY, "{case}");
            return;
        }
        let error = ((self.value - exact) - lost).abs();
        let bound = bound + self.relative * exact.abs() + self.absolute;
        assert!(
            error <= bound,
            "{} instead of {exact}, {error} off, {case}",
            self.value
        );
    }

    /// Fails unless the value is right for a sum with infinite or undefined terms; false if there are none.
    #[track_caller]
    pub fn is_of_special(&self, terms: &[f64], case: &str) -> bool {
        let (positive, negative) = (
            terms.contains(&f64::INFINITY),
            terms.contains(&f64::NEG_INFINITY),
        );
        let is_nan = has_nan(terms) || (positive && negative);
        if is_nan {
            assert!(self.value.is_nan(), "{} is no NaN, {case}", self.value);
        } else if positive || negative {
            let infinity = if positive {
                f64::INFINITY
            } else {
                f64::NEG_INFINITY
            };
            assert_eq!(self.value, infinity, "{case}");
        }
        is_nan || positive || negative
    }
}

fn has_nan(terms: &[f64]) -> bool {
    terms.iter().any(|term| term.is_nan())
}

fn reals<T: Value>(elements: &[T]) -> Vec<f64> {
    elements.iter().map(|element| element.real()).collect()
}

/// The bound of the relative error of a tree in f64 over `elements` of so many bytes, and of `more` operations.
pub fn error_of_tree(element_bytes: usize, elements: usize, more: u32) -> f64 {
    let whole = Plan::new(elements, element_bytes).tree_height();
    let operations = whole.max(LinePlan::new(elements).tree_height()) + more;
    f64::from(operations) * (f64::EPSILON / 2.0) * 1.01
}

/// Judges a sum of products of elements of so many bytes, divided by a number.
fn judge_sum(pairs: &[[f64; 2]], element_bytes: usize, divisor: f64, value: Rounded, case: &str) {
    let terms: Vec<f64> = pairs.iter().map(|[left, right]| left * right).collect();
    let finite = terms.iter().filter(|term| term.is_finite());
    let magnitude: f64 = finite.map(|term| term.abs()).sum();
    // Where sums of some of the terms may overflow, the model of the tree alone is to be held to.
    if magnitude.is_infinite() && !has_nan(&terms) {
        return;
    }
    if value.is_of_special(&terms, case) {
        return;
    }
    let mut exact = Compensated::default();
    pairs
        .iter()
        .for_each(|[left, right]| exact.add_product(*left, *right));
    let (sum, lost) = exact.parts();
    // Products of f64 may underflow, each by half of the least subnormal.
    let underflow = pairs.len() as f64 * f64::from_bits(1);
    let bound = error_of_tree(element_bytes, pairs.len(), 2) * magnitude + underflow;
    value.assert_near(sum / divisor, lost / divisor, bound / divisor, case);
}

fn with_one<T: Value>(elements: &[T], of: fn(f64) -> [f64; 2]) -> Vec<[f64; 2]> {
    elements.iter().map(|element| of(element.real())).collect()
}

impl<T: Value> Judge<T> for Sum
where
    Self: Reduction<T>,
{
    fn judge(elements: &[T], value: Self::Output, case: &str) {
        if let Some(integers) = integers(elements) {
            let sum = integers.into_iter().fold(0, u64::wrapping_add);
            assert_eq!(bytes_of(&value), sum.to_le_bytes(), "{case}");
            return;
        }
        judge_rounded_sum(&reals(elements), size_of::<T>(), Rounded::of(value), case);
    }
}

/// Judges a sum of elements of so many bytes, rounded at each addition.
fn judge_rounded_sum(terms: &[f64], element_bytes: usize, value: Rounded, case: &str) {
    let magnitude: f64 = terms.iter().map(|term| term.abs()).sum();
    // Where sums of some of the terms may overflow, the model of the tree alone is to be held to.
    if value.is_of_special(terms, case) || magnitude > value.greatest {
        return;
    }
    let mut exact = Compensated::default();
    terms.iter().for_each(|term| exact.add(*term));
    let (sum, lost) = exact.parts();
    let of_f64 = error_of_tree(element_bytes, terms.len(), 2);
    let bound = of_f64 * (value.relative / (f64::EPSILON / 2.0)) * magnitude;
    value.assert_near(sum, lost, bound, case);
}

impl<T: Value + Number> Judge<T> for Mean
where
    Self: Reduction<T, Output = T::Result>,
{
    fn judge(elements: &[T], value: T::Result, case: &str) {
        let mut value = Rounded::of(value);
        if elements.is_empty() {
            assert!(value.value.is_nan(), "{case}");
            return;
        }
        let mut terms = reals(elements);
        // Down, where the sum itself would overflow. A mean of finite numbers does not.
        if terms
            .iter()
            .any(|term| term.is_finite() && term.abs() > 1e270)
        {
            terms
                .iter_mut()
                .for_each(|term| *term = times_power(*term, -200));
            value = value.times_power(-200);
        }
        value.greatest = f64::INFINITY;
        let pairs: Vec<_> = terms.iter().map(|&term| [term, 1.0]).collect();
        judge_sum(&pairs, size_of::<T>(), elements.len() as f64, value, case);
    }
}

impl<T: Value + Real> Judge<T> for SumOfSquares {
    fn judge(elements: &[T], value: T::Result, case: &str) {
        let terms = with_one(elements, |x| [x, x]);
        judge_sum(&terms, size_of::<T>(), 1.0, Rounded::of(value), case);
    }
}

impl<T: Value + Real> Judge<T> for Norm1 {
    fn judge(elements: &[T], value: T::Result, case: &str) {
        let terms = with_one(elements, |x| [x.abs(), 1.0]);
        judge_sum(&terms, size_of::<T>(), 1.0, Rounded::of(value), case);
    }
}

impl<T: Value> Judge<T> for Norm2
where
    Self: Reduction<T>,
{
    fn judge(elements: &[T], value: Self::Output, case: &str) {
        judge_norm(&reals(elements), size_of::<T>(), Rounded::of(value), case);
    }
}

impl<T: Value + Real> Judge<T> for Variance
where
    Self: Reduction<T, Output = T::Result>,
{
    fn judge(elements: &[T], value: T::Result, case: &str) {
        judge_variance(&reals(elements), size_of::<T>(), Rounded::of(value), case);
    }
}

impl<T: Value> Judge<T> for Product
where
    Self: Reduction<T>,
{
    fn judge(elements: &[T], value: Self::Output, case: &str) {
        if let Some(integers) = integers(elements) {
            let product = integers.into_iter().fold(1, u64::wrapping_mul);
            assert_eq!(bytes_of(&value), product.to_le_bytes(), "{case}");
            return;
        }
        judge_product(&reals(elements), size_of::<T>(), Rounded::of(value), case);
    }
}

fn judge_product(terms: &[f64], element_bytes: usize, value: Rounded, case: &str) {
    let is_infinite = terms.iter().any(|term| term.is_infinite());
    if has_nan(terms) || (is_infinite && terms.contains(&0.0)) {
        assert!(value.value.is_nan(), "{} is no NaN, {case}", value.value);
        return;
    }
    // An order in which a product may overflow or underflow says nothing of the others: the model
    // of the tree alone is to be held to.
    let doublings: f64 = terms.iter().map(|term| term.abs().log2().abs()).sum();
    if doublings >= 900.0 {
        return;
    }
    let product: f64 = terms.iter().product();
    let error = 2.0 * error_of_tree(element_bytes, terms.len(), terms.len() as u32);
    value.assert_near(product, 0.0, error * product.abs(), case);
}

impl<T: Value> Judge<[T; 2]> for Dot
where
    Self: Reduction<[T; 2]>,
{
    fn judge(pairs: &[[T; 2]], value: Self::Output, case: &str) {
        let Some(integers) = integers(pairs.as_flattened()) else {
            let pairs: Vec<_> = pairs.iter().map(|pair| pair.map(T::real)).collect();
            judge_sum(&pairs, size_of::<T>(), 1.0, Rounded::of(value), case);
            return;
        };
        let products = integers.chunks(2).map(|pair| pair[0].wrapping_mul(pair[1]));
        let sum = products.fold(0, u64::wrapping_add);
        assert_eq!(bytes_of(&value), sum.to_le_bytes(), "{case}");
    }
}

/// Integers in 64 bits, of which those of more are lost; `None` for floats.
fn integers<T: Value>(elements: &[T]) -> Option<Vec<u64>> {
    let of_integer = |element: &T| element.wrapped().expect("an integer");
    T::nan()
        .is_none()
        .then(|| elements.iter().map(of_integer).collect())
}
