//! Sums of a row's elements, and of the squares of their differences from the mean.

use super::place::{Place, Span};
use super::vectors::{Values, sum};

/// Whether an element of a vector exists.
#[inline(always)]
pub fn exists(place: Place, lane: usize) -> bool {
    (lane as i32) < place.left
}

/// The sum of the elements of `vectors` vectors from `first` on.
#[inline(always)]
pub fn sum_of<const SLOTS: usize, const LANES: usize>(
    values: &Values<SLOTS, LANES>,
    (first, vectors): (usize, usize),
    span: Span,
) -> f32 {
    let mut total = 0.0;
    let mut slot = 0;
    while slot < vectors {
        if span.has(slot) {
            let sum = sum(values[first + slot]);
            total += if span.place(slot).exists() { sum } else { 0.0 };
        }
        slot += 1;
    }
    total
}

/// The sum of the squares of the elements' differences from `mean`.
#[inline(always)]
pub fn squares_of<const SLOTS: usize, const LANES: usize>(
    values: &Values<SLOTS, LANES>,
    (first, vectors): (usize, usize),
    span: Span,
    mean: f32,
) -> f32 {
    let mut total = 0.0;
    let mut slot = 0;
    while slot < vectors {
        if span.has(slot) {
            let place = span.place(slot);
            let mut squares = [0.0; LANES];
            let mut lane = 0;
            while lane < LANES {
                let difference = values[first + slot][lane] - mean;
                squares[lane] = if exists(place, lane) {
                    difference * difference
                } else {
                    0.0
                };
                lane += 1;
            }
            total += sum(squares);
        }
        slot += 1;
    }
    total
}
