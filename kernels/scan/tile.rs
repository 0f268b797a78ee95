//! A tile's elements in shared memory. Each thread copies its own vectors there, and reads no others.

use super::place::Place;
use super::plan::ROWS;
use super::shuffles::{precede, scan_rows_of_vectors};
use super::value::ScanValue;
use crate::outputs::StoreWay;
use crate::reduce::Reduction;
use bytemuck::Zeroable as _;
use cuda_std::Pod;
use cuda_std::array;
use cuda_std::hint;
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

/// Rows of vectors that a thread loads at once, by single elements.
const SINGLE_ROWS: usize = 4;

/// Rows of vectors that are scanned together.
const TOGETHER: usize = 2;

/// Which results are stored, and what precedes a vector.
#[derive(Clone, Copy)]
pub struct Before<A> {
    pub is_exclusive: bool,
    /// All before the warp.
    pub warp: A,
    /// What precedes the vector in its warp.
    pub vector: A,
}

/// The prefixes within a vector. Elements that do not exist count as none.
#[inline(always)]
pub fn prefixes_of<R: Reduction<T>, T: Pod, const LANES: usize>(
    elements: [T; LANES],
    exists: impl Fn(usize) -> bool,
    first: usize,
) -> [R::Accumulator; LANES] {
    let mut prefixes: [R::Accumulator; LANES] = array::from_fn(|lane| {
        if exists(lane) {
            R::lift(elements[lane], first + lane)
        } else {
            R::IDENTITY
        }
    });
    let mut lane = 1;
    while lane < LANES {
        prefixes[lane] = R::combine(prefixes[lane - 1], prefixes[lane]);
        lane += 1;
    }
    prefixes
}

/// The results of a vector from element `first` of its line on: of what precedes the warp, then what precedes the
/// vector, then the elements of the vector up to their own, or before it. Of elements that do not exist, anything.
#[inline(always)]
pub fn results_of<R: Reduction<T>, T: Pod, const LANES: usize>(
    prefixes: &[R::Accumulator; LANES],
    before: Before<R::Accumulator>,
    exists: impl Fn(usize) -> bool,
    first: usize,
) -> [R::Output; LANES] {
    array::from_fn(|lane| {
        if !R::IS_TOTAL && !exists(lane) {
            return R::Output::zeroed();
        }
        let in_warp = if !before.is_exclusive {
            R::combine(before.vector, prefixes[lane])
        } else if lane == 0 {
            before.vector
        } else {
            R::combine(before.vector, prefixes[lane - 1])
        };
        let elements = first + lane + usize::from(!before.is_exclusive);
        R::finish(R::combine(before.warp, in_warp), elements)
    })
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
        // Hidden, so that the loop is not unrolled.
        while row < hint::opaque_size(ROWS) {
            let elements: [[T; LANES]; SINGLE_ROWS] = array::from_fn(|part| {
                array::from_fn(|lane| {
                    if !place.has(row + part, lane) {
                        return T::zeroed();
                    }
                    // SAFETY: the element exists: compared above.
                    unsafe { x.load(place.x_at(row + part) + lane) }
                })
            });
            let mut part = 0;
            while part < SINGLE_ROWS {
                let at = place.staged_at::<LANES>(row + part);
                // SAFETY: `staged` holds a tile: the caller's contract. Only this thread uses the vector, which is
                // aligned to 16 bytes.
                unsafe { staged.store_vector(at, elements[part]) };
                part += 1;
            }
            row += SINGLE_ROWS;
        }
    }

    /// The prefixes within the thread's vector `row`. Those behind the last element are unspecified.
    ///
    /// # Safety
    /// 1. The thread has staged its elements.
    #[inline(always)]
    unsafe fn vector<R: Reduction<T>, const LANES: usize>(
        self,
        row: usize,
    ) -> [R::Accumulator; LANES] {
        let place = self.place;
        // SAFETY: the thread itself wrote the vector in `stage`, at the same aligned index.
        let elements: [T; LANES] =
            unsafe { self.staged.load_vector(place.staged_at::<LANES>(row)) };
        let exists = |lane| R::IS_TOTAL || place.has(row, lane);
        prefixes_of::<R, T, LANES>(elements, exists, place.index_of(row, 0))
    }

    /// Scans the vectors of the warp. Returns what precedes each of the thread's vectors, within the warp, and the total
    /// of the whole warp. If each row of vectors is a line, nothing precedes it.
    ///
    /// # Safety
    /// 1. The thread has staged its elements.
    #[inline(always)]
    pub unsafe fn scan_warp<R, const LANES: usize>(self) -> ([R::Accumulator; ROWS], R::Accumulator)
    where
        R: Reduction<T, Accumulator: ScanValue>,
    {
        let mut before = [R::IDENTITY; ROWS];
        let mut before_row = R::IDENTITY;
        let mut row = 0;
        while row < ROWS {
            // SAFETY: the thread has staged its elements: the caller's contract.
            let of_vector = unsafe { self.vector::<R, LANES>(row) }[LANES - 1];
            let [up_to] = scan_rows_of_vectors::<R, T, 1>([of_vector]);
            let (before_vector, of_row) = precede::<R, T>(up_to, before_row);
            before[row] = before_vector;
            before_row = if self.place.is_of_vectors {
                R::IDENTITY
            } else {
                R::combine(before_row, of_row)
            };
            row += 1;
        }
        (before, before_row)
    }

    /// Writes the results of the thread's elements, with what precedes its warp, and each of its vectors.
    ///
    /// # Safety
    /// 1. `y` has the place's results. No other thread has the same place.
    /// 2. The thread has staged its elements.
    /// 3. `W` and `OUTPUTS` are what `outputs.rs` says for elements and results.
    #[inline(always)]
    pub unsafe fn store<R, W, const LANES: usize, const OUTPUTS: usize>(
        self,
        y: GlobalMut<R::Output>,
        before: Before<R::Accumulator>,
        vectors: &[R::Accumulator; ROWS],
    ) where
        R: Reduction<T>,
        W: StoreWay,
    {
        let results_of = |row: usize| -> [R::Output; LANES] {
            // SAFETY: the thread has staged its elements: the caller's contract.
            let prefixes = unsafe { self.vector::<R, LANES>(row) };
            let before = Before {
                vector: vectors[row],
                ..before
            };
            let exists = |lane| self.place.has(row, lane);
            results_of::<R, T, LANES>(&prefixes, before, exists, self.place.index_of(row, 0))
        };
        let has_vectors = self.has_vectors::<R::Output, W, OUTPUTS>(y);
        let mut row = 0;
        // SAFETY: for both: the caller's contract.
        unsafe {
            if has_vectors {
                while row < ROWS {
                    if self.place.has(row, 0) {
                        self.store_whole::<_, W, LANES, OUTPUTS>(y, row, results_of(row));
                    }
                    row += 1;
                }
                return;
            }
            while row < ROWS {
                self.store_single(y, row, results_of(row));
                row += 1;
            }
        }
    }

    /// Visits the thread's vectors, each with its row, its prefixes, and what precedes it in the warp. Returns the total
    /// of the warp. If each row of vectors is a line, nothing precedes it.
    ///
    /// It keeps few vectors in registers at once, whatever the accumulator is.
    ///
    /// # Safety
    /// 1. The thread has staged its elements.
    #[inline(always)]
    pub unsafe fn walk<R, const LANES: usize>(
        self,
        mut visit: impl FnMut(usize, &[R::Accumulator; LANES], R::Accumulator),
    ) -> R::Accumulator
    where
        R: Reduction<T, Accumulator: ScanValue>,
    {
        let mut before_row = R::IDENTITY;
        let mut visit_row = |row, prefixes: &[R::Accumulator; LANES], up_to| {
            let (before, of_row) = precede::<R, T>(up_to, before_row);
            visit(row, prefixes, before);
            before_row = if self.place.is_of_vectors {
                R::IDENTITY
            } else {
                R::combine(before_row, of_row)
            };
        };
        let mut row = 0;
        // Hidden, so that the loop is not unrolled.
        while row < hint::opaque_size(ROWS) {
            // SAFETY: for both: the thread has staged its elements, the caller's contract.
            let prefixes: [[R::Accumulator; LANES]; TOGETHER] =
                array::from_fn(|part| unsafe { self.vector::<R, LANES>(row + part) });
            let [first, second] = prefixes;
            let ends = [first[LANES - 1], second[LANES - 1]];
            let up_to = scan_rows_of_vectors::<R, T, TOGETHER>(ends);
            // Not a loop: it would index arrays, which then are in memory.
            visit_row(row, &first, up_to[0]);
            visit_row(row + 1, &second, up_to[1]);
            row += TOGETHER;
        }
        before_row
    }

    /// Whether results are stored in vectors.
    #[inline(always)]
    fn has_vectors<O: Pod, W: StoreWay, const OUTPUTS: usize>(self, y: GlobalMut<O>) -> bool {
        let (address, bytes) = (y.as_mut_ptr().addr(), size_of::<O>());
        let is_aligned = self.place.is_y_aligned(address, bytes, OUTPUTS * bytes);
        W::IS_VECTOR && self.place.has_vectors && is_aligned
    }

    /// Writes the results of the thread's vector `row`.
    ///
    /// # Safety
    /// 1. `y` has the place's results. No other thread has the same place.
    /// 2. `W` and `OUTPUTS` are what `outputs.rs` says for elements and results.
    #[inline(always)]
    pub unsafe fn store_vector<O, W, const LANES: usize, const OUTPUTS: usize>(
        self,
        y: GlobalMut<O>,
        row: usize,
        results: [O; LANES],
    ) where
        O: Pod,
        W: StoreWay,
    {
        // SAFETY: for both: the caller's contract.
        unsafe {
            if !self.has_vectors::<O, W, OUTPUTS>(y) {
                self.store_single(y, row, results);
            } else if self.place.has(row, 0) {
                self.store_whole::<O, W, LANES, OUTPUTS>(y, row, results);
            }
        }
    }

    /// # Safety
    /// 1. The first of [`store_vector`](Self::store_vector). The vector exists, and its results are aligned vectors.
    #[inline(always)]
    unsafe fn store_whole<O: Pod, W: StoreWay, const LANES: usize, const OUTPUTS: usize>(
        self,
        y: GlobalMut<O>,
        row: usize,
        results: [O; LANES],
    ) {
        let mut lane = 0;
        while lane < LANES {
            let part: [O; OUTPUTS] = array::from_fn(|number| results[lane + number]);
            // SAFETY: `y` has the vector's results, aligned, and no other thread writes them: the caller's contract.
            unsafe { W::store(y, self.place.y_at(row) + lane, part) };
            lane += OUTPUTS;
        }
    }

    /// # Safety
    /// 1. The first of [`store_vector`](Self::store_vector).
    #[inline(always)]
    unsafe fn store_single<O: Pod, const LANES: usize>(
        self,
        y: GlobalMut<O>,
        row: usize,
        results: [O; LANES],
    ) {
        let mut lane = 0;
        while lane < LANES {
            if self.place.has(row, lane) {
                // SAFETY: the element exists: compared above. No other thread has it: the caller's contract.
                unsafe { y.store(self.place.y_at(row) + lane, results[lane]) };
            }
            lane += 1;
        }
    }
}
