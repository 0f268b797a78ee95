//! The elements of a tile, in shared memory: each thread copies its vectors there, and reads no others.

use super::element::ScanElement;
use super::plan::{ROW_THREADS, ROWS, WARPS};
use cuda_std::array;
use cuda_std::pipeline::Pipeline;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;
use cuda_std::warp;

/// Where a thread's vectors lie.
///
/// What is compared with the end are numbers below those of a tile, constants but for `left`: with
/// indices of the array the compiler keeps one in registers for each element.
#[derive(Clone, Copy)]
pub struct Place {
    /// The thread's first element.
    first: usize,
    /// The same in the tile.
    in_tile: usize,
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
            in_tile,
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

/// Brings the thread's elements to shared memory, with zeros for those past the end.
///
/// # Safety
/// 1. `place` is of an array as long as `x`.
/// 2. `staged` has room for a tile, at a multiple of 16 bytes, and is used by [`vector`] alone besides.
#[inline(always)]
pub unsafe fn stage<T: ScanElement, const LANES: usize>(
    x: Global<T>,
    staged: SharedSlice<T>,
    place: Place,
) {
    if place.is_whole && is_aligned(x.as_ptr().addr()) {
        let mut pipeline = Pipeline::<1>::new();
        let mut row = 0;
        while row < ROWS {
            let apart = row * apart::<LANES>();
            // SAFETY: (1) the tile is whole, by (1); there is room, by (2). (2) Both arrays and a vector's
            // first element are at multiples of 16 bytes. (3) The thread alone uses the vector, and waits
            // below.
            unsafe {
                let (to, from) = (place.in_tile + apart, place.first + apart);
                pipeline.copy::<T, LANES>(staged, to, x, from);
            }
            row += 1;
        }
        pipeline.commit();
        let _ = pipeline.consumer_wait_full();
        return;
    }
    let mut row = 0;
    while row < ROWS {
        let elements: [T; LANES] = array::from_fn(|lane| {
            let offset = row * apart::<LANES>() + lane;
            if offset as u32 >= place.left {
                return T::ZERO;
            }
            // SAFETY: (1) is the comparison, by (1).
            unsafe { x.load(place.first + offset) }
        });
        // SAFETY: (1) is (2). (2) The thread alone uses the vector. (3) It is at a multiple of 16 bytes.
        unsafe { staged.store_vector(place.in_tile + row * apart::<LANES>(), elements) };
        row += 1;
    }
}

/// The first sums of a thread's vector: of its first element, of its first two, and so on.
///
/// # Safety
/// 1. The thread has staged its elements at `place`.
#[inline(always)]
unsafe fn vector<T: ScanElement, const LANES: usize>(
    staged: SharedSlice<T>,
    place: Place,
    row: usize,
) -> [T; LANES] {
    // SAFETY: (1), (2), (3) as in `stage`: the thread wrote the vector itself.
    let mut sums: [T; LANES] =
        unsafe { staged.load_vector(place.in_tile + row * apart::<LANES>()) };
    let mut lane = 1;
    while lane < LANES {
        sums[lane] = sums[lane - 1].plus(sums[lane]);
        lane += 1;
    }
    sums
}

/// Scans the vectors of the warp: for each of the thread's what comes before it in the warp, and the sum of
/// all elements of the warp.
///
/// # Safety
/// 1. The thread has staged its elements at `place`.
#[inline(always)]
pub unsafe fn scan_warp<T: ScanElement, const LANES: usize>(
    staged: SharedSlice<T>,
    place: Place,
) -> ([T; ROWS], T) {
    let mut before = [T::ZERO; ROWS];
    let mut before_row = T::ZERO;
    let mut row = 0;
    while row < ROWS {
        // SAFETY: (1) is (1).
        let of_vector = unsafe { vector::<T, LANES>(staged, place, row) }[LANES - 1];
        let up_to = scan_row(of_vector);
        let of_row = warp::shuffle_width(LaneMask::all(), up_to, ROW_THREADS - 1, ROW_THREADS);
        let below = warp::shuffle_up_in(LaneMask::all(), up_to, 1, ROW_THREADS);
        before[row] = if is_first_of_row() {
            before_row
        } else {
            before_row.plus(below)
        };
        before_row = before_row.plus(of_row);
        row += 1;
    }
    (before, before_row)
}

/// Writes what comes before the warp, what comes before each of the thread's vectors in it, and the
/// elements of the vector up to each, or if `EXCLUSIVE` before it, add up to.
///
/// # Safety
/// 1. `sums` has an element for each of the array's.
/// 2. No other thread has the same place.
/// 3. The thread has staged its elements there.
#[inline(always)]
pub unsafe fn store<T: ScanElement, const LANES: usize, const EXCLUSIVE: bool>(
    sums: GlobalMut<T>,
    staged: SharedSlice<T>,
    place: Place,
    (before_warp, before): (T, &[T; ROWS]),
) {
    let sums_of = |row: usize| -> [T; LANES] {
        // SAFETY: (1) is (3).
        let vector: [T; LANES] = unsafe { vector(staged, place, row) };
        array::from_fn(|lane| {
            let in_warp = if !EXCLUSIVE {
                before[row].plus(vector[lane])
            } else if lane == 0 {
                before[row]
            } else {
                before[row].plus(vector[lane - 1])
            };
            before_warp.plus(in_warp).finished()
        })
    };
    let mut row = 0;
    if place.is_whole && is_aligned(sums.as_mut_ptr().addr()) {
        while row < ROWS {
            let at = place.first + row * apart::<LANES>();
            // SAFETY: (1) the tile is whole, by (1). (2) is (2). (3) Both the array and a vector's first
            // element are at multiples of 16 bytes.
            unsafe { sums.store_vector(at, sums_of(row)) };
            row += 1;
        }
        return;
    }
    while row < ROWS {
        let vector = sums_of(row);
        let mut lane = 0;
        while lane < LANES {
            let offset = row * apart::<LANES>() + lane;
            if (offset as u32) < place.left {
                // SAFETY: (1) is the comparison, by (1). (2) is (2).
                unsafe { sums.store(place.first + offset, vector[lane]) };
            }
            lane += 1;
        }
        row += 1;
    }
}

#[inline(always)]
fn is_first_of_row() -> bool {
    thread::thread_idx_x().is_multiple_of(ROW_THREADS)
}

/// The sum of the values of a row's threads, of neighbours, then of pairs of neighbours, and so on.
#[inline(always)]
pub fn sum_of_row<T: ScanElement>(value: T) -> T {
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
fn scan_row<T: ScanElement>(value: T) -> T {
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
