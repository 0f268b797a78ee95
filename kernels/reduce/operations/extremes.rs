//! Minima, maxima and their indices. A NaN wins over every number, as in NumPy.

use super::order::{Ordered, Rank};
use crate::reduce::operation::Reduction;
#[cfg(feature = "entries")]
use cuda_std::Pod;

/// The smallest element, or the canonical NaN if there is a NaN. -0 is less than +0.
#[derive(Clone, Copy, Debug)]
pub struct Min;

/// The largest element, or the canonical NaN if there is a NaN. +0 is greater than -0.
#[derive(Clone, Copy, Debug)]
pub struct Max;

/// The smallest and the largest element, with the rules of [`Min`] and [`Max`].
#[derive(Clone, Copy, Debug)]
pub struct MinMax;

/// The index of the smallest element, from 0: the first among equals, or the first NaN. Zeros of
/// either sign are equal.
#[derive(Clone, Copy, Debug)]
pub struct ArgMin;

/// The index of the largest element, from 0: the first among equals, or the first NaN. Zeros of
/// either sign are equal.
#[derive(Clone, Copy, Debug)]
pub struct ArgMax;

/// The rank for a maximum, which the highest wins. A NaN has the highest.
#[inline(always)]
pub(crate) fn rank_for_max<T: Ordered>(element: T) -> T::Rank {
    if element.is_no_number() {
        T::Rank::HIGHEST
    } else {
        element.rank()
    }
}

/// The rank for a minimum, which the highest wins: the complement of the ascending rank. A NaN has
/// the highest.
#[inline(always)]
fn rank_for_min<T: Ordered>(element: T) -> T::Rank {
    if element.is_no_number() {
        T::Rank::HIGHEST
    } else {
        !element.rank()
    }
}

impl<T: Ordered> Reduction<T> for Max {
    type Accumulator = T::Rank;
    type Output = T;
    const IDENTITY: T::Rank = T::Rank::LOWEST;
    const IS_TOTAL: bool = true;
    const NEEDS_AN_ELEMENT: bool = true;

    #[inline(always)]
    fn lift(element: T, _index: usize) -> T::Rank {
        rank_for_max(element)
    }

    #[inline(always)]
    fn combine(left: T::Rank, right: T::Rank) -> T::Rank {
        left.max(right)
    }

    #[inline(always)]
    fn finish(total: T::Rank, _elements: usize) -> T {
        T::of_rank(total)
    }
}

impl<T: Ordered> Reduction<T> for Min {
    type Accumulator = T::Rank;
    type Output = T;
    const IDENTITY: T::Rank = T::Rank::LOWEST;
    const IS_TOTAL: bool = true;
    const NEEDS_AN_ELEMENT: bool = true;

    #[inline(always)]
    fn lift(element: T, _index: usize) -> T::Rank {
        rank_for_min(element)
    }

    #[inline(always)]
    fn combine(left: T::Rank, right: T::Rank) -> T::Rank {
        left.max(right)
    }

    #[inline(always)]
    fn finish(total: T::Rank, _elements: usize) -> T {
        T::of_rank(!total)
    }
}

impl<T: Ordered> Reduction<T> for MinMax {
    type Accumulator = [T::Rank; 2];
    type Output = [T; 2];
    const IDENTITY: [T::Rank; 2] = [T::Rank::LOWEST; 2];
    const IS_TOTAL: bool = true;
    const NEEDS_AN_ELEMENT: bool = true;

    #[inline(always)]
    fn lift(element: T, _index: usize) -> [T::Rank; 2] {
        [rank_for_min(element), rank_for_max(element)]
    }

    #[inline(always)]
    fn combine(left: [T::Rank; 2], right: [T::Rank; 2]) -> [T::Rank; 2] {
        [left[0].max(right[0]), left[1].max(right[1])]
    }

    #[inline(always)]
    fn finish(total: [T::Rank; 2], _elements: usize) -> [T; 2] {
        [T::of_rank(!total[0]), T::of_rank(total[1])]
    }
}

/// The higher rank or, of equal ranks, the lower index.
#[inline(always)]
fn first_of_highest<R: Rank>(left: R::Placed, right: R::Placed) -> R::Placed {
    let (left_rank, left_index) = R::of_placed(left);
    let (right_rank, right_index) = R::of_placed(right);
    if right_rank > left_rank || (right_rank == left_rank && right_index < left_index) {
        right
    } else {
        left
    }
}

/// Replaces a rank's index by `place(index)`. `NOWHERE` is unchanged.
fn moved<R: Rank>(placed: R::Placed, place: impl Fn(usize) -> usize) -> R::Placed {
    const NOWHERE: u64 = u64::MAX;
    match R::of_placed(placed) {
        (_, NOWHERE) => placed,
        (rank, index) => rank.at(place(index as usize) as u64),
    }
}

/// An operation that returns the index of the first element of the highest rank.
#[cfg(feature = "entries")]
pub trait Place<T: Pod>: Reduction<T> {
    type Rank: Rank<Placed = Self::Accumulator>;

    /// The rank of an element.
    fn rank(element: T) -> Self::Rank;
}

macro_rules! places {
    ($($operation:ident: $rank:ident;)*) => {$(
        #[cfg(feature = "entries")]
        impl<T: Ordered> Place<T> for $operation {
            type Rank = T::Rank;

            #[inline(always)]
            fn rank(element: T) -> T::Rank {
                $rank(element.without_negative_zero())
            }
        }

        impl<T: Ordered> Reduction<T> for $operation {
            type Accumulator = <T::Rank as Rank>::Placed;
            type Output = u64;
            const IDENTITY: Self::Accumulator = T::Rank::NOWHERE;
            const IS_TOTAL: bool = true;
            const NEEDS_AN_ELEMENT: bool = true;

            #[inline(always)]
            fn lift(element: T, index: usize) -> Self::Accumulator {
                $rank(element.without_negative_zero()).at(index as u64)
            }

            #[inline(always)]
            fn combine(left: Self::Accumulator, right: Self::Accumulator) -> Self::Accumulator {
                first_of_highest::<T::Rank>(left, right)
            }

            #[inline(always)]
            fn finish(total: Self::Accumulator, _elements: usize) -> u64 {
                T::Rank::of_placed(total).1
            }

            fn with_place(
                partial: Self::Accumulator,
                place: impl Fn(usize) -> usize,
            ) -> Self::Accumulator {
                moved::<T::Rank>(partial, place)
            }
        }
    )*};
}
places! {
    ArgMin: rank_for_min;
    ArgMax: rank_for_max;
}
