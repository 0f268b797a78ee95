//! A tile's elements in shared memory. Each thread copies its own vectors there, and reads no others.

use super::place::Place;
use super::plan::{ROW_THREADS, ROWS};
use super::value::ScanValue;
use crate::outputs::StoreWay;
use crate::reduce::Reduction;
use cuda_std::Pod;
use cuda_std::array;
use cuda_std::pipeline::Pipeline;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// The elements of a tile, as a thread sees them.
#[derive(Clone, Copy)]
pub struct Tile<'block, T> {
    /// They are 16-byte aligned.
    pub staged: SharedSlice<'block, T>,
    pub place: Place,
}

/// Which results are stored, and what precedes the calling thread's warp.
#[derive(Clone, Copy)]
pub struct Before<'a, A> {
    pub is_exclusive: bool,
    /// All before the warp.
    pub warp: A,
    /// What precedes each of the thread's vectors, in the warp.
    pub vectors: &'a [A; ROWS],
}

impl<T: Pod> Tile<'_, T> {
    /// Copies the thread's elements to shared memory, with zeros where there are none.
    ///
    /// # Safety
    /// 1. `place` was made for `x`.
    /// 2. `staged` holds a tile, and only the functions here use it.
    #[inline(always)]
    pub unsafe fn stage<const LANES: usize>(self, x: Global<T>) {
        let Self { staged, place } = self;
        let (address, bytes) = (x.as_ptr().addr(), size_of::<T>());
        if place.has_vectors && place.is_x_aligned(address, bytes) {
            let mut pipeline = Pipeline::<1>::new();
            let mut row = 0;
            while row < ROWS {
                let (to, from) = (place.staged_at::<LANES>(row), place.x_at(row));
                if place.has(row, 0) {
                    // SAFETY: the vector exists, and `staged` holds a tile: the caller's contract. Both arrays and the
                    // vectors in them are aligned to 16 bytes. Only this thread uses the vector, and it waits below.
                    unsafe { pipeline.copy::<T, LANES>(staged, to, x, from) };
                } else {
                    // SAFETY: `staged` holds a tile: the caller's contract. Only this thread uses the vector.
                    unsafe { staged.store_vector(to, [T::zeroed(); LANES]) };
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
                if !place.has(row, lane) {
                    return T::zeroed();
                }
                // SAFETY: the element exists: compared above.
                unsafe { x.load(place.x_at(row) + lane) }
            });
            // SAFETY: `staged` holds a tile: the caller's contract. Only this thread uses the vector, which is aligned
            // to 16 bytes.
            unsafe { staged.store_vector(place.staged_at::<LANES>(row), elements) };
            row += 1;
        }
    }

    /// The prefixes within the thread's vector `row`. Unless `CHECKED`, those behind the last element are unspecified.
    ///
    /// # Safety
    /// 1. The thread has staged its elements.
    #[inline(always)]
    unsafe fn vector<R: Reduction<T>, const LANES: usize, const CHECKED: bool>(
        self,
        row: usize,
    ) -> [R::Accumulator; LANES] {
        let place = self.place;
        // SAFETY: the thread itself wrote the vector in `stage`, at the same aligned index.
        let elements: [T; LANES] =
            unsafe { self.staged.load_vector(place.staged_at::<LANES>(row)) };
        let mut prefixes: [R::Accumulator; LANES] = array::from_fn(|lane| {
            if CHECKED && !place.has(row, lane) {
                R::IDENTITY
            } else {
                R::lift(elements[lane], place.index_of(row, lane))
            }
        });
        let mut lane = 1;
        while lane < LANES {
            prefixes[lane] = R::combine(prefixes[lane - 1], prefixes[lane]);
            lane += 1;
        }
        prefixes
    }

    /// Scans the vectors of the warp. Returns what precedes each of the thread's vectors, within the warp, and the
    /// total of the whole warp. If each row of vectors is a row of the matrix, nothing precedes it.
    ///
    /// # Safety
    /// 1. The thread has staged its elements.
    #[inline(always)]
    pub unsafe fn scan_warp<R, const LANES: usize, const CHECKED: bool>(
        self,
    ) -> ([R::Accumulator; ROWS], R::Accumulator)
    where
        R: Reduction<T, Accumulator: ScanValue>,
    {
        let mut before = [R::IDENTITY; ROWS];
        let mut before_row = R::IDENTITY;
        let mut row = 0;
        while row < ROWS {
            // SAFETY: the thread has staged its elements: the caller's contract.
            let of_vector = unsafe { self.vector::<R, LANES, CHECKED>(row) }[LANES - 1];
            let up_to = scan_row::<R, T>(of_vector);
            let of_row = up_to.of_lane(ROW_THREADS - 1, ROW_THREADS);
            let below = up_to.of_lane_below(1, ROW_THREADS);
            before[row] = if is_first_of_row() {
                before_row
            } else {
                R::combine(before_row, below)
            };
            before_row = if self.place.is_of_vectors {
                R::IDENTITY
            } else {
                R::combine(before_row, of_row)
            };
            row += 1;
        }
        (before, before_row)
    }

    /// Writes the results of the thread's elements: of what precedes the warp, then what precedes the vector, then the
    /// elements of the vector up to their own, or before it.
    ///
    /// # Safety
    /// 1. `y` has the place's results. No other thread has the same place.
    /// 2. The thread has staged its elements.
    /// 3. `W` and `OUTPUTS` are what `outputs.rs` says for elements and results.
    #[inline(always)]
    pub unsafe fn store<
        R: Reduction<T>,
        W: StoreWay,
        const LANES: usize,
        const OUTPUTS: usize,
        const CHECKED: bool,
    >(
        self,
        y: GlobalMut<R::Output>,
        before: Before<'_, R::Accumulator>,
    ) {
        let place = self.place;
        let results_of = |row: usize| -> [R::Output; LANES] {
            // SAFETY: the thread has staged its elements: the caller's contract.
            let vector = unsafe { self.vector::<R, LANES, CHECKED>(row) };
            array::from_fn(|lane| {
                let in_warp = if !before.is_exclusive {
                    R::combine(before.vectors[row], vector[lane])
                } else if lane == 0 {
                    before.vectors[row]
                } else {
                    R::combine(before.vectors[row], vector[lane - 1])
                };
                let elements = place.index_of(row, lane) + usize::from(!before.is_exclusive);
                R::finish(R::combine(before.warp, in_warp), elements)
            })
        };
        let (address, bytes) = (y.as_mut_ptr().addr(), size_of::<R::Output>());
        let is_aligned = place.is_y_aligned(address, bytes, OUTPUTS * bytes);
        let mut row = 0;
        if W::IS_VECTOR && place.has_vectors && is_aligned {
            while row < ROWS {
                if place.has(row, 0) {
                    let results = results_of(row);
                    let mut lane = 0;
                    while lane < LANES {
                        let part: [R::Output; OUTPUTS] =
                            array::from_fn(|number| results[lane + number]);
                        // SAFETY: the vector exists, and `y` has its results. No other thread writes them: the
                        // caller's contract. They are aligned: compared above.
                        unsafe { W::store(y, place.y_at(row) + lane, part) };
                        lane += OUTPUTS;
                    }
                }
                row += 1;
            }
            return;
        }
        while row < ROWS {
            let results = results_of(row);
            let mut lane = 0;
            while lane < LANES {
                if place.has(row, lane) {
                    // SAFETY: the element exists: compared above. No other thread has it: the caller's contract.
                    unsafe { y.store(place.y_at(row) + lane, results[lane]) };
                }
                lane += 1;
            }
            row += 1;
        }
    }
}

#[inline(always)]
fn is_first_of_row() -> bool {
    thread::thread_idx_x().is_multiple_of(ROW_THREADS)
}

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

/// Combines the values of a row's threads up to the calling one (Hillis and Steele, Data Parallel
/// Algorithms, 1986).
#[inline(always)]
fn scan_row<R: Reduction<T, Accumulator: ScanValue>, T: Pod>(
    value: R::Accumulator,
) -> R::Accumulator {
    let thread = thread::thread_idx_x() % ROW_THREADS;
    let mut value = value;
    let mut distance = 1;
    while distance < ROW_THREADS {
        let below = value.of_lane_below(distance, ROW_THREADS);
        if thread >= distance {
            value = R::combine(below, value);
        }
        distance *= 2;
    }
    value
}
