//! Rows in memory, and a thread's vectors of a row in registers.

use super::element::RowElement;
#[cfg(feature = "entries")]
use cuda_std::float::larger_or_nan;
use cuda_std::pipeline::Pipeline;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

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
    pub unsafe fn load_vector<const LANES: usize>(self, index: usize) -> [T; LANES] {
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

    /// Elements from the last place before the row, or at its start, where an aligned vector of `lanes` starts.
    #[cfg(feature = "entries")]
    #[inline(always)]
    pub fn past_vector(self, lanes: usize) -> usize {
        (self.elements.as_mut_ptr().addr() / size_of::<T>() + self.first) % lanes
    }

    /// Starts to copy the vector from element `index` on to shared memory, from element `to` on.
    ///
    /// # Safety
    /// 1. Both have the vector, aligned, which no other thread writes until the pipeline has waited.
    #[cfg(feature = "entries")]
    #[inline(always)]
    #[track_caller]
    pub unsafe fn copy_vector<const LANES: usize>(
        self,
        index: usize,
        pipeline: &mut Pipeline<1>,
        (shared, to): (SharedSlice<T>, usize),
    ) {
        let (base, len) = (self.elements.as_mut_ptr(), self.elements.len());
        // SAFETY: the elements are those of the matrix, which the caller lets nobody write meanwhile.
        unsafe {
            let elements = Global::from_raw_parts(base.cast_const(), len);
            pipeline.copy::<T, LANES>(shared, to, elements, self.first + index);
        }
    }

    /// Writes the vector from element `index` on.
    ///
    /// # Safety
    /// 1. The row has the vector, aligned, which no other thread touches.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store_vector<const LANES: usize>(self, index: usize, elements: [T; LANES]) {
        // SAFETY: the caller's contract.
        unsafe { self.elements.store_vector(self.first + index, elements) };
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
