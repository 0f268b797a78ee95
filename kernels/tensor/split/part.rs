//! What a block keeps of an operand in shared memory: whole lines, or a part of each.

use super::halves::Halves;
use super::scan::Extremes;
use super::shape::{SPLIT_LINES, WARPS};
use super::source::Source;
use cuda_std::pipeline::Pipeline;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Elements of a line that a warp stores at a time.
pub const STEP: usize = 4 * 32;

/// Elements of a lane in a step.
const OF_STEP: usize = 4;

/// Lines whose elements are loaded together where they are neighbours.
pub const QUAD: usize = 4;

/// Fours of elements in 128 bytes, which lie in different banks.
const FOURS_OF_BANKS: usize = 8;

/// A part of each of the lines that the block shares with its cluster, or all of those that it has alone.
#[derive(Clone, Copy)]
pub struct Part<'a, const ALONG: bool, const LINES: usize> {
    pub source: Source<'a, ALONG>,
    pub elements: SharedSlice<'a, f32>,
    /// The first of the lines, and the first of the elements of each.
    pub first_line: usize,
    pub first_k: usize,
    /// Elements of each line.
    pub depth: usize,
}

impl<const ALONG: bool, const LINES: usize> Part<'_, ALONG, LINES> {
    /// Lines of each warp, if they are contiguous; and fours that a thread brings in each step.
    const ROWS: usize = LINES / WARPS;

    /// Quads of lines.
    const QUADS: usize = LINES / QUAD;

    /// Where four neighbours lie: elements of a line from `k` on, or of a quad of lines at `k`. Quads are
    /// permuted within 128 bytes, so that lanes with neighbouring fours of elements reach different banks.
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

    /// Line and element, from the block's first ones on, of the four number `i` that a thread brings in each
    /// step.
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

    /// Starts to bring what the block has.
    ///
    /// # Safety
    /// 1. As for the kernel.
    #[inline(always)]
    pub unsafe fn load(self, pipeline: &mut Pipeline<1>) {
        let mut first = 0;
        while first < self.depth {
            let mut i = 0;
            while i < Self::ROWS {
                let (line, k) = Self::four(i);
                let to = self.place(line, first + k);
                let (line, k) = (self.first_line + line, self.first_k + first + k);
                // SAFETY: (1) is (1). (2) The block has so many elements, of which each thread has its own,
                // and all places are multiples of 4.
                unsafe { (self.source).bring_four(line, k, pipeline, self.elements, to) };
                i += 1;
            }
            first += STEP;
        }
        pipeline.commit();
    }

    /// The extremes of what the calling thread has brought: of its warp's lines if they are contiguous, else of
    /// its quad of lines.
    ///
    /// # Safety
    /// 1. The copies have been waited for.
    #[inline(always)]
    pub unsafe fn extremes(self) -> [Extremes; QUAD] {
        const { assert!(Self::ROWS <= QUAD && LINES.is_multiple_of(WARPS) && LINES <= 32) };
        let mut extremes = [Extremes::NONE; QUAD];
        let mut first = 0;
        while first < self.depth {
            let mut i = 0;
            while i < Self::ROWS {
                let (line, k) = Self::four(i);
                // SAFETY: (1) as in `load`, by (1). (2) Each thread has its own. (3) As there.
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

    /// Splits the elements that the block has loaded; `scales` are those of its lines.
    ///
    /// # Safety
    /// 1. As for the kernel.
    /// 2. A barrier stands behind what was loaded, and behind the scales.
    #[inline(always)]
    pub unsafe fn store(self, halves: Halves<'_>, scales: SharedArray<'_, i32, SPLIT_LINES>) {
        let (warp, lane) = (warp::warp_in_block() as usize, warp::lane() as usize);
        // Lines that lie across: a warp has a quad, and other warps other elements of it.
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
        // SAFETY: (1) the lines are those of the block. (2) is (2).
        let scales = [0, 1, 2, 3].map(|i| unsafe { scales.load(line(i)) });
        let mut k = first_k;
        while k < self.depth {
            // SAFETY: (1) the block has so many elements, all of which were loaded. (2) is (2). (3) All
            // places are multiples of 4.
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
                // SAFETY: (1) `k` is a multiple of 4. (2) Each thread has its elements.
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
