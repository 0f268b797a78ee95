//! Output types, the types that they are computed in, and single outputs.

use super::sum::Finish;
use crate::epilogue::{Epilogue, EpilogueElement};
use bytemuck::Pod;
use cuda_std::float::HalfFloat;
use cuda_std::prelude::*;
use half::{bf16, f16};

/// An output type.
pub trait Output: Pod {
    /// The type that outputs are computed in.
    type Sum: EpilogueElement;

    /// The step from a sum to an output, computed in the type of the sums.
    type Finish<'a>: Finish<Sum = Self::Sum>;

    /// That step for matrix number `matrix` of a batch.
    fn finish(epilogue: Epilogue<'_, Self::Sum>, matrix: usize) -> Self::Finish<'_>;

    /// The same value.
    fn widen(self) -> Self::Sum;

    /// Both values, rounded to the nearest.
    fn narrow_pair(values: [Self::Sum; 2]) -> [Self; 2];
}

macro_rules! sums {
    ($($sum:ident)*) => {$(
        impl Output for $sum {
            type Sum = Self;
            type Finish<'a> = Epilogue<'a, Self>;

            #[inline(always)]
            fn finish(epilogue: Epilogue<'_, Self>, _matrix: usize) -> Epilogue<'_, Self> {
                epilogue
            }

            #[inline(always)]
            fn widen(self) -> Self {
                self
            }

            #[inline(always)]
            fn narrow_pair(values: [Self; 2]) -> [Self; 2] {
                values
            }
        }
    )*};
}
sums!(f32 f64 i32);

macro_rules! half_outputs {
    ($($half:ident)*) => {$(
        impl Output for $half {
            type Sum = f32;
            type Finish<'a> = Epilogue<'a, f32>;

            #[inline(always)]
            fn finish(epilogue: Epilogue<'_, f32>, _matrix: usize) -> Epilogue<'_, f32> {
                epilogue
            }

            #[inline(always)]
            fn widen(self) -> f32 {
                HalfFloat::widen(self)
            }

            #[inline(always)]
            fn narrow_pair(values: [f32; 2]) -> [Self; 2] {
                HalfFloat::narrow_pair(values)
            }
        }
    )*};
}
half_outputs!(f16 bf16);

/// A type that outputs are computed in, from sums of type `S`.
pub trait FromSum<S>: EpilogueElement {
    /// The nearest number to `sum`, ties to even.
    #[must_use]
    fn from_sum(sum: S) -> Self;
}

impl<S: EpilogueElement> FromSum<S> for S {
    #[inline(always)]
    fn from_sum(sum: S) -> S {
        sum
    }
}

impl FromSum<i32> for f32 {
    #[inline(always)]
    fn from_sum(sum: i32) -> Self {
        sum as Self
    }
}

/// Applies `epilogue` to the sum of the output at (`row`, `column`), and writes it to element `at`
/// of C.
///
/// # Safety
/// 1. C has the element.
/// 2. No other thread of the launch accesses it.
#[inline(always)]
pub unsafe fn store_output<S, T: Output<Sum: FromSum<S>>>(
    c: GlobalMut<'_, T>,
    at: usize,
    (row, column): (usize, usize),
    sum: S,
    epilogue: Epilogue<'_, T::Sum>,
) {
    let sum = T::Sum::from_sum(sum);
    let output = match epilogue.is_plain() {
        true => sum.canonical(),
        false => {
            let before = match epilogue.reads_c() {
                // SAFETY: C has the element, and only this thread accesses it: the caller's
                // contract. The element was written before the launch.
                true => unsafe { c.load(at) }.widen(),
                false => T::Sum::ZERO,
            };
            epilogue.output(sum, before, epilogue.row(row), epilogue.column(column))
        }
    };
    let [output, _] = T::narrow_pair([output, T::Sum::ZERO]);
    // SAFETY: as above.
    unsafe { c.store(at, output) };
}

/// [`store_output`] without an epilogue.
///
/// # Safety
/// As for [`store_output`].
#[inline(always)]
pub unsafe fn store_plain<S, T: Output<Sum: FromSum<S>>>(c: GlobalMut<'_, T>, at: usize, sum: S) {
    let sum = T::Sum::from_sum(sum).canonical();
    let [output, _] = T::narrow_pair([sum, T::Sum::ZERO]);
    // SAFETY: C has the element, and only this thread accesses it: the caller's contract.
    unsafe { c.store(at, output) };
}
