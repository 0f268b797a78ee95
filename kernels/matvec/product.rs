//! The matrix X and the vector v, how threads read them, and the blocks' workspace.

use super::element::Element;
use super::plan::{LOAD_BYTES, VectorPlan, VectorShape};
use cuda_std::prelude::*;

/// The operands of y = X v.
#[derive(Clone, Copy)]
pub struct Product<'launch, T> {
    pub x: Global<'launch, T>,
    pub v: Global<'launch, T>,
    pub shape: VectorShape,
    /// The plan of a row.
    pub plan: VectorPlan,
}

/// The memory by which blocks that add parts of the same rows exchange their sums.
#[derive(Clone, Copy)]
pub struct Workspace<'launch, S> {
    /// An element for each part of each row.
    pub partials: GlobalMut<'launch, S>,
    /// Counters that are 0 when the launch starts and when it ends.
    pub tickets: GlobalMut<'launch, u32>,
}

impl<T: Element> Product<'_, T> {
    /// Whether X's rows, or its columns if it is column-major, are aligned to 16 bytes.
    #[inline(always)]
    pub fn has_aligned_rows(&self) -> bool {
        let bytes = self.x.as_ptr().addr() | (self.shape.x_apart * size_of::<T>());
        bytes.is_multiple_of(LOAD_BYTES)
    }

    /// Whether v is contiguous, and aligned to 16 bytes.
    #[inline(always)]
    fn has_aligned_v(&self) -> bool {
        self.shape.v_apart == 1 && self.v.as_ptr().addr().is_multiple_of(LOAD_BYTES)
    }

    /// Whether rows and v can be read as vectors of 16 bytes.
    #[inline(always)]
    pub fn has_vectors(&self) -> bool {
        self.has_aligned_rows() && self.has_aligned_v()
    }

    /// The vector from element `at` of a row on, for a row-major X.
    ///
    /// # Safety
    /// 1. The row has the vector, and rows are [aligned](Self::has_aligned_rows).
    /// 2. `VECTOR` elements are 16 bytes, and `at` is a multiple of `VECTOR`.
    #[inline(always)]
    pub unsafe fn load_row_vector<const VECTOR: usize>(
        &self,
        row: usize,
        at: usize,
    ) -> [T; VECTOR] {
        // SAFETY: the row has the vector, at a multiple of 16 bytes: the caller's contract.
        unsafe { self.x.load_streaming(row * self.shape.x_apart + at) }
    }

    /// The vector from element `at` of v on.
    ///
    /// # Safety
    /// 1. v has the vector, and is [aligned](Self::has_aligned_v).
    /// 2. `VECTOR` elements are 16 bytes, and `at` is a multiple of `VECTOR`.
    #[inline(always)]
    pub unsafe fn load_v_vector<const VECTOR: usize>(&self, at: usize) -> [T; VECTOR] {
        // SAFETY: v has the vector, contiguous, at a multiple of 16 bytes: the caller's contract.
        unsafe { self.v.load_vector(at) }
    }

    /// `count` elements, at most `VECTOR`, from element `at` of a row on, then zeros, for a row-major X.
    ///
    /// # Safety
    /// 1. The row has the elements.
    /// 2. `VECTOR` elements are 16 bytes, and `at` is a multiple of `VECTOR`.
    #[inline(always)]
    pub unsafe fn load_row<const VECTOR: usize>(
        &self,
        row: usize,
        at: usize,
        count: usize,
    ) -> [T; VECTOR] {
        let mut elements = [T::zeroed(); VECTOR];
        if count == VECTOR && self.has_aligned_rows() {
            // SAFETY: the row has a whole vector, and rows are aligned: compared above. `VECTOR` and `at`: the caller's
            // contract.
            return unsafe { self.load_row_vector(row, at) };
        }
        let from = row * self.shape.x_apart + at;
        let mut place = 0;
        while place < VECTOR {
            if place < count {
                // SAFETY: the row has the first `count` elements: the caller's contract.
                elements[place] = unsafe { self.x.load(from + place) };
            }
            place += 1;
        }
        elements
    }

    /// `count` elements, at most `VECTOR`, from element `at` of v on, then zeros.
    ///
    /// # Safety
    /// 1. v has the elements, or is empty, with a `v_apart` of 0.
    /// 2. `VECTOR` elements are 16 bytes, and `at` is a multiple of `VECTOR`.
    #[inline(always)]
    pub unsafe fn load_v<const VECTOR: usize>(&self, at: usize, count: usize) -> [T; VECTOR] {
        let mut elements = [T::zeroed(); VECTOR];
        if count == VECTOR && self.has_aligned_v() {
            // SAFETY: v has a whole vector, and is aligned, so not empty: compared above. `VECTOR` and `at`: the
            // caller's contract.
            return unsafe { self.load_v_vector(at) };
        }
        let mut place = 0;
        while place < VECTOR {
            if place < count {
                // SAFETY: v has the first `count` elements, or is empty: the caller's contract.
                elements[place] = unsafe { self.load_v_at(at + place) };
            }
            place += 1;
        }
        elements
    }

    /// Element `at` of v; 1 if v is empty.
    ///
    /// # Safety
    /// 1. v has the element, or is empty.
    #[inline(always)]
    pub unsafe fn load_v_at(&self, at: usize) -> T {
        if self.v.is_empty() {
            return T::ONE;
        }
        // SAFETY: v has the element: the caller's contract, and v is not empty.
        unsafe { self.v.load(at * self.shape.v_apart) }
    }
}
