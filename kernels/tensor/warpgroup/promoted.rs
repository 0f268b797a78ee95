//! The main loop of elements whose sums the tensor cores keep with few bits: those of each stage are added to totals on
//! the CUDA cores.

use super::cluster::BLOCKS;
use super::operand::TensorOperand;
use super::product::MainLoop;
use super::shape::WARPGROUP_ROWS;
use crate::epilogue::EpilogueElement;
use cuda_std::mbarrier::{Consumer, Stage};
use cuda_std::warpgroup;
use cuda_std::wgmma::{Accumulator, AccumulatorElement, Element, Multiply, Registers};

/// Whether threads that multiply, in so many warpgroups of a block, have registers for so many sums twice and for
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

    /// As [`multiply`](Self::multiply), with totals on the CUDA cores.
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
            // SAFETY: of `overwrite`, (1) is (2): the conditions and the bounds of the loops below are the launch's.
            // Of the products, (1) the stage is full. (2) It is released when they are finished. (3) is (2). (4) The
            // tiles are there. (5) They are waited for below.
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
                // SAFETY: (1) is (1). (2) Blocks end behind a barrier of the cluster.
                unsafe { ring.release_in(stage, thread) };
            }
        };
        if const { !Self::HAS_ROOM_FOR_TWO } {
            // Other warpgroups' products run while the sums are waited for.
            let mut sums = Accumulator::zero();
            let mut round = 0;
            while round < rounds {
                // SAFETY: (1) is (1).
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
        // The products of a stage run while the sums of the one before are added, of two at a time, so that no sum
        // changes its register.
        // SAFETY: of `wait`, (1) is (1). Of `wait_before`, (1) the last group is that of the other accumulators.
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
