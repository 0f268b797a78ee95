//! The main loop of a warp, and its two ways to store.

use super::super::accumulators::Accumulators;
use super::super::grid::block_position;
use super::super::operand::{Operands, TileOrigin};
use super::super::sink::StoreFinished;
use super::element::{COLUMNS_OF_PRODUCT, MmaElement, ROWS_OF_PRODUCT};
use super::stage::{StageLayout, Stages};
use super::warp_tile::{Fragments, WarpPosition, WarpTile};
use crate::epilogue::Epilogue;
use crate::finish::{
    CMatrices, COLUMNS, FromSum, OF_LANE, Output, ROWS, Staging, WARP_ROOM, WarpRoom,
};
use cuda_std::prelude::*;

/// The main loop of block number `block` of the product's, which hands the warp's sums to `store` with the warp's place in the block, and the row and
/// the column where the block's outputs begin.
///
/// # Safety
/// 1. The launch has blocks of the warps' threads, one `block` for each of their `BLOCK`s of the result.
/// 2. A and B have the elements of m x k and k x n matrices, `lda` and `ldb` elements from row to row
///    in memory.
/// 3. The memory of the stages is the block's own, and has `STAGES` of each operand.
/// 4. Where elements are smaller than 4 bytes, the rows of A and of B start in memory at multiples of 16
///    bytes.
#[inline(always)]
unsafe fn multiply<
    T: MmaElement,
    A: StageLayout<Element = T>,
    B: StageLayout<Element = T>,
    const DOWN: usize,
    const ALONG: usize,
    const WARPS: usize,
    const WARPS_ALONG: usize,
    const STAGES: usize,
>(
    block: u32,
    operands: Operands<'_, T>,
    (a_stages, b_stages): (Stages<'_, A>, Stages<'_, B>),
    store: impl FnOnce(&WarpTile<T, DOWN, ALONG, WARPS, WARPS_ALONG>, &WarpPosition, (usize, usize)),
) {
    const { assert!(A::OUTPUTS == WarpTile::<T, DOWN, ALONG, WARPS, WARPS_ALONG>::BLOCK.0) };
    const { assert!(B::OUTPUTS == WarpTile::<T, DOWN, ALONG, WARPS, WARPS_ALONG>::BLOCK.1) };
    let Operands {
        a,
        b,
        m,
        n,
        k,
        lda,
        ldb,
    } = operands;
    let (block_row, block_column) =
        block_position(block, m.div_ceil(A::OUTPUTS), n.div_ceil(B::OUTPUTS));
    let (row, column) = (block_row * A::OUTPUTS, block_column * B::OUTPUTS);
    let (a_outside, b_outside) = T::OUTSIDE;
    let a = A::operand(a, m, k, lda, a_outside);
    let b = B::operand(b, n, k, ldb, b_outside);
    let tiles = k.div_ceil(T::DEPTH) as u32;
    let is_within_c = row + A::OUTPUTS <= m && column + B::OUTPUTS <= n;
    let tiles_in_bounds = match is_within_c {
        true => (k / T::DEPTH) as u32,
        false => 0,
    };

    let mut pipeline = Pipeline::<STAGES>::new();
    // Each call is a group of copies, an empty one past the end of K.
    let load = |pipeline: &mut Pipeline<STAGES>, tile: u32| {
        let (stage, k) = (pipeline.producer_stage(), tile as usize * T::DEPTH);
        let of_a = TileOrigin { k, output: row };
        let of_b = TileOrigin { k, output: column };
        // SAFETY: (1) it is the pipeline's. (2) The last readers of the stage have passed a barrier. (3) The
        // comparison. (4) is (4).
        unsafe {
            if tile < tiles_in_bounds {
                a_stages.load::<STAGES, true>(pipeline, stage, &a, of_a);
                b_stages.load::<STAGES, true>(pipeline, stage, &b, of_b);
            } else if tile < tiles {
                a_stages.load::<STAGES, false>(pipeline, stage, &a, of_a);
                b_stages.load::<STAGES, false>(pipeline, stage, &b, of_b);
            }
        }
        pipeline.commit();
    };
    let ahead = STAGES as u32 - 1;
    for tile in 0..ahead {
        load(&mut pipeline, tile);
    }

    let mut sums = WarpTile::<T, DOWN, ALONG, WARPS, WARPS_ALONG>::zero();
    let position = WarpTile::<T, DOWN, ALONG, WARPS, WARPS_ALONG>::position();
    let read = |stage: usize, k: usize| {
        // SAFETY: (1) all threads have waited for their copies of the stage, and for one another. (2) The
        // assertions above; steps are counted from 0. (3) No thread of the block is elsewhere.
        unsafe {
            WarpTile::<T, DOWN, ALONG, WARPS, WARPS_ALONG>::read(
                &position, a_stages, b_stages, stage, k,
            )
        }
    };
    let mut stage = 0;
    let mut next = Fragments::zero();
    if tiles > 0 {
        stage = pipeline.consumer_wait();
        thread::sync_threads();
        next = read(stage, 0);
    }
    for tile in 0..tiles {
        load(&mut pipeline, tile + ahead);
        let mut k = T::STEP;
        while k < T::DEPTH {
            let fragments = next;
            next = read(stage, k);
            sums.add_products(&fragments);
            k += T::STEP;
        }
        let fragments = next;
        let following = pipeline.consumer_wait();
        thread::sync_threads();
        // After the last tile its own stage is read again, for nothing: a branch would wait for the fragments.
        stage = if tile + 1 < tiles { following } else { stage };
        next = read(stage, 0);
        sums.add_products(&fragments);
    }
    store(&sums, &position, (row, column));
}

/// The product of the calling block, whose sums go from registers to C, or one by one to the epilogue.
///
/// # Safety
/// 1. As for `multiply`.
/// 2. The launch touches the elements of C through `store` alone.
#[inline(always)]
pub unsafe fn product_of_factors<
    A: StageLayout<Element = f64>,
    B: StageLayout<Element = f64>,
    const DOWN: usize,
    const ALONG: usize,
    const WARPS: usize,
    const WARPS_ALONG: usize,
    const STAGES: usize,
>(
    operands: Operands<'_, f64>,
    stages: (Stages<'_, A>, Stages<'_, B>),
    store: StoreFinished<'_, f64>,
) {
    let shape = (operands.m, operands.n);
    let way = stages.0.as_slice();
    // SAFETY: (1) to (4) are (1). Of the stores, (1) `block_position` gives each block its own outputs. (2) The
    // stages are the block's, and no longer read; no copy is under way.
    unsafe {
        multiply::<f64, A, B, DOWN, ALONG, WARPS, WARPS_ALONG, STAGES>(
            thread::block_idx_x(),
            operands,
            stages,
            |sums, position, origin| {
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
pub type RowStaging<'a, S> = Staging<'a, S, { WARPS_OF_ROWS * WARP_ROOM }>;

/// The product number `matrix` of those of `c`, as block number `block` of it, whose outputs go to C by way of
/// shared memory, whole rows of a warp at a time.
///
/// # Safety
/// 1. As for `multiply`.
/// 2. `staging` is of the memory of the stages, or is not used otherwise.
/// 3. The launch touches the elements of `c` through it alone.
#[inline(always)]
pub unsafe fn product_by_rows<
    T: MmaElement,
    O: Output<Sum: FromSum<T::Sum>>,
    A: StageLayout<Element = T>,
    B: StageLayout<Element = T>,
    const DOWN: usize,
    const ALONG: usize,
    const WARPS: usize,
    const WARPS_ALONG: usize,
    const STAGES: usize,
>(
    (block, matrix): (u32, usize),
    operands: Operands<'_, T>,
    stages: (Stages<'_, A>, Stages<'_, B>),
    staging: RowStaging<'_, O::Sum>,
    c: CMatrices<'_, O>,
    epilogue: Epilogue<'_, O::Sum>,
) {
    const { assert!(WARPS == WARPS_OF_ROWS && ROWS == ROWS_OF_PRODUCT) };
    const {
        assert!(
            COLUMNS == ALONG * COLUMNS_OF_PRODUCT,
            "rows of a warp are those of a part"
        )
    };
    const { assert!(OF_LANE * 32 == ROWS * COLUMNS, "and so are its sums") };
    // SAFETY: (1) to (4) are (1).
    unsafe {
        multiply::<T, A, B, DOWN, ALONG, WARPS, WARPS_ALONG, STAGES>(
            block,
            operands,
            stages,
            |sums, position, (row, column)| {
                // The last readers of the stages are done, and no copy is under way.
                thread::sync_threads();
                let room = WarpRoom::of_warp(staging, thread::thread_idx_x() / 32);
                let (row, column) = (row + position.row, column + position.column);
                let place = |part: usize| (row + part * ROWS, column);
                let sum = |part: usize, i: usize| O::Sum::from_sum(sums.sum(part, i));
                // SAFETY: (1) all lanes are here, and each warp has a room of its own. (2) `block_position`
                // gives each block its own outputs, and each warp has its own of them.
                c.store_parts(matrix, DOWN, place, sum, room, epilogue);
            },
        );
    }
}
