//! The main loop of the coarsened product, which `coarsened.rs` describes.

use super::accumulators::{Accumulators, AddProducts};
use super::config::TileConfig;
use super::element::OperandElement;
use super::grid::{block_position, is_within_c};
use super::loader::TileLoader;
use super::operand::{Operands, TileOrigin};
use super::sink::OutputSink;
use super::tile::Tile;
use cuda_std::prelude::*;

type Element<C> = <<C as TileConfig>::Accumulators as Accumulators>::Element;

/// The main loop of block number `block` of a product.
///
/// # Safety
/// 1. The launch has blocks of `C::Accumulators::THREADS` threads along x, one of each number for the `C::ROWS` x
///    `C::COLUMNS` tiles of an m x n result, which `store` writes. All threads of a block make the call.
/// 2. A and B have the elements of m x k and k x n matrices in the loaders' orders, with rows `lda` and `ldb` elements
///    apart in memory, and aligned as the loaders require.
/// 3. Only this block accesses the tiles, and only in this call.
#[inline(always)]
pub(super) unsafe fn multiply<
    C: TileConfig,
    A: TileLoader,
    B: TileLoader,
    S,
    U,
    const STAGES: usize,
>(
    block: u32,
    operands: Operands<'_, Element<C>>,
    a_tile: S,
    b_tile: U,
    store: impl OutputSink<Element<C>>,
) where
    S: Tile<Element = Element<C>>,
    U: Tile<Element = Element<C>>,
{
    const { assert_shapes::<C, S, U, STAGES>() }
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
        block_position(block, m.div_ceil(C::ROWS), n.div_ceil(C::COLUMNS));
    let (row, column) = (block_row * C::ROWS, block_column * C::COLUMNS);
    let (a_outside, b_outside) = Element::<C>::OUTSIDE;
    let a = A::operand(a, m, k, lda, a_outside);
    let b = B::operand(b, n, k, ldb, b_outside);
    let position = C::Accumulators::position();
    let tiles = k.div_ceil(C::DEPTH) as u32;

    // Most blocks lie within C, and most tiles within K: their copies need no zeros.
    let tiles_in_bounds = match is_within_c((row, column), (C::ROWS, C::COLUMNS), (m, n)) {
        true => (k / C::DEPTH) as u32,
        false => 0,
    };

    let mut pipeline = Pipeline::<STAGES>::new();
    // A closure that borrows its variables: as a method of a struct that holds them, the same code takes up to 8
    // registers more in f32 (ptxas of CUDA 13, sm_80).
    let load = |pipeline: &mut Pipeline<STAGES>, tile: u32| {
        let (tile_row, k) = (
            pipeline.producer_stage() * C::DEPTH,
            tile as usize * C::DEPTH,
        );
        let (a_slice, b_slice) = (a_tile.as_slice(), b_tile.as_slice());
        let (of_a, of_b) = (
            TileOrigin { k, output: row },
            TileOrigin { k, output: column },
        );
        // SAFETY: the tiles have the stage: `assert_shapes`. All threads make the call, and the operands have their
        // rows, aligned as the loaders require: the caller's contract. Pitches are multiples of 16 bytes: rows of
        // whole vectors, padded by whole vectors. The stage's last readers have passed a barrier, and its next readers
        // wait for the copies and pass another one. The origin lies within the operands, at multiples of the tiles'
        // columns: `tile` is below `tiles`, and the block has an output; below `tiles_in_bounds`, all of the tile does.
        unsafe {
            if tile < tiles_in_bounds {
                A::load::<S, C::Accumulators, STAGES, true>(pipeline, a_slice, tile_row, &a, of_a);
                B::load::<U, C::Accumulators, STAGES, true>(pipeline, b_slice, tile_row, &b, of_b);
            } else {
                A::load::<S, C::Accumulators, STAGES, false>(pipeline, a_slice, tile_row, &a, of_a);
                B::load::<U, C::Accumulators, STAGES, false>(pipeline, b_slice, tile_row, &b, of_b);
            }
        }
    };
    let ahead = const { STAGES as u32 - 1 };
    if tiles > 0 {
        load(&mut pipeline, 0);
    }
    pipeline.commit();
    for tile in 1..ahead {
        if tile < tiles {
            load(&mut pipeline, tile);
        }
        pipeline.commit();
    }

    let mut sums = C::Accumulators::zero();
    for tile in 0..tiles {
        let stage = pipeline.consumer_wait();
        thread::sync_threads();
        if tile + ahead < tiles {
            load(&mut pipeline, tile + ahead);
        }
        pipeline.commit();
        // SAFETY: the tiles have the stage, and rows of the block's outputs: `assert_shapes`. Pitches are multiples of
        // vectors, as for the copies. Each thread waited for its copies of the stage before the barrier, and the stage
        // is written after the next one. The block has the threads: the caller's contract. `position` is this thread's.
        unsafe { sums.add_products::<S, U, STAGES>(&position, a_tile, b_tile, stage) };
    }
    // SAFETY: `store` takes an m x n result, and the block has the threads: the caller's contract. `block_position`
    // gives each block its own outputs, and `position` is this thread's. A's tile has a column of outputs for each
    // column of a thread: `assert_shapes`. Only this block accesses it: the caller's contract; its last readers have
    // passed a barrier, and no copy is under way.
    unsafe {
        if let Some(to) = store.plain() {
            sums.store(&position, (row, column), (m, n), &to);
        } else {
            // After the last reads of the tile.
            thread::sync_threads();
            let staging = a_tile.as_slice();
            sums.store_through(staging, &position, (row, column), (m, n), &store);
        }
    };
}

/// Rejects, at compile time, tiles in shared memory that do not fit the configuration.
const fn assert_shapes<C: TileConfig, S: Tile, U: Tile, const STAGES: usize>() {
    assert!(
        STAGES == C::STAGES && S::ROWS == STAGES * C::DEPTH && U::ROWS == STAGES * C::DEPTH,
        "the tiles have a place for each stage"
    );
    assert!(
        S::COLUMNS == C::ROWS,
        "A's tile has the rows of the block's outputs"
    );
    assert!(
        U::COLUMNS == C::COLUMNS,
        "B's tile has the columns of the block's outputs"
    );
    let threads = C::Accumulators::THREADS;
    assert!(
        S::ROWS * S::COLUMNS >= threads * <C::Accumulators as Accumulators>::COLUMNS,
        "A's tile can stage a row of each thread's outputs"
    );
    assert!(
        (C::ROWS * C::DEPTH).is_multiple_of(C::VECTOR * threads),
        "the threads share A's copies evenly"
    );
    assert!(
        (C::DEPTH * C::COLUMNS).is_multiple_of(C::VECTOR * threads),
        "the threads share B's copies evenly"
    );
}
