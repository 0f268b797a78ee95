//! The pass that splits each element into two halves.

use super::lines::{LineWords, power_of_two, scale_of};
use super::shape::{SPLIT_DEPTH, SPLIT_LINES, SplitShape, WARPS};
use super::source::Source;
use cuda_std::float::HalfFloat;
use cuda_std::prelude::*;
use half::f16;

/// Lines of a block that splits for each of its warps.
const ROWS: usize = SPLIT_LINES / WARPS;

/// What `lo` is scaled by.
pub const LOW_SCALE: f32 = 2048.0;

/// `x` in two halves, scaled by 2^`scale`.
#[inline(always)]
fn halves(x: f32, scale: i32) -> (f16, f16) {
    // Twice, because the power of two itself may be too large for f32.
    let x = x * power_of_two(scale >> 1) * power_of_two(scale - (scale >> 1));
    let high = f16::narrow(x);
    (high, f16::narrow((x - high.widen()) * LOW_SCALE))
}

/// Where the halves of a matrix go: line after line.
#[derive(Clone, Copy)]
pub struct Halves<'a> {
    high: GlobalMut<'a, f16>,
    low: GlobalMut<'a, f16>,
    lines: usize,
    /// Elements from a line to the next.
    pitch: usize,
}

impl<'a> Halves<'a> {
    /// Those of matrix number `matrix` of an operand of `shape`: the upper halves of all matrices, line after line,
    /// and then the lower ones.
    #[inline(always)]
    pub fn new(halves: GlobalMut<'a, f16>, shape: &SplitShape, matrix: usize) -> Self {
        let SplitShape {
            matrices,
            lines,
            pitch,
            ..
        } = *shape;
        // SAFETY: (1) no element is an own one.
        let from = |matrix| unsafe { halves.skip(matrix * lines * pitch) };
        Self {
            high: from(matrix),
            low: from(matrices + matrix),
            lines,
            pitch,
        }
    }

    /// Writes `N` neighbours of a line, scaled by 2^`scale`, unless they lie outside.
    ///
    /// # Safety
    /// 1. `k` is a multiple of `N`, which is 2 or 4.
    /// 2. No other thread accesses them.
    #[inline(always)]
    pub unsafe fn store<const N: usize>(
        self,
        line: usize,
        k: usize,
        elements: [f32; N],
        scale: i32,
    ) {
        if line >= self.lines || k >= self.pitch {
            return;
        }
        let parts = elements.map(|x| halves(x, scale));
        let at = line * self.pitch + k;
        // SAFETY: (1) compared, and the pitch is a multiple of 4. (2) So is the place of a line; (1). (3) is
        // (2).
        unsafe {
            self.high.store_vector(at, parts.map(|(high, _)| high));
            self.low.store_vector(at, parts.map(|(_, low)| low));
        }
    }
}

/// Splits each element, and notes lines outside the split's range, in the block for [`SPLIT_LINES`] lines
/// number `x` and [`SPLIT_DEPTH`] elements number `y`.
///
/// # Safety
/// 1. As for the kernels.
#[inline(always)]
pub unsafe fn split<const ALONG: bool>(
    source: Source<'_, ALONG>,
    words: GlobalMut<'_, u32>,
    halves: Halves<'_>,
    lowest: i32,
    (x, y): (usize, usize),
) {
    let places = LineWords {
        lines: source.lines,
    };
    let (warp, lane) = (warp::warp_in_block() as usize, warp::lane() as usize);
    let (first_line, first_k) = (x * SPLIT_LINES, y * SPLIT_DEPTH);
    if first_k == 0 && warp == 0 {
        let line = first_line + lane;
        // SAFETY: for the loads, (1) the line is there. (2) The launch writes no words but those of groups. Of
        // `note_groups`, (1) no other block has the lines and the first elements. (2) is (1).
        unsafe {
            let extremes = match line < source.lines {
                true => [words.load(line), words.load(places.smallest(line))],
                false => [0; 2],
            };
            places.note_groups(words, line, extremes, lowest);
        }
    }
    let tile = shared_tile![f32; SPLIT_DEPTH, SPLIT_LINES; pitch = SPLIT_LINES + 1];
    if !ALONG {
        // Lanes read neighbouring lines, and write neighbouring elements.
        let mut k = warp;
        while k < SPLIT_DEPTH {
            // SAFETY: (1) is (1). For the store: (1) within the tile; (2) each thread has its places.
            unsafe { tile.store(k, lane, source.load(first_line + lane, first_k + k)) };
            k += WARPS;
        }
        thread::sync_threads();
    }
    if !ALONG {
        let k = first_k + 2 * lane;
        let mut row = warp;
        while row < SPLIT_LINES {
            let line = first_line + row;
            if line < source.lines {
                // Two pairs for a lane: every second lane reads the banks of the one before.
                // SAFETY: (1) is (1), and the places lie within the tile, which a barrier stands behind.
                // For the words: the line is there, and nothing writes its extremes. For the halves: (1)
                // `k` is even. (2) Each thread has its elements.
                unsafe {
                    let scale = scale_of(words.load(line));
                    let pair = |at: usize| [tile.load(at, row), tile.load(at + 1, row)];
                    halves.store(line, k, pair(2 * lane), scale);
                    halves.store(line, k + 64, pair(2 * lane + 64), scale);
                }
            }
            row += WARPS;
        }
        return;
    }
    // All is read before anything is written, so that no read waits for another.
    let k = first_k + 4 * lane;
    let mut scales = [0; ROWS];
    let mut elements = [[0.0; 4]; ROWS];
    let mut i = 0;
    while i < ROWS {
        let line = first_line + warp + i * WARPS;
        if line < source.lines {
            // SAFETY: (1) is (1). For the words: as above.
            unsafe {
                scales[i] = scale_of(words.load(line));
                elements[i] = source.load_four(line, k);
            }
        }
        i += 1;
    }
    let mut i = 0;
    while i < ROWS {
        let line = first_line + warp + i * WARPS;
        // SAFETY: (1) `k` is a multiple of 4. (2) Each thread has its elements.
        unsafe { halves.store(line, k, elements[i], scales[i]) };
        i += 1;
    }
}
