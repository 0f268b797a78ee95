//! Scales of blocks of the operands, as factors of partial sums.

use super::finish::warp;
use super::scaling::PartialScales;
use super::schedule::TilePlace;
use crate::epilogue::EpilogueElement;
use bytemuck::{Pod, Zeroable};
use cuda_std::prelude::*;
use cuda_std::wgmma::Accumulator;

/// Elements along k, and rows or columns of an operand with square blocks, that share a scale.
pub const SCALE_BLOCK: usize = 128;

/// Distances between an operand's scales, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ScaleSteps {
    /// From those of one matrix to those of the next; 0 if all products share them.
    pub matrix: u32,
    /// From one line, or from one block of lines, to the next.
    pub line: u32,
    /// From one block along k to the next.
    pub block: u32,
}

/// Where the scales of both operands lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ScaleShape {
    /// The scales of 1 x 128 blocks.
    pub lines: ScaleSteps,
    /// The scales of 128 x 128 blocks.
    pub squares: ScaleSteps,
}

/// A scale for each 1 x 128 block of one operand, and for each 128 x 128 block of the other.
///
/// Lines are rows of A or columns of B.
#[derive(Clone, Copy)]
pub struct BlockScales<'launch> {
    lines: Global<'launch, f32>,
    squares: Global<'launch, f32>,
    pub(super) shape: GridConstant<'launch, ScaleShape>,
    /// Lines of both operands, at least one.
    counts: [u32; 2],
}

impl<'launch> BlockScales<'launch> {
    /// The scales of operands with `counts` lines.
    ///
    /// # Safety
    /// 1. `lines` and `squares` have the scales of `shape`: those of all blocks of all matrices of the batch, fewer than
    ///    2^32 elements from the first on. The batch has tiles only if both operands have lines. They are used for the
    ///    matrices and the stages of the operands alone.
    #[inline(always)]
    pub unsafe fn new(
        [lines, squares]: [Global<'launch, f32>; 2],
        shape: GridConstant<'launch, ScaleShape>,
        counts: [u32; 2],
    ) -> Self {
        Self {
            lines,
            squares,
            shape,
            counts,
        }
    }

    /// Where the scales of a line begin. Lines past the end have zeros, and are not written.
    #[inline(always)]
    pub(super) fn of_line(self, matrix: u32, line: u32) -> u32 {
        let steps = self.shape.lines;
        matrix * steps.matrix + line.min(self.counts[0] - 1) * steps.line
    }

    /// Where the scales of a line's square blocks begin.
    #[inline(always)]
    pub(super) fn of_square(self, matrix: u32, line: u32) -> u32 {
        let steps = self.shape.squares;
        let row = line.min(self.counts[1] - 1) / SCALE_BLOCK as u32;
        matrix * steps.matrix + row * steps.line
    }

    /// The scale of a line's block.
    ///
    /// # Safety
    /// 1. `at` is [`of_line`](Self::of_line) and the step from one block along k to the next, as often as there is one.
    #[inline(always)]
    pub(super) unsafe fn line(self, at: u32) -> f32 {
        // SAFETY: the operand has the line and the block along k, and so has its scale: the contract of `new`.
        unsafe { self.lines.load(at as usize) }
    }

    /// The scale of a square block.
    ///
    /// # Safety
    /// 1. As for [`line`](Self::line), of [`of_square`](Self::of_square).
    #[inline(always)]
    pub(super) unsafe fn square(self, at: u32) -> f32 {
        // SAFETY: the operand has the lines and the block along k, and so has their scale: the contract of `new`.
        unsafe { self.squares.load(at as usize) }
    }
}

/// Columns of a tile that share a scale of B, if the tile has columns of two blocks.
const PART_COLUMNS: usize = 64;

/// Blocks of B that a tile with `columns` columns has.
pub const fn blocks_of(columns: usize) -> usize {
    if SCALE_BLOCK.is_multiple_of(columns) {
        return 1;
    }
    assert!(
        columns == 3 * PART_COLUMNS,
        "of the three parts of a tile, one or two are of the first block"
    );
    2
}

/// Stages between the load of a scale and its use, for a tile with `columns` columns: as many as fit into registers.
///
/// Measured on an H200, tiles of 64 x 64, in us with none and with two: 15.4 and 13.4 for 128 x 2112 with K = 7168, 66.8
/// and 58.5 for 128 x 7168 with K = 16384. Tiles of 128 x 192 with one and with two, which spill: 138 and 148 for 4096 x
/// 2112 with K = 7168, 338 and 365 for 4096 x 24576 with K = 1536.
pub const fn stages_ahead(columns: usize) -> usize {
    if columns <= 64 { 2 } else { 1 }
}

/// Factors of tiles whose rows are lines: A has a scale for each row, B for each block of columns.
///
/// A thread has outputs in two rows and in the columns of `BLOCKS` blocks, and loads scales `AHEAD` stages ahead: one in
/// any loop, or two in one that is unrolled by two.
#[derive(Clone, Copy)]
pub struct RowScales<'launch, const BLOCKS: usize, const AHEAD: usize>(pub BlockScales<'launch>);

/// The scales of the calling thread's two rows, and of the blocks of columns.
#[derive(Clone, Copy)]
pub struct TileScales<const BLOCKS: usize> {
    rows: [f32; 2],
    columns: [f32; BLOCKS],
}

/// The scales of the next stages.
pub struct RowWindow<const BLOCKS: usize, const AHEAD: usize> {
    scales: [TileScales<BLOCKS>; AHEAD],
    /// Where those of the stage after them are, if there is one.
    at_rows: [u32; 2],
    at_columns: [u32; BLOCKS],
}

impl<const BLOCKS: usize, const AHEAD: usize> RowScales<'_, BLOCKS, AHEAD> {
    /// Loads the scales of stage number `round`, or of the last one.
    ///
    /// # Safety
    /// 1. The calls for a window are those for stages 0 and on, in turn.
    #[inline(always)]
    unsafe fn load(
        self,
        window: &mut RowWindow<BLOCKS, AHEAD>,
        (round, rounds): (u32, u32),
        slot: usize,
    ) {
        let RowWindow {
            scales,
            at_rows,
            at_columns,
        } = window;
        let TileScales { rows, columns } = &mut scales[slot % AHEAD];
        let ScaleShape { lines, squares } = *self.0.shape;
        // SAFETY: the places are those of the stage, or of the last: each call goes to the next one if there is one.
        unsafe {
            *rows = [self.0.line(at_rows[0]), self.0.line(at_rows[1])];
            let mut block = 0;
            while block < BLOCKS {
                columns[block] = self.0.square(at_columns[block]);
                block += 1;
            }
        }
        if round + 1 < rounds {
            *at_rows = [at_rows[0] + lines.block, at_rows[1] + lines.block];
            let mut block = 0;
            while block < BLOCKS {
                at_columns[block] += squares.block;
                block += 1;
            }
        }
    }
}

impl<const BLOCKS: usize, const AHEAD: usize> PartialScales<f32> for RowScales<'_, BLOCKS, AHEAD> {
    type Window = RowWindow<BLOCKS, AHEAD>;
    /// For each block and row, and whether the second block begins with the second part.
    type Factors = ([[f32; 2]; BLOCKS], bool);

    #[inline(always)]
    unsafe fn begin(self, place: TilePlace, rounds: u32) -> RowWindow<BLOCKS, AHEAD> {
        let row = place.row + 16 * warp() + warp::lane() / 4;
        let of_row = |row| self.0.of_line(place.matrix, row);
        let mut at_columns = [0; BLOCKS];
        let mut block = 0;
        while block < BLOCKS {
            let column = place.column + (block * SCALE_BLOCK) as u32;
            at_columns[block] = self.0.of_square(place.matrix, column);
            block += 1;
        }
        let none = TileScales {
            rows: [0.0; 2],
            columns: [0.0; BLOCKS],
        };
        let mut window = RowWindow {
            scales: [none; AHEAD],
            at_rows: [of_row(row), of_row(row + 8)],
            at_columns,
        };
        let mut slot = 0;
        while slot < AHEAD {
            // SAFETY: the first stages are loaded in turn.
            unsafe { self.load(&mut window, (slot as u32, rounds), slot) };
            slot += 1;
        }
        window
    }

    #[inline(always)]
    unsafe fn factors(
        self,
        window: &mut RowWindow<BLOCKS, AHEAD>,
        place: TilePlace,
        (round, rounds): (u32, u32),
        slot: usize,
    ) -> Self::Factors {
        let TileScales { rows, columns } = window.scales[slot % AHEAD];
        let mut factors = [[0.0; 2]; BLOCKS];
        let mut block = 0;
        while block < BLOCKS {
            factors[block] = [rows[0].times(columns[block]), rows[1].times(columns[block])];
            block += 1;
        }
        // SAFETY: the stages are loaded in turn: those before in earlier calls, and in `begin`.
        unsafe { self.load(window, (round + AHEAD as u32, rounds), slot) };
        (factors, place.column / PART_COLUMNS as u32 % 2 == 1)
    }

    #[inline(always)]
    unsafe fn add<const COUNT: usize>(
        self,
        totals: &mut [f32; COUNT],
        sums: &Accumulator<COUNT, f32>,
        (factors, is_second_part): Self::Factors,
    ) {
        const { assert!(BLOCKS == blocks_of(2 * COUNT), "columns have scales") };
        let (first, last) = (factors[0], factors[BLOCKS - 1]);
        let middle = if is_second_part { last } else { first };
        let mut i = 0;
        while i < COUNT {
            let of_rows = match 2 * i / PART_COLUMNS {
                _ if BLOCKS == 1 => first,
                0 => first,
                1 => middle,
                _ => last,
            };
            // A thread's pairs of sums lie in its two rows in turn.
            totals[i] = sums.get(i).times_plus(of_rows[i / 2 % 2], totals[i]);
            i += 1;
        }
    }
}
