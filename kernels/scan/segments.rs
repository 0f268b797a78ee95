//! Segments: contiguous lines of different lengths.
//!
//! ```text
//! listed ones:  a block for each tile, like that of a line
//! others:       a warp takes 16, one row of vectors after another
//! ```
//!
//! Blocks of listed tiles come first, so the longest work starts first.

use super::place::{Place, apart, in_block};
use super::plan::{ROW_THREADS, ROWS, ScanPlan, WARPS};
use super::preceding::take_tile;
use super::shuffles::{precede, scan_rows_of_vectors};
use super::state::State;
use super::tile::{Before, prefixes_of, results_of};
use super::value::ScanValue;
use super::views::{Block, Kind, Operands};
use crate::reduce::Reduction;
use cuda_std::Pod;
use cuda_std::array;
use cuda_std::prelude::*;
use cuda_std::warp;

/// The segments of an array.
#[derive(Clone, Copy)]
pub struct Segments<'launch> {
    /// The start of each segment, and the end of the last. Without elements if there are no segments.
    pub offsets: Global<'launch, u64>,
    /// For each tile of a segment that has more elements than a warp takes: the segment, the number of the tile, and
    /// the first word of the segment's state.
    pub tiles: Global<'launch, [u64; 3]>,
}

impl Segments<'_> {
    /// Whether there are none.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.offsets.is_empty()
    }

    /// The start of a segment, and its number of elements.
    ///
    /// # Safety
    /// 1. The segment exists.
    #[inline(always)]
    unsafe fn place(self, segment: usize) -> (usize, usize) {
        // SAFETY: the segment exists: the caller's contract. There is one offset more than segments.
        let (start, end) = unsafe { (self.offsets.load(segment), self.offsets.load(segment + 1)) };
        (start as usize, (end - start) as usize)
    }

    /// The number of the calling block, that of a listed tile or beyond.
    ///
    /// # Safety
    /// 1. If there are tiles, `words` are at least a cache line, 0, and only this launch uses them.
    /// 2. Only this block uses `shared`.
    #[inline(always)]
    pub unsafe fn number<R: Reduction<T, Accumulator: ScanValue>, T: Pod>(
        self,
        words: GlobalMut<u64>,
        shared: SharedArray<u32, 1>,
    ) -> usize {
        if self.tiles.is_empty() {
            return thread::block_idx_x() as usize;
        }
        // SAFETY: the caller's contract. No state is accessed but the ticket.
        unsafe { take_tile(State::new(words, ScanPlan::of::<R, T>(0)), shared) }
    }

    /// What block `block` scans, if it is that of a listed tile.
    ///
    /// # Safety
    /// 1. As for [`scan_lines`](super::scan_lines). The blocks with lower numbers have started.
    #[inline(always)]
    pub unsafe fn block<'launch, R, T: Pod, const LANES: usize>(
        self,
        words: GlobalMut<'launch, u64>,
        kind: Kind<R::Accumulator>,
        block: usize,
    ) -> Option<Block<'launch, R::Accumulator>>
    where
        R: Reduction<T, Accumulator: ScanValue>,
    {
        let [segment, tile, first] = self.tiles.get(block)?.map(|number| number as usize);
        // SAFETY: the segment exists, and has its words from `first` on: the caller's contract.
        unsafe {
            let place = self.place(segment);
            let plan = ScanPlan::of::<R, T>(place.1);
            Some(Block {
                plan,
                state: State::new(words, plan).of_line(plan, first),
                tile,
                place: Place::of_line::<LANES>(tile, place, &plan),
                kind,
            })
        }
    }

    /// Scans the segments that are not listed, of 16 for each 32 lanes of block `block`, which comes after the tiles.
    ///
    /// Lanes of a warp stay together until all have scanned theirs, because warps may have 64.
    ///
    /// # Safety
    /// 1. As for [`scan_lines`](super::scan_lines).
    #[inline(always)]
    pub unsafe fn scan_short<R, T: Pod, const LANES: usize>(
        self,
        Operands { x, y, .. }: Operands<T, R::Output>,
        kind: Kind<R::Accumulator>,
        block: usize,
    ) where
        R: Reduction<T, Accumulator: ScanValue>,
    {
        let (warp, lane) = in_block();
        let block = block - self.tiles.len();
        let (first, count) = ((block * WARPS + warp) * ROWS, self.offsets.len() - 1);
        // SAFETY: there is one offset more than segments.
        let offset = unsafe { self.offsets.load((first + lane).min(count)) };
        let before_warp = kind.after_initial::<R, T>(R::IDENTITY);
        let (mut segment, mut row) = (0, 0);
        let mut before_row = R::IDENTITY;
        while warp::any(LaneMask::all(), segment < ROWS as u32) {
            let start = warp::shuffle_width(LaneMask::all(), offset, segment, ROW_THREADS) as usize;
            let end =
                warp::shuffle_width(LaneMask::all(), offset, segment + 1, ROW_THREADS) as usize;
            let is_short = segment < ROWS as u32 && end - start <= ROWS * apart::<LANES>();
            let len = if is_short { end - start } else { 0 };
            let index = row * apart::<LANES>() + lane * LANES;
            let exists = |lane: usize| index + lane < len;
            let elements: [T; LANES] = array::from_fn(|lane| {
                if !exists(lane) {
                    return T::zeroed();
                }
                // SAFETY: the segment has the element, and `x` the segment: the caller's contract.
                unsafe { x.load(start + index + lane) }
            });
            let prefixes = prefixes_of::<R, T, LANES>(elements, exists, index);
            let [up_to] = scan_rows_of_vectors::<R, T, 1>([prefixes[LANES - 1]]);
            let (vector, of_row) = precede::<R, T>(up_to, before_row);
            let before = Before {
                is_exclusive: kind.is_exclusive,
                warp: before_warp,
                vector,
            };
            let results = results_of::<R, T, LANES>(&prefixes, before, exists, index);
            let mut lane = 0;
            while lane < LANES {
                if exists(lane) {
                    // SAFETY: as above, for `y`. Each segment is of one warp, and each element of one lane.
                    unsafe { y.store(start + index + lane, results[lane]) };
                }
                lane += 1;
            }
            row += 1;
            before_row = R::combine(before_row, of_row);
            if row * apart::<LANES>() >= len {
                (segment, row, before_row) = (segment + 1, 0, R::IDENTITY);
            }
        }
    }
}
