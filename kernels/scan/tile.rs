//! A tile's elements in shared memory. Each thread copies its own vectors there, and reads no others.

use super::element::ScanElement;
use super::plan::{ROW_THREADS, ROWS, WARPS};
use cuda_std::array;
use cuda_std::pipeline::Pipeline;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;
use cuda_std::warp;

/// The position of a thread's vectors.
///
/// Bounds are checked with offsets in the tile, constants except for `left`: with indices of the
/// array, the compiler keeps one in registers for each element.
#[derive(Clone, Copy)]
pub struct Place {
    /// The thread's first element.
    first: usize,
    /// The thread's first element, counted in the tile.
    in_tile: usize,
    /// Elements from there to the end, at most a tile's.
    left: u32,
    /// Whether the array has all elements of the tile.
    is_whole: bool,
}

impl Place {
    /// The position of the calling thread in tile number `tile` of an array of `len` elements.
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

/// The part of a tile that a thread belongs to.
#[inline(always)]
pub fn warp_of(thread: u32) -> usize {
    (thread / ROW_THREADS) as usize
}

/// Whether an array starts at a multiple of a vector's bytes.
#[inline(always)]
fn is_aligned(address: usize) -> bool {
    address.is_multiple_of(16)
}

/// Copies the thread's elements to shared memory, with zeros past the end.
///
/// # Safety
/// 1. `place` was made for an array as long as `x`.
/// 2. `staged` holds a tile and is 16-byte aligned, and only [`vector`] uses it besides.
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
            // SAFETY: the tile is whole, and `staged` holds one: the caller's contract. Both arrays and the vectors
            // in them are aligned to 16 bytes. Only this thread uses the vector, and it waits below.
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
            // SAFETY: the index is below the length: compared above.
            unsafe { x.load(place.first + offset) }
        });
        // SAFETY: `staged` holds a tile: the caller's contract. Only this thread uses the vector, which is aligned to
        // 16 bytes.
        unsafe { staged.store_vector(place.in_tile + row * apart::<LANES>(), elements) };
        row += 1;
    }
}

/// The prefix sums within a thread's vector.
///
/// # Safety
/// 1. The thread has staged its elements at `place`.
#[inline(always)]
unsafe fn vector<T: ScanElement, const LANES: usize>(
    staged: SharedSlice<T>,
    place: Place,
    row: usize,
) -> [T; LANES] {
    // SAFETY: the thread itself wrote the vector in `stage`, at the same aligned index.
    let mut sums: [T; LANES] =
        unsafe { staged.load_vector(place.in_tile + row * apart::<LANES>()) };
    let mut lane = 1;
    while lane < LANES {
        sums[lane] = sums[lane - 1].plus(sums[lane]);
        lane += 1;
    }
    sums
}

/// Scans the vectors of the warp. Returns the sum before each of the thread's vectors, within the warp, and the sum
/// of the whole warp.
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
        // SAFETY: the thread has staged its elements: the caller's contract.
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

/// Writes the prefix sums of the thread's elements: the sum before the warp, plus the sum before
/// the vector, plus the sum within the vector up to the element, or before it if `EXCLUSIVE`.
///
/// # Safety
/// 1. `sums` is as long as the array.
/// 2. No other thread has the same position.
/// 3. The thread has staged its elements there.
#[inline(always)]
pub unsafe fn store<T: ScanElement, const LANES: usize, const EXCLUSIVE: bool>(
    sums: GlobalMut<T>,
    staged: SharedSlice<T>,
    place: Place,
    (before_warp, before): (T, &[T; ROWS]),
) {
    let sums_of = |row: usize| -> [T; LANES] {
        // SAFETY: the thread has staged its elements: the caller's contract.
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
            // SAFETY: the tile is whole, and `sums` is as long as the array. No other thread writes these elements:
            // the caller's contract. The array and the vectors in it are aligned to 16 bytes.
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
                // SAFETY: the index was compared with the end, and no other thread has it: the
                // caller's contract.
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

/// Sums the values of a row's threads: neighbours, then pairs of neighbours, and so on.
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

/// Sums the values of a row's threads up to the calling one (Hillis and Steele, Data Parallel
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
