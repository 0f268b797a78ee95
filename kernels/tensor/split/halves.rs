//! The pass that splits each element into a high and a low half.

use super::lines::{RangeWords, power_of_two, scale_of};
use super::shape::{SPLIT_DEPTH, SPLIT_LINES, SplitShape, WARPS};
use super::source::Source;
use cuda_std::float::HalfFloat;
use cuda_std::prelude::*;
use half::f16;

/// Lines of each warp of a block that splits.
const ROWS: usize = SPLIT_LINES / WARPS;

/// The factor that scales `lo`.
pub const LOW_SCALE: f32 = 2048.0;

/// The high and the low half of `x` scaled by 2^`scale`.
#[inline(always)]
fn halves(x: f32, scale: i32) -> (f16, f16) {
    // In two steps, because the power of two itself may be too large for f32.
    let x = x * power_of_two(scale >> 1) * power_of_two(scale - (scale >> 1));
    let high = f16::narrow(x);
    (high, f16::narrow((x - high.widen()) * LOW_SCALE))
}

/// Where the halves of a matrix go, line after line.
#[derive(Clone, Copy)]
pub struct Halves<'a> {
    high: GlobalMut<'a, f16>,
    low: GlobalMut<'a, f16>,
    lines: usize,
    /// Elements from one line to the next.
    pitch: usize,
}

impl<'a> Halves<'a> {
    /// The halves of matrix number `matrix` of an operand of `shape`.
    ///
    /// `halves` has the high halves of all matrices, line after line, then the low halves.
    #[inline(always)]
    pub fn new(halves: GlobalMut<'a, f16>, shape: &SplitShape, matrix: usize) -> Self {
        let SplitShape {
            matrices,
            lines,
            pitch,
            ..
        } = *shape;
        // SAFETY: the kernels own no elements by unique index.
        let from = |matrix| unsafe { halves.skip(matrix * lines * pitch) };
        Self {
            high: from(matrix),
            low: from(matrices + matrix),
            lines,
            pitch,
        }
    }

    /// Scales `N` neighbours of a line by 2^`scale`, and writes their halves. Outside the line, writes nothing.
    ///
    /// # Safety
    /// 1. `k` is a multiple of `N`, which is 2 or 4.
    /// 2. No other thread of the launch accesses these halves.
    /// 3. The memory of the halves meets the [requirements of the
    ///    kernels](super::SplitShape#requirements-of-the-kernels).
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
        // SAFETY: line and k were compared, so the memory has `N` elements from there on: it has the matrix's lines,
        // and the pitch is a multiple of 8. They are aligned: the memory starts at a multiple of 16 bytes, each line at
        // a multiple of 8 elements, and `k` is a multiple of `N`. No other thread accesses them. All but the comparison
        // is the caller's contract.
        unsafe {
            self.high.store_vector(at, parts.map(|(high, _)| high));
            self.low.store_vector(at, parts.map(|(_, low)| low));
        }
    }
}

/// Splits each element, and finds lines outside the split's range.
///
/// The calling block has [`SPLIT_LINES`] lines, as number `x`, and [`SPLIT_DEPTH`] elements of each, as number `y`.
///
/// # Safety
/// 1. The launch meets the requirements of [`split_halves`](super::split_halves). `source`, `words`, `halves` and
///    (`x`, `y`) are the calling block's.
#[inline(always)]
pub unsafe fn split<const ALONG: bool>(
    source: Source<'_, ALONG>,
    words: GlobalMut<'_, u32>,
    halves: Halves<'_>,
    lowest: i32,
    (x, y): (usize, usize),
) {
    let places = RangeWords {
        lines: source.lines,
    };
    let (warp, lane) = (warp::warp_in_block() as usize, warp::lane() as usize);
    let (first_line, first_k) = (x * SPLIT_LINES, y * SPLIT_DEPTH);
    if first_k == 0 && warp == 0 {
        let line = first_line + lane;
        // SAFETY: the words are those of the lines: the caller's contract. The line of each load was compared, and the
        // launch writes no words but those of groups. All lanes call `note_groups`, and no other warp has these lines
        // and their first elements.
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
            // SAFETY: the source has its elements: the caller's contract. The indices are within the tile, and each
            // thread writes its own elements.
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
                // Two pairs per lane: with four neighbours, every second lane would read the banks of the one before.
                // SAFETY: the line was compared, so it has its word, which the launch does not write. The tile's
                // elements were written before the barrier, and the indices are within it. `k` is even, each thread
                // has its own elements, and the halves meet the kernels' requirements: the caller's contract.
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
    // All elements are loaded before the first is stored, so that the loads overlap.
    let k = first_k + 4 * lane;
    let mut scales = [0; ROWS];
    let mut elements = [[0.0; 4]; ROWS];
    let mut i = 0;
    while i < ROWS {
        let line = first_line + warp + i * WARPS;
        if line < source.lines {
            // SAFETY: the source has its elements: the caller's contract. `k` is a multiple of 4. The line was
            // compared, so it has its word, which the launch does not write.
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
        // SAFETY: `k` is a multiple of 4, each thread has its own elements, and the halves meet the kernels'
        // requirements: the caller's contract.
        unsafe { halves.store(line, k, elements[i], scales[i]) };
        i += 1;
    }
}
