//! What the kernels of lines read: the lines of one array, or those of two, element by element.

use super::plan::STRANDS_OF_LANE;
use cuda_std::Pod;
use cuda_std::array;
use cuda_std::prelude::*;

/// The rows or columns of a matrix, as a kernel reads their elements.
///
/// Places are counted from the first element: so many strides, and so many elements. A stride is from
/// one line to the next where a line is contiguous, and from one element of a line to the next where it
/// is not.
pub trait Source: Copy {
    /// An element of the array, or a pair.
    type Element: Pod;

    /// The source whose first element is `strides` strides and `elements` elements further on.
    fn moved_by(self, strides: usize, elements: usize) -> Self;

    /// The source without the first `elements` elements, the first of which starts it.
    fn skip(self, elements: usize) -> Self;

    /// The element `strides` strides from the first.
    ///
    /// # Safety
    /// 1. Each array has it.
    unsafe fn element(self, strides: usize) -> Self::Element;

    /// Elements `at..at + count` from the first, at most four, and zeros after them: of each array in
    /// vectors of `VECTOR` elements if all are there and `is_aligned`. The cache lines of vectors are the
    /// first to be evicted, because each element is read once.
    ///
    /// # Safety
    /// 1. Each array has them, and `count` is at most 4.
    /// 2. If `is_aligned`, `VECTOR` elements of an array, at most 16 bytes, divide the address of its
    ///    element `at`.
    unsafe fn quad<const VECTOR: usize>(
        self,
        at: usize,
        count: usize,
        is_aligned: bool,
    ) -> [Self::Element; STRANDS_OF_LANE];

    /// Whether each array starts at a multiple of `VECTOR` elements, and so does every line of it. It
    /// does not see how far the source was moved.
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
    /// The lines of `x`, whose stride is `apart` elements.
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
        // SAFETY: (1) is (1).
        unsafe { self.x.load(self.first + strides * self.apart) }
    }

    #[inline(always)]
    unsafe fn quad<const VECTOR: usize>(
        self,
        at: usize,
        count: usize,
        is_aligned: bool,
    ) -> [T; STRANDS_OF_LANE] {
        let at = self.first + at;
        let mut elements = [T::zeroed(); STRANDS_OF_LANE];
        if is_aligned && count == STRANDS_OF_LANE {
            let mut place = 0;
            while place < STRANDS_OF_LANE {
                // SAFETY: (1) all four are there. (2) is (2), as VECTOR divides `place`.
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
        while place < STRANDS_OF_LANE {
            if place < count {
                // SAFETY: (1) is (1) and the comparison.
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

/// The lines of two arrays of one shape, whose elements are pairs. Each array has its own stride.
#[derive(Clone, Copy)]
pub struct TwoArrays<'launch, T> {
    x: OneArray<'launch, T>,
    y: OneArray<'launch, T>,
}

impl<'launch, T: Pod> TwoArrays<'launch, T> {
    /// The pairs of the elements of `x` and `y`.
    #[inline(always)]
    pub fn new(x: OneArray<'launch, T>, y: OneArray<'launch, T>) -> Self {
        Self { x, y }
    }
}

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
        // SAFETY: (1) is (1).
        unsafe { [self.x.element(strides), self.y.element(strides)] }
    }

    #[inline(always)]
    unsafe fn quad<const VECTOR: usize>(
        self,
        at: usize,
        count: usize,
        is_aligned: bool,
    ) -> [[T; 2]; STRANDS_OF_LANE] {
        // SAFETY: (1), (2) are the caller's.
        let (x, y) = unsafe {
            (
                self.x.quad::<VECTOR>(at, count, is_aligned),
                self.y.quad::<VECTOR>(at, count, is_aligned),
            )
        };
        array::from_fn(|strand| [x[strand], y[strand]])
    }

    #[inline(always)]
    fn is_aligned<const VECTOR: usize>(self) -> bool {
        self.x.is_aligned::<VECTOR>() && self.y.is_aligned::<VECTOR>()
    }
}
