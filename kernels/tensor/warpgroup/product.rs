//! The main loop: products of elements of one type, added up in the tensor cores.
//!
//! ```text
//! warpgroup 0, one thread                      warpgroups 1 and on, 64 rows of outputs each
//! for each tile of the cluster:                for each tile of the cluster:
//!     for each stage of K:                         for each stage of K:
//!         wait until it is empty                       wait until it is full
//!         copy A's tile, and half of                   multiply
//!         B's tile to both blocks                      release the stage before
//!                                                  write the outputs
//! ```
//!
//! The ladder of products on tensor cores has the steps that lead here.

use super::cluster::{ALL, BLOCKS, Work, stage_bytes, start};
use super::operand::{OperandPlace, TensorOperand};
use super::outputs::{Outputs, Writer, is_first_of_warpgroup};
use super::shape::WARPGROUP_ROWS;
use crate::epilogue::EpilogueElement;
use cuda_std::hint::opaque;
use cuda_std::mbarrier::{Consumer, Producer, Stage};
use cuda_std::prelude::*;
use cuda_std::wgmma::{Accumulator, AccumulatorElement, Element, Multiply, Registers};
use cuda_std::{cluster, warpgroup};

/// Whether threads with so many sums take registers of the warpgroup that copies. For fewer sums there are enough, and
/// in one warpgroup that multiplies in the only block on a multiprocessor.
const fn takes_registers(count: usize, warpgroups: usize, is_alone: bool) -> bool {
    count >= 64 && !(warpgroups == 1 && is_alone)
}

/// Whether a multiprocessor, with 227 KiB of shared memory, has room for one block alone with such stages.
const fn is_alone(stages: usize, rows: usize, columns: usize) -> bool {
    2 * stages * stage_bytes(rows, columns) > 227 << 10
}

/// Whether threads that multiply, in so many warpgroups of a block, have registers for so many sums twice and for
/// their totals.
const fn has_room_for_two(count: usize, warpgroups: usize, is_alone: bool) -> bool {
    count <= if warpgroups > 1 || is_alone { 64 } else { 32 }
}

/// The main loop of one kernel: a block computes `ROWS` x `COLUMNS` outputs at a time, each thread that
/// multiplies `COUNT` of them. A stage has `DEPTH` elements along k, and each block brings `PART` columns of
/// its B.
pub struct MainLoop<
    'block,
    T: Element,
    A: TensorOperand<T, ROWS, ROWS, DEPTH>,
    B: TensorOperand<T, COLUMNS, PART, DEPTH>,
    const ROWS: usize,
    const COLUMNS: usize,
    const PART: usize,
    const COUNT: usize,
    const STAGES: usize,
    const DEPTH: usize,
> {
    a: A,
    b: B,
    a_tiles: A::Tiles<'block, STAGES>,
    b_tiles: B::Tiles<'block, STAGES>,
    work: Work<'block>,
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
    const DEPTH: usize,
> MainLoop<'_, T, A, B, ROWS, COLUMNS, PART, COUNT, STAGES, DEPTH>
{
    const WARPGROUPS: usize = ROWS / WARPGROUP_ROWS;
    const IS_ALONE: bool = is_alone(STAGES, ROWS, COLUMNS);
    const TAKES_REGISTERS: bool = takes_registers(COUNT, Self::WARPGROUPS, Self::IS_ALONE);
    const HAS_ROOM_FOR_TWO: bool = has_room_for_two(COUNT, Self::WARPGROUPS, Self::IS_ALONE);

    /// Fills the stages, as one thread of each block.
    ///
    /// # Safety
    /// 1. The ring is initialised in each block of the cluster, and its consumers wait for all stages.
    /// 2. The launch writes neither operand.
    #[inline(always)]
    unsafe fn produce(&self, mut ring: Producer<'_, STAGES>) {
        let Work { shape, schedule } = self.work;
        let first = PART * cluster::rank() as usize;
        let mut places = schedule.tiles();
        while let Some(place) = places.next() {
            let mut round = 0;
            while round < schedule.rounds {
                let k = round * DEPTH as u32;
                let of_a = OperandPlace {
                    matrix: place.matrix * shape.a_step,
                    output: place.row,
                    k,
                };
                let of_b = OperandPlace {
                    matrix: place.matrix * shape.b_step,
                    output: place.column,
                    k,
                };
                // SAFETY: (1) is (1). For the copies: (1) is (2), and the tiles are there. (2), (3) The slot
                // is empty in both blocks, until consumers have waited for it. (4) They wait for all.
                unsafe {
                    let slot = ring.acquire();
                    slot.expect(const { stage_bytes(ROWS, COLUMNS) as u32 });
                    let a_tile = A::tile(self.a_tiles, slot.stage());
                    self.a.load(a_tile, &slot, of_a, 0, None);
                    let b_tile = B::tile(self.b_tiles, slot.stage());
                    self.b.load(b_tile, &slot, of_b, first, Some(ALL));
                }
                round += 1;
            }
        }
    }

    /// Multiplies the stages of one tile of outputs, in rows from `first` on of the block's, and releases each
    /// of them in all blocks of the cluster.
    ///
    /// # Safety
    /// 1. The ring is initialised in each block of the cluster, and its producer fills all stages.
    /// 2. All threads of the warpgroup make the call.
    #[inline(always)]
    unsafe fn multiply<S>(
        &self,
        ring: &mut Consumer<'_, STAGES>,
        first: usize,
    ) -> Accumulator<COUNT, S>
    where
        S: AccumulatorElement,
        [S; COUNT]: Multiply<T, T> + Registers,
    {
        // Unknown before each tile: what is compared with it takes no register while outputs are computed.
        let thread = opaque(warpgroup::thread_rank());
        let mut sums = Accumulator::zero().overwrite();
        let mut before = None;
        let mut round = 0;
        while round < self.work.schedule.rounds {
            // SAFETY: (1) is (1). For the products: (1) the stage is full. (2) It is released when they are
            // finished. (3) is (2). (4) The tiles are there. (5) They are waited for below.
            unsafe {
                let stage = ring.wait();
                let mut products = sums.begin();
                products.multiply(
                    A::part::<WARPGROUP_ROWS>(A::tile(self.a_tiles, stage.index()), first),
                    B::part::<COLUMNS>(B::tile(self.b_tiles, stage.index()), 0),
                );
                sums = products.commit();
                // The products of this stage run while the next one is waited for.
                sums.wait_all_but::<1>();
                if let (Some(before), true) = (&before, thread < BLOCKS as u32) {
                    ring.release_in(before, thread);
                }
                before = Some(stage);
            }
            round += 1;
        }
        let sums = sums.wait();
        if let (Some(before), true) = (&before, thread < BLOCKS as u32) {
            // SAFETY: (1) is (1). (2) Blocks end behind a barrier of the cluster.
            unsafe { ring.release_in(before, thread) };
        }
        sums
    }

    /// [`multiply`](Self::multiply), where the sums of each stage are added to totals on the ordinary units,
    /// because the tensor core's own sums keep few bits.
    ///
    /// # Safety
    /// As for [`multiply`](Self::multiply).
    #[inline(always)]
    unsafe fn multiply_promoted<S>(
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
            let mut products = sums.overwrite().begin();
            let (a, b) = (
                A::tile(self.a_tiles, stage.index()),
                B::tile(self.b_tiles, stage.index()),
            );
            // SAFETY: (1) the stage is full. (2) It is released when they are finished. (3) is (2). (4) The tiles
            // are there. (5) They are waited for below.
            unsafe {
                products.multiply(
                    A::part::<WARPGROUP_ROWS>(a, first),
                    B::part::<COLUMNS>(b, 0),
                );
            }
            products.commit()
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

    /// The kernel for operands of any type and either layout, whose sums are `PROMOTED` after each stage or
    /// not.
    ///
    /// # Safety
    /// 1. The operands are those of the kernels, and `outputs` takes what `work` computes.
    /// 2. All threads of the launch make the call, and access no global memory before it.
    #[inline(always)]
    pub unsafe fn run<O, const PROMOTED: bool>(a: A, b: B, outputs: O, work: Work<'_>)
    where
        O: Outputs<COUNT>,
        [O::Sum; COUNT]: Multiply<T, T> + Registers,
    {
        let mut shared = dynamic_shared_allotment!();
        let main_loop = MainLoop::<T, A, B, ROWS, COLUMNS, PART, COUNT, STAGES, DEPTH> {
            a,
            b,
            a_tiles: A::tiles::<STAGES>(&mut shared),
            b_tiles: B::tiles::<STAGES>(&mut shared),
            work,
        };
        let memory = O::memory(&mut shared);
        let ring = shared.ring::<STAGES>();
        // SAFETY: (1) is (2).
        unsafe {
            start(ring, ROWS / WARPGROUP_ROWS, || {
                a.prefetch();
                b.prefetch();
            });
        }

        if warpgroup::index() == 0 {
            if const { Self::TAKES_REGISTERS } {
                warpgroup::decrease_registers::<40>();
            }
            if is_first_of_warpgroup() {
                // SAFETY: (1) the ring is initialised. (2) (1) of the kernel.
                unsafe { main_loop.produce(ring.producer()) };
            }
        } else {
            // What the warpgroup that copies has left, of the registers of all that are resident.
            match const { (Self::TAKES_REGISTERS, Self::WARPGROUPS) } {
                (false, _) => {}
                (true, 1) => warpgroup::increase_registers::<208>(),
                (true, 2) => warpgroup::increase_registers::<232>(),
                (true, _) => warpgroup::increase_registers::<152>(),
            }
            let number = warpgroup::index() - 1;
            let first = WARPGROUP_ROWS as u32 * number;
            let writer = outputs.writer(memory, number);
            let mut ring = ring.consumer();
            let mut places = work.schedule.tiles();
            while let Some(mut place) = places.next() {
                place.row += first;
                // SAFETY: (1) the ring is initialised. (2) The whole warpgroup is here. For the outputs: (1)
                // so it is. (2) Each warpgroup has its own.
                unsafe {
                    if PROMOTED {
                        let totals = main_loop.multiply_promoted(&mut ring, first as usize);
                        writer.store(&totals, place);
                    } else {
                        let sums = main_loop.multiply::<O::Sum>(&mut ring, first as usize);
                        writer.store(sums.as_array(), place);
                    }
                }
            }
            writer.finish();
        }
        // No block ends while the other one may still copy to it, or arrive at its barriers.
        cluster::sync();
    }
}
