//! An f32 operand, read line by line.

use cuda_std::prelude::*;

/// An f32 operand as the kernels here read it: `lines` lines of `k` elements.
#[derive(Clone, Copy)]
pub struct Source<'a, const ALONG: bool> {
    pub elements: Global<'a, f32>,
    pub lines: usize,
    pub k: usize,
    /// Elements from a line to the next if `ALONG`, else from an element of a line to its next.
    pub leading_dimension: usize,
}

impl<'a, const ALONG: bool> Source<'a, ALONG> {
    /// The same, of which the caller knows that its lines are contiguous.
    #[inline(always)]
    pub const fn as_along(self) -> Source<'a, true> {
        Source {
            elements: self.elements,
            lines: self.lines,
            k: self.k,
            leading_dimension: self.leading_dimension,
        }
    }

    /// Element `k` of line `line`; 0 outside.
    ///
    /// # Safety
    /// 1. As (2) of the kernels.
    #[inline(always)]
    pub unsafe fn load(self, line: usize, k: usize) -> f32 {
        if line >= self.lines || k >= self.k {
            return 0.0;
        }
        let at = match ALONG {
            true => line * self.leading_dimension + k,
            false => k * self.leading_dimension + line,
        };
        // SAFETY: (1) compared; the view reaches to the last element.
        unsafe { self.elements.load(at) }
    }
}

impl Source<'_, true> {
    /// Four elements of a line that is there, from `k` on, a multiple of 4; 0 outside.
    ///
    /// # Safety
    /// 1. As (2) of the kernels.
    #[inline(always)]
    pub unsafe fn load_four(self, line: usize, k: usize) -> [f32; 4] {
        let is_aligned = self.elements.as_ptr().addr().is_multiple_of(16)
            && self.leading_dimension.is_multiple_of(4);
        // SAFETY: (1) is (1), and compared. (2) Rows start at multiples of 16 bytes, and `k` is a
        // multiple of 4.
        unsafe {
            if is_aligned && k + 4 <= self.k {
                return self.elements.load_vector(line * self.leading_dimension + k);
            }
            [0, 1, 2, 3].map(|i| self.load(line, k + i))
        }
    }
}
