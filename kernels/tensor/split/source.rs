//! Reading an f32 operand line by line.

use cuda_std::pipeline::Pipeline;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// An f32 operand: `lines` lines of `k` elements.
///
/// Lines are contiguous if `ALONG`; otherwise the elements of different lines at the same k are.
#[derive(Clone, Copy)]
pub struct Source<'a, const ALONG: bool> {
    pub elements: Global<'a, f32>,
    pub lines: usize,
    pub k: usize,
    /// Elements from one line to the next if `ALONG`, otherwise from one element of a line to its next.
    pub leading_dimension: usize,
}

impl<const ALONG: bool> Source<'_, ALONG> {
    /// Element `k` of line `line`; 0 outside.
    ///
    /// # Safety
    /// 1. `elements` begins with the first element of the first line, and has all elements of the lines.
    #[inline(always)]
    pub unsafe fn load(self, line: usize, k: usize) -> f32 {
        if line >= self.lines || k >= self.k {
            return 0.0;
        }
        let at = match ALONG {
            true => line * self.leading_dimension + k,
            false => k * self.leading_dimension + line,
        };
        // SAFETY: line and k were compared, and the view has all elements of the lines: the caller's contract.
        unsafe { self.elements.load(at) }
    }

    /// Whether the addresses of four neighbours are multiples of 16 bytes.
    #[inline(always)]
    fn is_aligned(self) -> bool {
        self.elements.as_ptr().addr().is_multiple_of(16) && self.leading_dimension.is_multiple_of(4)
    }

    /// The index of element `k` of line `line`, and the number of neighbours from there on, 0 outside.
    ///
    /// Neighbours are elements of the line if `ALONG`, otherwise the elements at `k` of the following lines.
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

    /// Four neighbours from element `k` of line `line` on; 0 outside. The first is a multiple of 4 from the first
    /// neighbour: `k` if `ALONG`, otherwise `line`.
    ///
    /// # Safety
    /// 1. As for [`load`](Self::load).
    /// 2. `k` if `ALONG`, otherwise `line`, is a multiple of 4.
    #[inline(always)]
    pub unsafe fn load_four(self, line: usize, k: usize) -> [f32; 4] {
        let (at, present) = self.four(line, k);
        // SAFETY: the view has all elements of the lines: the caller's contract, and `present` counts those from `at`
        // on. Neighbours start at multiples of 16 bytes, compared above, and the first is a multiple of 4: the
        // caller's contract.
        unsafe {
            if self.is_aligned() && present >= 4 {
                return self.elements.load_vector(at);
            }
            self.load_each(line, k)
        }
    }

    /// [`load_four`](Self::load_four), one by one.
    ///
    /// # Safety
    /// 1. As for [`load`](Self::load).
    #[inline(always)]
    unsafe fn load_each(self, line: usize, k: usize) -> [f32; 4] {
        // SAFETY: the view has all elements of the lines: the caller's contract.
        [0, 1, 2, 3].map(|i| unsafe {
            match ALONG {
                true => self.load(line, k + i),
                false => self.load(line + i, k),
            }
        })
    }

    /// Writes the neighbours of [`load_four`](Self::load_four) to `elements[to..to + 4]`, by an asynchronous copy if
    /// alignment allows one.
    ///
    /// # Safety
    /// 1. and 2. as for [`load_four`](Self::load_four).
    /// 3. `to` is a multiple of 4, and `elements` has the four places. No other thread accesses them, and this one not
    ///    before it has waited for the copy. Threads that read them pass a barrier after that.
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
        // SAFETY: the view has all elements of the lines, and `elements` has the four places, which nobody accesses
        // before the wait: the caller's contract. For the copy, all four neighbours exist or none. `to` is a
        // multiple of 4, and so is the first neighbour: the caller's contract. The source's alignment was compared.
        unsafe {
            if self.is_aligned() && (present == 0 || present >= 4) {
                pipeline.copy_or_zero::<f32, 4>(elements, to, self.elements, at, present);
            } else {
                elements.store_vector(to, self.load_each(line, k));
            }
        }
    }
}
