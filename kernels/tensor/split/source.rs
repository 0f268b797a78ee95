//! An f32 operand, read line by line.

use cuda_std::pipeline::Pipeline;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// An f32 operand as the kernels here read it: `lines` lines of `k` elements.
#[derive(Clone, Copy)]
pub struct Source<'a, const ALONG: bool> {
    pub elements: Global<'a, f32>,
    pub lines: usize,
    pub k: usize,
    /// Elements from a line to the next if `ALONG`, else from an element of a line to its next.
    pub leading_dimension: usize,
}

impl<const ALONG: bool> Source<'_, ALONG> {
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

    /// Whether fours of neighbours lie at multiples of 16 bytes.
    #[inline(always)]
    fn is_aligned(self) -> bool {
        self.elements.as_ptr().addr().is_multiple_of(16) && self.leading_dimension.is_multiple_of(4)
    }

    /// Where the four neighbours from element `k` of line `line` on begin, and how many of them are there: those
    /// of the line, or of four lines at `k`.
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

    /// Four neighbours, whose first one's number among them is a multiple of 4; 0 outside.
    ///
    /// # Safety
    /// 1. As (2) of the kernels.
    #[inline(always)]
    pub unsafe fn load_four(self, line: usize, k: usize) -> [f32; 4] {
        let (at, present) = self.four(line, k);
        // SAFETY: (1) is (1), and compared. (2) Lines of neighbours start at multiples of 16 bytes, and the place
        // in them is a multiple of 4.
        unsafe {
            if self.is_aligned() && present >= 4 {
                return self.elements.load_vector(at);
            }
            self.load_each(line, k)
        }
    }

    /// [`Source::load_four`], one by one.
    ///
    /// # Safety
    /// 1. As for [`Source::load_four`].
    #[inline(always)]
    unsafe fn load_each(self, line: usize, k: usize) -> [f32; 4] {
        // SAFETY: (1) is (1).
        [0, 1, 2, 3].map(|i| unsafe {
            match ALONG {
                true => self.load(line, k + i),
                false => self.load(line + i, k),
            }
        })
    }

    /// Brings the same to `elements` from `to` on: by a copy, which is started, wherever one can.
    ///
    /// # Safety
    /// 1. As for [`Source::load_four`].
    /// 2. `elements` has the places, of which `to` is a multiple of 4, and no thread accesses them until the copy
    ///    has been waited for, and a barrier passed by others.
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
        // SAFETY: of the copy, (1) all four are there or none, and (2). (2) As in `load_four`, and (2). (3) is (2).
        // Of the store, (1) to (3) are (2), and of the load (1) is (1).
        unsafe {
            if self.is_aligned() && (present == 0 || present >= 4) {
                pipeline.copy_or_zero::<f32, 4>(elements, to, self.elements, at, present);
            } else {
                elements.store_vector(to, self.load_each(line, k));
            }
        }
    }
}
