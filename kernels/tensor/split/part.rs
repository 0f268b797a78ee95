//! A block's part of an operand in shared memory: whole lines, or a part of each.

use super::halves::Halves;
use super::scan::Extremes;
use super::shape::{SPLIT_LINES, WARPS};
use super::source::Source;
use cuda_std::pipeline::Pipeline;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Elements of a line that a warp stores at a time.
pub const STEP: usize = 4 * 32;

/// A lane's elements in a step.
const OF_STEP: usize = 4;

/// Neighbouring lines whose elements are loaded together, if lines are not contiguous.
pub const QUAD: usize = 4;

/// Groups of four elements in 128 bytes, which are in different banks.
const FOURS_OF_BANKS: usize = 8;

/// A part of each line that a cluster's blocks share, or whole lines of one block.
#[derive(Clone, Copy)]
pub struct Part<'a, const ALONG: bool, const LINES: usize> {
    pub source: Source<'a, ALONG>,
    pub elements: SharedSlice<'a, f32>,
    /// The first line, and the first element of each line.
    pub first_line: usize,
    pub first_k: usize,
    /// Elements of each line.
    pub depth: usize,
}

impl<const ALONG: bool, const LINES: usize> Part<'_, ALONG, LINES> {
    /// Lines of each warp, if lines are contiguous; and groups of four that a thread loads in each step.
    const ROWS: usize = LINES / WARPS;

    /// Quads of lines.
    const QUADS: usize = LINES / QUAD;

    /// The index of four neighbours: elements of a line from `k` on, or of a quad of lines at `k`. Quads are permuted
    /// within 128 bytes, so that lanes with neighbouring groups of four access different banks.
    #[inline(always)]
    fn place(self, line: usize, k: usize) -> usize {
        match ALONG {
            true => line * self.depth + k,
            false => {
                let four = k * Self::QUADS + line / QUAD;
                (four ^ (k / OF_STEP % FOURS_OF_BANKS)) * QUAD
            }
        }
    }

    /// The line and the element, relative to the block's first, of group number `i` that a thread loads in each step.
    #[inline(always)]
    fn four(i: usize) -> (usize, usize) {
        let (warp, lane) = (warp::warp_in_block() as usize, warp::lane() as usize);
        match ALONG {
            true => (warp + i * WARPS, OF_STEP * lane),
            false => {
                let (thread, threads) = (warp * 32 + lane, WARPS * 32);
                let (line, k) = (thread % Self::QUADS * QUAD, thread / Self::QUADS);
                (line, k + i * (threads / Self::QUADS))
            }
        }
    }

    /// Starts to copy the block's part to shared memory.
    ///
    /// # Safety
    /// 1. As for [`Source::load`]. Shared memory has `LINES` x `depth` elements, which no thread accesses before the
    ///    one that copies them has waited for the copies, nor others before they have then passed a barrier.
    #[inline(always)]
    pub unsafe fn load(self, pipeline: &mut Pipeline<1>) {
        let mut first = 0;
        while first < self.depth {
            let mut i = 0;
            while i < Self::ROWS {
                let (line, k) = Self::four(i);
                let to = self.place(line, first + k);
                let (line, k) = (self.first_line + line, self.first_k + first + k);
                // SAFETY: the source has its elements, shared memory has the part, and no thread accesses it too early:
                // the caller's contract. Each thread has its own places. They are multiples of 4, as is the first
                // neighbour: `four`.
                unsafe { (self.source).bring_four(line, k, pipeline, self.elements, to) };
                i += 1;
            }
            first += STEP;
        }
        pipeline.commit();
    }

    /// The extremes of the calling thread's elements: for each of its warp's lines if lines are contiguous, otherwise
    /// for each of its quad's.
    ///
    /// # Safety
    /// 1. The calling thread has waited for the copies of [`Part::load`].
    #[inline(always)]
    pub unsafe fn extremes(self) -> [Extremes; QUAD] {
        const { assert!(Self::ROWS <= QUAD && LINES.is_multiple_of(WARPS) && LINES <= 32) };
        let mut extremes = [Extremes::NONE; QUAD];
        let mut first = 0;
        while first < self.depth {
            let mut i = 0;
            while i < Self::ROWS {
                let (line, k) = Self::four(i);
                // SAFETY: the places are those of `load`, which this thread has written: the caller's contract. No
                // other thread writes them. They are multiples of 4.
                let four: [f32; 4] =
                    unsafe { self.elements.load_vector(self.place(line, first + k)) };
                let mut j = 0;
                while j < 4 {
                    let of = if ALONG { i } else { j };
                    extremes[of] = extremes[of].with(Extremes::of(four[j]));
                    j += 1;
                }
                i += 1;
            }
            first += STEP;
        }
        extremes
    }

    /// Splits the elements that the block has loaded. `scales` are its lines' scales.
    ///
    /// # Safety
    /// 1. The view of `halves` is as for [`Halves::store`], and no other block of the launch has these lines and
    ///    elements.
    /// 2. All threads have waited for the copies of [`Part::load`], and `scales` were written. Then all threads have
    ///    passed a barrier.
    #[inline(always)]
    pub unsafe fn store(self, halves: Halves<'_>, scales: SharedArray<'_, i32, SPLIT_LINES>) {
        let (warp, lane) = (warp::warp_in_block() as usize, warp::lane() as usize);
        // If lines are not contiguous, a warp has a quad, and other warps have other elements of the quad.
        let sharing = const { WARPS / Self::QUADS };
        let (rows, first_k, step) = match ALONG {
            true => (Self::ROWS, OF_STEP * lane, STEP),
            false => (
                QUAD,
                OF_STEP * lane + STEP * (warp / Self::QUADS),
                STEP * sharing,
            ),
        };
        let line = |i: usize| match ALONG {
            true => warp + i % Self::ROWS * WARPS,
            false => warp % Self::QUADS * QUAD + i,
        };
        // SAFETY: the lines are the block's, whose scales were written before a barrier: the caller's contract.
        let scales = [0, 1, 2, 3].map(|i| unsafe { scales.load(line(i)) });
        let mut k = first_k;
        while k < self.depth {
            // SAFETY: the places are those of the block's part, which was loaded before a barrier: the caller's
            // contract. They are multiples of 4.
            let fours = [0, 1, 2, 3].map(|i| unsafe {
                let (line, k) = if ALONG {
                    (line(i), k)
                } else {
                    (line(0), k + i)
                };
                self.elements.load_vector::<4>(self.place(line, k))
            });
            let mut i = 0;
            while i < rows {
                let elements = match ALONG {
                    true => fours[i],
                    false => [fours[0][i], fours[1][i], fours[2][i], fours[3][i]],
                };
                // SAFETY: `k` is a multiple of 4, and each thread writes its own elements. The view: the caller's
                // contract.
                unsafe {
                    halves.store(
                        self.first_line + line(i),
                        self.first_k + k,
                        elements,
                        scales[i],
                    );
                }
                i += 1;
            }
            k += step;
        }
    }
}
