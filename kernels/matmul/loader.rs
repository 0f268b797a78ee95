//! Loaders: how a block copies tiles of an operand to shared memory.
//!
//! A tile has a row for each k. Along a row are the block's outputs in one direction: rows of C in A's tile, columns
//! of C in B's. There are two loaders:
//!
//! - `direct_load.rs`, if neighbours in memory are neighbours along the tile's rows: a column-major A, a row-major B.
//!   It copies 16 bytes at a time if the alignment allows.
//! - `transposed_load.rs`, if neighbours in memory follow k: a row-major A, a column-major B.

use super::accumulators::Accumulators;
use super::element::FmaElement;
use super::operand::{GlobalOperand, TileOrigin};
use super::tile::Tile;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Copies tiles of an operand to shared memory.
pub trait TileLoader {
    /// Whether neighbours in memory follow k, rather than the outputs.
    const K_IS_CONTIGUOUS: bool;

    /// Vectors of 16 bytes that pad each row of the tile, against bank conflicts.
    const PADDING_VECTORS: usize;

    /// The alignment that the loader requires of the operand's rows, in elements.
    #[cfg_attr(target_arch = "nvptx64", expect(dead_code, reason = "the host asks"))]
    const ROW_ALIGNMENT_ELEMENTS: usize;

    /// The operand as a matrix in memory. Its tiles have `outside` past its end.
    #[inline(always)]
    fn operand<T: FmaElement>(
        matrix: Global<'_, T>,
        outputs: usize,
        k: usize,
        leading_dimension: usize,
        outside: T,
    ) -> GlobalOperand<'_, T> {
        let extents = (outputs, k);
        GlobalOperand::new(
            matrix,
            extents,
            Self::K_IS_CONTIGUOUS,
            leading_dimension,
            outside,
        )
    }

    /// Starts to copy the tile at `origin` to one stage of `tile`, whose first row is `tile_row`.
    ///
    /// `tile` has the shape of `S`, with rows for all `STAGES` stages. `R` are the outputs of a thread. Elements
    /// outside the operand become its `outside`.
    ///
    /// # Safety
    /// 1. `tile` has the stage. All `R::THREADS` threads along x of the block make the call.
    /// 2. The tile's pitch is a multiple of 16 bytes, and the operand's rows are aligned to
    ///    [`Self::ROW_ALIGNMENT_ELEMENTS`].
    /// 3. No thread accesses the stage until the copies have been waited for and a barrier has been passed.
    /// 4. The operand's memory has its rows. `origin` lies within it, with an output that is a multiple of the tile's
    ///    columns; with `IN_BOUNDS`, all of the tile does.
    unsafe fn load<S: Tile, R: Accumulators, const STAGES: usize, const IN_BOUNDS: bool>(
        pipeline: &mut Pipeline<STAGES>,
        tile: SharedSlice<S::Element>,
        tile_row: usize,
        operand: &GlobalOperand<S::Element>,
        origin: TileOrigin,
    );
}
