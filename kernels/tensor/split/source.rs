//! The source of a split: an f32 matrix, read line by line.

use cuda_std::pipeline::Pipeline;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// An f32 matrix of `lines` lines of `k` elements.
#[derive(Clone, Copy)]
pub struct Source<'a, const ALONG: bool> {
    pub elements: Global<'a, f32>,
    pub lines: usize,
    pub k: usize,
    /// Elements from one line to the next if `ALONG`, otherwise from one element of a line to the next.
    pub leading_dimension: usize,
}

impl<const ALONG: bool> Source<'_, ALONG> {
    /// Element `k` of line `line`; 0 outside.
    ///
    /// # Safety
    /// 1. `elements` reaches to the last element of the last line.
    #[inline(always)]
    pub unsafe fn load(self, line: usize, k: usize) -> f32 {
        if line >= self.lines || k >= self.k {
            return 0.0;
        }
        let at = match ALONG {
            true => line * self.leading_dimension + k,
            false => k * self.leading_dimension + line,
        };
        // SAFETY: the line has the element: compared above. The view reaches to the last one: the caller's contract.
        unsafe { self.elements.load(at) }
    }

    /// Whether groups of four neighbours are aligned to 16 bytes.
    #[inline(always)]
    fn is_aligned(self) -> bool {
        self.elements.as_ptr().addr().is_multiple_of(16) && self.leading_dimension.is_multiple_of(4)
    }

    /// The index of the four neighbours from element `k` of line `line` on, and how many of them exist. Neighbours are
    /// elements of the line if `ALONG`, otherwise those of four lines at `k`.
    #[inline(always)]
    fn four(self, line: usize, k: usize) -> (usize, usize) {
        if line >= self.lines || k >= self.k {
            return (0, 0);
        }
        match ALONG {
            true => (line * self.leading_dimension + k, self.k - k),
            false => (k * self.leading_dimension + line, self.lines - line),
        }
    }

    /// Four neighbours from a multiple of 4 on; 0 outside.
    ///
    /// # Safety
    /// 1. `elements` reaches to the last element of the last line.
    /// 2. The first neighbour is a multiple of 4: `k` if `ALONG`, otherwise `line`.
    #[inline(always)]
    pub unsafe fn load_four(self, line: usize, k: usize) -> [f32; 4] {
        let (at, present) = self.four(line, k);
        // SAFETY: the view has all four: compared here, and it reaches to the last element, the caller's contract. The
        // address is a multiple of 16 bytes: `is_aligned`, and the first neighbour is a multiple of 4: the caller's
        // contract.
        unsafe {
            if self.is_aligned() && present >= 4 {
                return self.elements.load_vector(at);
            }
            self.load_each(line, k)
        }
    }

    /// [`Source::load_four`], element by element.
    ///
    /// # Safety
    /// 1. As for [`Source::load`].
    #[inline(always)]
    unsafe fn load_each(self, line: usize, k: usize) -> [f32; 4] {
        // SAFETY: the view reaches to the last element: the caller's contract.
        [0, 1, 2, 3].map(|i| unsafe {
            match ALONG {
                true => self.load(line, k + i),
                false => self.load(line + i, k),
            }
        })
    }

    /// Starts to copy the same to `elements` from `to` on, or stores it if it cannot be copied.
    ///
    /// # Safety
    /// 1. As for [`Source::load_four`].
    /// 2. `elements` has the places, and `to` is a multiple of 4. The calling thread does not access them before it has
    ///    waited for the copy, nor others before they have then passed a barrier.
    #[inline(always)]
    pub unsafe fn bring_four(
        self,
        line: usize,
        k: usize,
        pipeline: &mut Pipeline<1>,
        elements: SharedSlice<'_, f32>,
        to: usize,
    ) {
        let (at, present) = self.four(line, k);
        // SAFETY: `elements` has the places, at a multiple of 4, and no thread accesses them too early: the caller's
        // contract. The source has all four elements that are copied, or none is, and its address is aligned: as in
        // `load_four`. The elements that are loaded: the caller's contract.
        unsafe {
            if self.is_aligned() && (present == 0 || present >= 4) {
                pipeline.copy_or_zero::<f32, 4>(elements, to, self.elements, at, present);
            } else {
                elements.store_vector(to, self.load_each(line, k));
            }
        }
    }
}
