//! Scales of blocks of the operands, as factors of partial sums.

use super::finish::warp;
use super::scaling::PartialScales;
use super::schedule::TilePlace;
use crate::epilogue::EpilogueElement;
use bytemuck::{Pod, Zeroable};
use cuda_std::prelude::*;
use cuda_std::wgmma::Accumulator;

/// Elements along k, and columns of B, that share a scale.
pub const SCALE_BLOCK: usize = 128;

/// Distances between an operand's scales, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ScaleSteps {
    /// From those of one matrix to those of the next; 0 if all products share them.
    pub matrix: u32,
    /// From one row of A, or from one block of columns of B, to the next.
    pub line: u32,
    /// From one block along k to the next.
    pub block: u32,
}

/// Where the scales of both operands lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ScaleShape {
    /// The scales of 1 x 128 blocks of A.
    pub a: ScaleSteps,
    /// The scales of 128 x 128 blocks of B.
    pub b: ScaleSteps,
}

/// A factor for each 1 x 128 block of A and each 128 x 128 block of B.
#[derive(Clone, Copy)]
pub struct BlockScales<'launch> {
    a: Global<'launch, f32>,
    b: Global<'launch, f32>,
    shape: GridConstant<'launch, ScaleShape>,
    /// Rows of A, at least one.
    m: u32,
}

impl<'launch> BlockScales<'launch> {
    /// The scales of an A with `m` rows, and of a B.
    ///
    /// # Safety
    /// 1. `a` and `b` have the scales of `shape`: those of all blocks of all matrices of the batch, fewer than 2^32
    ///    elements from the first on. The batch has tiles only if A has rows. They are used for the tiles and the stages
    ///    of the operands alone.
    #[inline(always)]
    pub unsafe fn new(
        [a, b]: [Global<'launch, f32>; 2],
        shape: GridConstant<'launch, ScaleShape>,
        m: u32,
    ) -> Self {
        Self { a, b, shape, m }
    }
}

/// The factors of the calling thread's two rows, and of the tile's columns.
#[derive(Clone, Copy)]
pub struct TileFactors {
    rows: [f32; 2],
    columns: f32,
}

impl PartialScales<f32> for BlockScales<'_> {
    type Factors = TileFactors;

    #[inline(always)]
    fn factors(self, place: TilePlace, round: u32) -> TileFactors {
        let ScaleShape { a, b } = *self.shape;
        let row = place.row + 16 * warp() + warp::lane() / 4;
        // Rows past the end of A have zeros, and are not written.
        let of_row = |row: u32| {
            let at = place.matrix * a.matrix + row.min(self.m - 1) * a.line + round * a.block;
            // SAFETY: A has the row and the block along k, and so has its scale: the contract of `new`.
            unsafe { self.a.load(at as usize) }
        };
        let column = place.column / SCALE_BLOCK as u32;
        let at = place.matrix * b.matrix + column * b.line + round * b.block;
        TileFactors {
            rows: [of_row(row), of_row(row + 8)],
            // SAFETY: B has the block, and so has its scale: the contract of `new`.
            columns: unsafe { self.b.load(at as usize) },
        }
    }

    #[inline(always)]
    fn add<const COUNT: usize>(
        totals: &mut [f32; COUNT],
        sums: &Accumulator<COUNT, f32>,
        factors: TileFactors,
    ) {
        let TileFactors { rows, columns } = factors;
        let factors = [rows[0].times(columns), rows[1].times(columns)];
        let mut i = 0;
        while i < COUNT {
            // A thread's pairs of sums lie in its two rows in turn.
            totals[i] = sums.get(i).times_plus(factors[i / 2 % 2], totals[i]);
            i += 1;
        }
    }
}
