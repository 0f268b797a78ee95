//! How a block brings the tiles of an operand to shared memory.
//!
//! A tile has a row for each k and, along it, the block's outputs in one direction: rows of C for
//! A's tile, columns of C for B's. An operand comes to it in one of two ways:
//!
//! - `direct_load.rs`, where neighbours in memory are neighbours along the tile's rows: a
//!   column-major A, a row-major B. Copies are as wide as the alignment allows.
//! - `transposed_load.rs`, where neighbours in memory follow k: a row-major A, a column-major B.

use super::accumulators::Accumulators;
use super::element::FmaElement;
use super::operand::{Operand, TileOrigin};
use super::tile::Tile;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// A way to bring the tiles of an operand to shared memory.
pub trait TileLoader {
    /// Whether neighbours in memory follow k, instead of the outputs.
    const K_IS_CONTIGUOUS: bool;

    /// Vectors of 16 bytes that pad each row of the tile, against bank conflicts.
    const PADDING_VECTORS: usize;

    /// Elements at whose multiples each row of the operand has to start in memory.
    #[cfg_attr(target_arch = "nvptx64", expect(dead_code, reason = "the host asks"))]
    const ROW_ALIGNMENT_ELEMENTS: usize;

    /// The operand with its extents, in the order in which it lies in memory. Its tiles have
    /// `outside` where it ends.
    #[inline(always)]
    fn operand<T: FmaElement>(
        matrix: Global<'_, T>,
        outputs: usize,
        k: usize,
        leading_dimension: usize,
        outside: T,
    ) -> Operand<'_, T> {
        let extents = (outputs, k);
        Operand::new(
            matrix,
            extents,
            Self::K_IS_CONTIGUOUS,
            leading_dimension,
            outside,
        )
    }

    /// Starts to copy the tile that starts at `origin`, by the threads of blocks with the outputs `R`, to one stage of
    /// `tile`, which has the shape of `S` and rows for all `STAGES`, with the operand's `outside` for what lies outside it. The
    /// stage's first row is `tile_row`.
    ///
    /// # Safety
    /// 1. The stage lies within the tile.
    /// 2. 16 bytes divide the tile's pitch, and each row of the operand starts in memory at a multiple
    ///    of [`Self::ROW_ALIGNMENT_ELEMENTS`].
    /// 3. No thread touches the stage until the copies have been waited for and a barrier has been
    ///    passed.
    /// 4. With `IN_BOUNDS` the tile lies within the operand.
    unsafe fn load<S: Tile, R: Accumulators, const STAGES: usize, const IN_BOUNDS: bool>(
        pipeline: &mut Pipeline<STAGES>,
        tile: SharedSlice<S::Element>,
        tile_row: usize,
        operand: &Operand<S::Element>,
        origin: TileOrigin,
    );
}
