//! A thread's vectors of a row: loads, stores, and what they count.

use super::element::RowElement;
use cuda_std::array;
use cuda_std::prelude::*;

/// Elements of a row that a thread keeps in registers: `SLOTS` vectors of `LANES`.
pub type Values<const SLOTS: usize, const LANES: usize> = [[f32; LANES]; SLOTS];

/// A vector of a thread: its first element in a view, and its number of elements that exist, from the first on.
#[derive(Clone, Copy)]
pub struct Place {
    pub at: usize,
    pub count: usize,
}

/// A matrix whose rows are read or written.
///
/// If `has_vectors`, all rows start at multiples of 16 bytes and consist of whole vectors.
#[derive(Clone, Copy)]
pub struct Rows<'launch, T> {
    pub elements: GlobalMut<'launch, T>,
    pub apart: usize,
    has_vectors: bool,
}

impl<'launch, T: RowElement> Rows<'launch, T> {
    /// Rows of `len` elements in vectors of `lanes`, which are `apart` elements apart.
    #[inline(always)]
    pub fn new(elements: GlobalMut<'launch, T>, apart: usize, len: usize, lanes: usize) -> Self {
        let bytes = lanes * size_of::<T>();
        let starts = elements.as_mut_ptr().addr() | (apart * size_of::<T>());
        Self {
            elements,
            apart,
            has_vectors: starts.is_multiple_of(bytes) && len.is_multiple_of(lanes),
        }
    }

    /// Rows that are only read: `x`, or those of `other` if `x` has no elements.
    ///
    /// # Safety
    /// 1. Nothing is stored through the result.
    #[inline(always)]
    pub unsafe fn read(
        x: Global<'launch, T>,
        other: GlobalMut<'launch, T>,
    ) -> GlobalMut<'launch, T> {
        if x.is_empty() {
            return other;
        }
        // SAFETY: the elements are aligned and live: `x` has them. They are only read: the caller's contract. No view
        // of the launch writes them: `x` is a `Global`.
        unsafe { GlobalMut::from_raw_parts(x.as_ptr().cast_mut(), x.len()) }
    }

    /// Loads the vectors at `places`, with `padding` for elements that do not exist.
    ///
    /// There is one branch for all loads: with a branch of its own, each would wait for the last. So vectors that do
    /// not exist are read from the place of the first, which the thread has, too.
    ///
    /// # Safety
    /// 1. The elements exist, and no other thread writes them, unless a barrier orders the two.
    /// 2. If the rows have vectors, each place has a whole one or none.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load<const SLOTS: usize, const LANES: usize>(
        self,
        padding: f32,
        places: impl Fn(usize) -> Place,
    ) -> Values<SLOTS, LANES> {
        let first = places(0);
        if first.count == 0 {
            return [[padding; LANES]; SLOTS];
        }
        if self.has_vectors {
            let loaded: [[T; LANES]; SLOTS] = array::from_fn(|slot| {
                let place = places(slot);
                let at = if place.count > 0 { place.at } else { first.at };
                // SAFETY: the vector exists, whole and aligned: the caller's contract, and `has_vectors`.
                unsafe { self.elements.load_vector(at) }
            });
            return array::from_fn(|slot| {
                let exists = places(slot).count > 0;
                array::from_fn(|lane| {
                    if exists {
                        loaded[slot][lane].widen()
                    } else {
                        padding
                    }
                })
            });
        }
        let loaded: [[T; LANES]; SLOTS] = array::from_fn(|slot| {
            let place = places(slot);
            array::from_fn(|lane| {
                let at = if lane < place.count {
                    place.at + lane
                } else {
                    first.at
                };
                // SAFETY: the element exists: the caller's contract, and the comparison.
                unsafe { self.elements.load(at) }
            })
        });
        array::from_fn(|slot| {
            let count = places(slot).count;
            array::from_fn(|lane| {
                if lane < count {
                    loaded[slot][lane].widen()
                } else {
                    padding
                }
            })
        })
    }

    /// Stores the elements of a vector that exist.
    ///
    /// # Safety
    /// 1. The elements exist, and no other thread touches them, unless a barrier orders the two.
    /// 2. If the rows have vectors, the place has a whole one or none.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store<const LANES: usize>(self, place: Place, values: [f32; LANES]) {
        let elements = T::narrow(values);
        if self.has_vectors {
            if place.count > 0 {
                // SAFETY: the vector exists, whole and aligned: the caller's contract, and `has_vectors`.
                unsafe { self.elements.store_vector(place.at, elements) };
            }
            return;
        }
        let mut lane = 0;
        while lane < LANES {
            if lane < place.count {
                // SAFETY: the element exists: compared above. The rest is the caller's contract.
                unsafe { self.elements.store(place.at + lane, elements[lane]) };
            }
            lane += 1;
        }
    }
}

/// The largest element of a vector, of those that are not NaN.
#[inline(always)]
pub fn largest<const LANES: usize>(vector: &[f32; LANES]) -> f32 {
    let mut largest = vector[0];
    let mut lane = 1;
    while lane < LANES {
        largest = largest.max(vector[lane]);
        lane += 1;
    }
    largest
}

/// The sum of a vector: neighbours, then pairs of neighbours, and so on.
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
