//! The lines, or parts of lines, that a block keeps in shared memory.

use super::halves::Halves;
use super::scan::Extremes;
use super::shape::{SPLIT_LINES, WARPS};
use super::source::Source;
use cuda_std::pipeline::Pipeline;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Elements of a line that a warp loads or stores at a time.
pub const STEP: usize = 4 * 32;

/// Elements of a lane in a step.
const OF_STEP: usize = 4;

/// Lines whose elements at one k are loaded together, if they are neighbours.
pub const QUAD: usize = 4;

/// Quads of elements in 128 bytes, which lie in different banks.
const FOURS_OF_BANKS: usize = 8;

/// The calling block's part of its lines: a part of each line that a cluster shares, or whole lines.
///
/// `elements` has `LINES` x `depth` elements, which only this block accesses.
#[derive(Clone, Copy)]
pub struct Part<'a, const ALONG: bool, const LINES: usize> {
    pub source: Source<'a, ALONG>,
    pub elements: SharedSlice<'a, f32>,
    /// The first line.
    pub first_line: usize,
    /// The first element of each line.
    pub first_k: usize,
    /// Elements of each line, a multiple of [`STEP`].
    pub depth: usize,
}

impl<const ALONG: bool, const LINES: usize> Part<'_, ALONG, LINES> {
    /// Lines of each warp, if they are contiguous. Also the quads that a thread loads in each step.
    const ROWS: usize = LINES / WARPS;

    /// Quads of lines.
    const QUADS: usize = LINES / QUAD;

    /// The index in shared memory of four neighbours: elements of a line from `k` on, or of a quad of lines at `k`.
    ///
    /// Quads are permuted within 128 bytes, so that lanes with neighbouring ones access different banks.
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

    /// The line and the element, relative to the block's first, of quad number `i` that a thread loads in a step.
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

    /// Starts to load the block's part.
    ///
    /// # Safety
    /// 1. The source meets the requirement of [`Source::load`], and `elements` is as documented.
    /// 2. No thread accesses `elements` before it has waited for the copies, and other threads' elements only after a
    ///    barrier.
    #[inline(always)]
    pub unsafe fn load(self, pipeline: &mut Pipeline<1>) {
        let mut first = 0;
        while first < self.depth {
            let mut i = 0;
            while i < Self::ROWS {
                let (line, k) = Self::four(i);
                let to = self.place(line, first + k);
                let (line, k) = (self.first_line + line, self.first_k + first + k);
                // SAFETY: the source has its elements: the caller's contract. The lines of a quad, and k in a line, are
                // multiples of 4, and so are indices in shared memory, which are below `LINES` x `depth`. Each thread
                // has its own; nobody accesses them before the wait and the barrier: the caller's contract.
                unsafe { (self.source).bring_four(line, k, pipeline, self.elements, to) };
                i += 1;
            }
            first += STEP;
        }
        pipeline.commit();
    }

    /// The extremes of the elements that the calling thread has loaded: of its warp's lines if they are contiguous,
    /// otherwise of its quad of lines.
    ///
    /// # Safety
    /// 1. [`load`](Self::load) has been called, and the thread has waited for its copies.
    #[inline(always)]
    pub unsafe fn extremes(self) -> [Extremes; QUAD] {
        const { assert!(Self::ROWS <= QUAD && LINES.is_multiple_of(WARPS) && LINES <= 32) };
        let mut extremes = [Extremes::NONE; QUAD];
        let mut first = 0;
        while first < self.depth {
            let mut i = 0;
            while i < Self::ROWS {
                let (line, k) = Self::four(i);
                // SAFETY: the thread has loaded these elements and waited for them: the caller's contract. Each thread
                // has its own, and nobody writes them. Indices are within `elements`, and multiples of 4, as in
                // `load`.
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

    /// Splits the elements that the block has loaded, with the scales of its lines.
    ///
    /// # Safety
    /// 1. All threads have loaded their elements and waited for them, and `scales` has been written. A barrier follows
    ///    before this call.
    /// 2. The memory of the halves meets the [requirements of the
    ///    kernels](super::SplitShape#requirements-of-the-kernels), and no other block has this part.
    #[inline(always)]
    pub unsafe fn store(self, halves: Halves<'_>, scales: SharedArray<'_, i32, SPLIT_LINES>) {
        let (warp, lane) = (warp::warp_in_block() as usize, warp::lane() as usize);
        // If lines are not contiguous, `sharing` warps divide the elements of a quad of lines.
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
        // SAFETY: the lines are the block's, so their scales were written before a barrier: the caller's contract.
        // Nobody writes them.
        let scales = [0, 1, 2, 3].map(|i| unsafe { scales.load(line(i)) });
        let mut k = first_k;
        while k < self.depth {
            // SAFETY: lines and k are the block's, so the elements were loaded before a barrier: the caller's contract.
            // Nobody writes them. Indices are multiples of 4.
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
                // SAFETY: `k` is a multiple of 4. Each thread has its own elements, no other block has the part, and
                // the halves meet the kernels' requirements: the caller's contract.
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
