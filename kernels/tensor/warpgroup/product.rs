//! The main loop: products of one element type, added in the tensor cores.
//!
//! ```text
//! warpgroup 0, one thread or two in turns      warpgroups 1 and on, 64 rows of outputs each
//! for each tile of the cluster:                for each tile of the cluster:
//!     for each stage of K:                         for each stage of K:
//!         wait until it is empty                       wait until it is full
//!         copy A's tile, and half of                   multiply
//!         B's tile to both blocks                      release the stage before
//!                                                  write the outputs
//! ```
//!
//! The ladder of products on tensor cores leads here step by step.

use super::cluster::{ALL, BLOCKS, Work, slice_bytes, start};
use super::element::TensorElement;
use super::operand::{OperandPlace, TensorOperand};
use super::outputs::{Outputs, Writer};
use super::registers::{COPYING, MULTIPLYING_ALONE, multiplying};
use super::shape::WARPGROUP_ROWS;
use cuda_std::hint::opaque;
use cuda_std::mbarrier::{Consumer, Producer, Stage};
use cuda_std::prelude::*;
use cuda_std::wgmma::{Accumulator, AccumulatorElement, Element, Multiply, Registers};
use cuda_std::{cluster, warpgroup};

/// Whether threads with `count` sums take registers from the copying warpgroup. Fewer sums need none, nor does a single
/// multiplying warpgroup in the only block on a multiprocessor.
const fn takes_registers(count: usize, warpgroups: usize, is_alone: bool) -> bool {
    count >= 64 && !(warpgroups == 1 && is_alone)
}

/// Whether a multiprocessor, with 227 KiB of shared memory, holds only one block with `slices` slices.
const fn is_alone(slices: usize, rows: usize, columns: usize) -> bool {
    2 * slices * slice_bytes(rows, columns) > 227 << 10
}

/// The main loop of a kernel. A block computes `ROWS` x `COLUMNS` outputs at a time, each multiplying thread `COUNT` of
/// them. A stage has `ALL_SLICES / STAGES` slices of `DEPTH` elements along k. Each block copies `PART` columns of B,
/// or all without a cluster.
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
    const ALL_SLICES: usize,
    const DEPTH: usize,
> {
    pub(super) a: A,
    pub(super) b: B,
    pub(super) a_tiles: A::Tiles<'block, ALL_SLICES>,
    pub(super) b_tiles: B::Tiles<'block, ALL_SLICES>,
    pub(super) work: Work<'block>,
}

impl<
    'block,
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
> MainLoop<'block, T, A, B, ROWS, COLUMNS, PART, COUNT, STAGES, ALL_SLICES, DEPTH>
{
    /// Slices of a stage.
    pub(super) const SLICES: usize = ALL_SLICES / STAGES;
    pub(super) const WARPGROUPS: usize = ROWS / WARPGROUP_ROWS;
    pub(super) const IS_ALONE: bool = is_alone(ALL_SLICES, ROWS, COLUMNS);
    const TAKES_REGISTERS: bool = takes_registers(COUNT, Self::WARPGROUPS, Self::IS_ALONE);

    /// Fills the stages, as thread number `number` of the `PRODUCERS` of each block, which take turns.
    ///
    /// # Safety
    /// 1. The ring is initialised in each block of the cluster, and its consumers wait for all stages.
    /// 2. The launch writes neither operand.
    #[inline(always)]
    unsafe fn produce<const PRODUCERS: usize>(
        &self,
        mut ring: Producer<'_, STAGES, PRODUCERS>,
        number: u32,
    ) {
        let Work { shape, schedule } = self.work;
        let first = PART * cluster::rank() as usize;
        let mut places = schedule.tiles();
        // Turns continue from one tile to the next.
        let mut round = number;
        while let Some(place) = places.next() {
            while round < schedule.rounds {
                // SAFETY: the ring is initialised in each block: the caller's contract. A stage expects its own bytes,
                // fewer than 2^20. The maps are of live matrices that the launch does not write: the caller's contract.
                // The tiles are in range: `tiles` took their memory. The slot is empty, in both blocks if B is
                // multicast, and no thread accesses its tiles before a consumer has waited for it. Consumers wait for
                // all stages, the caller's contract, so the copies land before a block ends.
                unsafe {
                    let slot = ring.acquire();
                    slot.expect(const { (Self::SLICES * slice_bytes(ROWS, COLUMNS)) as u32 });
                    let mut slice = 0;
                    while slice < Self::SLICES {
                        let number = slot.stage() * Self::SLICES + slice;
                        let k = (round as usize * Self::SLICES + slice) * DEPTH;
                        // Computed again, so that no register holds it.
                        let k = shape.first_k(opaque(place.matrix)) + k as u32;
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
                        let a_tile = A::tile(self.a_tiles, number);
                        self.a.load(a_tile, &slot, of_a, 0, None);
                        let b_tile = B::tile(self.b_tiles, number);
                        self.b.load(b_tile, &slot, of_b, first, Some(ALL));
                        slice += 1;
                    }
                }
                round += PRODUCERS as u32;
            }
            round -= schedule.rounds;
        }
    }

    /// Multiplies the stages of one tile of outputs, from row `first` of the block's on, and releases each stage in all
    /// blocks of the cluster.
    ///
    /// # Safety
    /// 1. The ring is initialised in each block of the cluster, and its producer fills all stages.
    /// 2. All threads of the warpgroup make the call together, converged. No block of the cluster ends before all
    ///    blocks have released their stages.
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
        // Opaque for each tile, so that comparisons with it hold no register while outputs are computed.
        let thread = opaque(warpgroup::thread_rank());
        // SAFETY: all threads of the warpgroup make this and the following calls together, converged: the caller's
        // contract, and the bounds of the loops are the launch's.
        let mut sums = unsafe { Accumulator::zero().overwrite() };
        let mut before = None;
        let mut round = 0;
        while round < self.work.schedule.rounds {
            // SAFETY: the ring is initialised in each block, at the same offset, and no block ends early: the caller's
            // contract. The products: the stage is full, and released only after they are finished, so no copy
            // overwrites the tiles before. All threads make the calls together, with the same operands: the caller's
            // contract. The tiles are in range: `tiles` took their memory. The accumulators reach `wait` below.
            unsafe {
                let stage = ring.wait();
                let mut products = sums.begin();
                let mut slice = 0;
                while slice < Self::SLICES {
                    let (a, b) = self.tiles_of(&stage, slice);
                    products.multiply(
                        A::part::<WARPGROUP_ROWS>(a, first),
                        B::part::<COLUMNS>(b, 0),
                    );
                    slice += 1;
                }
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
            // SAFETY: the rings are initialised, and no block ends early: the caller's contract.
            unsafe { ring.release_in(before, thread) };
        }
        sums
    }

    /// The tiles of a slice of a stage.
    #[inline(always)]
    pub(super) fn tiles_of(
        &self,
        stage: &Stage,
        slice: usize,
    ) -> (A::Tile<'block>, B::Tile<'block>) {
        let number = stage.index() * Self::SLICES + slice;
        (A::tile(self.a_tiles, number), B::tile(self.b_tiles, number))
    }

    /// The kernel for operands of any type and either layout.
    ///
    /// # Safety
    /// 1. The operands are those of the kernels, and `outputs` takes the results of `work`.
    /// 2. All threads of the launch make the call together, and access no global memory before it.
    /// 3. The kernel states its tile's bounds, which fix the initial registers of a thread.
    #[inline(always)]
    pub unsafe fn run<O, const PRODUCERS: usize>(a: A, b: B, outputs: O, work: Work<'_>)
    where
        T: TensorElement,
        O: Outputs<COUNT>,
        [O::Sum; COUNT]: Multiply<T, T> + Registers,
    {
        const {
            assert!(
                !T::HAS_TOTALS || Self::SLICES == 1,
                "totals are of the sums of a stage of one slice"
            );
        }
        let mut shared = dynamic_shared_allotment!();
        let main_loop = MainLoop::<T, A, B, ROWS, COLUMNS, PART, COUNT, STAGES, ALL_SLICES, DEPTH> {
            a,
            b,
            a_tiles: A::tiles::<ALL_SLICES>(&mut shared),
            b_tiles: B::tiles::<ALL_SLICES>(&mut shared),
            work,
        };
        let memory = O::memory(&mut shared);
        let ring = shared.ring::<STAGES>();
        // SAFETY: all threads of the launch make the call, once, before they access global memory: the caller's
        // contract.
        unsafe {
            start(ring, ROWS / WARPGROUP_ROWS, || {
                a.prefetch();
                b.prefetch();
            });
        }

        if warpgroup::index() == 0 {
            if const { Self::TAKES_REGISTERS } {
                // SAFETY: the whole warpgroup is here, and the kernel states its bounds: the caller's contract. Every
                // tile's threads start with more registers. It is the warpgroup's only such call.
                unsafe { warpgroup::decrease_registers::<COPYING>() };
            }
            let number = warpgroup::thread_rank() / 32;
            if warpgroup::thread_rank().is_multiple_of(32) && number < PRODUCERS as u32 {
                // SAFETY: the ring is initialised in each block: `start`. Consumers wait for all stages: the loops
                // below have the same bounds. The launch does not write the operands: the caller's contract.
                unsafe { main_loop.produce(ring.producer_in_turns::<PRODUCERS>(number), number) };
            }
        } else {
            const {
                assert!(
                    Self::WARPGROUPS <= 3,
                    "one to three warpgroups multiply: more have no registers for sums"
                );
            }
            // SAFETY: the whole warpgroup is here, and the kernel states its bounds: the caller's contract; the
            // condition is a constant. Every tile's threads start with fewer registers. It is the warpgroup's only such
            // call.
            unsafe {
                match const { (Self::TAKES_REGISTERS, Self::WARPGROUPS) } {
                    (false, _) => {}
                    (true, 1) => warpgroup::increase_registers::<MULTIPLYING_ALONE>(),
                    (true, 2) => warpgroup::increase_registers::<{ multiplying(2, 1) }>(),
                    (true, _) => warpgroup::increase_registers::<{ multiplying(3, 1) }>(),
                }
            }
            let number = warpgroup::index() - 1;
            let first = WARPGROUP_ROWS as u32 * number;
            let writer = outputs.writer(memory, number);
            let mut ring = ring.consumer();
            let mut places = work.schedule.tiles();
            while let Some(mut place) = places.next() {
                place.row += first;
                // SAFETY: the ring is initialised in each block: `start`. The producer fills all stages, and the whole
                // warpgroup is here. Blocks end only after the barrier of the cluster below. The outputs: `outputs`
                // takes the results of `work`, the caller's contract, and each warpgroup has its own.
                unsafe {
                    if const { T::HAS_TOTALS } {
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
