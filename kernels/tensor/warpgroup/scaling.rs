//! Factors of partial sums: how the sums of a stage are added to totals on the CUDA cores.

use super::schedule::TilePlace;
use crate::epilogue::EpilogueElement;
use cuda_std::wgmma::{Accumulator, AccumulatorElement};

/// How the sums of a stage are scaled.
pub trait PartialScales<S: AccumulatorElement>: Copy {
    /// What a thread loads for a stage.
    type Factors: Copy;

    /// Loads the calling thread's factors of stage number `round`. Its warpgroup's outputs begin at `place`.
    fn factors(self, place: TilePlace, round: u32) -> Self::Factors;

    /// Adds scaled sums to the totals.
    fn add<const COUNT: usize>(
        totals: &mut [S; COUNT],
        sums: &Accumulator<COUNT, S>,
        factors: Self::Factors,
    );
}

/// Sums are added as they are.
#[derive(Clone, Copy)]
pub struct Unscaled;

impl<S: AccumulatorElement + EpilogueElement> PartialScales<S> for Unscaled {
    type Factors = ();

    #[inline(always)]
    fn factors(self, _place: TilePlace, _round: u32) {}

    #[inline(always)]
    fn add<const COUNT: usize>(
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
