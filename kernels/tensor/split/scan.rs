//! The pass that finds the largest and the smallest nonzero magnitude of each line.

use super::lines::RangeWords;
use super::shape::{SCAN_DEPTH, SCAN_LINES, WARPS};
use super::source::Source;
use cuda_std::prelude::*;

/// The largest and the smallest nonzero magnitude of some elements, as the words of [`RangeWords`].
#[derive(Clone, Copy)]
pub struct Extremes {
    pub largest: u32,
    smallest: u32,
}

impl Extremes {
    pub const NONE: Self = Self {
        largest: 0,
        smallest: 0,
    };

    #[inline(always)]
    pub fn of(x: f32) -> Self {
        match x.to_bits() & 0x7fff_ffff {
            0 => Self::NONE,
            magnitude => Self {
                largest: magnitude,
                smallest: u32::MAX - magnitude,
            },
        }
    }

    #[inline(always)]
    pub fn with(self, other: Self) -> Self {
        Self {
            largest: self.largest.max(other.largest),
            smallest: self.smallest.max(other.smallest),
        }
    }

    /// The two words.
    #[inline(always)]
    pub const fn words(self) -> [u32; 2] {
        [self.largest, self.smallest]
    }

    /// The extremes with these [`words`](Self::words).
    #[inline(always)]
    pub const fn from_words([largest, smallest]: [u32; 2]) -> Self {
        Self { largest, smallest }
    }

    /// The extremes over all lanes of the warp.
    #[inline(always)]
    pub fn reduced(self) -> Self {
        Self {
            largest: warp::reduce(self.largest, u32::max),
            smallest: warp::reduce(self.smallest, u32::max),
        }
    }
}

/// Finds the extremes of each line.
///
/// The calling block has [`SCAN_LINES`] lines, as number `x`, and [`SCAN_DEPTH`] elements of each, as number `y`.
///
/// # Safety
/// 1. The launch meets the requirements of [`split_scan`](super::split_scan). `source`, `words` and (`x`, `y`) are the
///    calling block's.
#[inline(always)]
pub unsafe fn scan<const ALONG: bool>(
    source: Source<'_, ALONG>,
    words: GlobalMut<'_, u32>,
    (x, y): (usize, usize),
) {
    let places = RangeWords {
        lines: source.lines,
    };
    let (warp, lane) = (warp::warp_in_block() as usize, warp::lane() as usize);
    let (first_line, first_k) = (x * SCAN_LINES, y * SCAN_DEPTH);
    let add = |line: usize, extremes: Extremes| {
        if line < source.lines && extremes.largest != 0 {
            // SAFETY: the line was compared, so it has both words: the caller's contract. The launch accesses them only
            // by these atomic operations.
            unsafe {
                words.atomic_max(line, extremes.largest);
                words.atomic_max(places.smallest(line), extremes.smallest);
            }
        }
    };
    if ALONG {
        // Each warp reads a line at a time; neighbouring lanes read neighbours.
        let mut row = warp;
        while row < SCAN_LINES {
            // SAFETY: the source has its elements: the caller's contract.
            let extremes = unsafe { extremes_of(source, first_line + row, first_k + lane, 32) };
            let extremes = extremes.reduced();
            if lane == 0 {
                add(first_line + row, extremes);
            }
            row += WARPS;
        }
        return;
    }
    // Each lane reads a line. The warps divide the elements, and the first warp combines their extremes.
    let found = shared_array![[u32; 2]; WARPS * SCAN_LINES];
    // SAFETY: the source has its elements: the caller's contract. The indices are within the array. Each thread writes
    // its own element, and the barrier orders the writes before the loads.
    unsafe {
        let mut extremes = extremes_of(source, first_line + lane, first_k + warp, WARPS);
        found.store(warp * SCAN_LINES + lane, extremes.words());
        thread::sync_threads();
        if warp == 0 {
            let mut other = 1;
            while other < WARPS {
                let words = found.load(other * SCAN_LINES + lane);
                extremes = extremes.with(Extremes::from_words(words));
                other += 1;
            }
            add(first_line + lane, extremes);
        }
    }
}

/// The extremes of `SCAN_DEPTH` / `step` elements of a line, from `first` on, `step` apart.
///
/// # Safety
/// 1. As for [`Source::load`].
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
        // SAFETY: the caller's contract.
        extremes = extremes.with(Extremes::of(unsafe { source.load(line, first + k) }));
        k += step;
    }
    extremes
}
