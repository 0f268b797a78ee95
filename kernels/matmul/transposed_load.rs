//! Loads across the tile's rows: neighbours in memory follow k.

use super::accumulators::Accumulators;
use super::loader::TileLoader;
use super::operand::{GlobalOperand, TileOrigin};
use super::tile::Tile;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Copies across the tile's rows, one element at a time ("corner turning").
///
/// Neighbouring threads read neighbouring elements of global memory, and scatter them in shared memory.
///
/// `HOISTED`: the kernel has the registers to compute the addresses of whole tiles before the loop over K.
pub struct TransposedLoad<const HOISTED: bool>;

/// Neighbouring elements in memory that neighbouring threads copy. A warp copies 8 k of 4 outputs, to 32 different
/// banks: rows of the tile are a multiple of 32 words, and 4 words of padding, apart.
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
        operand: &GlobalOperand<S::Element>,
        origin: TileOrigin,
    ) {
        // From a thread's copy to its next.
        const {
            assert!(
                R::THREADS.is_multiple_of(ALONG),
                "the threads copy whole rows"
            )
        };
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
                // SAFETY: the stage has the destination: `along` < depth and `down` < width, and the tile has the
                // stage: the caller's contract. The matrix has the source, as far as it lies within the bounds: the
                // operand has its rows, the caller's contract. One element is aligned to itself. No thread accesses
                // the destination too early, and with `IN_BOUNDS` the elements lie within the bounds: the caller's
                // contract.
                unsafe { bounds.copy::<STAGES, 1, IN_BOUNDS>(pipeline, to, from, (down, along)) };
            }
        }
    }
}
