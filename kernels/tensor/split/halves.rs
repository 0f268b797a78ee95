//! The pass that splits each element into a high and a low f16 value, its *halves*.

use super::lines::{LineWords, power_of_two, scale_of};
use super::shape::{SPLIT_DEPTH, SPLIT_LINES, SplitShape, WARPS};
use super::source::Source;
use cuda_std::float::HalfFloat;
use cuda_std::prelude::*;
use half::f16;

/// Lines of each warp of a block.
const ROWS: usize = SPLIT_LINES / WARPS;

/// The factor of `lo`.
pub const LOW_SCALE: f32 = 2048.0;

/// The halves of `x`, scaled by 2^`scale`.
#[inline(always)]
fn halves(x: f32, scale: i32) -> (f16, f16) {
    // In two steps, because the power of two may be too large for f32.
    let x = x * power_of_two(scale >> 1) * power_of_two(scale - (scale >> 1));
    let high = f16::narrow(x);
    (high, f16::narrow((x - high.widen()) * LOW_SCALE))
}

/// The destination of a matrix's halves, line after line.
#[derive(Clone, Copy)]
pub struct Halves<'a> {
    high: GlobalMut<'a, f16>,
    low: GlobalMut<'a, f16>,
    lines: usize,
    /// Elements from one line to the next.
    pitch: usize,
}

impl<'a> Halves<'a> {
    /// The destination for matrix number `matrix` of an operand of `shape`. In memory, the high values of all matrices
    /// come first, then the low ones.
    #[inline(always)]
    pub fn new(halves: GlobalMut<'a, f16>, shape: &SplitShape, matrix: usize) -> Self {
        let SplitShape {
            matrices,
            lines,
            pitch,
            ..
        } = *shape;
        // SAFETY: no thread owns elements of the view: they are accessed without unique indices.
        let from = |matrix| unsafe { halves.skip(matrix * lines * pitch) };
        Self {
            high: from(matrix),
            low: from(matrices + matrix),
            lines,
            pitch,
        }
    }

    /// Writes the halves of `N` neighbours of a line, scaled by 2^`scale`, if they lie within the pitch of a line.
    ///
    /// # Safety
    /// 1. `k` is a multiple of `N`, which is 2 or 4.
    /// 2. The view has the halves of the shape's lines, at an address that is a multiple of 8 bytes. No other thread
    ///    accesses these.
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
        // SAFETY: the view has the elements: the line and `k` were compared, and the pitch is a multiple of 4. The
        // index is a multiple of `N`, because the pitch is and `k` is: the caller's contract, as is the address. No
        // other thread accesses them: the caller's contract.
        unsafe {
            self.high.store_vector(at, parts.map(|(high, _)| high));
            self.low.store_vector(at, parts.map(|(_, low)| low));
        }
    }
}

/// Splits each element of the block's tile, and records lines outside the split's range. The tile is number `x` along
/// the lines, in [`SPLIT_LINES`], and number `y` along k, in [`SPLIT_DEPTH`].
///
/// # Safety
/// 1. (2) to (4) of [`split_halves`](super::split_halves), for the block's matrix.
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
        // SAFETY: the matrix has words for its lines: the caller's contract; the line was compared. The launch writes
        // only the words of groups. `note_groups`: all lanes of the warp call it, and no other block has these lines
        // and the first elements.
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
        // Lanes read neighbouring lines, and later write neighbouring elements.
        let mut k = warp;
        while k < SPLIT_DEPTH {
            // SAFETY: the source has its elements: the caller's contract. The tile has the place, which only this
            // thread writes.
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
                // Two pairs per lane, because every second lane reads the banks of the one before. SAFETY: the tile has
                // the places, which were written before a barrier. The line has a word, which nothing writes: the
                // caller's contract. The halves: `k` is even, and each thread writes its own; the view is the caller's
                // contract.
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
    // Reads everything before writing, so that no read waits for a write.
    let k = first_k + 4 * lane;
    let mut scales = [0; ROWS];
    let mut elements = [[0.0; 4]; ROWS];
    let mut i = 0;
    while i < ROWS {
        let line = first_line + warp + i * WARPS;
        if line < source.lines {
            // SAFETY: the source has its elements: the caller's contract. `k` is a multiple of 4. The words: as above.
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
        // SAFETY: `k` is a multiple of 4, and each thread writes its own elements. The view: the caller's contract.
        unsafe { halves.store(line, k, elements[i], scales[i]) };
        i += 1;
    }
}
