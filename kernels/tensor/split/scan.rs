//! The pass that finds the largest and the smallest magnitude of each line.

use super::lines::LineWords;
use super::shape::{SCAN_DEPTH, SCAN_LINES, WARPS};
use super::source::Source;
use cuda_std::prelude::*;

/// The largest and the smallest nonzero magnitude of some elements, as [`LineWords`] has them.
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

    /// As words, for shared memory.
    #[inline(always)]
    pub const fn words(self) -> [u32; 2] {
        [self.largest, self.smallest]
    }

    /// What [`Extremes::words`] made.
    #[inline(always)]
    pub const fn from_words([largest, smallest]: [u32; 2]) -> Self {
        Self { largest, smallest }
    }

    /// Those of the elements of all lanes of the warp.
    #[inline(always)]
    pub fn reduced(self) -> Self {
        Self {
            largest: warp::reduce(self.largest, u32::max),
            smallest: warp::reduce(self.smallest, u32::max),
        }
    }
}

/// Finds the extremes of each line, in the block for [`SCAN_LINES`] lines number `x` and [`SCAN_DEPTH`]
/// elements number `y`.
///
/// # Safety
/// 1. As for the kernels.
#[inline(always)]
pub unsafe fn scan<const ALONG: bool>(
    source: Source<'_, ALONG>,
    words: GlobalMut<'_, u32>,
    (x, y): (usize, usize),
) {
    let places = LineWords {
        lines: source.lines,
    };
    let (warp, lane) = (warp::warp_in_block() as usize, warp::lane() as usize);
    let (first_line, first_k) = (x * SCAN_LINES, y * SCAN_DEPTH);
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
            let extremes = extremes.reduced();
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
