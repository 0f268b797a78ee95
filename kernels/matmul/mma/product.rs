//! The main loop of products of narrow elements, and the two ways in which sums are stored.
//!
//! That of f64 is in `peeled_loop.rs`.
//!
//! ```text
//! load the first tiles of A and of B, to all stages but one
//! wait for the first, and read fragments of its first k
//! for each tile of K:
//!     load a later one to the stage that was read last
//!     for each step of k of the tile:
//!         read fragments of the next step, after the last of them from the next tile
//!         multiply: each warp adds the products of its fragments to its outputs
//! store what the epilogue makes of the sums
//! ```

use super::super::accumulators::Accumulators;
use super::super::operand::Operands;
use super::super::sink::StoreFinished;
use super::block_operands::BlockOperands;
use super::element::{COLUMNS_OF_PRODUCT, MmaElement, ROWS_OF_PRODUCT};
use super::peeled_loop;
use super::stage::{StageElement, StageLayout, Stages};
use super::warp_tile::{WarpOutputs, WarpPosition};
use crate::epilogue::Epilogue;
use crate::finish::{
    CMatrices, COLUMNS, Finish, FromSum, OF_LANE, Output, ROWS, STAGING_LEN, Staging, StagingBuffer,
};
use cuda_std::prelude::*;

/// The main loop of block number `block` of the product's, which hands the warp's sums to `store` with the
/// warp's place in the block, and the row and the column where the block's outputs begin.
///
/// # Safety
/// 1. The launch has blocks of the warps' threads, one `block` for each of their `BLOCK`s of the result, and all
///    threads of a block make the call together.
/// 2. A and B have the elements of m x k and k x n matrices, `lda` and `ldb` elements from row to row
///    in memory.
/// 3. The memory of the stages is the block's own, and has `STAGES` of each operand.
/// 4. The rows of A and of B start in memory at multiples of 16 bytes.
#[inline(always)]
unsafe fn multiply<A, B, W, const STAGES: usize>(
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
    // Each call is a group of copies, an empty one past the end of K.
    let load = |pipeline: &mut Pipeline<STAGES>, tile: u32| {
        let (stage, k) = (pipeline.producer_stage(), tile as usize * depth);
        // SAFETY: (1) the stage is the pipeline's; the comparisons, and (4). (2) The first comparison. (3) The stages
        // are the block's, by (3), and the last readers of this one have passed a barrier.
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
        // SAFETY: (1) all threads have waited for their copies of the stage, and for one another. (2) The stages have
        // the block's outputs, as `of_block` asserts, and `k` counts steps. (3) is (1): the bounds of the loops are
        // the block's.
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
            // SAFETY: (1) is (1): the bounds of the loops are the block's, so no thread has branched away.
            unsafe { sums.add_products(&fragments) };
            k += step;
        }
        let fragments = next;
        let following = pipeline.consumer_wait();
        thread::sync_threads();
        // After the last tile its own stage is read again, for nothing: a branch would wait for the fragments.
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

/// The product of the calling block, whose sums go from registers to C, or one by one to the epilogue. `BY_ELEMENTS` is
/// that of `peeled_loop::multiply`.
///
/// # Safety
/// 1. As for `peeled_loop::multiply`.
/// 2. The launch touches the elements of C through `store` alone.
#[inline(always)]
pub unsafe fn product_one_by_one<'launch, A, B, W, const STAGES: usize, const BY_ELEMENTS: bool>(
    operands: Operands<'_, f64>,
    stages: (Stages<'_, A>, Stages<'_, B>),
    store: impl FnOnce() -> StoreFinished<'launch, f64>,
) where
    A: StageLayout<Element = f64>,
    B: StageLayout<Element = f64>,
    W: WarpOutputs<Element = f64> + Accumulators<Element = f64, Position = WarpPosition>,
{
    let shape = (operands.m, operands.n);
    let way = stages.0.as_slice();
    // SAFETY: (1) to (3) are (1). Of the stores, (1) `block_position` gives each block its own outputs. (2) The
    // stages are the block's, and no longer read; no copy is under way.
    unsafe {
        peeled_loop::multiply::<A, B, W, STAGES, BY_ELEMENTS>(
            thread::block_idx_x(),
            operands,
            stages,
            |sums: &W, position, origin| {
                let store = store();
                if store.epilogue.is_plain() {
                    sums.store(position, origin, shape, &store.to);
                } else {
                    // The last readers of the stages are done.
                    thread::sync_threads();
                    sums.store_through(way, position, origin, shape, &store);
                }
            },
        );
    }
}

/// Warps of a block whose outputs go to C by whole rows.
const WARPS_OF_ROWS: usize = 4;

/// The memory through which they go.
pub type RowStaging<'a, S> = Staging<'a, S, { WARPS_OF_ROWS * STAGING_LEN }>;

/// The product number `matrix` of those of `c`, as block number `block` of it, whose outputs go to C by way of
/// shared memory, whole rows of a warp at a time.
///
/// # Safety
/// 1. As for `multiply`.
/// 2. `staging` is of the memory of the stages, or is not used otherwise.
/// 3. The launch touches the elements of `c` through it alone.
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
    // SAFETY: (1) to (4) are (1). Of the stores, (1) all threads are here. (2) is (2), and no copy is under way.
    // (3) `block_position` gives each block its own outputs; (3).
    unsafe {
        multiply::<A, B, W, STAGES>(block, operands, stages, |sums: &W, _, origin| {
            store_by_rows(sums, matrix, origin, staging, c, epilogue);
        });
    }
}

/// Writes what `finish` makes of a block's sums to matrix number `matrix`, where they begin at (`row`, `column`).
///
/// # Safety
/// 1. All threads of the block make the call.
/// 2. No thread outside accesses `staging`, and none of the block after its last barrier.
/// 3. No other block of the launch accesses these outputs.
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
    const { assert!(LEN == W::WARPS * STAGING_LEN && ROWS == ROWS_OF_PRODUCT) };
    const {
        assert!(
            COLUMNS == W::ALONG * COLUMNS_OF_PRODUCT,
            "rows of a warp are those of a part"
        )
    };
    const { assert!(OF_LANE * 32 == ROWS * COLUMNS, "and so are its sums") };
    // The last readers of what lies in the memory are done.
    thread::sync_threads();
    let position = W::position(thread::thread_idx_x());
    let room = StagingBuffer::of_warp(staging, thread::thread_idx_x() / 32);
    let (row, column) = (row + position.row, column + position.column);
    let place = |part: usize| (row + part * ROWS, column);
    let sum = |part: usize, i: usize| O::Sum::from_sum(sums.sum(part, i));
    // SAFETY: (1) all lanes are here, by (1), and each warp has a staging buffer of its own, by (2). (2) is (3),
    // and each warp has its own outputs.
    unsafe { c.store_parts(matrix, W::DOWN, place, sum, room, finish) };
}
