//! The main loop for elements whose sums have few bits in a tensor core: the CUDA cores add those of each stage to
//! totals.

use super::cluster::BLOCKS;
use super::operands::Operands;
use super::product::MainLoop;
use super::scaling::PartialScales;
use super::schedule::TilePlace;
use crate::epilogue::EpilogueElement;
use cuda_std::mbarrier::{Consumer, Stage};
use cuda_std::warpgroup;
use cuda_std::wgmma::{Accumulator, AccumulatorElement, Multiply, Registers};

/// Whether a thread has registers for `count` totals and for two accumulators of as many sums.
const fn fits_two_accumulators(count: usize, warpgroups: usize, is_alone: bool) -> bool {
    count <= if warpgroups > 1 || is_alone { 64 } else { 32 }
}

impl<O: Operands, const COUNT: usize, const STAGES: usize> MainLoop<'_, O, COUNT, STAGES> {
    const FITS_TWO_ACCUMULATORS: bool =
        fits_two_accumulators(COUNT, Self::WARPGROUPS, Self::IS_ALONE);

    /// [`multiply`](Self::multiply) with totals on the CUDA cores, of sums that are scaled by `scales`.
    ///
    /// The warpgroup's outputs begin at `place`.
    ///
    /// # Safety
    /// As for [`multiply`](Self::multiply).
    #[inline(always)]
    pub(super) unsafe fn multiply_promoted<S, F>(
        &self,
        ring: &mut Consumer<'_, STAGES>,
        first: usize,
        (scales, place): (F, TilePlace),
    ) -> [S; COUNT]
    where
        S: AccumulatorElement + EpilogueElement,
        F: PartialScales<S>,
        [S; COUNT]: Multiply<O::Element, O::Element> + Registers,
    {
        let rounds = self.work.schedule.rounds;
        let thread = warpgroup::thread_rank();
        let mut totals = [<S as EpilogueElement>::ZERO; COUNT];
        if rounds == 0 {
            return totals;
        }
        // SAFETY: all threads of the warpgroup are here together: the caller's contract. Below, each stage's factors are
        // computed after the sums of the stage before are added, and before its own are.
        let mut window = unsafe { scales.begin(place, rounds) };
        // SAFETY: as for `begin`.
        let mut factors =
            |round, slot| unsafe { scales.factors(&mut window, place, (round, rounds), slot) };
        let mut add = |sums: &Accumulator<COUNT, S>, factors: F::Factors| {
            // SAFETY: as for `begin`.
            unsafe { scales.add(&mut totals, sums, factors) };
        };
        let start = |sums: Accumulator<COUNT, S>, stage: &Stage| {
            // SAFETY: all threads of the warpgroup make these calls together: the caller's contract, and conditions and
            // loop bounds below are the same for all threads. The bulk copies to the stage have been waited for. The
            // stage is released, and so written again, only when its products are finished. Tiles are in range: a
            // slice of a stage. The accumulators are waited for below.
            unsafe {
                let mut products = sums.overwrite().begin();
                let (a, b) = (self.a_tiles, self.b_tiles);
                O::multiply(&mut products, a, b, stage.index(), first);
                products.commit()
            }
        };
        let release = |ring: &Consumer<'_, STAGES>, stage: &Stage| {
            if thread < BLOCKS as u32 {
                // SAFETY: the ring is initialised in all blocks, none of which has ended: the caller's contract.
                unsafe { ring.release_in(stage, thread) };
            }
        };
        if const { !Self::FITS_TWO_ACCUMULATORS } {
            // Other warpgroups' products run while this one waits for its sums.
            let mut sums = Accumulator::zero();
            let mut round = 0;
            while round < rounds {
                // SAFETY: the ring is initialised: the caller's contract.
                let stage = unsafe { ring.wait() };
                let products = start(sums, &stage);
                let factors = factors(round, 0);
                sums = products.wait();
                release(ring, &stage);
                add(&sums, factors);
                round += 1;
            }
            return totals;
        }
        // A stage's products run while the sums of the stage before are added. The loop is unrolled by two, so that
        // each accumulator keeps its registers.
        // SAFETY: the ring is initialised: the caller's contract. At each `wait_before`, the last group is that of the
        // other accumulator.
        unsafe {
            let mut before = ring.wait();
            let mut even = start(Accumulator::zero(), &before);
            let mut of_sums = factors(0, 0);
            let mut odd = Accumulator::zero();
            let mut round = 1;
            while round + 1 < rounds {
                let stage = ring.wait();
                let odd_products = start(odd, &stage);
                let sums = even.wait_before::<1>();
                release(ring, &before);
                add(&sums, of_sums);
                of_sums = factors(round, 1);
                before = ring.wait();
                even = start(sums, &before);
                odd = odd_products.wait_before::<1>();
                release(ring, &stage);
                add(&odd, of_sums);
                of_sums = factors(round + 1, 0);
                round += 2;
            }
            if round < rounds {
                let stage = ring.wait();
                let odd_products = start(odd, &stage);
                let sums = even.wait_before::<1>();
                release(ring, &before);
                add(&sums, of_sums);
                of_sums = factors(round, 1);
                let sums = odd_products.wait();
                release(ring, &stage);
                add(&sums, of_sums);
            } else {
                let sums = even.wait();
                release(ring, &before);
                add(&sums, of_sums);
            }
        }
        totals
    }
}
