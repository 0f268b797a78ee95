//! The main loop of products of 8- and 16-bit elements, and both ways to store sums. The f64 main loop is in
//! `peeled_loop.rs`.
//!
//! ```text
//! load the first tiles of A and of B, to all stages but one
//! wait for the first, and read fragments of its first k
//! for each tile of K:
//!     load a later tile to the stage that was read last
//!     for each step of k of the tile:
//!         read fragments of the next step, at the last step from the next tile
//!         multiply: each warp adds the products of its fragments to its outputs
//! apply the epilogue to the sums, and store the outputs
//! ```

use super::super::accumulators::Accumulators;
use super::super::operand::Operands;
use super::super::sink::{OutputSink, Sink};
use super::block_operands::BlockOperands;
use super::element::{COLUMNS_OF_PRODUCT, MmaElement, ROWS_OF_PRODUCT};
use super::peeled_loop;
use super::stage::{StageElement, StageLayout, Stages};
use super::warp_tile::{WarpOutputs, WarpPosition};
use crate::epilogue::{Epilogue, EpilogueElement};
use crate::finish::{
    CMatrices, COLUMNS, Finish, FromSum, OF_LANE, Output, ROWS, STAGING_LEN, Staging,
    StagingBuffer, for_each_sum,
};
use cuda_std::prelude::*;

/// The main loop of the product's block number `block`.
///
/// Hands `store` the warp's sums, the warp's place in the block, and the row and column of the block's first output.
///
/// # Safety
/// 1. As for [`peeled_loop::multiply`].
/// 2. The rows of A and of B are aligned to 16 bytes in memory.
#[inline(always)]
pub unsafe fn multiply<A, B, W, const STAGES: usize>(
    block: u32,
    operands: Operands<'_, W::Element>,
    stages: (Stages<'_, A>, Stages<'_, B>),
    store: impl FnOnce(&W, &WarpPosition, (usize, usize)),
) where
    A: StageLayout<Element = W::Element>,
    B: StageLayout<Element = W::Element>,
    W: WarpOutputs,
{
    let (depth, step) = (W::Element::DEPTH, W::Element::STEP);
    let block = BlockOperands::of_block::<W>(block, operands, stages);
    let mut pipeline = Pipeline::<STAGES>::new();
    // Tiles that lie within both operands.
    let tiles_in_bounds = match block.is_within_c {
        true => block.whole_tiles,
        false => 0,
    };
    // Each call is a group of copies, empty past the end of K.
    let load = |pipeline: &mut Pipeline<STAGES>, tile: u32| {
        let (stage, k) = (pipeline.producer_stage(), tile as usize * depth);
        // SAFETY: the product has the block, the operands have their elements, in aligned rows, all threads of the
        // block are here, and the stages are the block's: the caller's contract. The product has the tile, which lies
        // within both operands with `IN_BOUNDS`: compared. The stage is one of the pipeline's `STAGES`. Its last
        // readers have passed a barrier, and its next readers wait and pass another one.
        unsafe {
            if tile < tiles_in_bounds {
                block.load::<STAGES, true>(pipeline, stage, k);
            } else if tile < block.tiles {
                block.load::<STAGES, false>(pipeline, stage, k);
            }
        }
        pipeline.commit();
    };
    let ahead = STAGES as u32 - 1;
    for tile in 0..ahead {
        load(&mut pipeline, tile);
    }

    let mut sums = W::zero();
    let position = W::position(thread::thread_idx_x());
    let read = |stage: usize, k: usize| {
        // SAFETY: all threads have waited for their copies of the stage, and then passed a barrier. It is not written
        // before the next one: later copies go to the stage that was read last. The stages have the block's rows and
        // columns: asserted in `of_block`. `k` counts steps, and `position` is this warp's. The warp is converged: the
        // loops' bounds are the block's, and all threads are here, the caller's contract.
        unsafe { W::read(&position, stages, stage, k) }
    };
    let mut stage = 0;
    let mut next = W::no_fragments();
    if block.tiles > 0 {
        stage = pipeline.consumer_wait();
        thread::sync_threads();
        next = read(stage, 0);
    }
    for tile in 0..block.tiles {
        load(&mut pipeline, tile + ahead);
        let mut k = step;
        while k < depth {
            let fragments = next;
            next = read(stage, k);
            // SAFETY: the warp is converged: all threads are here, the caller's contract, and the loops' bounds are the
            // block's.
            unsafe { sums.add_products(&fragments) };
            k += step;
        }
        let fragments = next;
        let following = pipeline.consumer_wait();
        thread::sync_threads();
        // After the last tile, reads its own stage again, without use: a branch would wait for the fragments.
        stage = if tile + 1 < block.tiles {
            following
        } else {
            stage
        };
        next = read(stage, 0);
        // SAFETY: as above.
        unsafe { sums.add_products(&fragments) };
    }
    store(&sums, &position, block.origin());
}

/// The calling block's f64 product, with sums stored from registers, or through the epilogue one by one.
///
/// `BY_ELEMENTS` is the parameter of [`peeled_loop::multiply`].
///
/// # Safety
/// 1. As for [`peeled_loop::multiply`].
/// 2. `store` writes an m x n result, whose elements the launch accesses only through such values.
#[inline(always)]
pub unsafe fn product_one_by_one<A, B, W, S, const STAGES: usize, const BY_ELEMENTS: bool>(
    operands: Operands<'_, f64>,
    stages: (Stages<'_, A>, Stages<'_, B>),
    store: impl FnOnce() -> S,
) where
    S: OutputSink<f64>,
    A: StageLayout<Element = f64>,
    B: StageLayout<Element = f64>,
    W: WarpOutputs<Element = f64> + Accumulators<Element = f64, Position = WarpPosition>,
{
    let shape = (operands.m, operands.n);
    const {
        assert!(
            <W as Accumulators>::THREADS * <W as Accumulators>::COLUMNS <= STAGES * A::ELEMENTS,
            "A's stages can stage a row of each thread's outputs"
        )
    };
    let staging = stages.0.as_slice();
    // SAFETY: the launch, the operands and the stages: the caller's contract. `store` takes an m x n result: the
    // caller's contract. `block_position` gives each block its own outputs. The block has `W`'s threads, and `position`
    // is this thread's: `multiply`. A's stages have a column of outputs for each column of a thread: asserted above.
    // Only this block accesses them; they are no longer read, and no copy is under way.
    unsafe {
        peeled_loop::multiply::<A, B, W, STAGES, BY_ELEMENTS>(
            thread::block_idx_x(),
            operands,
            stages,
            |sums: &W, position, origin| {
                let store = store();
                if let Some(to) = store.plain() {
                    sums.store(position, origin, shape, &to);
                } else {
                    // After the last reads of the stages.
                    thread::sync_threads();
                    sums.store_through(staging, position, origin, shape, &store);
                }
            },
        );
    }
}

/// Warps of a block that stores its outputs by whole rows.
const WARPS_OF_ROWS: usize = 4;

/// The staging buffers of these warps.
pub type RowStaging<'a, S> = Staging<'a, S, { WARPS_OF_ROWS * STAGING_LEN }>;

/// Block number `block` of product number `matrix`, with outputs stored through shared memory, a warp's whole rows at a
/// time.
///
/// # Safety
/// 1. As for [`multiply`].
/// 2. `staging` lies in the memory of the stages, or only this call uses it.
/// 3. `c` has the m x n matrix, whose elements the launch accesses only through such a value.
#[inline(always)]
pub unsafe fn product_by_rows<A, B, W, O, const STAGES: usize>(
    (block, matrix): (u32, usize),
    operands: Operands<'_, W::Element>,
    stages: (Stages<'_, A>, Stages<'_, B>),
    staging: RowStaging<'_, O::Sum>,
    c: CMatrices<'_, O>,
    epilogue: Epilogue<'_, O::Sum>,
) where
    A: StageLayout<Element = W::Element>,
    B: StageLayout<Element = W::Element>,
    W: WarpOutputs,
    O: Output<Sum: FromSum<<W::Element as MmaElement>::Sum>>,
{
    // SAFETY: the launch, the operands, their alignment and the stages: the caller's contract. All threads of the block
    // make the stores, with `W`'s warps. The staging buffers are the block's: the caller's contract; no copy to their
    // memory is under way. `c` has the matrix, and the launch accesses it only so: the caller's contract.
    // `block_position` gives each block its own outputs.
    unsafe {
        multiply::<A, B, W, STAGES>(block, operands, stages, |sums: &W, _, origin| {
            store_by_rows(
                sums,
                matrix,
                origin,
                staging,
                c,
                O::finish(epilogue, matrix),
            );
        });
    }
}

/// Applies `finish` to a block's sums, and writes the outputs to matrix number `matrix`, from (`row`, `column`) on.
///
/// # Safety
/// 1. The block has `W::WARPS` warps, and all its threads make the call.
/// 2. Only the block's threads access the memory of `staging`. None does so after its last barrier, and no copy to it
///    is under way.
/// 3. `c` has the matrix, and no other block of the launch accesses these outputs.
#[inline(always)]
pub unsafe fn store_by_rows<W, O, F, const LEN: usize>(
    sums: &W,
    matrix: usize,
    (row, column): (usize, usize),
    staging: Staging<'_, O::Sum, LEN>,
    c: CMatrices<'_, O>,
    finish: F,
) where
    W: WarpOutputs,
    O: Output<Sum: FromSum<<W::Element as MmaElement>::Sum>>,
    F: Finish<Sum = O::Sum>,
{
    // SAFETY: all threads of the block make the call: the caller's contract.
    let (buffer, (row, column)) = unsafe { buffer_of_warp::<W, _, LEN>(staging, (row, column)) };
    let place = |part: usize| (row + part * ROWS, column);
    let sum = |part: usize, i: usize| O::Sum::from_sum(sums.sum(part, i));
    // SAFETY: all lanes are here: the caller's contract. Each warp has its own staging buffer, which nothing else
    // accesses: `of_warp`, and the caller's contract. C has the matrix, and no other block accesses the outputs: the
    // caller's contract. Each warp of the block has its own.
    unsafe { c.store_parts(matrix, W::DOWN, place, sum, buffer, finish) };
}

/// The calling warp's staging buffer, and the row and column of its first output. The block's is at (`row`, `column`).
///
/// Waits until no thread of the block reads the memory as something else.
///
/// # Safety
/// 1. The block has `W::WARPS` warps, and all its threads make the call.
#[inline(always)]
unsafe fn buffer_of_warp<'a, W: WarpOutputs, S: EpilogueElement, const LEN: usize>(
    staging: Staging<'a, S, LEN>,
    (row, column): (usize, usize),
) -> (StagingBuffer<'a, S, LEN>, (usize, usize)) {
    const { assert!(LEN == W::WARPS * STAGING_LEN && ROWS == ROWS_OF_PRODUCT) };
    const {
        assert!(
            COLUMNS == W::ALONG * COLUMNS_OF_PRODUCT,
            "a part has a warp's rows"
        )
    };
    const { assert!(OF_LANE * 32 == ROWS * COLUMNS, "a part has a warp's sums") };
    // After the last reads of the memory.
    thread::sync_threads();
    let position = W::position(thread::thread_idx_x());
    let buffer = StagingBuffer::of_warp(staging, thread::thread_idx_x() / 32);
    (buffer, (row + position.row, column + position.column))
}

/// Hands a block's sums of an m x n result to `sink`, from (`row`, `column`) on. Each lane has two neighbours of each
/// row.
///
/// # Safety
/// 1. The block has `W::WARPS` warps, and all its threads make the call.
/// 2. Only the block's threads access the memory of `staging`. None does so after its last barrier, and no copy to it
///    is under way.
/// 3. `sink` takes an m x n result, and no other block of the launch has these outputs.
#[inline(always)]
pub unsafe fn store_to_sink<W, S, const LEN: usize>(
    sums: &W,
    origin: (usize, usize),
    extents: (usize, usize),
    staging: Staging<'_, S, LEN>,
    sink: &impl Sink<S>,
) where
    W: WarpOutputs<Element: MmaElement<Sum = S>>,
    S: EpilogueElement,
{
    // SAFETY: all threads of the block make the call: the caller's contract.
    let (buffer, (row, column)) = unsafe { buffer_of_warp::<W, _, LEN>(staging, origin) };
    let place = |part: usize| (row + part * ROWS, column);
    let sum = |part: usize, i: usize| sums.sum(part, i);
    // SAFETY: all lanes are here: the caller's contract. Each warp has its own staging buffer, which nothing else
    // accesses: `of_warp`, and the caller's contract. The result has the output: it is within m x n. No other block has
    // it: the caller's contract; no other thread: warps have different rows or columns, and lanes different columns.
    unsafe {
        for_each_sum(W::DOWN, place, sum, extents, buffer, |row, column, sum| {
            sink.store(row, column, sum);
        });
    }
}
