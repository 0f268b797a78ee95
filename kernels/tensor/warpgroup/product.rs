//! The main loop: products of elements of one type, added up in the tensor cores.
//!
//! ```text
//! warpgroup 0, one thread, or two in turn      warpgroups 1 and on, 64 rows of outputs each
//! for each tile of the cluster:                for each tile of the cluster:
//!     for each stage of K:                         for each stage of K:
//!         wait until it is empty                       wait until it is full
//!         copy A's tile, and half of                   multiply
//!         B's tile to both blocks                      release the stage before
//!                                                  write the outputs
//! ```
//!
//! The ladder of products on tensor cores has the steps that lead here.

use super::cluster::{ALL, BLOCKS, Work, start};
use super::element::TensorElement;
use super::operand::OperandPlace;
use super::operands::Operands;
use super::outputs::{Outputs, Writer};
use super::registers;
use super::scaling::{PartialScales, Unscaled};
use super::schedule::TileSequence;
use super::shape::WARPGROUP_ROWS;
use cuda_std::cluster;
use cuda_std::hint::opaque;
use cuda_std::mbarrier::{Consumer, Producer};
use cuda_std::prelude::*;
use cuda_std::shared::Allotment;
use cuda_std::warpgroup;
use cuda_std::wgmma::{Accumulator, AccumulatorElement, Multiply, Registers};

/// Whether threads with `count` sums need registers of the warpgroup that copies.
///
/// They have enough if there are fewer than 64 sums, or if one warpgroup multiplies in the only block of a
/// multiprocessor.
const fn takes_registers(count: usize, warpgroups: usize, is_alone: bool) -> bool {
    count >= 64 && !(warpgroups == 1 && is_alone)
}

/// The main loop of one kernel.
///
/// A block computes the outputs of its operands' tile at a time, `COUNT` in each thread that multiplies. It waits for
/// `STAGES` stages, which have an equal number of slices.
pub struct MainLoop<'block, O: Operands, const COUNT: usize, const STAGES: usize> {
    pub(super) operands: O,
    pub(super) a_tiles: O::ATiles<'block>,
    pub(super) b_tiles: O::BTiles<'block>,
    pub(super) work: Work<'block>,
}

impl<O: Operands, const COUNT: usize, const STAGES: usize> MainLoop<'_, O, COUNT, STAGES> {
    /// Slices of a stage.
    pub(super) const SLICES: usize = O::SLICES / STAGES;
    pub(super) const WARPGROUPS: usize = O::ROWS / WARPGROUP_ROWS;
    /// Whether two blocks exceed a multiprocessor's 227 KiB of shared memory.
    pub(super) const IS_ALONE: bool = 2 * O::SLICES * O::SLICE_BYTES > 227 << 10;
    const TAKES_REGISTERS: bool = takes_registers(COUNT, Self::WARPGROUPS, Self::IS_ALONE);

    /// Fills the stages of the tiles at `places`, as thread number `number` of the block's `PRODUCERS`, which take turns.
    ///
    /// # Safety
    /// 1. The ring is initialised in each block of the cluster. Its consumers wait for all stages before any of these
    ///    blocks ends, and only then access the tiles.
    /// 2. The launch writes neither operand.
    #[inline(always)]
    unsafe fn produce<const PRODUCERS: usize>(
        &self,
        mut ring: Producer<'_, STAGES, PRODUCERS>,
        number: u32,
        mut places: impl TileSequence,
    ) {
        let Work { shape, schedule } = self.work;
        let first = O::PART * cluster::rank() as usize;
        // Turns continue from one tile to the next.
        let mut round = number;
        while let Some(place) = places.next() {
            while round < schedule.rounds {
                // SAFETY: the ring is initialised, the launch writes neither operand, and consumers access a tile
                // only after they have waited for its stage, which they do before a block ends: the caller's
                // contract. The stage is empty in both blocks. It expects the bytes of its slices, which fit into
                // shared memory, so they are fewer than 2^20. Tiles are in range: a slice of a stage.
                unsafe {
                    let slot = ring.acquire();
                    slot.expect(const { (Self::SLICES * O::SLICE_BYTES) as u32 });
                    let mut slice = 0;
                    while slice < Self::SLICES {
                        let number = slot.stage() * Self::SLICES + slice;
                        let k = (round as usize * Self::SLICES + slice) * O::DEPTH;
                        // Recomputed, so that no register holds it.
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
                        let operands = self.operands;
                        operands.load_a(self.a_tiles, number, &slot, of_a);
                        operands.load_b(self.b_tiles, number, &slot, of_b, first, Some(ALL));
                        slice += 1;
                    }
                }
                round += PRODUCERS as u32;
            }
            round -= schedule.rounds;
        }
    }

    /// Multiplies the stages of one tile, for 64 rows of the block's outputs from `first` on.
    ///
    /// It releases each stage in all blocks of the cluster.
    ///
    /// # Safety
    /// 1. The ring is initialised in each block of the cluster, at the same offset. Its producer fills all stages, and
    ///    writes them only when they are empty.
    /// 2. All threads of the warpgroup make the call together, converged, with the same `first`.
    /// 3. No block of the cluster ends before all consumers have returned.
    #[inline(always)]
    unsafe fn multiply<S>(
        &self,
        ring: &mut Consumer<'_, STAGES>,
        first: usize,
    ) -> Accumulator<COUNT, S>
    where
        S: AccumulatorElement,
        [S; COUNT]: Multiply<O::Element, O::Element> + Registers,
    {
        // Opaque, so that comparisons with it take no registers while outputs are computed.
        let thread = opaque(warpgroup::thread_rank());
        // SAFETY: all threads of the warpgroup make this call and those below together: the caller's contract, and the
        // loops' bounds are the same for all threads.
        let mut sums = unsafe { Accumulator::zero().overwrite() };
        let mut before = None;
        let mut round = 0;
        while round < self.work.schedule.rounds {
            // SAFETY: the ring is initialised in all blocks, none of which has ended, and all threads make the calls
            // together: the caller's contract. The bulk copies to the stage have been waited for. The stage is
            // released, and so written again, only when its products are finished. Tiles are in range: a slice of
            // a stage. The accumulators are waited for below.
            unsafe {
                let stage = ring.wait();
                let mut products = sums.begin();
                let mut slice = 0;
                while slice < Self::SLICES {
                    let number = stage.index() * Self::SLICES + slice;
                    O::multiply(&mut products, self.a_tiles, self.b_tiles, number, first);
                    slice += 1;
                }
                sums = products.commit();
                // This stage's products run while the thread waits for the next stage.
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
            // SAFETY: the ring is initialised in all blocks, none of which has ended: the caller's contract.
            unsafe { ring.release_in(before, thread) };
        }
        sums
    }

    /// The kernel.
    ///
    /// # Safety
    /// 1. `operands` and `outputs` are the operands and the results of `work`. The launch does not write the operands,
    ///    and accesses the results only through `outputs`.
    /// 2. All threads of the launch make the call together, once, and access no global memory before it. The blocks
    ///    and clusters are those of the tile.
    /// 3. The kernel states the tile's launch bounds, which fix the number of registers that a thread starts with.
    #[inline(always)]
    pub unsafe fn run<To, const PRODUCERS: usize>(operands: O, outputs: To, work: Work<'_>)
    where
        O::Element: TensorElement,
        To: Outputs<COUNT>,
        [To::Sum; COUNT]: Multiply<O::Element, O::Element> + Registers,
    {
        let shared = dynamic_shared_allotment!();
        let tiles = || work.schedule.tiles();
        // SAFETY: the caller's contract. The schedule's tiles are those of the results.
        unsafe {
            Self::run_over::<To, _, _, PRODUCERS>(
                operands,
                outputs,
                work,
                tiles,
                (Unscaled, shared),
            );
        }
    }

    /// The kernel, for the tiles of the results that `tiles` has, with the sums of each stage scaled by `scales`. What
    /// these use of the block's shared memory has been taken from `shared`.
    ///
    /// # Safety
    /// 1. to 3. as for [`run`](Self::run).
    /// 4. All threads of a block have the same tiles, and those of a cluster's blocks lie one below the other. No tile
    ///    is another cluster's, too. The matrices have them, but for the rows and columns at which C ends.
    #[inline(always)]
    pub(super) unsafe fn run_over<To, P, F, const PRODUCERS: usize>(
        operands: O,
        outputs: To,
        work: Work<'_>,
        tiles: impl Fn() -> P,
        (scales, mut shared): (F, Allotment<'_>),
    ) where
        O::Element: TensorElement,
        To: Outputs<COUNT>,
        P: TileSequence,
        F: PartialScales<To::Sum>,
        [To::Sum; COUNT]: Multiply<O::Element, O::Element> + Registers,
    {
        const {
            assert!(
                !O::Element::HAS_TOTALS || Self::SLICES == 1,
                "with totals, a stage has one slice"
            );
            assert!(
                Self::WARPGROUPS <= 3,
                "one to three warpgroups multiply: more have too few registers for their sums"
            );
        }
        let main_loop = MainLoop::<O, COUNT, STAGES> {
            operands,
            a_tiles: O::a_tiles(&mut shared),
            b_tiles: O::b_tiles(&mut shared),
            work,
        };
        let memory = To::memory(&mut shared);
        let ring = shared.ring::<STAGES>();
        // SAFETY: all threads of the launch are here, and neither use the ring nor access global memory before: the
        // caller's contract, and the code above. There are at most 3 consumers, as asserted.
        unsafe { start(ring, Self::WARPGROUPS, || operands.prefetch()) };

        if warpgroup::index() == 0 {
            // SAFETY: the whole warpgroup is here, converged, once, and the kernel states its bounds: the caller's
            // contract.
            unsafe { registers::release(Self::TAKES_REGISTERS) };
            let number = warpgroup::thread_rank() / 32;
            if warpgroup::thread_rank().is_multiple_of(32) && number < PRODUCERS as u32 {
                // SAFETY: `start` has initialised the ring of each block. Consumers compute the same tiles as this
                // thread and wait for all their stages before the cluster's barrier below. The launch does not write
                // the operands: the caller's contract.
                unsafe {
                    let ring = ring.producer_in_turns::<PRODUCERS>(number);
                    main_loop.produce(ring, number, tiles());
                }
            }
        } else {
            // SAFETY: as for `release`, which the first warpgroup calls under the same condition.
            unsafe { registers::take(Self::WARPGROUPS, Self::TAKES_REGISTERS) };
            let number = warpgroup::index() - 1;
            let first = WARPGROUP_ROWS as u32 * number;
            let mut ring = ring.consumer();
            let mut places = tiles();
            while let Some(mut place) = places.next() {
                place.row += first;
                // SAFETY: `start` has initialised the ring of each block, at the same offset, because all blocks
                // allocate alike. The producer fills the stages of the same tiles when they are empty. The whole
                // warpgroup is here, converged. No block ends before the cluster's barrier below. Only `outputs`
                // accesses the results, which have the tiles: the caller's contract. Each warpgroup has
                // its own number, and so its own rows and memory for outputs. `finish` is called below.
                unsafe {
                    if const { O::Element::HAS_TOTALS } {
                        let scales = (scales, place);
                        let totals = main_loop.multiply_promoted(&mut ring, first as usize, scales);
                        let writer = outputs.writer(memory, P::writer(number));
                        writer.store(&totals, places.outputs(place));
                    } else {
                        let sums = main_loop.multiply::<To::Sum>(&mut ring, first as usize);
                        let writer = outputs.writer(memory, P::writer(number));
                        writer.store(sums.as_array(), places.outputs(place));
                    }
                }
            }
            outputs.writer(memory, number).finish();
        }
        // No block ends while another may still copy to it or arrive at its barriers.
        cluster::sync();
    }
}
