//! The elements of a tile in the registers of its threads.

use super::plan::{ROW_THREADS, ROWS, WARPS};
use super::summand::Summand;
use cuda_std::array;
use cuda_std::prelude::*;
use cuda_std::warp;

/// A thread's vectors, one in each row of its warp's.
pub type Rows<T, const LANES: usize> = [[T; LANES]; ROWS];

/// Where a thread's vectors lie.
///
/// What is compared with the end are numbers below those of a tile, constants but for `left`: with
/// indices of the array the compiler keeps one in registers for each element.
#[derive(Clone, Copy)]
pub struct Place {
    /// The thread's first element.
    first: usize,
    /// Elements from there on, at most those of a tile.
    left: u32,
    /// Whether all elements of the tile are there.
    is_whole: bool,
}

impl Place {
    /// That of the calling thread in tile number `tile` of an array of `len` elements.
    #[inline(always)]
    pub fn of_thread<const LANES: usize>(tile: usize, len: usize) -> Self {
        let of_warp = ROWS * apart::<LANES>();
        let of_tile = WARPS * of_warp;
        let thread = thread::thread_idx_x();
        let in_tile = warp_of(thread) * of_warp + (thread % ROW_THREADS) as usize * LANES;
        let first = tile * of_tile + in_tile;
        Self {
            first,
            left: len.saturating_sub(first).min(of_tile) as u32,
            is_whole: (tile + 1) * of_tile <= len,
        }
    }
}

/// Elements from one vector of a thread to the next.
const fn apart<const LANES: usize>() -> usize {
    ROW_THREADS as usize * LANES
}

/// Which part of a tile a thread has.
#[inline(always)]
pub fn warp_of(thread: u32) -> usize {
    (thread / ROW_THREADS) as usize
}

/// Whether an array starts at a multiple of a vector's bytes.
#[inline(always)]
fn is_aligned(address: usize) -> bool {
    address.is_multiple_of(16)
}

/// The thread's elements, with zeros for those past the end.
///
/// # Safety
/// 1. `place` is of an array as long as `x`.
#[inline(always)]
pub unsafe fn load<T: Summand, const LANES: usize>(x: Global<T>, place: Place) -> Rows<T, LANES> {
    if place.is_whole && is_aligned(x.as_ptr().addr()) {
        // SAFETY: (1) the tile is whole, by (1). (2) Both the array and a vector's first element are at
        // multiples of 16 bytes.
        return array::from_fn(|row| unsafe {
            x.load_vector(place.first + row * apart::<LANES>())
        });
    }
    array::from_fn(|row| {
        array::from_fn(|lane| {
            let offset = row * apart::<LANES>() + lane;
            if offset as u32 >= place.left {
                return T::ZERO;
            }
            // SAFETY: (1) is the comparison, by (1).
            unsafe { x.load(place.first + offset) }
        })
    })
}

/// Writes what `before` and each of the thread's elements add up to.
///
/// # Safety
/// 1. `sums` has an element for each of the array's.
/// 2. No other thread has the same place.
#[inline(always)]
pub unsafe fn store<T: Summand, const LANES: usize>(
    sums: GlobalMut<T>,
    place: Place,
    rows: &Rows<T, LANES>,
    before: T,
) {
    let is_vector = place.is_whole && is_aligned(sums.as_mut_ptr().addr());
    let mut row = 0;
    while row < ROWS {
        let offset = row * apart::<LANES>();
        let vector: [T; LANES] = array::from_fn(|lane| before.plus(rows[row][lane]).finished());
        if is_vector {
            // SAFETY: (1) the tile is whole, by (1). (2) is (2). (3) As in `load`.
            unsafe { sums.store_vector(place.first + offset, vector) };
        } else {
            let mut lane = 0;
            while lane < LANES {
                if ((offset + lane) as u32) < place.left {
                    // SAFETY: (1) is the comparison, by (1). (2) is (2).
                    unsafe { sums.store(place.first + offset + lane, vector[lane]) };
                }
                lane += 1;
            }
        }
        row += 1;
    }
}

/// Replaces each element by the sum of those of the warp up to it, or if `EXCLUSIVE` before it, and
/// returns the sum of all elements of the warp.
#[inline(always)]
pub fn scan_warp<T: Summand, const LANES: usize, const EXCLUSIVE: bool>(
    rows: &mut Rows<T, LANES>,
) -> T {
    let mut before_row = T::ZERO;
    let mut row = 0;
    while row < ROWS {
        let mut lane = 1;
        while lane < LANES {
            rows[row][lane] = rows[row][lane - 1].plus(rows[row][lane]);
            lane += 1;
        }
        let up_to = scan_row(rows[row][LANES - 1]);
        let of_row = warp::shuffle_width(LaneMask::all(), up_to, ROW_THREADS - 1, ROW_THREADS);
        let below = warp::shuffle_up_in(LaneMask::all(), up_to, 1, ROW_THREADS);
        let before = if is_first_of_row() {
            before_row
        } else {
            before_row.plus(below)
        };
        rows[row] = add_before::<T, LANES, EXCLUSIVE>(before, &rows[row]);
        before_row = before_row.plus(of_row);
        row += 1;
    }
    before_row
}

/// `before` with the first sums of a vector, or if `EXCLUSIVE` those one element earlier.
#[inline(always)]
fn add_before<T: Summand, const LANES: usize, const EXCLUSIVE: bool>(
    before: T,
    vector: &[T; LANES],
) -> [T; LANES] {
    array::from_fn(|lane| {
        let sum = if !EXCLUSIVE {
            before.plus(vector[lane])
        } else if lane == 0 {
            before
        } else {
            before.plus(vector[lane - 1])
        };
        sum.settled()
    })
}

#[inline(always)]
fn is_first_of_row() -> bool {
    thread::thread_idx_x().is_multiple_of(ROW_THREADS)
}

/// The sum of the values of a row's threads, of neighbours, then of pairs of neighbours, and so on.
#[inline(always)]
pub fn sum_of_row<T: Summand>(value: T) -> T {
    let mut value = value;
    let mut distance = 1;
    while distance < ROW_THREADS {
        let other = warp::shuffle_xor_in(LaneMask::all(), value, distance, ROW_THREADS);
        value = value.plus(other);
        distance *= 2;
    }
    value
}

/// The sum of the values of a row's threads up to the calling one (Hillis and Steele, Data Parallel
/// Algorithms, 1986).
#[inline(always)]
fn scan_row<T: Summand>(value: T) -> T {
    let thread = thread::thread_idx_x() % ROW_THREADS;
    let mut value = value;
    let mut distance = 1;
    while distance < ROW_THREADS {
        let below = warp::shuffle_up_in(LaneMask::all(), value, distance, ROW_THREADS);
        if thread >= distance {
            value = below.plus(value);
        }
        distance *= 2;
    }
    value
}
