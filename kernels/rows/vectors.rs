//! A thread's vectors of a row in registers: loads, stores and sums.

use super::element::RowElement;
use super::place::Place;
use cuda_std::array;
#[cfg(feature = "entries")]
use cuda_std::float::larger_or_nan;
use cuda_std::hint::opaque;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;
use cuda_std::warp;

/// Elements of a row that a thread keeps in registers: `SLOTS` vectors of `LANES`.
pub type Values<const SLOTS: usize, const LANES: usize> = [[f32; LANES]; SLOTS];

/// A matrix whose rows are read or written.
#[derive(Clone, Copy)]
pub struct Rows<'launch, T> {
    elements: GlobalMut<'launch, T>,
    apart: usize,
}

/// A row, from some element on.
///
/// It is an index beside the matrix: a part of the matrix would be compared with its end, for each row.
#[derive(Clone, Copy)]
pub struct Row<'launch, T> {
    elements: GlobalMut<'launch, T>,
    first: usize,
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

impl<'launch, T: RowElement> Rows<'launch, T> {
    /// Rows that are `apart` elements apart.
    #[inline(always)]
    pub fn new(elements: GlobalMut<'launch, T>, apart: usize) -> Self {
        Self { elements, apart }
    }

    /// Rows that are only read: those of `x`, or of `other` if `x` has no elements.
    ///
    /// # Safety
    /// 1. Nothing is stored through the result if `x` has elements.
    #[inline(always)]
    pub unsafe fn read(x: Global<'launch, T>, other: GlobalMut<'launch, T>, apart: usize) -> Self {
        if x.is_empty() {
            return Self::new(other, apart);
        }
        // SAFETY: the elements are aligned and live: `x` has them. They are only read: the caller's contract. No view
        // of the launch writes them: `x` is a `Global`.
        let elements = unsafe { GlobalMut::from_raw_parts(x.as_ptr().cast_mut(), x.len()) };
        Self::new(elements, apart)
    }

    /// Whether there are none.
    #[cfg(feature = "entries")]
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.elements.is_empty()
    }

    /// Row `row`.
    #[inline(always)]
    pub fn row(self, row: usize) -> Row<'launch, T> {
        Row {
            elements: self.elements,
            first: row * self.apart,
        }
    }
}

impl<T: RowElement> Row<'_, T> {
    /// The row from element `first` on.
    #[inline(always)]
    pub fn skip(self, first: usize) -> Self {
        Self {
            first: self.first + first,
            ..self
        }
    }

    /// Element `index`.
    ///
    /// # Safety
    /// 1. The row has the element, which no thread writes meanwhile.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load(self, index: usize) -> T {
        // SAFETY: the caller's contract.
        unsafe { self.elements.load(self.first + index) }
    }

    /// The vector from element `index` on.
    ///
    /// # Safety
    /// 1. The row has the vector, aligned, which no thread writes meanwhile.
    #[inline(always)]
    #[track_caller]
    unsafe fn load_vector<const LANES: usize>(self, index: usize) -> [T; LANES] {
        // SAFETY: the caller's contract.
        unsafe { self.elements.load_vector(self.first + index) }
    }

    /// Writes element `index`.
    ///
    /// # Safety
    /// 1. The row has the element, which no other thread touches.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store(self, index: usize, element: T) {
        // SAFETY: the caller's contract.
        unsafe { self.elements.store(self.first + index, element) };
    }

    /// Writes the vector from element `index` on.
    ///
    /// # Safety
    /// 1. The row has the vector, aligned, which no other thread touches.
    #[inline(always)]
    #[track_caller]
    unsafe fn store_vector<const LANES: usize>(self, index: usize, elements: [T; LANES]) {
        // SAFETY: the caller's contract.
        unsafe { self.elements.store_vector(self.first + index, elements) };
    }
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

    /// Loads the vectors at `places`, each of a row, with `padding` for elements that do not exist.
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
        let (_, first) = places(0);
        if !first.exists() {
            return [[padding; LANES]; SLOTS];
        }
        let loaded: [[T; LANES]; SLOTS] = array::from_fn(|slot| {
            let (row, place) = places(slot);
            let offset = if place.exists() {
                place.offset
            } else {
                first.offset
            };
            // SAFETY: the vector exists, whole and aligned: the caller's contract.
            unsafe { row.load_vector(offset as usize) }
        });
        array::from_fn(|slot| {
            let exists = places(slot).1.exists();
            array::from_fn(|lane| {
                if exists {
                    loaded[slot][lane].widen()
                } else {
                    padding
                }
            })
        })
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

/// The largest element of a vector, or NaN if there is one.
#[cfg(feature = "entries")]
#[inline(always)]
pub fn largest<const LANES: usize>(vector: &[f32; LANES]) -> f32 {
    let mut largest = vector[0];
    let mut lane = 1;
    while lane < LANES {
        largest = larger_or_nan(largest, vector[lane]);
        lane += 1;
    }
    largest
}

/// The sum of a vector: neighbours, then pairs of neighbours, and so on.
#[cfg(feature = "entries")]
#[inline(always)]
pub fn sum<const LANES: usize>(vector: [f32; LANES]) -> f32 {
    let mut vector = vector;
    let mut distance = 1;
    while distance < LANES {
        let mut lane = 0;
        while lane < LANES {
            vector[lane] += vector[lane + distance];
            lane += 2 * distance;
        }
        distance *= 2;
    }
    vector[0]
}
