//! Factors of partial sums: how the sums of a stage are added to totals on the CUDA cores.

use super::schedule::TilePlace;
use crate::epilogue::EpilogueElement;
use cuda_std::wgmma::{Accumulator, AccumulatorElement};

/// How the sums of a stage are scaled.
///
/// The threads of a warpgroup call [`begin`](Self::begin) for each tile, and then [`factors`](Self::factors) and
/// [`add`](Self::add) for each stage.
pub trait PartialScales<S: AccumulatorElement>: Copy {
    /// Scales that a thread has loaded for later stages.
    type Window;

    /// What a thread keeps of the factors of a stage.
    type Factors: Copy;

    /// Starts to load the scales of the first of `rounds` stages, at least one. The warpgroup's outputs begin at `place`.
    ///
    /// # Safety
    /// 1. All threads of the warpgroup make the call together, and have added the sums of all stages before.
    unsafe fn begin(self, place: TilePlace, rounds: u32) -> Self::Window;

    /// The factors of a stage, by its number, of as many rounds. Starts to load the scales of a later stage.
    ///
    /// `slot` is the number modulo 2 in a loop that is unrolled by two, otherwise 0. It is a constant, so that no thread
    /// waits for a load to move its result to another register.
    ///
    /// # Safety
    /// 1. All threads of the warpgroup make the call together, for the stages of `begin` in turn, and have added the sums
    ///    of the stage before.
    unsafe fn factors(
        self,
        window: &mut Self::Window,
        place: TilePlace,
        number_and_rounds: (u32, u32),
        slot: usize,
    ) -> Self::Factors;

    /// Adds scaled sums to the totals.
    ///
    /// # Safety
    /// 1. The factors are those of the last call of [`factors`](Self::factors).
    unsafe fn add<const COUNT: usize>(
        self,
        totals: &mut [S; COUNT],
        sums: &Accumulator<COUNT, S>,
        factors: Self::Factors,
    );
}

/// Sums are added as they are.
#[derive(Clone, Copy)]
pub struct Unscaled;

impl<S: AccumulatorElement + EpilogueElement> PartialScales<S> for Unscaled {
    type Window = ();
    type Factors = ();

    #[inline(always)]
    unsafe fn begin(self, _place: TilePlace, _rounds: u32) {}

    #[inline(always)]
    unsafe fn factors(
        self,
        _window: &mut (),
        _place: TilePlace,
        _number_and_rounds: (u32, u32),
        _slot: usize,
    ) {
    }

    #[inline(always)]
    unsafe fn add<const COUNT: usize>(
        self,
        totals: &mut [S; COUNT],
        sums: &Accumulator<COUNT, S>,
        _factors: (),
    ) {
        let mut i = 0;
        while i < COUNT {
            totals[i] = totals[i].plus(sums.get(i));
            i += 1;
        }
    }
}
