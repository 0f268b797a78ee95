//! A block's operands: the rows of A and the columns of B that it multiplies, in tiles along K, and the stages to which
//! these are copied.

use super::super::element::OperandElement;
use super::super::grid::{block_position, is_within_c};
use super::super::operand::{Operand, Operands, TileOrigin};
use super::stage::{StageElement, StageLayout, Stages};
use super::warp_tile::WarpOutputs;
use cuda_std::prelude::*;

/// A block's operands, and their stages.
pub struct BlockOperands<'a, A: StageLayout, B: StageLayout<Element = A::Element>> {
    pub stages: (Stages<'a, A>, Stages<'a, B>),
    a: Operand<'a, A::Element>,
    b: Operand<'a, A::Element>,
    /// The place of the block among the result's, in blocks: half of the registers that rows and columns would take.
    place: (u32, u32),
    /// Tiles of K.
    pub tiles: u32,
    /// So many of them, from the first on, end within K.
    pub whole_tiles: u32,
    /// Whether the block's outputs all lie within C, and so its rows of A and columns of B within these.
    pub is_within_c: bool,
}

impl<'a, A: StageLayout, B: StageLayout<Element = A::Element>> BlockOperands<'a, A, B> {
    /// Those of block number `block` of the product's, whose warps have the outputs `W`.
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

    /// Where the tiles of both operands start whose first k is `k`.
    #[inline(always)]
    fn tile(&self, k: usize) -> (TileOrigin, TileOrigin) {
        let (row, column) = self.origin();
        let at = |output| TileOrigin { k, output };
        (at(row), at(column))
    }

    /// Whether rows of both operands start at multiples of `elements` elements.
    #[inline(always)]
    pub fn rows_start_at_multiples_of(&self, elements: usize) -> bool {
        self.a.rows_start_at_multiples_of(elements) && self.b.rows_start_at_multiples_of(elements)
    }

    /// Starts to copy the tile that starts at `k` to stage number `stage`, 16 bytes at a time.
    ///
    /// # Safety
    /// 1. There are such a tile and such a stage, and the operands' rows start at multiples of 16 bytes.
    /// 2. With `IN_BOUNDS` the tile lies within both operands.
    /// 3. The stages are the block's own. The last readers of this one have passed a barrier, and no thread touches it
    ///    until its copies have been waited for and another one has been passed.
    #[inline(always)]
    pub unsafe fn load<const STAGES: usize, const IN_BOUNDS: bool>(
        &self,
        pipeline: &mut Pipeline<STAGES>,
        stage: usize,
        k: usize,
    ) {
        let (a_stages, b_stages) = self.stages;
        let (of_a, of_b) = self.tile(k);
        // SAFETY: (1) is (1), and blocks begin at multiples of their outputs. (2) is (3). (3) is (2). (4) is (1).
        unsafe {
            a_stages.load::<STAGES, IN_BOUNDS>(pipeline, stage, &self.a, of_a);
            b_stages.load::<STAGES, IN_BOUNDS>(pipeline, stage, &self.b, of_b);
        }
    }
}

impl<A: StageLayout<Element = f64>, B: StageLayout<Element = f64>> BlockOperands<'_, A, B> {
    /// [`BlockOperands::load`] of a tile that ends within K, whose rows of A and columns of B may lie outside in part.
    ///
    /// # Safety
    /// As (1) and (3) of [`BlockOperands::load`].
    #[inline(always)]
    pub unsafe fn load_at_edge<const STAGES: usize>(
        &self,
        pipeline: &mut Pipeline<STAGES>,
        stage: usize,
        k: usize,
    ) {
        let (a_stages, b_stages) = self.stages;
        let (of_a, of_b) = self.tile(k);
        // SAFETY: (1) is (1), and blocks begin at multiples of their outputs, before the last. (2) is (3). (3) The tile
        // ends within K. (4) is (1).
        unsafe {
            a_stages.load_at_edge(pipeline, stage, &self.a, of_a);
            b_stages.load_at_edge(pipeline, stage, &self.b, of_b);
        }
    }

    /// [`BlockOperands::load`], an element at a time: rows may start anywhere.
    ///
    /// # Safety
    /// As for [`BlockOperands::load`], but for where rows start.
    #[inline(always)]
    pub unsafe fn load_elements<const STAGES: usize, const IN_BOUNDS: bool>(
        &self,
        pipeline: &mut Pipeline<STAGES>,
        stage: usize,
        k: usize,
    ) {
        let (a_stages, b_stages) = self.stages;
        let (of_a, of_b) = self.tile(k);
        // SAFETY: (1) is (1), and blocks begin at multiples of their outputs. (2) is (3). (3) is (2).
        unsafe {
            a_stages.load_elements::<STAGES, IN_BOUNDS>(pipeline, stage, &self.a, of_a);
            b_stages.load_elements::<STAGES, IN_BOUNDS>(pipeline, stage, &self.b, of_b);
        }
    }
}
