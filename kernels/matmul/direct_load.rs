//! Loads along the tile's rows: neighbours in memory are neighbours in the tile.

use super::accumulators::Accumulators;
use super::copy_rows::{CopyShape, copy_rows};
use super::loader::TileLoader;
use super::operand::{Operand, TileOrigin};
use super::tile::Tile;
use core::marker::PhantomData;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Copies along the tile's rows, `COPY` elements at a time.
pub struct DirectLoad<const COPY: usize>;

/// As [`DirectLoad`], for rows that start anywhere: `VECTOR` elements of 16 bytes at a time where each
/// of the operand's rows starts at a multiple of that, single elements elsewhere.
///
/// With `HOISTED` the kernel has registers to compute the addresses of the vectors of whole tiles
/// before the loop over K.
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
        operand: &Operand<S::Element>,
        origin: TileOrigin,
    ) {
        // SAFETY: (1) to (4) are the caller's: rows start at multiples of `COPY`, by (2).
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

    /// Tiles at the edges, which are rare, have the short code of single elements alone. Only the
    /// addresses of vectors are hoisted, if any: there are no registers for both.
    #[inline(always)]
    unsafe fn load<S: Tile, R: Accumulators, const STAGES: usize, const IN_BOUNDS: bool>(
        pipeline: &mut Pipeline<STAGES>,
        tile: SharedSlice<S::Element>,
        tile_row: usize,
        operand: &Operand<S::Element>,
        origin: TileOrigin,
    ) {
        // SAFETY: (1), (3), (4) are the caller's. (2) Vectors are copied only where each row starts at
        // a multiple of them.
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

/// One of the stages of a tile, which the threads of blocks with the outputs `R` copy.
struct StageOf<S, R, const STAGES: usize>(PhantomData<(S, R)>);

impl<S: Tile, R: Accumulators, const STAGES: usize> CopyShape for StageOf<S, R, STAGES> {
    type Element = S::Element;
    const ROWS: usize = S::ROWS / STAGES;
    const COLUMNS: usize = S::COLUMNS;
    const PITCH: usize = S::PITCH;
    const THREADS: usize = R::THREADS;
}

/// [`TileLoader::load`] along the tile's rows, `COPY` elements at a time, with addresses that are
/// `HOISTED` or not.
///
/// # Safety
/// Those of [`TileLoader::load`], where (2) asks that the operand's rows start at multiples of `COPY`
/// elements.
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
    operand: &Operand<S::Element>,
    origin: TileOrigin,
) {
    let origin = (origin.k, origin.output);
    // SAFETY: (1) is (1). (2) Rows start so, by (2), and tiles of outputs at multiples of their columns. (3),
    // (4) are the caller's.
    unsafe {
        copy_rows::<StageOf<S, R, STAGES>, STAGES, COPY, IN_BOUNDS, HOISTED>(
            pipeline,
            (tile, tile_row),
            operand,
            origin,
        );
    }
}
