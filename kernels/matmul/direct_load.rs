//! Loads along the tile's rows: neighbours in memory are neighbours in the tile.

use super::accumulators::Accumulators;
use super::copy_rows::{CopyShape, copy_rows};
use super::loader::TileLoader;
use super::operand::{GlobalOperand, TileOrigin};
use super::tile::Tile;
use core::marker::PhantomData;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Copies along the tile's rows, `COPY` elements at a time.
pub struct DirectLoad<const COPY: usize>;

/// [`DirectLoad`] for rows of any alignment: copies `VECTOR` elements, 16 bytes, at a time if all rows of the operand
/// are aligned to that, single elements otherwise.
///
/// `HOISTED`: the kernel has the registers to compute the addresses of whole tiles' vectors before the loop over K.
pub struct DirectLoadOfAnyAlignment<const VECTOR: usize, const HOISTED: bool>;

impl<const COPY: usize> TileLoader for DirectLoad<COPY> {
    const K_IS_CONTIGUOUS: bool = false;
    const PADDING_VECTORS: usize = 0;
    const ROW_ALIGNMENT_ELEMENTS: usize = COPY;

    #[inline(always)]
    unsafe fn load<S: Tile, R: Accumulators, const STAGES: usize, const IN_BOUNDS: bool>(
        pipeline: &mut Pipeline<STAGES>,
        tile: SharedSlice<S::Element>,
        tile_row: usize,
        operand: &GlobalOperand<S::Element>,
        origin: TileOrigin,
    ) {
        // SAFETY: the caller's contract, with `COPY` as the alignment of rows.
        unsafe {
            load_rows::<S, R, STAGES, COPY, IN_BOUNDS, IN_BOUNDS>(
                pipeline, tile, tile_row, operand, origin,
            )
        }
    }
}

impl<const VECTOR: usize, const HOISTED: bool> TileLoader
    for DirectLoadOfAnyAlignment<VECTOR, HOISTED>
{
    const K_IS_CONTIGUOUS: bool = false;
    const PADDING_VECTORS: usize = 0;
    const ROW_ALIGNMENT_ELEMENTS: usize = 1;

    /// Tiles at the edges are rare, and always copied as single elements, which is less code. Only addresses of
    /// vectors are hoisted: there are no registers for both.
    #[inline(always)]
    unsafe fn load<S: Tile, R: Accumulators, const STAGES: usize, const IN_BOUNDS: bool>(
        pipeline: &mut Pipeline<STAGES>,
        tile: SharedSlice<S::Element>,
        tile_row: usize,
        operand: &GlobalOperand<S::Element>,
        origin: TileOrigin,
    ) {
        // SAFETY: rows start at multiples of what is copied at once: compared for vectors, and true of single
        // elements. The rest: the caller's contract.
        unsafe {
            if IN_BOUNDS && operand.rows_start_at_multiples_of(VECTOR) {
                load_rows::<S, R, STAGES, VECTOR, IN_BOUNDS, HOISTED>(
                    pipeline, tile, tile_row, operand, origin,
                );
            } else {
                load_rows::<S, R, STAGES, 1, IN_BOUNDS, false>(
                    pipeline, tile, tile_row, operand, origin,
                );
            }
        }
    }
}

/// One stage of a tile, copied by the threads of a block whose threads have the outputs `R`.
struct StageOf<S, R, const STAGES: usize>(PhantomData<(S, R)>);

impl<S: Tile, R: Accumulators, const STAGES: usize> CopyShape for StageOf<S, R, STAGES> {
    type Element = S::Element;
    const ROWS: usize = S::ROWS / STAGES;
    const COLUMNS: usize = S::COLUMNS;
    const PITCH: usize = S::PITCH;
    const THREADS: usize = R::THREADS;
}

/// [`TileLoader::load`] along the tile's rows, `COPY` elements at a time. `HOISTED` is the parameter of
/// [`GlobalOperand::addressed`].
///
/// # Safety
/// 1. As for [`TileLoader::load`], with `COPY` elements, 16 bytes or one element, as the alignment of the operand's
///    rows.
#[inline(always)]
unsafe fn load_rows<
    S: Tile,
    R: Accumulators,
    const STAGES: usize,
    const COPY: usize,
    const IN_BOUNDS: bool,
    const HOISTED: bool,
>(
    pipeline: &mut Pipeline<STAGES>,
    tile: SharedSlice<S::Element>,
    tile_row: usize,
    operand: &GlobalOperand<S::Element>,
    origin: TileOrigin,
) {
    let origin = (origin.k, origin.output);
    // SAFETY: the tile has the stage's rows, all threads of the block make the call, and `COPY` elements are 16 bytes
    // or one: the caller's contract. Rows are aligned to `COPY` elements: the caller's contract, as is that the
    // column of `origin` is a multiple of the tile's columns, which are whole vectors: `assert_even`. No thread
    // accesses the stage too early, the operand has its rows and the origin, and with `IN_BOUNDS` all of the tile:
    // the caller's contract.
    unsafe {
        copy_rows::<StageOf<S, R, STAGES>, STAGES, COPY, IN_BOUNDS, HOISTED>(
            pipeline,
            (tile, tile_row),
            operand,
            origin,
        );
    }
}
