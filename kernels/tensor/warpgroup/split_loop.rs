//! f32 products on tensor cores: each operand is split into two f16 matrices, and three f16 products replace one.
//!
//! ```text
//! for each stage of K, 64 elements:
//!     high  = A.hi B.hi                    exact products, added in the tensor core
//!     low  += A.lo B.hi + A.hi B.lo        2^11 times too large
//!     total += high                        on the CUDA cores, rounded to nearest, while low runs
//! every 4096 elements, and at the end: total += 2^-11 low
//! ```
//!
//! A tensor core rounds each sum toward zero, and the errors of many additions add up. So the CUDA cores keep the
//! totals. The error bound is that of [`lowest_exponent`](crate::tensor::lowest_exponent).

use super::cluster::{ALL, BLOCKS, start};
use super::finish::{staging_len, warp_of_group};
use super::operand::OperandPlace;
use super::operands::Operands;
use super::outputs::is_first_of_warpgroup;
use super::registers;
use super::schedule::{Schedule, TileSequence};
use super::shape::{HALF_DEPTH, TensorShape, WARPGROUP_ROWS};
use crate::finish::{CMatrices, Finish, Staging, StagingBuffer};
use crate::tensor::split::halves::LOW_SCALE;
use crate::tensor::split::lines::PANEL;
use crate::tensor::split::scaled::ScaledBack;
use cuda_std::cluster;
use cuda_std::mbarrier::{Consumer, Producer};
use cuda_std::prelude::*;
use cuda_std::warpgroup;
use cuda_std::wgmma::{Accumulator, Multiply, Registers};
use half::f16;

/// Rows of a block's tile.
pub const ROWS: usize = PANEL;

/// Warpgroups that multiply.
pub const CONSUMERS: usize = ROWS / WARPGROUP_ROWS;

/// Stages after which `low` is added to the totals, so that its truncation errors stay below one unit of theirs.
const LOW_ROUNDS: u32 = 64;

/// Whether a thread with `count` outputs has registers to spare.
pub const fn has_registers(count: usize) -> bool {
    count < 64
}

/// Bytes of a stage: high and low halves of both operands.
pub const fn stage_bytes(columns: usize) -> usize {
    2 * (ROWS + columns) * HALF_DEPTH * size_of::<f16>()
}

/// Which halves. An operand's map has the high halves of all matrices, then the low ones.
const HIGH: u32 = 0;
const LOW: u32 = 1;

/// A value for the high halves and one for the low halves.
#[derive(Clone, Copy)]
struct HighLow<T> {
    high: T,
    low: T,
}

/// The main loop of one kernel.
///
/// A block computes the outputs of its operands' tile at a time, `COUNT` in each thread that multiplies.
#[derive(Clone, Copy)]
pub struct SplitLoop<'a, O: Operands, const COUNT: usize, const STAGES: usize> {
    operands: O,
    a_tiles: HighLow<O::ATiles<'a>>,
    b_tiles: HighLow<O::BTiles<'a>>,
}

impl<'a, O: Operands<Element = f16>, const COUNT: usize, const STAGES: usize>
    SplitLoop<'a, O, COUNT, STAGES>
where
    [f32; COUNT]: Multiply<f16, f16> + Registers,
{
    /// Fills the stages, as one thread of each block.
    ///
    /// # Safety
    /// 1. and 2. as for `produce` of [`MainLoop`](super::product::MainLoop).
    #[inline(always)]
    unsafe fn produce(
        self,
        mut ring: Producer<'_, STAGES>,
        shape: &TensorShape,
        schedule: Schedule,
    ) {
        const { assert!(O::PART * BLOCKS == O::COLUMNS && O::SLICES == STAGES) };
        // Steps from one product's matrix to the next, and the number of the first matrix of low halves.
        let (of_a, of_b) = (shape.a_step, shape.b_step);
        let lower = |step: u32| if step == 0 { 1 } else { shape.matrices };
        let (a_lower, b_lower) = (lower(of_a), lower(of_b));
        let first = O::PART * cluster::rank() as usize;
        let mut places = schedule.tiles();
        while let Some(place) = places.next() {
            let mut round = 0;
            while round < schedule.rounds {
                let k = shape.first_k(place.matrix) + round * O::DEPTH as u32;
                // SAFETY: the ring is initialised, the launch writes neither operand, and consumers access a tile
                // only after they have waited for its stage, which they do before a block ends: the caller's
                // contract. The stage is empty in both blocks. It expects the bytes of its four tiles, which fit into
                // shared memory, so they are fewer than 2^20. Tiles are in range: those of a stage.
                unsafe {
                    let slot = ring.acquire();
                    slot.expect(const { stage_bytes(O::COLUMNS) as u32 });
                    let load_a = |half: u32, tiles: O::ATiles<'a>| {
                        let at = OperandPlace {
                            matrix: half * a_lower + place.matrix * of_a,
                            output: place.row,
                            k,
                        };
                        self.operands.load_a(tiles, slot.stage(), &slot, at);
                    };
                    let load_b = |half: u32, tiles: O::BTiles<'a>| {
                        let at = OperandPlace {
                            matrix: half * b_lower + place.matrix * of_b,
                            output: place.column,
                            k,
                        };
                        let operands = self.operands;
                        operands.load_b(tiles, slot.stage(), &slot, at, first, Some(ALL));
                    };
                    load_a(HIGH, self.a_tiles.high);
                    load_b(HIGH, self.b_tiles.high);
                    load_a(LOW, self.a_tiles.low);
                    load_b(LOW, self.b_tiles.low);
                }
                round += 1;
            }
        }
    }

    /// Multiplies the stages of one tile, for 64 rows of the block's outputs from `first` on.
    ///
    /// It releases each stage in all blocks of the cluster.
    ///
    /// # Safety
    /// 1. to 3. as for `multiply` of [`MainLoop`](super::product::MainLoop).
    #[inline(always)]
    unsafe fn multiply(
        self,
        is_transposed: bool,
        ring: &mut Consumer<'_, STAGES>,
        first: usize,
        rounds: u32,
    ) -> [f32; COUNT] {
        let (a, b) = (self.a_tiles, self.b_tiles);
        // A transposed result adds the two products of `low` in the other order, so that its bits are the same.
        let (a_first, b_first, a_last, b_last) = match is_transposed {
            false => (a.low, b.high, a.high, b.low),
            true => (a.high, b.low, a.low, b.high),
        };
        let thread = warpgroup::thread_rank();
        let (mut high, mut low) = (Accumulator::<COUNT>::zero(), Accumulator::<COUNT>::zero());
        let mut totals = [0.0; COUNT];
        let mut round = 0;
        while round < rounds {
            let end = (round + LOW_ROUNDS).min(rounds);
            // SAFETY: all threads of the warpgroup make this call and those below together: the caller's contract, and
            // the loops' bounds are the same for all threads.
            let mut low_products = unsafe { low.overwrite() };
            let mut before = None;
            while round < end {
                // SAFETY: the ring is initialised in all blocks, none of which has ended, and all threads make the
                // calls together: the caller's contract. The bulk copies to the stage have been waited for. The
                // stage is released, and so written again, only when its products are finished. Tiles are in range:
                // those of a stage. Both accumulators are waited for. At `wait_before`, the last group is that of
                // `low`.
                unsafe {
                    let stage = ring.wait();
                    let at = stage.index();
                    let mut products = high.overwrite().begin();
                    O::multiply(&mut products, a.high, b.high, at, first);
                    let high_products = products.commit();
                    // The previous stage is released as early as possible, while the tensor cores have work.
                    low_products.wait_all_but::<1>();
                    if let (Some(before), true) = (&before, thread < BLOCKS as u32) {
                        ring.release_in(before, thread);
                    }
                    before = Some(stage);
                    let mut products = low_products.begin();
                    O::multiply(&mut products, a_first, b_first, at, first);
                    O::multiply(&mut products, a_last, b_last, at, first);
                    low_products = products.commit();
                    high = high_products.wait_before::<1>();
                }
                let mut i = 0;
                while i < COUNT {
                    totals[i] += high.get(i);
                    i += 1;
                }
                round += 1;
            }
            low = low_products.wait();
            if let (Some(before), true) = (&before, thread < BLOCKS as u32) {
                // SAFETY: the ring is initialised in all blocks, none of which has ended: the caller's contract.
                unsafe { ring.release_in(before, thread) };
            }
            let mut i = 0;
            while i < COUNT {
                totals[i] = low.get(i).mul_add(1.0 / LOW_SCALE, totals[i]);
                i += 1;
            }
        }
        totals
    }

    /// The kernel.
    ///
    /// # Safety
    /// 1. `operands` and `c` are the operands and the results of `shape`, and `finish` has the words of the operands'
    ///    lines. The launch does not write the operands, and accesses the results only here.
    /// 2. and 3. as for [`run`](super::product::MainLoop::run) of `MainLoop`.
    #[inline(always)]
    pub unsafe fn run<F: Finish<Sum = f32>, const ROWS_AT_ONCE: usize>(
        operands: O,
        c: CMatrices<'a, f32>,
        is_transposed: bool,
        (shape, schedule): (&TensorShape, Schedule),
        finish: ScaledBack<'a, F, ROWS_AT_ONCE>,
    ) {
        let mut shared = dynamic_shared_allotment!();
        let main_loop = SplitLoop::<O, COUNT, STAGES> {
            operands,
            a_tiles: HighLow {
                high: O::a_tiles(&mut shared),
                low: O::a_tiles(&mut shared),
            },
            b_tiles: HighLow {
                high: O::b_tiles(&mut shared),
                low: O::b_tiles(&mut shared),
            },
        };
        let staging: Staging<'_, f32, { staging_len(CONSUMERS) }> = shared.array();
        let ring = shared.ring::<STAGES>();
        // SAFETY: all threads of the launch are here, and neither use the ring nor access global memory before: the
        // caller's contract, and the code above. There are 2 consumers.
        unsafe { start(ring, CONSUMERS, || operands.prefetch()) };

        if warpgroup::index() == 0 {
            // SAFETY: the whole warpgroup is here, converged, once, and the kernel states its bounds: the caller's
            // contract.
            unsafe { registers::release(true) };
            if is_first_of_warpgroup() {
                // SAFETY: `start` has initialised the ring of each block. Consumers compute the same tiles as this
                // thread and wait for all their stages before the cluster's barrier below. The launch does not write
                // the operands: the caller's contract.
                unsafe { main_loop.produce(ring.producer(), shape, schedule) };
            }
        } else {
            // SAFETY: as for `release`, which the first warpgroup calls.
            unsafe { registers::take(CONSUMERS, true) };
            let number = warpgroup::index() - 1;
            let first = WARPGROUP_ROWS * number as usize;
            let buffer = StagingBuffer::of_warp(staging, warp_of_group(number));
            let mut ring = ring.consumer();
            let mut places = schedule.tiles();
            while let Some(mut place) = places.next() {
                // SAFETY: `start` has initialised the ring of each block, at the same offset, because all blocks
                // allocate alike. The producer fills the stages of the same tiles when they are empty. The whole
                // warpgroup is here, converged, for one tile, which begins in a column of C. No block ends before
                // the cluster's barrier below. `finish` has the words of the lines, and C has the schedule's matrices
                // and is accessed only here: the caller's contract. Each warp has its own staging buffer, and each
                // warpgroup its own rows.
                unsafe {
                    let of = |step: u32| (place.matrix * step) as usize;
                    let scales = finish
                        .scales
                        .of_matrices(of(shape.a_step), of(shape.b_step));
                    let is_out_of_range =
                        || scales.is_out_of_range((place.row as usize, place.column as usize));
                    // Read while the first stage arrives, if there is a register for the answer.
                    let is_early = const { has_registers(COUNT) };
                    let was_out_of_range = is_early && is_out_of_range();
                    let totals =
                        main_loop.multiply(is_transposed, &mut ring, first, schedule.rounds);
                    if !was_out_of_range && (is_early || !is_out_of_range()) {
                        place.row += first as u32;
                        c.store(&totals, place, buffer, ScaledBack { scales, ..finish });
                    }
                }
            }
        }
        // No block ends while another may still copy to it or arrive at its barriers.
        cluster::sync();
    }
}
