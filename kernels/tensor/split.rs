//! f32 matrices taken apart into halves, so that tensor cores multiply them.
//!
//! A *line* is what is scaled by one power of two: a row of A or a column of B. Its largest element
//! comes to lie in [2^14, 2^15), and each element x becomes hi + 2^-11 lo:
//!
//! ```text
//! hi = x rounded to f16         |x - hi| <= 2^-11 |x|
//! lo = 2^11 (x - hi) rounded    what is left: at most 2^-23 |x|, or 2^-36 where x is small
//! ```
//!
//! That is as accurate as f32 as long as the elements of a line are not too far apart. A line with
//! infinities, NaN or elements that are is *wide*, and so are the [`PANEL`] lines of which it is one: their
//! outputs are left to the ordinary units ([`LineWords`]).
//!
//! (Ootomo, Yokota: Recovering single precision accuracy from Tensor Cores while surpassing the FP32
//! theoretical peak performance, 2022, has the two halves and the factor 2^11.)

use cuda_std::float::HalfFloat;
use cuda_std::prelude::*;
use half::f16;

/// Lines that are wide or not together: those of a block's tile of outputs.
pub const PANEL: usize = 128;

/// Threads of a block of the kernels here.
pub const SPLIT_THREADS: u32 = 256;

const WARPS: usize = SPLIT_THREADS as usize / 32;

/// Lines of a block that scans.
pub const SCAN_LINES: usize = 32;
/// Elements of each line that a block scans.
pub const SCAN_DEPTH: usize = 256;

/// Lines of a block that splits.
pub const SPLIT_LINES: usize = 32;
/// Elements of each line that a block splits.
pub const SPLIT_DEPTH: usize = 128;

/// Lines of a block that splits for each of its warps.
const ROWS: usize = SPLIT_LINES / WARPS;

/// Exponent of the largest element of a scaled line.
const TOP: i32 = 14;

/// What `lo` is scaled by.
pub(super) const LOW_SCALE: f32 = 2048.0;

/// Where the words about an operand's lines lie: for each line the bits of its largest magnitude; for
/// each line the bits of its smallest nonzero magnitude, subtracted from [`u32::MAX`]; for each panel
/// whether it is wide. All are 0 before a scan.
#[derive(Clone, Copy, Debug)]
pub struct LineWords {
    /// Lines of the operand.
    pub lines: usize,
}

impl LineWords {
    /// Words of all lines and panels.
    #[must_use]
    pub const fn len(self) -> usize {
        2 * self.lines + self.lines.div_ceil(PANEL)
    }

    /// Whether there are no lines.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.lines == 0
    }

    #[inline(always)]
    const fn smallest(self, line: usize) -> usize {
        self.lines + line
    }

    /// The word of the panel with `line`.
    #[inline(always)]
    pub(crate) const fn panel(self, line: usize) -> usize {
        2 * self.lines + line / PANEL
    }
}

/// The lowest exponent that an element of a scaled line may have in products of length `k`, so that
/// every output stays within gamma_k |A||B|; `None` if `k` is too small for any.
///
/// In units of u = 2^-24 of |A||B|, an output's error is at most 8 for the halves (2 for each operand,
/// 4 for the product of both `lo`), 42 for four instructions' truncations of 17 terms at 2^-25 and
/// their rounding toward zero, k / 64 for the totals, 8 for `lo`'s accumulators and the last roundings,
/// k / 4096 for adding `lo`.
/// What is left to k is shared by the operands' errors of 2^-36 for elements that are small.
#[must_use]
pub const fn lowest_exponent(k: usize) -> Option<i32> {
    let needed = 58 + k / 64 + k / 4096;
    if k < needed + 2 {
        return None;
    }
    let units = (k - needed) / 2;
    Some(-12 - units.ilog2() as i32)
}

/// The exponent of a finite number other than 0 with these bits, without its sign.
#[inline(always)]
const fn exponent(bits: u32) -> i32 {
    const SUBNORMAL: i32 = -149;
    match bits >> 23 {
        0 => 31 - bits.leading_zeros() as i32 + SUBNORMAL,
        biased => biased as i32 - 127,
    }
}

/// The exponent of the power of two that a line is scaled by, whose largest magnitude has these bits.
#[inline(always)]
pub(super) const fn scale_of(largest: u32) -> i32 {
    match largest {
        0 => 0,
        bits => TOP - exponent(bits),
    }
}

/// Whether outputs of the line need the ordinary units.
#[inline(always)]
const fn is_wide(largest: u32, smallest: u32, lowest: i32) -> bool {
    const INFINITY: u32 = 0x7f80_0000;
    largest >= INFINITY || (largest != 0 && exponent(smallest) + scale_of(largest) < lowest)
}

/// 2^`exponent`, of a normal number.
#[inline(always)]
const fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

/// `x` in two halves, scaled by 2^`scale`.
#[inline(always)]
fn halves(x: f32, scale: i32) -> (f16, f16) {
    // Twice, because the power of two itself may be too large for f32.
    let x = x * power_of_two(scale >> 1) * power_of_two(scale - (scale >> 1));
    let high = f16::narrow(x);
    (high, f16::narrow((x - high.widen()) * LOW_SCALE))
}

/// An f32 operand as the kernels here read it: `lines` lines of `k` elements.
#[derive(Clone, Copy)]
struct Source<'a, const ALONG: bool> {
    elements: Global<'a, f32>,
    lines: usize,
    k: usize,
    /// Elements from a line to the next if `ALONG`, else from an element of a line to its next.
    leading_dimension: usize,
}

impl<'a, const ALONG: bool> Source<'a, ALONG> {
    /// The same, of which the caller knows that its lines are contiguous.
    #[inline(always)]
    const fn as_along(self) -> Source<'a, true> {
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
    unsafe fn load(self, line: usize, k: usize) -> f32 {
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
    unsafe fn load_four(self, line: usize, k: usize) -> [f32; 4] {
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

/// The largest and the smallest nonzero magnitude of some elements, as [`LineWords`] has them.
#[derive(Clone, Copy)]
struct Extremes {
    largest: u32,
    smallest: u32,
}

impl Extremes {
    const NONE: Self = Self {
        largest: 0,
        smallest: 0,
    };

    #[inline(always)]
    fn of(x: f32) -> Self {
        match x.to_bits() & 0x7fff_ffff {
            0 => Self::NONE,
            magnitude => Self {
                largest: magnitude,
                smallest: u32::MAX - magnitude,
            },
        }
    }

    #[inline(always)]
    fn with(self, other: Self) -> Self {
        Self {
            largest: self.largest.max(other.largest),
            smallest: self.smallest.max(other.smallest),
        }
    }
}

/// Finds the extremes of each line.
///
/// # Safety
/// 1. As for the kernels.
#[inline(always)]
unsafe fn scan<const ALONG: bool>(source: Source<'_, ALONG>, words: GlobalMut<'_, u32>) {
    let places = LineWords {
        lines: source.lines,
    };
    let (warp, lane) = (warp::warp_in_block() as usize, warp::lane() as usize);
    let first_line = thread::block_idx_x() as usize * SCAN_LINES;
    let first_k = thread::block_idx_y() as usize * SCAN_DEPTH;
    let add = |line: usize, extremes: Extremes| {
        if line < source.lines && extremes.largest != 0 {
            // SAFETY: (1) the line is there. (2) The words are accessed in this way alone.
            unsafe {
                words.atomic_max(line, extremes.largest);
                words.atomic_max(places.smallest(line), extremes.smallest);
            }
        }
    };
    if ALONG {
        // A warp for each line; neighbouring lanes read neighbours.
        let mut row = warp;
        while row < SCAN_LINES {
            // SAFETY: (1) is (1).
            let extremes = unsafe { extremes_of(source, first_line + row, first_k + lane, 32) };
            let extremes = Extremes {
                largest: warp::reduce(extremes.largest, u32::max),
                smallest: warp::reduce(extremes.smallest, u32::max),
            };
            if lane == 0 {
                add(first_line + row, extremes);
            }
            row += WARPS;
        }
        return;
    }
    // A lane for each line; the warps share the elements, and the first one puts them together.
    let found = shared_array![[u32; 2]; WARPS * SCAN_LINES];
    // SAFETY: (1) is (1). For the shared memory: (1) within the array; (2) each thread has its place, and a
    // barrier stands before the loads.
    unsafe {
        let Extremes { largest, smallest } =
            extremes_of(source, first_line + lane, first_k + warp, WARPS);
        found.store(warp * SCAN_LINES + lane, [largest, smallest]);
        thread::sync_threads();
        if warp == 0 {
            let mut extremes = Extremes { largest, smallest };
            let mut other = 1;
            while other < WARPS {
                let [largest, smallest] = found.load(other * SCAN_LINES + lane);
                extremes = extremes.with(Extremes { largest, smallest });
                other += 1;
            }
            add(first_line + lane, extremes);
        }
    }
}

/// The extremes of `SCAN_DEPTH` / `step` elements of a line, from `first` on, `step` apart.
///
/// # Safety
/// 1. As (2) of the kernels.
#[inline(always)]
unsafe fn extremes_of<const ALONG: bool>(
    source: Source<'_, ALONG>,
    line: usize,
    first: usize,
    step: usize,
) -> Extremes {
    let mut extremes = Extremes::NONE;
    let mut k = 0;
    while k < SCAN_DEPTH {
        // SAFETY: (1) is (1).
        extremes = extremes.with(Extremes::of(unsafe { source.load(line, first + k) }));
        k += step;
    }
    extremes
}

/// Where the halves of an operand go: line after line.
#[derive(Clone, Copy)]
struct Halves<'a> {
    high: GlobalMut<'a, f16>,
    low: GlobalMut<'a, f16>,
    lines: usize,
    /// Elements from a line to the next.
    pitch: usize,
}

impl Halves<'_> {
    /// Writes `N` neighbours of a line, scaled by 2^`scale`, unless they lie outside.
    ///
    /// # Safety
    /// 1. `k` is a multiple of `N`, which is 2 or 4.
    /// 2. No other thread accesses them.
    #[inline(always)]
    unsafe fn store<const N: usize>(self, line: usize, k: usize, elements: [f32; N], scale: i32) {
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

/// Takes each element apart, and notes the panels that are wide.
///
/// # Safety
/// 1. As for the kernels.
#[inline(always)]
unsafe fn split<const ALONG: bool>(
    source: Source<'_, ALONG>,
    words: GlobalMut<'_, u32>,
    halves: Halves<'_>,
    lowest: i32,
) {
    let places = LineWords {
        lines: source.lines,
    };
    let (warp, lane) = (warp::warp_in_block() as usize, warp::lane() as usize);
    // From the end on: the second-level cache still has what was scanned last.
    let x = thread::grid_dim_x() - 1 - thread::block_idx_x();
    let y = thread::grid_dim_y() - 1 - thread::block_idx_y();
    let (first_line, first_k) = (x as usize * SPLIT_LINES, y as usize * SPLIT_DEPTH);
    if first_k == 0 && warp == 0 {
        let line = first_line + lane;
        if line < source.lines {
            // SAFETY: (1) the line is there. (2) The launch writes no words but those of panels, which it
            // accesses here alone.
            unsafe {
                let largest = words.load(line);
                let smallest = u32::MAX - words.load(places.smallest(line));
                if is_wide(largest, smallest, lowest) {
                    words.atomic_max(places.panel(line), 1);
                }
            }
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
                elements[i] = source.as_along().load_four(line, k);
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

macro_rules! split_kernels {
    ($($along:literal: $scan:ident, $split:ident, $layout:literal;)*) => {$(
        #[doc = concat!("Finds the extremes of each line of an operand ", $layout)]
        ///
        /// # Safety
        /// 1. The grid has a block for each [`SCAN_LINES`] lines along x and for each [`SCAN_DEPTH`] elements
        ///    along y, of [`SPLIT_THREADS`] threads.
        /// 2. `x` starts with the first element of the operand and reaches to its last. The launch reads its
        ///    elements alone.
        /// 3. `words` has the words of [`LineWords`], which were 0 before the first scan.
        #[kernel(max_threads = 256)]
        pub unsafe fn $scan(
            x: Global<f32>,
            lines: usize,
            k: usize,
            leading_dimension: usize,
            words: GlobalMut<u32>,
        ) {
            let source = Source::<$along> { elements: x, lines, k, leading_dimension };
            // SAFETY: (1) is (1) to (3).
            unsafe { scan(source, words) };
        }

        #[doc = concat!("Takes an operand apart into halves, line after line. It is ", $layout)]
        ///
        /// # Safety
        /// 1. The grid has a block for each [`SPLIT_LINES`] lines along x and for each [`SPLIT_DEPTH`]
        ///    elements along y, of [`SPLIT_THREADS`] threads.
        /// 2. `x` starts with the first element of the operand and reaches to its last. The launch reads its
        ///    elements alone.
        /// 3. `words` has the words of [`LineWords`] as a scan left them.
        /// 4. `high` and `low` have `lines` lines of `pitch` elements, at least `k` and a multiple of 4.
        #[allow(clippy::too_many_arguments)]
        #[kernel(max_threads = 256)]
        pub unsafe fn $split(
            x: Global<f32>,
            lines: usize,
            k: usize,
            leading_dimension: usize,
            words: GlobalMut<u32>,
            high: GlobalMut<f16>,
            low: GlobalMut<f16>,
            pitch: usize,
            lowest: i32,
        ) {
            let source = Source::<$along> { elements: x, lines, k, leading_dimension };
            // SAFETY: (1) is (1) to (4).
            unsafe { split(source, words, Halves { high, low, lines, pitch }, lowest) };
        }
    )*};
}
split_kernels! {
    true: split_scan_along, split_along, "whose lines are contiguous.";
    false: split_scan_across, split_across, "whose lines lie side by side.";
}
