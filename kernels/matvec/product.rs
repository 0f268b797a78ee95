//! A matrix and a vector, how threads read them, and what blocks write for one another.

use super::element::Element;
use super::plan::{STRAND_BYTES, VectorPlan, VectorShape};
use cuda_std::prelude::*;

/// A matrix and a vector.
#[derive(Clone, Copy)]
pub struct Product<'launch, T> {
    pub x: Global<'launch, T>,
    pub v: Global<'launch, T>,
    pub shape: VectorShape,
    /// That of a line.
    pub plan: VectorPlan,
}

/// What the blocks of one launch write for one another, if lines have parts that several of them add.
#[derive(Clone, Copy)]
pub struct Workspace<'launch, S> {
    /// An element for each part of each line.
    pub partials: GlobalMut<'launch, S>,
    /// Counters, which are 0 when the launch starts and when it ends.
    pub tickets: GlobalMut<'launch, u32>,
}

impl<T: Element> Product<'_, T> {
    /// Whether each contiguous line, or row of neighbours, of X starts at a multiple of 16 bytes.
    #[inline(always)]
    pub fn has_aligned_lines(&self) -> bool {
        let bytes = self.x.as_ptr().addr() | (self.shape.x_apart * size_of::<T>());
        bytes.is_multiple_of(STRAND_BYTES)
    }

    /// Whether v is contiguous, and starts at a multiple of 16 bytes.
    #[inline(always)]
    fn has_aligned_v(&self) -> bool {
        self.shape.v_apart == 1 && self.v.as_ptr().addr().is_multiple_of(STRAND_BYTES)
    }

    /// Whether whole vectors of 16 bytes of lines and of v are read at once.
    #[inline(always)]
    pub fn has_vectors(&self) -> bool {
        self.has_aligned_lines() && self.has_aligned_v()
    }

    /// The vector of a contiguous line from element `at` on.
    ///
    /// # Safety
    /// 1. The line has it, lines are [aligned](Self::has_aligned_lines), and `at` is a multiple of `VECTOR`,
    ///    of which 16 bytes are as many.
    #[inline(always)]
    pub unsafe fn load_line_vector<const VECTOR: usize>(
        &self,
        line: usize,
        at: usize,
    ) -> [T; VECTOR] {
        // SAFETY: (1), (2) are (1).
        unsafe { self.x.load_streaming(line * self.shape.x_apart + at) }
    }

    /// The vector of v from element `at` on.
    ///
    /// # Safety
    /// 1. v has it and is [aligned](Self::has_aligned_v), and `at` is a multiple of `VECTOR`, of which 16
    ///    bytes are as many.
    #[inline(always)]
    pub unsafe fn load_v_vector<const VECTOR: usize>(&self, at: usize) -> [T; VECTOR] {
        // SAFETY: (1), (2) are (1).
        unsafe { self.v.load_vector(at) }
    }

    /// `count` elements of a contiguous line, at most `VECTOR`, from `at` on, and zeros after them.
    ///
    /// # Safety
    /// 1. The line has them, and `at` is a multiple of `VECTOR`, of which 16 bytes are as many.
    #[inline(always)]
    pub unsafe fn load_line<const VECTOR: usize>(
        &self,
        line: usize,
        at: usize,
        count: usize,
    ) -> [T; VECTOR] {
        let mut elements = [T::zeroed(); VECTOR];
        if count == VECTOR && self.has_aligned_lines() {
            // SAFETY: (1) is (1) and the comparison.
            return unsafe { self.load_line_vector(line, at) };
        }
        let from = line * self.shape.x_apart + at;
        let mut place = 0;
        while place < VECTOR {
            if place < count {
                // SAFETY: (1) is (1) and the comparison.
                elements[place] = unsafe { self.x.load(from + place) };
            }
            place += 1;
        }
        elements
    }

    /// `count` elements of v, at most `VECTOR`, from `at` on, and zeros after them.
    ///
    /// # Safety
    /// 1. v has them, and `at` is a multiple of `VECTOR`, of which 16 bytes are as many.
    #[inline(always)]
    pub unsafe fn load_v<const VECTOR: usize>(&self, at: usize, count: usize) -> [T; VECTOR] {
        let mut elements = [T::zeroed(); VECTOR];
        if count == VECTOR && self.has_aligned_v() {
            // SAFETY: (1) is (1) and the comparisons.
            return unsafe { self.load_v_vector(at) };
        }
        let mut place = 0;
        while place < VECTOR {
            if place < count {
                // SAFETY: (1) is (1) and the comparison.
                elements[place] = unsafe { self.load_v_at(at + place) };
            }
            place += 1;
        }
        elements
    }

    /// Element `at` of v.
    ///
    /// # Safety
    /// 1. v has it, or is empty.
    #[inline(always)]
    pub unsafe fn load_v_at(&self, at: usize) -> T {
        if self.v.is_empty() {
            return T::ONE;
        }
        // SAFETY: (1) is (1).
        unsafe { self.v.load(at * self.shape.v_apart) }
    }
}
