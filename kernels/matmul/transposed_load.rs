//! Loads across the tile's rows: neighbours in memory follow k.

use super::accumulators::Accumulators;
use super::loader::TileLoader;
use super::operand::{Operand, TileOrigin};
use super::tile::Tile;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Copies across the tile's rows, one element at a time: neighbouring threads read neighbouring
/// elements of global memory, and scatter them in shared memory ("corner turning").
///
/// With `HOISTED` the kernel has registers to compute the addresses of whole tiles before the loop
/// over K.
pub struct TransposedLoad<const HOISTED: bool>;

/// Neighbouring elements in memory that neighbouring threads copy across the tile's rows. A warp
/// copies 4 outputs of 8 k: in tiles whose rows are a multiple of 32, and 4, words apart, these
/// are 32 different banks.
const ALONG: usize = 8;

impl<const HOISTED: bool> TileLoader for TransposedLoad<HOISTED> {
    const K_IS_CONTIGUOUS: bool = true;
    const PADDING_VECTORS: usize = 1;
    const ROW_ALIGNMENT_ELEMENTS: usize = 1;

    #[inline(always)]
    unsafe fn load<S: Tile, R: Accumulators, const STAGES: usize, const IN_BOUNDS: bool>(
        pipeline: &mut Pipeline<STAGES>,
        tile: SharedSlice<S::Element>,
        tile_row: usize,
        operand: &Operand<S::Element>,
        origin: TileOrigin,
    ) {
        // From a thread's copy to its next.
        let outputs_apart = const { R::THREADS / ALONG };
        let (depth, width) = (S::ROWS / STAGES, S::COLUMNS);
        let (thread, operand) = operand.addressed(IN_BOUNDS && HOISTED);
        let (first_down, first_along) = (thread / ALONG, thread % ALONG);
        let bounds = operand.bounds((origin.output, origin.k), width, depth);
        let first = first_down * operand.leading_dimension + first_along;
        for i in 0..width / outputs_apart {
            let down = first_down + i * outputs_apart;
            let row = bounds.first + i * outputs_apart * operand.leading_dimension;
            for j in 0..depth / ALONG {
                let along = first_along + j * ALONG;
                let to = (tile, (tile_row + along) * S::PITCH + down);
                let from = (operand.matrix, first + (row + j * ALONG));
                // SAFETY: (1) `along` < depth and `down` < width: the place is in the stage, by
                // (1). (2) One element is aligned to itself. (3), (4) are the caller's.
                unsafe { bounds.copy::<STAGES, 1, IN_BOUNDS>(pipeline, to, from, (down, along)) };
            }
        }
    }
}
