//! The main loop of element types whose sums the tensor cores keep with few bits: the CUDA cores add each stage's sums
//! to totals.

use super::cluster::BLOCKS;
use super::operand::TensorOperand;
use super::product::MainLoop;
use super::shape::WARPGROUP_ROWS;
use crate::epilogue::EpilogueElement;
use cuda_std::mbarrier::{Consumer, Stage};
use cuda_std::warpgroup;
use cuda_std::wgmma::{Accumulator, AccumulatorElement, Element, Multiply, Registers};

/// Whether the threads of `warpgroups` multiplying warpgroups of a block have registers for `count` sums twice, and for
/// their totals.
const fn has_room_for_two(count: usize, warpgroups: usize, is_alone: bool) -> bool {
    count <= if warpgroups > 1 || is_alone { 64 } else { 32 }
}

impl<
    T: Element,
    A: TensorOperand<T, ROWS, ROWS, DEPTH>,
    B: TensorOperand<T, COLUMNS, PART, DEPTH>,
    const ROWS: usize,
    const COLUMNS: usize,
    const PART: usize,
    const COUNT: usize,
    const STAGES: usize,
    const ALL_SLICES: usize,
    const DEPTH: usize,
> MainLoop<'_, T, A, B, ROWS, COLUMNS, PART, COUNT, STAGES, ALL_SLICES, DEPTH>
{
    const HAS_ROOM_FOR_TWO: bool = has_room_for_two(COUNT, Self::WARPGROUPS, Self::IS_ALONE);

    /// [`multiply`](Self::multiply) with totals on the CUDA cores.
    ///
    /// # Safety
    /// As for [`multiply`](Self::multiply).
    #[inline(always)]
    pub(super) unsafe fn multiply_promoted<S>(
        &self,
        ring: &mut Consumer<'_, STAGES>,
        first: usize,
    ) -> [S; COUNT]
    where
        S: AccumulatorElement + EpilogueElement,
        [S; COUNT]: Multiply<T, T> + Registers,
    {
        let rounds = self.work.schedule.rounds;
        let thread = warpgroup::thread_rank();
        let mut totals = [<S as EpilogueElement>::ZERO; COUNT];
        let mut add = |sums: &Accumulator<COUNT, S>| {
            let mut i = 0;
            while i < COUNT {
                totals[i] = totals[i].plus(sums.get(i));
                i += 1;
            }
        };
        let start = |sums: Accumulator<COUNT, S>, stage: &Stage| {
            // SAFETY: all threads of the warpgroup make the calls together, converged, with the same operands: the
            // caller's contract, and the conditions and bounds below are the launch's. The stage is full, and released
            // only after its products are finished, so no copy overwrites the tiles before. The tiles are in range:
            // `tiles` took their memory. The accumulators reach `wait` below.
            unsafe {
                let mut products = sums.overwrite().begin();
                let (a, b) = self.tiles_of(stage, 0);
                products.multiply(
                    A::part::<WARPGROUP_ROWS>(a, first),
                    B::part::<COLUMNS>(b, 0),
                );
                products.commit()
            }
        };
        let release = |ring: &Consumer<'_, STAGES>, stage: &Stage| {
            if thread < BLOCKS as u32 {
                // SAFETY: the rings are initialised in each block, at the same offset, and no block ends early: the
                // caller's contract.
                unsafe { ring.release_in(stage, thread) };
            }
        };
        if const { !Self::HAS_ROOM_FOR_TWO } {
            // Other warpgroups' products run while this one waits for its sums.
            let mut sums = Accumulator::zero();
            let mut round = 0;
            while round < rounds {
                // SAFETY: the ring is initialised: the caller's contract.
                let stage = unsafe { ring.wait() };
                sums = start(sums, &stage).wait();
                release(ring, &stage);
                add(&sums);
                round += 1;
            }
            return totals;
        }
        if rounds == 0 {
            return totals;
        }
        // The products of a stage run while the sums of the stage before are added. A round handles two stages, so that
        // no sum changes its register. SAFETY: the ring is initialised: the caller's contract. `wait_before`: the last
        // group has products of the other accumulators only.
        unsafe {
            let mut before = ring.wait();
            let mut even = start(Accumulator::zero(), &before);
            let mut odd = Accumulator::zero();
            let mut round = 1;
            while round + 1 < rounds {
                let stage = ring.wait();
                let odd_products = start(odd, &stage);
                let sums = even.wait_before::<1>();
                release(ring, &before);
                add(&sums);
                before = ring.wait();
                even = start(sums, &before);
                odd = odd_products.wait_before::<1>();
                release(ring, &stage);
                add(&odd);
                round += 2;
            }
            if round < rounds {
                let stage = ring.wait();
                let odd_products = start(odd, &stage);
                let sums = even.wait_before::<1>();
                release(ring, &before);
                add(&sums);
                let sums = odd_products.wait();
                release(ring, &stage);
                add(&sums);
            } else {
                let sums = even.wait();
                release(ring, &before);
                add(&sums);
            }
        }
        totals
    }
}
