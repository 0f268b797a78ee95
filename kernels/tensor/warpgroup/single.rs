//! The main loop for small results: a block of one warpgroup computes each tile, without a cluster.
//!
//! ```text
//! for each stage of K:
//!     one thread: wait until it is empty, copy A's tile and B's tile
//!     all: wait until it is full, multiply, release the stage
//! write the outputs, staged in the memory of the stages
//! ```
//!
//! There is no warpgroup that only copies, and few stages take little memory. So several blocks share a multiprocessor,
//! and some copy and write while others multiply.

use super::cluster::{Work, slice_bytes};
use super::element::TensorElement;
use super::operand::OperandPlace;
use super::operands::Operands;
use super::outputs::{Outputs, Writer};
use super::product::MainLoop;
use super::schedule::{ClusterTile, TilePlace, TileSequence};
use super::shape::{DEPTH_BYTES, WARPGROUP_ROWS};
use cuda_std::mbarrier::{Producer, Ring};
use cuda_std::prelude::*;
use cuda_std::wgmma::{Accumulator, AccumulatorElement, Multiply, Registers};
use cuda_std::{dependent_launch, warpgroup};

/// Launch parameters for blocks that each compute a 64 x `columns` tile.
///
/// Elements have `element_bytes`. Outputs reuse the memory of the `stages` stages. `resident` blocks share a
/// multiprocessor.
pub const fn single_tile(
    columns: usize,
    element_bytes: usize,
    stages: usize,
    resident: u32,
) -> ClusterTile {
    let rows = WARPGROUP_ROWS;
    ClusterTile {
        rows,
        columns,
        depth: DEPTH_BYTES / element_bytes,
        slices: 1,
        stages,
        producers: 1,
        blocks: 1,
        resident,
        threads: warpgroup::THREADS,
        shared_bytes: stages * (slice_bytes(rows, columns) + 16),
    }
    .checked()
}

impl<O: Operands, const COUNT: usize, const STAGES: usize> MainLoop<'_, O, COUNT, STAGES> {
    /// The kernel for blocks without a cluster.
    ///
    /// # Safety
    /// 1. and 2. as for [`run`](Self::run), with one warpgroup per block.
    #[inline(always)]
    pub unsafe fn run_single<To, const PRODUCERS: usize>(operands: O, outputs: To, work: Work<'_>)
    where
        O::Element: TensorElement,
        To: Outputs<COUNT>,
        [To::Sum; COUNT]: Multiply<O::Element, O::Element> + Registers,
    {
        const {
            assert!(PRODUCERS == 1, "one thread copies, and also multiplies");
            assert!(
                O::ROWS == WARPGROUP_ROWS && O::PART == O::COLUMNS && Self::SLICES == 1,
                "one warpgroup multiplies, the block loads all columns, and a stage has one slice"
            );
            assert!(!O::Element::HAS_TOTALS, "sums stay in the tensor cores");
        }
        let mut shared = dynamic_shared_allotment!();
        // Outputs are written when no stage is in use.
        let memory = To::memory(&mut shared.alternative());
        let main_loop = MainLoop::<O, COUNT, STAGES> {
            operands,
            a_tiles: O::a_tiles(&mut shared),
            b_tiles: O::b_tiles(&mut shared),
            work,
        };
        let ring = shared.ring::<STAGES>();
        if warpgroup::thread_rank() == 0 {
            // SAFETY: one thread of the block initialises the ring, before it is used, for 1 producer and 1 consumer.
            // The block's barrier follows.
            unsafe { ring.init(1, 1) };
            operands.prefetch();
        }
        thread::sync_threads();
        dependent_launch::wait();
        dependent_launch::trigger();

        let Some(place) = work.schedule.tiles().next() else {
            return;
        };
        // SAFETY: the ring is initialised above, and used only here. All threads of the block are here: the caller's
        // contract, and a block without a tile has returned as a whole. The launch does not write the operands: the
        // caller's contract.
        let sums = unsafe { main_loop.multiply_single::<To::Sum>(ring, place) };
        // After this barrier, the products of all warps have read the stages.
        thread::sync_threads();
        let writer = outputs.writer(memory, 0);
        // SAFETY: all threads of the warpgroup, which is the block, are here. Only `outputs` accesses the results,
        // which have the schedule's matrices: the caller's contract. Each block has its own tile. `finish` is called
        // below.
        unsafe { writer.store(sums.as_array(), place) };
        writer.finish();
    }

    /// Copies and multiplies the stages of the tile at `place`.
    ///
    /// # Safety
    /// 1. The ring is initialised for one producer and one consumer, and nothing else uses it or the stages.
    /// 2. All threads of the block make the call together, converged.
    /// 3. The launch writes neither operand.
    #[inline(always)]
    unsafe fn multiply_single<S>(
        &self,
        ring: Ring<'_, STAGES>,
        place: TilePlace,
    ) -> Accumulator<COUNT, S>
    where
        S: AccumulatorElement,
        [S; COUNT]: Multiply<O::Element, O::Element> + Registers,
    {
        let rounds = self.work.schedule.rounds;
        let is_first = warpgroup::thread_rank() == 0;
        let (mut producer, mut consumer) = (ring.producer(), ring.consumer());
        // SAFETY: all threads of the warpgroup make this call and those below together: the caller's contract, and the
        // loops' bounds are the same for all threads.
        let mut sums = unsafe { Accumulator::zero().overwrite() };
        let (mut copied, mut round) = (0, 0);
        while round < rounds {
            while copied < rounds.min(round + STAGES as u32) {
                if is_first {
                    // SAFETY: the ring is initialised, and the launch writes neither operand: the caller's contract.
                    // The block waits below for each stage that is copied, and accesses its tiles only then.
                    unsafe { self.copy(&mut producer, place, copied) };
                }
                copied += 1;
            }
            // SAFETY: the ring is initialised, and all threads make the calls together: the caller's contract. The bulk
            // copies to the stage have been waited for. The stage is released, and so written again, only when its
            // products are finished. Tiles are in range: a stage. The accumulators are waited for below.
            unsafe {
                let stage = consumer.wait();
                let mut products = sums.begin();
                let (a, b) = (self.a_tiles, self.b_tiles);
                O::multiply(&mut products, a, b, stage.index(), 0);
                sums = products.commit();
                sums.wait_all_but::<0>();
                if is_first {
                    consumer.release(&stage);
                }
            }
            round += 1;
        }
        sums.wait()
    }

    /// Waits until the next stage is empty, and starts to copy round `round` of the tile at `place` to it.
    ///
    /// # Safety
    /// 1. The ring is initialised. The block waits for the stage before it accesses the tiles and before it ends.
    /// 2. The launch writes neither operand.
    #[inline(always)]
    unsafe fn copy(&self, producer: &mut Producer<'_, STAGES>, place: TilePlace, round: u32) {
        let shape = self.work.shape;
        let of = |step: u32, output: u32| OperandPlace {
            matrix: place.matrix * step,
            output,
            k: shape.first_k(place.matrix) + round * O::DEPTH as u32,
        };
        // SAFETY: the ring is initialised, the launch writes neither operand, and the block waits for the stage before
        // it accesses the tiles and before it ends: the caller's contract. The stage expects the bytes of its tiles,
        // which fit into shared memory, so they are fewer than 2^20. Tiles are in range: a stage.
        unsafe {
            let slot = producer.acquire();
            slot.expect(const { O::SLICE_BYTES as u32 });
            let (of_a, of_b) = (of(shape.a_step, place.row), of(shape.b_step, place.column));
            let operands = self.operands;
            operands.load_a(self.a_tiles, slot.stage(), &slot, of_a);
            operands.load_b(self.b_tiles, slot.stage(), &slot, of_b, 0, None);
        }
    }
}
