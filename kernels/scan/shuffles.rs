//! Values of a row of threads, combined in order.

use super::plan::ROW_THREADS;
use super::value::ScanValue;
use crate::reduce::Reduction;
use cuda_std::Pod;
use cuda_std::prelude::*;

/// Combines the values of a row's threads: neighbours, then pairs of neighbours, and so on, each in its order.
#[inline(always)]
pub fn total_of_row<R: Reduction<T, Accumulator: ScanValue>, T: Pod>(
    value: R::Accumulator,
) -> R::Accumulator {
    let thread = thread::thread_idx_x();
    let mut value = value;
    let mut distance = 1;
    while distance < ROW_THREADS {
        let other = value.of_other_lane(distance, ROW_THREADS);
        value = if thread & distance == 0 {
            R::combine(value, other)
        } else {
            R::combine(other, value)
        };
        distance *= 2;
    }
    value
}

/// Combines the values of a row's threads up to the calling one, for `N` rows of vectors (Hillis and Steele, Data
/// Parallel Algorithms, 1986). The rows' shuffles come together, so that they wait once.
#[inline(always)]
pub fn scan_rows_of_vectors<R, T: Pod, const N: usize>(
    values: [R::Accumulator; N],
) -> [R::Accumulator; N]
where
    R: Reduction<T, Accumulator: ScanValue>,
{
    let thread = thread::thread_idx_x() % ROW_THREADS;
    let mut values = values;
    let mut distance = 1;
    while distance < ROW_THREADS {
        let mut below = values;
        let mut row = 0;
        while row < N {
            below[row] = values[row].of_lane_below(distance, ROW_THREADS);
            row += 1;
        }
        row = 0;
        while row < N {
            if thread >= distance {
                values[row] = R::combine(below[row], values[row]);
            }
            row += 1;
        }
        distance *= 2;
    }
    values
}

/// What precedes the calling thread's vector, of a row of vectors that `before_row` precedes, and the total of the
/// row. `up_to` is the row's values up to the thread's.
#[inline(always)]
pub fn precede<R: Reduction<T, Accumulator: ScanValue>, T: Pod>(
    up_to: R::Accumulator,
    before_row: R::Accumulator,
) -> (R::Accumulator, R::Accumulator) {
    let of_row = up_to.of_lane(ROW_THREADS - 1, ROW_THREADS);
    let below = up_to.of_lane_below(1, ROW_THREADS);
    let is_first = thread::thread_idx_x().is_multiple_of(ROW_THREADS);
    let before = if is_first {
        before_row
    } else {
        R::combine(before_row, below)
    };
    (before, of_row)
}
