//! A block's operands: the rows of A and the columns of B that it multiplies, in tiles along K, and their stages.

use super::super::element::OperandElement;
use super::super::grid::{block_position, is_within_c};
use super::super::operand::{GlobalOperand, Operands, TileOrigin};
use super::stage::{StageElement, StageLayout, Stages};
use super::warp_tile::WarpOutputs;
use cuda_std::prelude::*;

/// A block's operands, and their stages.
pub struct BlockOperands<'a, A: StageLayout, B: StageLayout<Element = A::Element>> {
    pub stages: (Stages<'a, A>, Stages<'a, B>),
    a: GlobalOperand<'a, A::Element>,
    b: GlobalOperand<'a, A::Element>,
    /// The block row and the block column: half the registers of a row and a column.
    place: (u32, u32),
    /// Tiles of K.
    pub tiles: u32,
    /// Tiles that lie within K: the first ones.
    pub whole_tiles: u32,
    /// Whether all the block's outputs lie within C. Then its rows lie within A and its columns within B.
    pub is_within_c: bool,
}

impl<'a, A: StageLayout, B: StageLayout<Element = A::Element>> BlockOperands<'a, A, B> {
    /// The operands of the product's block number `block`, whose warps have the outputs `W`.
    #[inline(always)]
    pub fn of_block<W: WarpOutputs>(
        block: u32,
        operands: Operands<'a, A::Element>,
        stages: (Stages<'a, A>, Stages<'a, B>),
    ) -> Self {
        const { assert!(A::OUTPUTS == W::BLOCK.0 && B::OUTPUTS == W::BLOCK.1) };
        let Operands {
            a,
            b,
            m,
            n,
            k,
            lda,
            ldb,
        } = operands;
        let depth = A::Element::DEPTH;
        let (block_row, block_column) =
            block_position(block, m.div_ceil(A::OUTPUTS), n.div_ceil(B::OUTPUTS));
        let origin = (block_row * A::OUTPUTS, block_column * B::OUTPUTS);
        let (a_outside, b_outside) = A::Element::OUTSIDE;
        Self {
            stages,
            a: A::operand(a, m, k, lda, a_outside),
            b: B::operand(b, n, k, ldb, b_outside),
            place: (block_row as u32, block_column as u32),
            tiles: k.div_ceil(depth) as u32,
            whole_tiles: (k / depth) as u32,
            is_within_c: is_within_c(origin, W::BLOCK, (m, n)),
        }
    }

    /// The row and the column where the block's outputs begin.
    #[inline(always)]
    pub fn origin(&self) -> (usize, usize) {
        let (row, column) = self.place;
        (row as usize * A::OUTPUTS, column as usize * B::OUTPUTS)
    }

    /// The origins of both operands' tiles with first k `k`.
    #[inline(always)]
    fn tile(&self, k: usize) -> (TileOrigin, TileOrigin) {
        let (row, column) = self.origin();
        let at = |output| TileOrigin { k, output };
        (at(row), at(column))
    }

    /// Whether the addresses of both operands' rows are multiples of `elements` elements.
    #[inline(always)]
    pub fn rows_start_at_multiples_of(&self, elements: usize) -> bool {
        self.a.rows_start_at_multiples_of(elements) && self.b.rows_start_at_multiples_of(elements)
    }

    /// Starts to copy the tile from `k` on to stage number `stage`, 16 bytes at a time.
    ///
    /// # Safety
    /// 1. The product has the block and a tile from `k` on, and the operands have their elements, in rows aligned to 16
    ///    bytes. There is such a stage. All threads of the block make the call, as many as the layouts state.
    /// 2. With `IN_BOUNDS`, the tile lies within both operands.
    /// 3. Only this block accesses the stages. The last readers of this one have passed a barrier, and no thread
    ///    accesses it until its copies have been waited for and another barrier has been passed.
    #[inline(always)]
    pub unsafe fn load<const STAGES: usize, const IN_BOUNDS: bool>(
        &self,
        pipeline: &mut Pipeline<STAGES>,
        stage: usize,
        k: usize,
    ) {
        let (a_stages, b_stages) = self.stages;
        let (of_a, of_b) = self.tile(k);
        // SAFETY: the stage, the threads, the operands with aligned rows, the tile from `k` on, within both operands
        // with `IN_BOUNDS`, and that no thread accesses the stage: the caller's contract. `origin` is a multiple of the
        // block's outputs, and of the depth: `tile`.
        unsafe {
            a_stages.load::<STAGES, IN_BOUNDS>(pipeline, stage, &self.a, of_a);
            b_stages.load::<STAGES, IN_BOUNDS>(pipeline, stage, &self.b, of_b);
        }
    }
}

impl<A: StageLayout<Element = f64>, B: StageLayout<Element = f64>> BlockOperands<'_, A, B> {
    /// [`BlockOperands::load`] of a tile within K, whose rows of A and columns of B may lie partly outside.
    ///
    /// # Safety
    /// 1. (1) and (3) of [`BlockOperands::load`].
    /// 2. The tile lies within K.
    #[inline(always)]
    pub unsafe fn load_at_edge<const STAGES: usize>(
        &self,
        pipeline: &mut Pipeline<STAGES>,
        stage: usize,
        k: usize,
    ) {
        let (a_stages, b_stages) = self.stages;
        let (of_a, of_b) = self.tile(k);
        // SAFETY: the stage, the threads, the operands with aligned rows, that no thread accesses the stage, and that
        // the tile lies within K: the caller's contract. `origin` is a multiple of the block's outputs, of which the
        // first lies within C.
        unsafe {
            a_stages.load_at_edge(pipeline, stage, &self.a, of_a);
            b_stages.load_at_edge(pipeline, stage, &self.b, of_b);
        }
    }

    /// [`BlockOperands::load`], an element at a time, for rows of any alignment.
    ///
    /// # Safety
    /// 1. As for [`BlockOperands::load`], without the alignment of rows.
    #[inline(always)]
    pub unsafe fn load_elements<const STAGES: usize, const IN_BOUNDS: bool>(
        &self,
        pipeline: &mut Pipeline<STAGES>,
        stage: usize,
        k: usize,
    ) {
        let (a_stages, b_stages) = self.stages;
        let (of_a, of_b) = self.tile(k);
        // SAFETY: as for `load`, where rows may start at any element.
        unsafe {
            a_stages.load_elements::<STAGES, IN_BOUNDS>(pipeline, stage, &self.a, of_a);
            b_stages.load_elements::<STAGES, IN_BOUNDS>(pipeline, stage, &self.b, of_b);
        }
    }
}
