//! How a thread's vectors of a row move between memory and registers.

use super::element::RowElement;
use super::place::Place;
use super::vectors::{Row, Values};
use cuda_std::array;
use cuda_std::hint::opaque;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;
use cuda_std::warp;

/// Whole vectors at `$places`, of rows that are not staged.
///
/// `$from_fn` makes the arrays. With that of `core`, which is not inlined at once, the compiler orders the code of rows
/// of a block so that softmax of 16-bit elements takes a tenth less. In larger kernels it would remain a function.
///
/// # Safety
/// Those of [`Mover::load`], of rows that are not staged.
macro_rules! load_vectors {
    ($from_fn:path, $padding:ident, $places:ident) => {{
        let (_, first) = $places(0);
        if !first.exists() {
            return [[$padding; LANES]; SLOTS];
        }
        let loaded: [[T; LANES]; SLOTS] = $from_fn(|slot| {
            let (row, place) = $places(slot);
            let offset = if place.exists() {
                place.offset
            } else {
                first.offset
            };
            // SAFETY: the vector exists, whole and aligned: the caller's contract.
            unsafe { row.load_vector(offset as usize) }
        });
        $from_fn(|slot| $from_fn(|lane| loaded[slot][lane].widen()))
    }};
}

/// How rows move between memory and registers: by vectors, or, where rows do not consist of whole aligned vectors,
/// through shared memory.
///
/// A group of lanes has neighbouring vectors. It loads and stores single elements, neighbouring ones at a time, and
/// exchanges them in shared memory.
#[derive(Clone, Copy)]
pub struct Mover<'block, T> {
    is_staged: bool,
    /// A vector for each thread of the block, if rows are staged.
    stage: SharedSlice<'block, T>,
    /// Lanes of a group, a power of two up to 32.
    lanes: u32,
}

impl<'block, T: RowElement> Mover<'block, T> {
    /// Rows are moved through `stage` if `is_staged`, by groups of `lanes` lanes.
    #[inline(always)]
    pub fn new(is_staged: bool, stage: SharedSlice<'block, T>, lanes: u32) -> Self {
        Self {
            is_staged,
            stage,
            lanes,
        }
    }

    /// Loads the vectors at `places`, each of a row, with `padding` for the elements of a vector, or of a thread, that
    /// do not exist. A vector that does not exist, of a thread that has others, is unspecified elements of its row.
    ///
    /// There is one branch for all loads: with a branch of its own, each would wait for the last. So vectors that do
    /// not exist are read from the place of the first, which the thread has, too.
    ///
    /// # Safety
    /// 1. Rows have the places' elements, which no thread writes, unless a barrier of the warp orders the two. The
    ///    row of a place that does not exist has the first place's elements.
    /// 2. All lanes of the warp call it. Unless rows are staged, they are aligned to 16 bytes, and places have whole
    ///    vectors or none. Otherwise `stage` has a vector for each thread, which nothing else uses.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load<'launch, const SLOTS: usize, const LANES: usize>(
        self,
        padding: f32,
        places: impl Fn(usize) -> (Row<'launch, T>, Place),
    ) -> Values<SLOTS, LANES>
    where
        T: 'launch,
    {
        if self.is_staged {
            // All loads come before the first exchange, which waits.
            let loaded: [[T; LANES]; SLOTS] = array::from_fn(|slot| {
                let (row, place) = places(slot);
                // SAFETY: the caller's contract.
                unsafe { self.load_single(row, place) }
            });
            return array::from_fn(|slot| {
                // SAFETY: all lanes of the warp call it, and the stage is free: the caller's contract.
                unsafe { self.exchange(padding, places(slot).1, loaded[slot]) }
            });
        }
        load_vectors!(array::from_fn, padding, places)
    }

    /// Loads the vectors at `places` as [`load`](Self::load) does, of a row that the block has in registers. Where rows
    /// are staged, a thread loads the elements of its own vectors, all but the first of them from the first-level cache.
    ///
    /// # Safety
    /// 1. Those of [`load`](Self::load).
    #[cfg(feature = "entries")]
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load_own<'launch, const SLOTS: usize, const LANES: usize>(
        self,
        padding: f32,
        places: impl Fn(usize) -> (Row<'launch, T>, Place),
    ) -> Values<SLOTS, LANES>
    where
        T: 'launch,
    {
        if !self.is_staged {
            return load_vectors!(core::array::from_fn, padding, places);
        }
        // All loads come before the first conversion, which waits.
        let loaded: [[T; LANES]; SLOTS] = core::array::from_fn(|slot| {
            let (row, place) = places(slot);
            let first = place.offset as usize;
            if place.left >= LANES as i32 {
                // SAFETY: the row has the whole vector: the caller's contract.
                return core::array::from_fn(|lane| unsafe { row.load(first + lane) });
            }
            core::array::from_fn(|lane| match (lane as i32) < place.left {
                // SAFETY: the row has the element: the caller's contract.
                true => unsafe { row.load(first + lane) },
                false => T::zeroed(),
            })
        });
        core::array::from_fn(|slot| {
            let (_, place) = places(slot);
            core::array::from_fn(|lane| {
                if (lane as i32) < place.left {
                    loaded[slot][lane].widen()
                } else {
                    padding
                }
            })
        })
    }

    /// Puts the vector at a place of the block's row into shared memory, whence [`unload`](Self::unload) stores it.
    ///
    /// # Safety
    /// 1. Shared memory has room for the row, in whole vectors. The place is the calling thread's.
    #[cfg(feature = "entries")]
    #[inline(always)]
    #[track_caller]
    pub unsafe fn put<const LANES: usize>(self, place: Place, values: [f32; LANES]) {
        if place.exists() {
            // SAFETY: there is room: the caller's contract. Vectors are aligned in shared memory.
            unsafe {
                self.stage
                    .store_vector(place.offset as usize, T::narrow(values));
            }
        }
    }

    /// Stores a row of `len` elements from shared memory, in vectors of `LANES` that are aligned in the row's memory,
    /// and waits for the block's threads before and after.
    ///
    /// # Safety
    /// 1. The row has the elements, which no other block touches. All threads of the block call it, and have
    ///    [put](Self::put) all vectors.
    #[cfg(feature = "entries")]
    #[inline(always)]
    #[track_caller]
    pub unsafe fn unload<const LANES: usize>(self, row: Row<T>, len: usize) {
        let (thread, threads) = (
            thread::thread_idx_x() as usize,
            thread::block_dim_x() as usize,
        );
        let past = row.past_vector(LANES);
        let before = if past == 0 { 0 } else { LANES - past }.min(len);
        let vectors = (len - before) / LANES;
        let rest = before + vectors * LANES;
        thread::sync_threads();
        // SAFETY: the row and shared memory have `len` elements, each of which one thread stores. Vectors start where
        // the row's memory is aligned. Threads put the elements before the barrier above: the caller's contract.
        unsafe {
            let mut number = thread;
            while number < vectors {
                let at = before + number * LANES;
                let vector: [T; LANES] = array::from_fn(|lane| self.stage.load(at + lane));
                row.store_vector(at, vector);
                number += threads;
            }
            if thread < before {
                row.store(thread, self.stage.load(thread));
            }
            if rest + thread < len {
                row.store(rest + thread, self.stage.load(rest + thread));
            }
        }
        thread::sync_threads();
    }

    /// The calling thread's lane in its group, and the first element of the group in the stage.
    #[inline(always)]
    fn group<const LANES: usize>(self) -> (u32, usize) {
        // Hidden, so that the optimiser does not keep what follows from it in registers.
        let thread = opaque(thread::thread_idx_x());
        let lane = thread & (self.lanes - 1);
        (lane, (thread - lane) as usize * LANES)
    }

    /// Loads single elements of the vectors of a group: neighbouring lanes load neighbouring elements. Those that do
    /// not exist are zero.
    ///
    /// # Safety
    /// 1. The row has the elements of the place and of those of the group, which no thread writes meanwhile.
    #[inline(always)]
    #[track_caller]
    unsafe fn load_single<const LANES: usize>(self, row: Row<T>, place: Place) -> [T; LANES] {
        let (lane, _) = self.group::<LANES>();
        let before = lane * LANES as u32;
        array::from_fn(|part| {
            let number = part as u32 * self.lanes + lane;
            if (number as i32) < place.left + before as i32 {
                let at = (place.offset - before + number) as usize;
                // SAFETY: the row has the element: compared above.
                unsafe { row.load(at) }
            } else {
                T::zeroed()
            }
        })
    }

    /// The vector at a place, from the elements that the lanes of its group have loaded.
    ///
    /// # Safety
    /// 1. All lanes of the warp call it. The stage has a vector for each thread, which nothing else uses.
    #[inline(always)]
    #[track_caller]
    unsafe fn exchange<const LANES: usize>(
        self,
        padding: f32,
        place: Place,
        loaded: [T; LANES],
    ) -> [f32; LANES] {
        let (lane, group) = self.group::<LANES>();
        let mut part = 0;
        while part < LANES {
            let number = part * self.lanes as usize + lane as usize;
            // SAFETY: the stage has the group's vectors: the caller's contract.
            unsafe { self.stage.store(group + number, loaded[part]) };
            part += 1;
        }
        warp::sync(LaneMask::all());
        let at = group + lane as usize * LANES;
        // SAFETY: the lanes of the group stored all of its elements before the barrier above. Vectors are aligned.
        let vector: [T; LANES] = unsafe { self.stage.load_vector(at) };
        warp::sync(LaneMask::all());
        array::from_fn(|part| {
            if (part as i32) < place.left {
                vector[part].widen()
            } else {
                padding
            }
        })
    }

    /// Stores the elements of a vector of `row` that exist.
    ///
    /// # Safety
    /// 1. The row has the place's elements, which no other thread touches, unless a barrier of the warp orders the two.
    /// 2. The second of [`load`](Self::load).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store<const LANES: usize>(self, row: Row<T>, place: Place, values: [f32; LANES]) {
        let elements = T::narrow(values);
        if !self.is_staged {
            if place.exists() {
                // SAFETY: the vector exists, whole and aligned: the caller's contract.
                unsafe { row.store_vector(place.offset as usize, elements) };
            }
            return;
        }
        let (lane, group) = self.group::<LANES>();
        let before = lane * LANES as u32;
        // SAFETY: the stage has a vector for each thread, aligned: the caller's contract.
        unsafe { self.stage.store_vector(group + before as usize, elements) };
        warp::sync(LaneMask::all());
        let mut part = 0;
        while part < LANES as u32 {
            let number = part * self.lanes + lane;
            if (number as i32) < place.left + before as i32 {
                let at = (place.offset - before + number) as usize;
                // SAFETY: a lane of the group stored the element before the barrier above. The row has it: compared.
                unsafe { row.store(at, self.stage.load(group + number as usize)) };
            }
            part += 1;
        }
        warp::sync(LaneMask::all());
    }
}
