//! The largest element of a row, the sum of the exponentials, and what results follow from the two.

use super::combine;
use super::place::Span;
use super::vectors::{Values, largest, sum};
use core::ops::Add;
use cuda_std::float::larger_or_nan;
use cuda_std::math::approximate::exp_nonpositive;
use cuda_std::math::ln;
use cuda_std::prelude::*;

/// The largest element of a row, or of a part of it, and the sum of e^(x - `largest`) over its elements.
///
/// If an element is NaN, so are both. If the largest one is infinite, elements are not subtracted from, and the sum is
/// unspecified for positive infinity.
#[derive(Clone, Copy)]
pub struct Terms {
    pub largest: f32,
    pub sum: f32,
}

/// What turns a vector of exponents, or of exponentials, into results: a factor, and what is added.
#[derive(Clone, Copy)]
pub struct Finish {
    /// The number that is subtracted from elements.
    pub base: f32,
    pub factor: f32,
    pub offset: f32,
}

/// The number that is subtracted from a row's elements: the largest of them, or 0 if that is infinite.
#[inline(always)]
fn base_of(largest: f32) -> f32 {
    if largest.abs() == f32::INFINITY {
        0.0
    } else {
        largest
    }
}

/// Replaces the elements of a vector by exponentials, or by exponents if `is_logarithmic`. Returns the exponentials'
/// sum.
#[inline(always)]
#[track_caller]
fn replace<const LANES: usize>(vector: &mut [f32; LANES], base: f32, is_logarithmic: bool) -> f32 {
    let mut terms = [0.0; LANES];
    let mut lane = 0;
    while lane < LANES {
        let exponent = vector[lane] - base;
        terms[lane] = exp_nonpositive(exponent);
        vector[lane] = if is_logarithmic {
            exponent
        } else {
            terms[lane]
        };
        lane += 1;
    }
    sum(terms)
}

/// The largest element of `vectors` vectors from `first` on, or NaN if there is one.
#[inline(always)]
pub fn largest_of<const SLOTS: usize, const LANES: usize>(
    values: &Values<SLOTS, LANES>,
    (first, vectors): (usize, usize),
    span: Span,
) -> f32 {
    let mut result = f32::NEG_INFINITY;
    let mut slot = 0;
    while slot < vectors {
        if span.has(slot) {
            result = larger_or_nan(result, largest(&values[first + slot]));
        }
        slot += 1;
    }
    result
}

/// Replaces the elements of `vectors` vectors from `first` on by exponentials, or by exponents if `is_logarithmic`.
/// Returns the exponentials' sum.
#[inline(always)]
#[track_caller]
pub fn exponentials<const SLOTS: usize, const LANES: usize>(
    values: &mut Values<SLOTS, LANES>,
    (first, vectors): (usize, usize),
    span: Span,
    (largest, is_logarithmic): (f32, bool),
) -> f32 {
    let base = base_of(largest);
    let mut total = 0.0;
    let mut slot = 0;
    while slot < vectors {
        if span.has(slot) {
            let sum = replace(&mut values[first + slot], base, is_logarithmic);
            total += if span.place(slot).exists() { sum } else { 0.0 };
        }
        slot += 1;
    }
    total
}

impl From<[f32; 2]> for Terms {
    #[inline(always)]
    fn from([largest, sum]: [f32; 2]) -> Self {
        Self { largest, sum }
    }
}

impl From<Terms> for [f32; 2] {
    #[inline(always)]
    fn from(terms: Terms) -> Self {
        [terms.largest, terms.sum]
    }
}

impl Terms {
    /// Those of no elements.
    pub const NONE: Self = Self {
        largest: f32::NEG_INFINITY,
        sum: 0.0,
    };

    /// What makes the sum relative to `largest`, which is not smaller than the own one.
    #[inline(always)]
    #[track_caller]
    fn factor_to(self, largest: f32) -> f32 {
        if self.largest == largest {
            1.0
        } else {
            exp_nonpositive(self.largest - largest)
        }
    }

    /// With the sum relative to `largest`, which is not smaller than the own one.
    #[inline(always)]
    #[track_caller]
    pub fn relative_to(self, largest: f32) -> Self {
        Self {
            largest,
            sum: self.sum * self.factor_to(largest),
        }
    }

    /// Those of a row, from those of a part of it for each of `parts` neighbouring lanes.
    ///
    /// All lanes of the warp call it.
    #[inline(always)]
    #[track_caller]
    pub fn of_parts(self, parts: u32) -> Self {
        let largest = combine::lanes(self.largest, parts, larger_or_nan);
        let sum = combine::lanes(self.relative_to(largest).sum, parts, f32::add);
        Self { largest, sum }
    }

    /// With the elements of a further section.
    #[inline(always)]
    #[track_caller]
    pub fn with<const SLOTS: usize, const LANES: usize>(
        self,
        values: &mut Values<SLOTS, LANES>,
        span: Span,
    ) -> Self {
        let largest = larger_or_nan(self.largest, largest_of(values, (0, SLOTS), span));
        let before = self.relative_to(largest);
        let sum = exponentials(values, (0, SLOTS), span, (largest, false));
        Self {
            sum: before.sum + sum,
            ..before
        }
    }

    /// ln of the sum of e^x.
    #[inline(always)]
    #[track_caller]
    pub fn log_sum(self) -> f32 {
        if self.largest == f32::INFINITY {
            return self.largest;
        }
        base_of(self.largest) + ln(self.sum)
    }

    /// ln of the sum of e^x, less `x`; NaN for a row with positive infinity.
    #[inline(always)]
    #[track_caller]
    pub fn log_sum_less(self, x: f32) -> f32 {
        self.unless_infinite(ln(self.sum) - (x - base_of(self.largest)))
    }

    /// The results' logarithms.
    #[inline(always)]
    #[track_caller]
    pub fn logarithmic(self) -> Finish {
        Finish {
            base: base_of(self.largest),
            factor: 1.0,
            offset: self.unless_infinite(0.0 - ln(self.sum)),
        }
    }

    /// The results, multiplied by `scale`.
    #[inline(always)]
    #[track_caller]
    pub fn scaled(self, scale: f32) -> Finish {
        Finish {
            base: base_of(self.largest),
            factor: self.unless_infinite(scale / self.sum),
            offset: 0.0,
        }
    }

    #[inline(always)]
    fn unless_infinite(self, value: f32) -> f32 {
        if self.largest == f32::INFINITY {
            f32::NAN
        } else {
            value
        }
    }
}

impl Finish {
    /// The results of a part of the row, whose exponentials are relative to the part's largest element.
    #[inline(always)]
    #[track_caller]
    pub fn of_part(self, row: Terms, part: Terms) -> Self {
        let base = base_of(part.largest);
        Self {
            base,
            factor: self.factor * part.factor_to(row.largest),
            ..self
        }
    }

    /// The same for logarithms, of exponents relative to the part's largest element.
    #[inline(always)]
    #[track_caller]
    pub fn of_part_of_logarithms(self, part: Terms) -> Self {
        let base = base_of(part.largest);
        Self {
            base,
            offset: self.offset + (base - self.base),
            ..self
        }
    }

    /// The results of exponentials, or of exponents for logarithms.
    #[inline(always)]
    #[track_caller]
    pub fn of<const LANES: usize>(self, vector: &[f32; LANES]) -> [f32; LANES] {
        let mut results = *vector;
        let mut lane = 0;
        while lane < LANES {
            results[lane] = Float::mul_add(results[lane], self.factor, self.offset);
            lane += 1;
        }
        results
    }

    /// Replaces elements by exponentials, or by exponents for logarithms.
    #[inline(always)]
    #[track_caller]
    pub fn prepare<const SLOTS: usize, const LANES: usize>(
        self,
        values: &mut Values<SLOTS, LANES>,
        span: Span,
        is_logarithmic: bool,
    ) {
        let mut slot = 0;
        while slot < SLOTS {
            if span.has(slot) {
                let _ = replace(&mut values[slot], self.base, is_logarithmic);
            }
            slot += 1;
        }
    }
}
