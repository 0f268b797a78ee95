//! The main loop for small results: a block of one warpgroup for each tile, without a cluster.
//!
//! ```text
//! for each stage of K:
//!     one thread: wait until it is empty, copy A's tile and B's tile
//!     all: wait until it is full, multiply, release the stage
//! write the outputs, through the memory of the stages
//! ```
//!
//! No warpgroup is for copies alone, and few stages take little memory. So a multiprocessor holds enough blocks that
//! some copy and write while others multiply.

use super::cluster::{Work, slice_bytes};
use super::element::TensorElement;
use super::operand::{OperandPlace, TensorOperand};
use super::outputs::{Outputs, Writer};
use super::product::MainLoop;
use super::schedule::{ClusterTile, TilePlace};
use super::shape::{DEPTH_BYTES, WARPGROUP_ROWS};
use cuda_std::mbarrier::{Producer, Ring};
use cuda_std::prelude::*;
use cuda_std::wgmma::{Accumulator, AccumulatorElement, Element, Multiply, Registers};
use cuda_std::{dependent_launch, warpgroup};

/// Launch parameters for blocks that each compute a 64 x `columns` tile.
///
/// Elements have `element_bytes`, outputs reuse the memory of the `stages` stages, and `resident` blocks share a
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

impl<
    T: Element,
    A: TensorOperand<T, WARPGROUP_ROWS, WARPGROUP_ROWS, DEPTH>,
    B: TensorOperand<T, COLUMNS, COLUMNS, DEPTH>,
    const COLUMNS: usize,
    const COUNT: usize,
    const STAGES: usize,
    const DEPTH: usize,
> MainLoop<'_, T, A, B, WARPGROUP_ROWS, COLUMNS, COLUMNS, COUNT, STAGES, STAGES, DEPTH>
{
    /// The kernel of blocks without a cluster.
    ///
    /// # Safety
    /// 1. The operands are those of the kernels, and `outputs` takes the results of `work`.
    /// 2. All threads of the launch make the call together, and access no global memory before it.
    #[inline(always)]
    pub unsafe fn run_single<O, const PRODUCERS: usize>(a: A, b: B, outputs: O, work: Work<'_>)
    where
        T: TensorElement,
        O: Outputs<COUNT>,
        [O::Sum; COUNT]: Multiply<T, T> + Registers,
    {
        const {
            assert!(PRODUCERS == 1, "one thread copies, which multiplies, too");
            assert!(!T::HAS_TOTALS, "sums stay in the tensor cores");
        }
        let mut shared = dynamic_shared_allotment!();
        // Outputs are written after the last use of the stages.
        let memory = O::memory(&mut shared.alternative());
        let main_loop =
            MainLoop::<T, A, B, WARPGROUP_ROWS, COLUMNS, COLUMNS, COUNT, STAGES, STAGES, DEPTH> {
                a,
                b,
                a_tiles: A::tiles::<STAGES>(&mut shared),
                b_tiles: B::tiles::<STAGES>(&mut shared),
                work,
            };
        let ring = shared.ring::<STAGES>();
        if warpgroup::thread_rank() == 0 {
            // SAFETY: one thread of the block calls it, once, before the ring is used. A barrier of the block follows;
            // no other block uses the ring. The numbers are small.
            unsafe { ring.init(1, 1) };
            a.prefetch();
            b.prefetch();
        }
        thread::sync_threads();
        dependent_launch::wait();
        dependent_launch::trigger();

        let Some(place) = work.schedule.tiles().next() else {
            return;
        };
        // SAFETY: the ring is initialised above, for one consumer. All threads of the block are here: the caller's
        // contract, and a block without a tile has returned as a whole. The launch does not write the operands: the
        // caller's contract.
        let sums = unsafe { main_loop.multiply_single::<O::Sum>(ring, place) };
        // After all warps' products have read the stages.
        thread::sync_threads();
        let writer = outputs.writer(memory, 0);
        // SAFETY: the whole warpgroup is here, and `outputs` takes the results of `work`: the caller's contract. Each
        // block has its own outputs.
        unsafe { writer.store(sums.as_array(), place) };
        writer.finish();
    }

    /// Copies and multiplies the stages of the tile at `place`.
    ///
    /// # Safety
    /// 1. The ring is initialised for one consumer, and used by nothing else.
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
        [S; COUNT]: Multiply<T, T> + Registers,
    {
        let rounds = self.work.schedule.rounds;
        let is_first = warpgroup::thread_rank() == 0;
        let (mut producer, mut consumer) = (ring.producer(), ring.consumer());
        // SAFETY: all threads of the warpgroup make this and the following calls together, converged: the caller's
        // contract, and the bounds of the loops are the launch's.
        let mut sums = unsafe { Accumulator::zero().overwrite() };
        let (mut copied, mut round) = (0, 0);
        while round < rounds {
            while copied < rounds.min(round + STAGES as u32) {
                if is_first {
                    // SAFETY: the ring is initialised: the caller's contract. This warpgroup waits for all stages, and
                    // has released those before the last `STAGES`. The launch does not write the operands: the caller's
                    // contract.
                    unsafe { self.copy(&mut producer, place, copied) };
                }
                copied += 1;
            }
            // SAFETY: the ring is initialised: the caller's contract. The products: the stage is full, and released
            // only after they are finished, so no copy overwrites the tiles before. All threads make the calls
            // together, with the same operands: the caller's contract. The tiles are in range: `tiles` took their
            // memory. The accumulators reach `wait`.
            unsafe {
                let stage = consumer.wait();
                let mut products = sums.begin();
                let (a, b) = self.tiles_of(&stage, 0);
                products.multiply(A::part::<WARPGROUP_ROWS>(a, 0), B::part::<COLUMNS>(b, 0));
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
    /// 1. The ring is initialised, and consumers wait for all stages.
    /// 2. The launch writes neither operand.
    #[inline(always)]
    unsafe fn copy(&self, producer: &mut Producer<'_, STAGES>, place: TilePlace, round: u32) {
        let shape = self.work.shape;
        let of = |step: u32, output: u32| OperandPlace {
            matrix: place.matrix * step,
            output,
            k: shape.first_k(place.matrix) + round * DEPTH as u32,
        };
        // SAFETY: the ring is initialised and consumers wait for all stages: the caller's contract. A stage expects its
        // own bytes, fewer than 2^20. The maps are of live matrices that the launch does not write: the caller's
        // contract. The tiles are in range: `tiles` took their memory. The slot is empty, and no thread accesses its
        // tiles before a consumer has waited for it. The copies land before the consumers have waited, and so before
        // the block ends.
        unsafe {
            let slot = producer.acquire();
            slot.expect(const { slice_bytes(WARPGROUP_ROWS, COLUMNS) as u32 });
            let (a, b) = (
                A::tile(self.a_tiles, slot.stage()),
                B::tile(self.b_tiles, slot.stage()),
            );
            self.a.load(a, &slot, of(shape.a_step, place.row), 0, None);
            self.b
                .load(b, &slot, of(shape.b_step, place.column), 0, None);
        }
    }
}
