//! Stages of an operand in shared memory, in the operand's order in global memory.
//!
//! Copies do not transpose: they are 16 bytes wide in either order, and fragments are read in that order
//! ([`MmaElement`](super::element::MmaElement)).

use super::super::copy_rows::{CopyShape, assert_even, copy_rows};
use super::super::element::OperandElement;
use super::super::operand::{GlobalOperand, TileOrigin};
use core::marker::PhantomData;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// An element type of operands that are copied to stages.
pub trait StageElement: OperandElement {
    /// The k of one stage.
    const DEPTH: usize;

    /// Elements that pad each row of a stage, against bank conflicts.
    const PADDING: usize;

    /// Starts to copy the tile of `operand` at `origin` (row, column) to a stage, 16 bytes at a time. `to` is the
    /// memory and the stage's first row.
    ///
    /// # Safety
    /// 1. The memory has the stage. All `L::THREADS` threads along x of the block make the call.
    /// 2. The column of `origin` is a multiple of 16 bytes, and the operand's rows are aligned to 16 bytes.
    /// 3. No thread accesses the stage until the copies have been waited for and a barrier has been passed.
    /// 4. The operand's memory has its rows, and `origin` lies within it; with `IN_BOUNDS`, all of the tile does.
    unsafe fn copy<L: StageLayout<Element = Self>, const STAGES: usize, const IN_BOUNDS: bool>(
        pipeline: &mut Pipeline<STAGES>,
        to: (SharedSlice<Self>, usize),
        operand: &GlobalOperand<Self>,
        origin: (usize, usize),
    );
}

/// The layout of a stage: [`StageElement::DEPTH`] k of the block's outputs in one direction.
pub trait StageLayout: CopyShape<Element: StageElement> + Copy {
    /// Whether neighbours in memory follow k, rather than the outputs.
    const K_IS_CONTIGUOUS: bool;

    /// The block's outputs in the operand's direction.
    const OUTPUTS: usize;

    /// Elements of one stage, padding included.
    const ELEMENTS: usize = Self::ROWS * Self::PITCH;

    /// The index, in a stage, of the element for output `output` and `k`.
    fn position(output: usize, k: usize) -> usize;

    /// A tile's origin as a row and a column of the operand in memory.
    #[inline(always)]
    fn start(origin: TileOrigin) -> (usize, usize) {
        match Self::K_IS_CONTIGUOUS {
            true => (origin.output, origin.k),
            false => (origin.k, origin.output),
        }
    }

    /// The operand as a matrix in memory.
    #[inline(always)]
    fn operand(
        matrix: Global<'_, Self::Element>,
        outputs: usize,
        k: usize,
        leading_dimension: usize,
        outside: Self::Element,
    ) -> GlobalOperand<'_, Self::Element> {
        let extents = (outputs, k);
        GlobalOperand::new(
            matrix,
            extents,
            Self::K_IS_CONTIGUOUS,
            leading_dimension,
            outside,
        )
    }
}

/// Neighbours follow k: a row-major A, a column-major B.
#[derive(Clone, Copy)]
pub struct AlongK<T, const OUTPUTS: usize, const THREADS: usize>(PhantomData<T>);

/// Neighbours follow the outputs: a column-major A, a row-major B.
#[derive(Clone, Copy)]
pub struct AcrossK<T, const OUTPUTS: usize, const THREADS: usize>(PhantomData<T>);

impl<T: StageElement, const OUTPUTS: usize, const THREADS: usize> CopyShape
    for AlongK<T, OUTPUTS, THREADS>
{
    type Element = T;
    const ROWS: usize = OUTPUTS;
    const COLUMNS: usize = T::DEPTH;
    const PITCH: usize = T::DEPTH + T::PADDING;
    const THREADS: usize = THREADS;
}

impl<T: StageElement, const OUTPUTS: usize, const THREADS: usize> StageLayout
    for AlongK<T, OUTPUTS, THREADS>
{
    const K_IS_CONTIGUOUS: bool = true;
    const OUTPUTS: usize = OUTPUTS;

    #[inline(always)]
    fn position(output: usize, k: usize) -> usize {
        output * Self::PITCH + k
    }
}

impl<T: StageElement, const OUTPUTS: usize, const THREADS: usize> CopyShape
    for AcrossK<T, OUTPUTS, THREADS>
{
    type Element = T;
    const ROWS: usize = T::DEPTH;
    const COLUMNS: usize = OUTPUTS;
    const PITCH: usize = OUTPUTS + T::PADDING;
    const THREADS: usize = THREADS;
}

impl<T: StageElement, const OUTPUTS: usize, const THREADS: usize> StageLayout
    for AcrossK<T, OUTPUTS, THREADS>
{
    const K_IS_CONTIGUOUS: bool = false;
    const OUTPUTS: usize = OUTPUTS;

    #[inline(always)]
    fn position(output: usize, k: usize) -> usize {
        k * Self::PITCH + output
    }
}

/// The stages of an operand.
#[derive(Clone, Copy)]
pub struct Stages<'block, L: StageLayout> {
    elements: SharedSlice<'block, L::Element>,
    layout: PhantomData<L>,
}

impl<'block, L: StageLayout> Stages<'block, L> {
    /// The consecutive stages in `elements`.
    #[inline(always)]
    pub fn new(elements: SharedSlice<'block, L::Element>) -> Self {
        Self {
            elements,
            layout: PhantomData,
        }
    }

    /// The memory of all stages.
    #[inline(always)]
    pub fn as_slice(self) -> SharedSlice<'block, L::Element> {
        self.elements
    }

    /// Starts to copy the tile at `origin` to stage number `stage`, 16 bytes at a time. Elements outside the operand
    /// become its `outside`.
    ///
    /// # Safety
    /// 1. There is such a stage, and all `L::THREADS` threads along x of the block make the call. The k of `origin` is
    ///    a multiple of [`StageElement::DEPTH`], its output of the block's outputs.
    /// 2. No thread accesses the stage until the copies have been waited for and a barrier has been passed.
    /// 3. The operand's memory has its rows, and `origin` lies within it; with `IN_BOUNDS`, all of the tile does.
    /// 4. The operand's rows are aligned to 16 bytes.
    #[inline(always)]
    pub unsafe fn load<const STAGES: usize, const IN_BOUNDS: bool>(
        self,
        pipeline: &mut Pipeline<STAGES>,
        stage: usize,
        operand: &GlobalOperand<L::Element>,
        origin: TileOrigin,
    ) {
        let (to, origin) = ((self.elements, stage * L::ROWS), L::start(origin));
        // SAFETY: the stage, the threads, aligned rows, that no thread accesses the stage, and the operand with the
        // tile: the caller's contract. The column is a multiple of 16 bytes: it is one of the depth or of the block's
        // outputs.
        unsafe {
            L::Element::copy::<L, STAGES, IN_BOUNDS>(pipeline, to, operand, origin);
        }
    }

    /// The index of the element for output `output` and `k` of stage number `stage`.
    #[inline(always)]
    pub fn index(self, stage: usize, output: usize, k: usize) -> usize {
        stage * L::ELEMENTS + L::position(output, k)
    }
}

/// Elements of a 16-byte copy of f64.
const VECTOR: usize = 2;

impl<L: StageLayout<Element = f64>> Stages<'_, L> {
    /// [`Stages::load`] without a branch, for a tile within K whose outputs may lie outside the operand.
    ///
    /// Other elements of the operand, or zeros, take the place of those outside. Outputs computed from them are not
    /// stored.
    ///
    /// # Safety
    /// 1. (1) and (2) of [`Stages::load`].
    /// 2. The operand's memory has its rows, and the first output of `origin` lies within it.
    /// 3. The tile's last k lies within the operand.
    /// 4. The operand's rows are aligned to 16 bytes.
    #[inline(always)]
    pub unsafe fn load_at_edge<const STAGES: usize>(
        self,
        pipeline: &mut Pipeline<STAGES>,
        stage: usize,
        operand: &GlobalOperand<f64>,
        origin: TileOrigin,
    ) {
        let (row, column) = L::start(origin);
        let vectors_along = L::COLUMNS / VECTOR;
        let rows_apart = L::THREADS / vectors_along;
        const { assert_even::<L>() }
        // ptxas spills no register to hoist these.
        let is_hoisted = L::K_IS_CONTIGUOUS && L::THREADS > 128;
        let (thread, operand) = operand.addressed(is_hoisted);
        let (first_down, along) = (thread / vectors_along, thread % vectors_along * VECTOR);
        let last_down = (operand.rows - 1 - row) as u32;
        let present = operand.columns.saturating_sub(column + along);
        let step = rows_apart * operand.leading_dimension;
        let first_row = row + (first_down as u32).min(last_down) as usize;
        let first = first_row * operand.leading_dimension + column + along;
        let mut from = first;
        for i in 0..L::ROWS / rows_apart {
            let down = first_down + i * rows_apart;
            let to = (stage * L::ROWS + down) * L::PITCH + along;
            // SAFETY: there is such a stage, the caller's contract, which has the destination: `down` < ROWS and
            // `along` < COLUMNS. The operand has the source. If k is contiguous: `from` is in one of its rows, at most
            // the last, and the columns are k within it, the caller's contract. If not: the rows are k within it, and
            // it has the first `present` columns. Both addresses are multiples of 16 bytes: rows are, in global memory
            // by the caller's contract, and so is `along`. No thread accesses the stage too early: the caller's
            // contract.
            unsafe {
                if L::K_IS_CONTIGUOUS {
                    pipeline.copy::<f64, VECTOR>(self.elements, to, operand.matrix, from);
                    let has_next = (down + rows_apart) as u32 <= last_down;
                    from += if has_next { step } else { 0 };
                } else {
                    let from = first + i * step;
                    pipeline.copy_or_zero::<f64, VECTOR>(
                        self.elements,
                        to,
                        operand.matrix,
                        from,
                        present,
                    );
                }
            }
        }
    }

    /// [`Stages::load`], an element at a time, which elements below 4 bytes do not have.
    ///
    /// # Safety
    /// 1. (1) to (3) of [`Stages::load`].
    #[inline(always)]
    pub unsafe fn load_elements<const STAGES: usize, const IN_BOUNDS: bool>(
        self,
        pipeline: &mut Pipeline<STAGES>,
        stage: usize,
        operand: &GlobalOperand<f64>,
        origin: TileOrigin,
    ) {
        let (to, origin) = ((self.elements, stage * L::ROWS), L::start(origin));
        // SAFETY: the stage, the threads, that no thread accesses the stage, and the operand with the tile: the
        // caller's contract. Copies of one element need no alignment.
        unsafe {
            copy_rows::<L, STAGES, 1, IN_BOUNDS, false>(pipeline, to, operand, origin);
        }
    }
}
