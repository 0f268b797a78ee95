//! The input of line reductions: the lines of one array, or pairs from two.

use super::plan::LANE_ACCUMULATORS;
use cuda_std::Pod;
#[cfg(feature = "entries")]
use cuda_std::array;
use cuda_std::prelude::*;

/// The rows or columns of a matrix, for reading elements.
///
/// Positions are counted in strides and elements from the first element. For contiguous lines a stride is the
/// distance to the next line, otherwise to the line's next element.
pub trait Source: Copy {
    /// An element of the array, or a pair.
    type Element: Pod;

    /// The source that begins `strides` strides and `elements` elements later.
    fn moved_by(self, strides: usize, elements: usize) -> Self;

    /// The source without its first `elements` elements.
    fn skip(self, elements: usize) -> Self;

    /// Loads the element `strides` strides from the first.
    ///
    /// # Safety
    /// 1. Each array has the element.
    unsafe fn element(self, strides: usize) -> Self::Element;

    /// Loads elements `at..at + count`, at most four, padded with zeros.
    ///
    /// If all four exist and `is_aligned`, each array is read in vectors of `VECTOR` elements. Their cache lines are
    /// evicted first, because each element is read once.
    ///
    /// # Safety
    /// 1. Each array has the elements, and `count` is at most 4.
    /// 2. If `is_aligned`, the size of `VECTOR` elements of an array, at most 16 bytes, divides the address of its
    ///    element `at`.
    unsafe fn quad<const VECTOR: usize>(
        self,
        at: usize,
        count: usize,
        is_aligned: bool,
    ) -> [Self::Element; LANE_ACCUMULATORS];

    /// Whether each array and every line of it start at a multiple of `VECTOR` elements. Earlier moves of the source
    /// are not considered.
    fn is_aligned<const VECTOR: usize>(self) -> bool;
}

/// The lines of one array.
#[derive(Clone, Copy)]
pub struct OneArray<'launch, T> {
    x: Global<'launch, T>,
    apart: usize,
    first: usize,
}

impl<'launch, T: Pod> OneArray<'launch, T> {
    /// The lines of `x`, with a stride of `apart` elements.
    #[inline(always)]
    pub fn new(x: Global<'launch, T>, apart: usize) -> Self {
        Self { x, apart, first: 0 }
    }
}

impl<T: Pod> Source for OneArray<'_, T> {
    type Element = T;

    #[inline(always)]
    fn moved_by(self, strides: usize, elements: usize) -> Self {
        Self {
            first: self.first + strides * self.apart + elements,
            ..self
        }
    }

    #[inline(always)]
    fn skip(self, elements: usize) -> Self {
        Self {
            x: self.x.skip(elements),
            ..self
        }
    }

    #[inline(always)]
    unsafe fn element(self, strides: usize) -> T {
        // SAFETY: the array has the element: the caller's contract.
        unsafe { self.x.load(self.first + strides * self.apart) }
    }

    #[inline(always)]
    unsafe fn quad<const VECTOR: usize>(
        self,
        at: usize,
        count: usize,
        is_aligned: bool,
    ) -> [T; LANE_ACCUMULATORS] {
        let at = self.first + at;
        let mut elements = [T::zeroed(); LANE_ACCUMULATORS];
        if is_aligned && count == LANE_ACCUMULATORS {
            let mut place = 0;
            while place < LANE_ACCUMULATORS {
                // SAFETY: all four elements exist. The address is aligned: the caller's contract,
                // and `VECTOR` divides `place`.
                let vector: [T; VECTOR] = unsafe { self.x.load_streaming(at + place) };
                let mut lane = 0;
                while lane < VECTOR {
                    elements[place + lane] = vector[lane];
                    lane += 1;
                }
                place += VECTOR;
            }
            return elements;
        }
        let mut place = 0;
        while place < LANE_ACCUMULATORS {
            if place < count {
                // SAFETY: the array has the element: the caller's contract, and the comparison with
                // `count`.
                elements[place] = unsafe { self.x.load(at + place) };
            }
            place += 1;
        }
        elements
    }

    #[inline(always)]
    fn is_aligned<const VECTOR: usize>(self) -> bool {
        let bytes = VECTOR * size_of::<T>();
        (self.x.as_ptr().addr() | (self.apart * size_of::<T>())).is_multiple_of(bytes)
    }
}

/// Lines of pairs from two arrays of one shape, each with its own stride.
#[cfg(feature = "entries")]
#[derive(Clone, Copy)]
pub struct TwoArrays<'launch, T> {
    x: OneArray<'launch, T>,
    y: OneArray<'launch, T>,
}

#[cfg(feature = "entries")]
impl<'launch, T: Pod> TwoArrays<'launch, T> {
    /// The pairs of the elements of `x` and `y`.
    #[inline(always)]
    pub fn new(x: OneArray<'launch, T>, y: OneArray<'launch, T>) -> Self {
        Self { x, y }
    }
}

#[cfg(feature = "entries")]
impl<T: Pod> Source for TwoArrays<'_, T> {
    type Element = [T; 2];

    #[inline(always)]
    fn moved_by(self, strides: usize, elements: usize) -> Self {
        Self {
            x: self.x.moved_by(strides, elements),
            y: self.y.moved_by(strides, elements),
        }
    }

    #[inline(always)]
    fn skip(self, elements: usize) -> Self {
        Self {
            x: self.x.skip(elements),
            y: self.y.skip(elements),
        }
    }

    #[inline(always)]
    unsafe fn element(self, strides: usize) -> [T; 2] {
        // SAFETY: the array has the element: the caller's contract.
        unsafe { [self.x.element(strides), self.y.element(strides)] }
    }

    #[inline(always)]
    unsafe fn quad<const VECTOR: usize>(
        self,
        at: usize,
        count: usize,
        is_aligned: bool,
    ) -> [[T; 2]; LANE_ACCUMULATORS] {
        // SAFETY: the caller's contract.
        let (x, y) = unsafe {
            (
                self.x.quad::<VECTOR>(at, count, is_aligned),
                self.y.quad::<VECTOR>(at, count, is_aligned),
            )
        };
        array::from_fn(|i| [x[i], y[i]])
    }

    #[inline(always)]
    fn is_aligned<const VECTOR: usize>(self) -> bool {
        self.x.is_aligned::<VECTOR>() && self.y.is_aligned::<VECTOR>()
    }
}
