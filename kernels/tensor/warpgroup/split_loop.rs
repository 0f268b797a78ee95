//! f32 products on tensor cores, as three f16 products of split operands.
//!
//! ```text
//! for each stage of K, 64 elements:
//!     high  = A.hi B.hi                    exact products, added in the tensor core
//!     low  += A.lo B.hi + A.hi B.lo        2^11 times too large
//!     total += high                        on the CUDA cores, rounded to nearest, while low runs
//! every 4096 elements, and at the end: total += 2^-11 low
//! ```
//!
//! A tensor core rounds each sum toward zero, which adds up over many additions; totals on the CUDA cores have the
//! accuracy of f32. The error bound is that of [`lowest_exponent`](crate::tensor::lowest_exponent).

use super::cluster::{ALL, BLOCKS, start};
use super::finish::{staging_len, warp_of_group};
use super::operand::{AlongK, OperandPlace, TensorOperand};
use super::outputs::is_first_of_warpgroup;
use super::registers::{COPYING, multiplying};
use super::schedule::Schedule;
use super::shape::{HALF_DEPTH, TensorShape, WARPGROUP_ROWS};
use crate::finish::{CMatrices, Finish, Staging, StagingBuffer};
use crate::tensor::split::halves::LOW_SCALE;
use crate::tensor::split::lines::PANEL;
use crate::tensor::split::scaled::ScaledBack;
use cuda_std::cluster;
use cuda_std::mbarrier::{Consumer, Producer};
use cuda_std::prelude::*;
use cuda_std::shared::SwizzledTiles;
use cuda_std::warpgroup;
use cuda_std::wgmma::{Accumulator, KMajor, Multiply, Operand, Registers};
use half::f16;

/// Rows of a block's outputs.
pub const ROWS: usize = PANEL;

/// The number of multiplying warpgroups.
pub const CONSUMERS: usize = ROWS / WARPGROUP_ROWS;

/// Stages after which `low` is added to the totals, so that its truncations stay below one unit of the totals.
const LOW_ROUNDS: u32 = 64;

/// Whether a thread with `count` outputs has registers left beside their sums.
pub const fn has_registers(count: usize) -> bool {
    count < 64
}

/// Bytes of a stage: high and low values of both operands.
pub const fn stage_bytes(columns: usize) -> usize {
    2 * (ROWS + columns) * HALF_DEPTH * size_of::<f16>()
}

/// High or low values: an operand's map has the high values of all matrices, then the low ones.
const HIGH: u32 = 0;
const LOW: u32 = 1;

type AMap<'a> = AlongK<'a, f16, ROWS>;
type ATiles<'a, const STAGES: usize> =
    <AMap<'a> as TensorOperand<f16, ROWS, ROWS>>::Tiles<'a, STAGES>;
type BTiles<'a, const COLUMNS: usize, const STAGES: usize> =
    SwizzledTiles<'a, f16, COLUMNS, HALF_DEPTH, STAGES>;

/// The high and the low part of something split.
#[derive(Clone, Copy)]
struct HighLow<T> {
    high: T,
    low: T,
}

/// The main loop of a kernel. A block computes [`ROWS`] x `COLUMNS` outputs at a time, each multiplying thread `COUNT`
/// of them. Each block copies `PART` columns of B.
#[derive(Clone, Copy)]
pub struct SplitLoop<
    'a,
    const COLUMNS: usize,
    const PART: usize,
    const COUNT: usize,
    const STAGES: usize,
> {
    a: AMap<'a>,
    b: AlongK<'a, f16, PART>,
    a_tiles: HighLow<ATiles<'a, STAGES>>,
    b_tiles: HighLow<BTiles<'a, COLUMNS, STAGES>>,
}

impl<'a, const COLUMNS: usize, const PART: usize, const COUNT: usize, const STAGES: usize>
    SplitLoop<'a, COLUMNS, PART, COUNT, STAGES>
where
    [f32; COUNT]: Multiply<f16, f16> + Registers,
{
    /// 64 rows of A in a stage.
    #[inline(always)]
    fn a_part(
        tiles: ATiles<'a, STAGES>,
        stage: usize,
        first: usize,
    ) -> Operand<'a, f16, KMajor, WARPGROUP_ROWS, HALF_DEPTH> {
        <AMap<'a> as TensorOperand<f16, ROWS, ROWS>>::part(tiles.get(stage), first)
    }

    /// All columns of B in a stage.
    #[inline(always)]
    fn b_part(
        tiles: BTiles<'a, COLUMNS, STAGES>,
        stage: usize,
    ) -> Operand<'a, f16, KMajor, COLUMNS, HALF_DEPTH> {
        <AlongK<'a, f16, PART> as TensorOperand<f16, COLUMNS, PART>>::part(tiles.get(stage), 0)
    }

    /// Fills the stages, as one thread of each block.
    ///
    /// # Safety
    /// 1. The ring is initialised in each block of the cluster, and its consumers wait for all stages.
    /// 2. The launch writes neither operand.
    #[inline(always)]
    unsafe fn produce(
        self,
        mut ring: Producer<'a, STAGES>,
        shape: &TensorShape,
        schedule: Schedule,
    ) {
        const { assert!(PART * BLOCKS == COLUMNS && 2 * COUNT == COLUMNS) };
        // The steps between an operand's matrices, and the first matrix of low values.
        let (of_a, of_b) = (shape.a_step, shape.b_step);
        let lower = |step: u32| if step == 0 { 1 } else { shape.matrices };
        let (a_lower, b_lower) = (lower(of_a), lower(of_b));
        let first = PART * cluster::rank() as usize;
        let mut places = schedule.tiles();
        while let Some(place) = places.next() {
            let mut round = 0;
            while round < schedule.rounds {
                let k = shape.first_k(place.matrix) + round * HALF_DEPTH as u32;
                // SAFETY: the ring is initialised in each block: the caller's contract. A stage expects its own bytes,
                // fewer than 2^20. The maps are of live matrices that the launch does not write: the caller's contract.
                // The tiles are in range: `run` took their memory. The slot is empty in both blocks, and no thread
                // accesses its tiles before a consumer has waited for it. Consumers wait for all stages, the caller's
                // contract, so the copies land before a block ends.
                unsafe {
                    let slot = ring.acquire();
                    slot.expect(const { stage_bytes(COLUMNS) as u32 });
                    let load_a = |half: u32, tiles: ATiles<'a, STAGES>| {
                        let at = OperandPlace {
                            matrix: half * a_lower + place.matrix * of_a,
                            output: place.row,
                            k,
                        };
                        let tile = tiles.get(slot.stage());
                        TensorOperand::<f16, ROWS, ROWS>::load(self.a, tile, &slot, at, 0, None);
                    };
                    let load_b = |half: u32, tiles: BTiles<'a, COLUMNS, STAGES>| {
                        let at = OperandPlace {
                            matrix: half * b_lower + place.matrix * of_b,
                            output: place.column,
                            k,
                        };
                        let tile = tiles.get(slot.stage());
                        TensorOperand::<f16, COLUMNS, PART>::load(
                            self.b,
                            tile,
                            &slot,
                            at,
                            first,
                            Some(ALL),
                        );
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

    /// Multiplies the stages of one tile of outputs, and releases each stage in all blocks of the cluster.
    ///
    /// # Safety
    /// 1. The ring is initialised in each block of the cluster, and its producer fills all stages.
    /// 2. All threads of the warpgroup make the call together, converged. No block of the cluster ends before all
    ///    blocks have released their stages.
    #[inline(always)]
    unsafe fn multiply(
        self,
        is_transposed: bool,
        ring: &mut Consumer<'_, STAGES>,
        first: usize,
        rounds: u32,
    ) -> [f32; COUNT] {
        let (a, b) = (self.a_tiles, self.b_tiles);
        // If C is a transpose, the two products of `low` are added in the other order, so that the bits are the same.
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
            // SAFETY: all threads of the warpgroup make this and the following calls together, converged: the caller's
            // contract, and the bounds of the loops are the launch's.
            let mut low_products = unsafe { low.overwrite() };
            let mut before = None;
            while round < end {
                // SAFETY: the rings are initialised in each block, at the same offset, and no block ends early: the
                // caller's contract. All threads make the calls together, converged, with the same operands, as above.
                // The products: the stage is full, and released only after they are finished, so no copy overwrites the
                // tiles before. The tiles are in range: `run` took their memory. The accumulators reach `wait` or
                // `wait_before`. `wait_before`: the last group has products of `low` only.
                unsafe {
                    let stage = ring.wait();
                    let at = stage.index();
                    let a_part = |tiles| Self::a_part(tiles, at, first);
                    let b_part = |tiles| Self::b_part(tiles, at);
                    let mut products = high.overwrite().begin();
                    products.multiply(a_part(a.high), b_part(b.high));
                    let high_products = products.commit();
                    // Releases the stage before as early as possible, while the tensor cores have work.
                    low_products.wait_all_but::<1>();
                    if let (Some(before), true) = (&before, thread < BLOCKS as u32) {
                        ring.release_in(before, thread);
                    }
                    before = Some(stage);
                    let mut products = low_products.begin();
                    products.multiply(a_part(a_first), b_part(b_first));
                    products.multiply(a_part(a_last), b_part(b_last));
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
                // SAFETY: the rings are initialised, and no block ends early: the caller's contract.
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
    /// 1. The operands and C are those of the kernels, and `finish` has the words of their rows and columns.
    /// 2. All threads of the launch make the call together, and access no global memory before it.
    /// 3. The kernel states its tile's bounds, which fix the initial registers of a thread.
    #[inline(always)]
    pub unsafe fn run<F: Finish<Sum = f32>, const ROWS_AT_ONCE: usize>(
        a: AMap<'a>,
        b: AlongK<'a, f16, PART>,
        c: CMatrices<'a, f32>,
        is_transposed: bool,
        (shape, schedule): (&TensorShape, Schedule),
        finish: ScaledBack<'a, F, ROWS_AT_ONCE>,
    ) {
        let mut shared = dynamic_shared_allotment!();
        let main_loop = SplitLoop::<COLUMNS, PART, COUNT, STAGES> {
            a,
            b,
            a_tiles: HighLow {
                high: shared.tiles(),
                low: shared.tiles(),
            },
            b_tiles: HighLow {
                high: shared.tiles(),
                low: shared.tiles(),
            },
        };
        let staging: Staging<'_, f32, { staging_len(CONSUMERS) }> = shared.array();
        let ring = shared.ring::<STAGES>();
        // SAFETY: all threads of the launch make the call, once, before they access global memory: the caller's
        // contract.
        unsafe {
            start(ring, CONSUMERS, || {
                a.0.prefetch();
                b.0.prefetch();
            });
        }

        if warpgroup::index() == 0 {
            // SAFETY: the whole warpgroup is here, and the kernel states its bounds: the caller's contract. Every
            // tile's threads start with more registers. It is the warpgroup's only such call.
            unsafe { warpgroup::decrease_registers::<COPYING>() };
            if is_first_of_warpgroup() {
                // SAFETY: the ring is initialised in each block: `start`. Consumers wait for all stages: the loops
                // below have the same bounds. The launch does not write the operands: the caller's contract.
                unsafe { main_loop.produce(ring.producer(), shape, schedule) };
            }
        } else {
            // SAFETY: the whole warpgroup is here, and the kernel states its bounds: the caller's contract. Every
            // tile's threads start with fewer registers. It is the warpgroup's only such call.
            unsafe { warpgroup::increase_registers::<{ multiplying(CONSUMERS as u32, 1) }>() };
            let number = warpgroup::index() - 1;
            let first = WARPGROUP_ROWS * number as usize;
            let buffer = StagingBuffer::of_warp(staging, warp_of_group(number));
            let mut ring = ring.consumer();
            let mut places = schedule.tiles();
            while let Some(mut place) = places.next() {
                // SAFETY: the ring is initialised in each block: `start`. The producer fills all stages, the whole
                // warpgroup is here, and blocks end only after the barrier of the cluster below. `is_wide`: the words
                // are those of the rows and columns, the caller's contract, and the schedule's tiles begin with a
                // column of C. The outputs: C has the matrix, the caller's contract, each warpgroup has its own
                // outputs, and each warp its own staging buffer.
                unsafe {
                    let of = |step: u32| (place.matrix * step) as usize;
                    let scales = finish
                        .scales
                        .of_matrices(of(shape.a_step), of(shape.b_step));
                    let is_wide = || scales.is_wide((place.row as usize, place.column as usize));
                    // While the first stage is copied, if there is a register for the answer.
                    let is_early = const { has_registers(COUNT) };
                    let was_wide = is_early && is_wide();
                    let totals =
                        main_loop.multiply(is_transposed, &mut ring, first, schedule.rounds);
                    if !was_wide && (is_early || !is_wide()) {
                        place.row += first as u32;
                        c.store(&totals, place, buffer, ScaledBack { scales, ..finish });
                    }
                }
            }
        }
        // No block ends while the other one may still copy to it, or arrive at its barriers.
        cluster::sync();
    }
}
