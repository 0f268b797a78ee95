//! Scales of blocks of the operands, as factors of the sums of a transpose: its columns are rows of A.

use super::block_scales::{BlockScales, ScaleShape};
use super::scaling::PartialScales;
use super::schedule::TilePlace;
use crate::epilogue::EpilogueElement;
use cuda_std::prelude::*;
use cuda_std::shared::SharedArray;
use cuda_std::warpgroup;
use cuda_std::wgmma::Accumulator;

/// Factors of tiles whose columns are lines: B has a scale for each column, A for each block of rows.
///
/// A thread has outputs in a fourth of the columns. Each thread computes the factor of one column, and all of a warpgroup
/// read them from shared memory, in two buffers in turn.
#[derive(Clone, Copy)]
pub struct ColumnScales<'a, const COLUMNS: usize, const LEN: usize> {
    scales: BlockScales<'a>,
    factors: SharedArray<'a, f32, LEN>,
}

/// The scales of the calling thread's column and of the warpgroup's rows, for the next stage.
pub struct ColumnWindow {
    scales: [f32; 2],
    /// Where those of the stage after it are, if there is one.
    at: [u32; 2],
}

/// Elements of shared memory for the factors of `warpgroups` warpgroups.
pub const fn factors_len(columns: usize, warpgroups: usize) -> usize {
    2 * columns * warpgroups
}

impl<'a, const COLUMNS: usize, const LEN: usize> ColumnScales<'a, COLUMNS, LEN> {
    /// # Safety
    /// 1. No other code of the block uses `factors`, which has [`factors_len`] elements for all warpgroups but the first.
    #[inline(always)]
    pub unsafe fn new(scales: BlockScales<'a>, factors: SharedArray<'a, f32, LEN>) -> Self {
        const {
            assert!(
                COLUMNS == warpgroup::THREADS as usize,
                "each thread has a column"
            );
        }
        Self { scales, factors }
    }

    /// Loads the scales of stage number `round`, or of the last one.
    ///
    /// # Safety
    /// 1. The calls for a window are those for stages 0 and on, in turn.
    #[inline(always)]
    unsafe fn load(self, window: &mut ColumnWindow, (round, rounds): (u32, u32)) {
        let ColumnWindow { scales, at } = window;
        // SAFETY: the places are those of the stage, or of the last: each call goes to the next one if there is one.
        *scales = unsafe { [self.scales.line(at[0]), self.scales.square(at[1])] };
        if round + 1 < rounds {
            let ScaleShape { lines, squares } = *self.scales.shape;
            *at = [at[0] + lines.block, at[1] + squares.block];
        }
    }

    /// Waits for the warpgroup. Its outputs use the same barrier.
    #[inline(always)]
    fn sync(self) {
        thread::named_barrier_sync(warpgroup::index(), warpgroup::THREADS);
    }

    /// Where a column's factor lies in a buffer: those of four columns that a thread reads lie side by side.
    ///
    /// A thread has columns 2 t and 2 t + 1 of each eight.
    #[inline(always)]
    const fn position(column: usize) -> usize {
        let (pair, eight) = (column % 8 / 2, column / 8 % 2);
        column / 16 * 16 + 4 * pair + 2 * eight + column % 2
    }
}

impl<const COLUMNS: usize, const LEN: usize> PartialScales<f32> for ColumnScales<'_, COLUMNS, LEN> {
    type Window = ColumnWindow;
    /// Where the stage's buffer begins.
    type Factors = usize;

    #[inline(always)]
    unsafe fn begin(self, place: TilePlace, rounds: u32) -> Self::Window {
        // No thread reads factors of the tile before after this.
        self.sync();
        let column = place.column + warpgroup::thread_rank();
        let mut window = ColumnWindow {
            scales: [0.0; 2],
            at: [
                self.scales.of_line(place.matrix, column),
                self.scales.of_square(place.matrix, place.row),
            ],
        };
        // SAFETY: this is the first stage.
        unsafe { self.load(&mut window, (0, rounds)) };
        window
    }

    #[inline(always)]
    unsafe fn factors(
        self,
        window: &mut ColumnWindow,
        _place: TilePlace,
        (round, rounds): (u32, u32),
        slot: usize,
    ) -> usize {
        let [line, square] = window.scales;
        let factor = line.times(square);
        // SAFETY: the stages are loaded in turn: those before in earlier calls, and in `begin`.
        unsafe { self.load(window, (round + 1, rounds)) };
        let warpgroup = warpgroup::index() as usize - 1;
        let buffer = (2 * warpgroup + slot) * COLUMNS;
        let at = buffer + Self::position(warpgroup::thread_rank() as usize);
        // SAFETY: the warpgroup has memory for two buffers of all columns, which nothing else uses: the contract of `new`.
        // The threads have different columns. All have read the buffer's last factors: before the barrier of the stage
        // before, or of `begin`.
        unsafe { self.factors.store(at, factor) };
        self.sync();
        buffer
    }

    #[inline(always)]
    unsafe fn add<const COUNT: usize>(
        self,
        totals: &mut [f32; COUNT],
        sums: &Accumulator<COUNT, f32>,
        buffer: usize,
    ) {
        const { assert!(COLUMNS == 2 * COUNT, "each column has a factor") };
        let first = buffer + 4 * (warp::lane() as usize % 4);
        let mut i = 0;
        while i < COUNT {
            // SAFETY: the factors of the buffer's columns were written before the barrier in `factors`, and are written
            // again after the next one. `first` and 2 `i` are multiples of four.
            let factors: [f32; 4] = unsafe { self.factors.load_vector(first + 2 * i) };
            let mut j = i;
            while j < i + 8 {
                let factor = factors[2 * (j / 4 % 2) + j % 2];
                totals[j] = sums.get(j).times_plus(factor, totals[j]);
                j += 1;
            }
            i += 8;
        }
    }
}
