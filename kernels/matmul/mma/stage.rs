//! Stages of an operand in shared memory, in the order in which it lies in global memory.
//!
//! Nothing is transposed on the way: copies are 16 bytes wide in either order, and fragments are read
//! in that order ([`MmaElement`](super::element::MmaElement)).

use super::super::copy_rows::{CopyShape, copy_rows};
use super::super::element::OperandElement;
use super::super::operand::{Operand, TileOrigin};
use core::marker::PhantomData;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// A type of operands' elements that are copied to stages.
pub trait StageElement: OperandElement {
    /// The k of one stage.
    const DEPTH: usize;

    /// Elements that pad each row of a stage, so that a warp reads it without bank conflicts.
    const PADDING: usize;

    /// Starts to copy a tile of `operand` that starts at `origin` (row, column) to a stage, whose first row is
    /// given with the memory, 16 bytes at a time.
    ///
    /// # Safety
    /// 1. The stage lies within the memory, which starts at a multiple of 16 bytes.
    /// 2. The column is a multiple of 16 bytes, and so is the start of each row of the operand.
    /// 3. No thread touches the stage until the copies have been waited for and a barrier has been passed.
    /// 4. With `IN_BOUNDS` the tile lies within the operand.
    unsafe fn copy<L: StageLayout<Element = Self>, const STAGES: usize, const IN_BOUNDS: bool>(
        pipeline: &mut Pipeline<STAGES>,
        to: (SharedSlice<Self>, usize),
        operand: &Operand<Self>,
        origin: (usize, usize),
    );
}

/// The order of the elements of a stage: [`StageElement::DEPTH`] k of the block's outputs in one direction.
pub trait StageLayout: CopyShape<Element: StageElement> + Copy {
    /// Whether neighbours in memory follow k, instead of the outputs.
    const K_IS_CONTIGUOUS: bool;

    /// The block's outputs in the operand's direction.
    const OUTPUTS: usize;

    /// Elements of one stage, padding included.
    const ELEMENTS: usize = Self::ROWS * Self::PITCH;

    /// Where the element for output `output` and `k` lies in a stage.
    fn position(output: usize, k: usize) -> usize;

    /// The row and the column of the operand, in the order in which it lies in memory, where a tile starts.
    #[inline(always)]
    fn start(origin: TileOrigin) -> (usize, usize) {
        match Self::K_IS_CONTIGUOUS {
            true => (origin.output, origin.k),
            false => (origin.k, origin.output),
        }
    }

    /// The operand with its extents, in the order in which it lies in memory.
    #[inline(always)]
    fn operand(
        matrix: Global<'_, Self::Element>,
        outputs: usize,
        k: usize,
        leading_dimension: usize,
        outside: Self::Element,
    ) -> Operand<'_, Self::Element> {
        let extents = (outputs, k);
        Operand::new(
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
    /// The stages that lie one after another in `elements`.
    #[inline(always)]
    pub fn new(elements: SharedSlice<'block, L::Element>) -> Self {
        Self {
            elements,
            layout: PhantomData,
        }
    }

    /// All of the memory.
    #[inline(always)]
    pub fn as_slice(self) -> SharedSlice<'block, L::Element> {
        self.elements
    }

    /// Starts to copy the tile that starts at `origin` to stage number `stage`, 16 bytes at a time, with the
    /// operand's `outside` for what lies outside it.
    ///
    /// # Safety
    /// 1. There is such a stage, and `origin` is a multiple of [`StageElement::DEPTH`] and of the block's
    ///    outputs.
    /// 2. No thread touches the stage until the copies have been waited for and a barrier has been passed.
    /// 3. With `IN_BOUNDS` the tile lies within the operand.
    /// 4. Each row of the operand starts at a multiple of 16 bytes.
    #[inline(always)]
    pub unsafe fn load<const STAGES: usize, const IN_BOUNDS: bool>(
        self,
        pipeline: &mut Pipeline<STAGES>,
        stage: usize,
        operand: &Operand<L::Element>,
        origin: TileOrigin,
    ) {
        let (to, origin) = ((self.elements, stage * L::ROWS), L::start(origin));
        // SAFETY: (1) is (1). (2) Both parts of `origin` are multiples of 16 bytes, by (1); (4). (3), (4) are
        // (2) and (3).
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

/// Elements of f64 that are copied at once.
const VECTOR: usize = 2;

impl<L: StageLayout<Element = f64>> Stages<'_, L> {
    /// [`Stages::load`] of a tile whose k all lie within the operand, but whose outputs may not, without a branch: in
    /// their place come others of the operand, or zeros. What is computed of them is not stored.
    ///
    /// # Safety
    /// 1. There is such a stage. `origin` is a multiple of [`StageElement::DEPTH`] and of the block's outputs, and its
    ///    output lies within the operand.
    /// 2. As (2) of [`Stages::load`].
    /// 3. The tile's last k lies within the operand.
    /// 4. Each row of the operand starts at a multiple of 16 bytes.
    #[inline(always)]
    pub unsafe fn load_at_edge<const STAGES: usize>(
        self,
        pipeline: &mut Pipeline<STAGES>,
        stage: usize,
        operand: &Operand<f64>,
        origin: TileOrigin,
    ) {
        let (row, column) = L::start(origin);
        let vectors_along = L::COLUMNS / VECTOR;
        let rows_apart = L::THREADS / vectors_along;
        // By those addresses that are hoisted ptxas spills no register.
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
            // SAFETY: (1) `down` < ROWS and `along` < COLUMNS: the place is in the stage, by (1). Along k the source is
            // a row of the operand, in place of one below the last another, and its columns are k that lie within, by
            // (3). Across k its rows do, by (3), and `present` counts the columns. (2) Rows start at multiples of 16 bytes,
            // by (4), as those of stages do, and `along` is such a multiple in them. (3) is (2).
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

    /// [`Stages::load`], an element at a time. Elements narrower than 4 bytes have no such copies.
    ///
    /// # Safety
    /// As (1) to (3) of [`Stages::load`].
    #[inline(always)]
    pub unsafe fn load_elements<const STAGES: usize, const IN_BOUNDS: bool>(
        self,
        pipeline: &mut Pipeline<STAGES>,
        stage: usize,
        operand: &Operand<f64>,
        origin: TileOrigin,
    ) {
        let (to, origin) = ((self.elements, stage * L::ROWS), L::start(origin));
        // SAFETY: (1) is (1). (2) Every place is a multiple of one element. (3), (4) are (2) and (3).
        unsafe {
            copy_rows::<L, STAGES, 1, IN_BOUNDS, false>(pipeline, to, operand, origin);
        }
    }
}
