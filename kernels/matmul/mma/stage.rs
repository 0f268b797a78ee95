//! Stages of an operand in shared memory, in the order in which it lies in global memory.
//!
//! Nothing is transposed on the way: copies are 16 bytes wide in either order, and fragments are read
//! element by element. Rows are 4 elements longer than a multiple of 16: the 16 elements that half a warp
//! reads at once, 4 k of 4 neighbouring outputs, are then in 16 different pairs of banks, whichever of the
//! two follow one another.

use super::super::copy_rows::{CopyShape, copy_rows};
use super::super::operand::{Operand, TileOrigin};
use super::DEPTH;
use core::marker::PhantomData;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Elements of 16 bytes.
const VECTOR: usize = 2;

/// Elements that pad each row.
const PADDING: usize = 4;

/// The order of the elements of a stage: [`DEPTH`] k of the block's outputs in one direction.
pub trait StageLayout: CopyShape<Element = f64> + Copy {
    /// Whether neighbours in memory follow k, instead of the outputs.
    const K_IS_CONTIGUOUS: bool;

    /// The block's outputs in the operand's direction.
    const OUTPUTS: usize;

    /// Elements of one stage, padding included.
    const ELEMENTS: usize = Self::ROWS * Self::PITCH;

    /// Where the element for output `output` and `k` lies in a stage.
    fn position(output: usize, k: usize) -> usize;

    /// The operand with its extents, in the order in which it lies in memory.
    #[inline(always)]
    fn operand(
        matrix: Global<'_, f64>,
        outputs: usize,
        k: usize,
        leading_dimension: usize,
        outside: f64,
    ) -> Operand<'_, f64> {
        let (rows, columns) = match Self::K_IS_CONTIGUOUS {
            true => (outputs, k),
            false => (k, outputs),
        };
        Operand {
            matrix,
            rows,
            columns,
            leading_dimension,
            outside,
        }
    }
}

/// Neighbours follow k: a row-major A, a column-major B.
#[derive(Clone, Copy)]
pub struct AlongK<const OUTPUTS: usize, const THREADS: usize>;

/// Neighbours follow the outputs: a column-major A, a row-major B.
#[derive(Clone, Copy)]
pub struct AcrossK<const OUTPUTS: usize, const THREADS: usize>;

impl<const OUTPUTS: usize, const THREADS: usize> CopyShape for AlongK<OUTPUTS, THREADS> {
    type Element = f64;
    const ROWS: usize = OUTPUTS;
    const COLUMNS: usize = DEPTH;
    const PITCH: usize = DEPTH + PADDING;
    const THREADS: usize = THREADS;
}

impl<const OUTPUTS: usize, const THREADS: usize> StageLayout for AlongK<OUTPUTS, THREADS> {
    const K_IS_CONTIGUOUS: bool = true;
    const OUTPUTS: usize = OUTPUTS;

    #[inline(always)]
    fn position(output: usize, k: usize) -> usize {
        output * Self::PITCH + k
    }
}

impl<const OUTPUTS: usize, const THREADS: usize> CopyShape for AcrossK<OUTPUTS, THREADS> {
    type Element = f64;
    const ROWS: usize = DEPTH;
    const COLUMNS: usize = OUTPUTS;
    const PITCH: usize = OUTPUTS + PADDING;
    const THREADS: usize = THREADS;
}

impl<const OUTPUTS: usize, const THREADS: usize> StageLayout for AcrossK<OUTPUTS, THREADS> {
    const K_IS_CONTIGUOUS: bool = false;
    const OUTPUTS: usize = OUTPUTS;

    #[inline(always)]
    fn position(output: usize, k: usize) -> usize {
        k * Self::PITCH + output
    }
}

/// The stages of an operand.
#[derive(Clone, Copy)]
pub struct Stages<'block, L> {
    elements: SharedSlice<'block, f64>,
    layout: PhantomData<L>,
}

impl<'block, L: StageLayout> Stages<'block, L> {
    /// The stages that lie one after another in `elements`.
    #[inline(always)]
    pub fn new(elements: SharedSlice<'block, f64>) -> Self {
        Self {
            elements,
            layout: PhantomData,
        }
    }

    /// All of the memory.
    #[inline(always)]
    pub fn as_slice(self) -> SharedSlice<'block, f64> {
        self.elements
    }

    /// Starts to copy the tile that starts at `origin` to stage number `stage`, with the operand's `outside`
    /// for what lies outside it: 16 bytes at a time where the tile lies `IN_BOUNDS` and each of the operand's
    /// rows starts at a multiple of that, single elements elsewhere.
    ///
    /// # Safety
    /// 1. There is such a stage, and `origin` is a multiple of [`DEPTH`] and of the block's outputs.
    /// 2. No thread touches the stage until the copies have been waited for and a barrier has been passed.
    /// 3. With `IN_BOUNDS` the tile lies within the operand.
    #[inline(always)]
    pub unsafe fn load<const STAGES: usize, const IN_BOUNDS: bool>(
        self,
        pipeline: &mut Pipeline<STAGES>,
        stage: usize,
        operand: &Operand<f64>,
        origin: TileOrigin,
    ) {
        let origin = match L::K_IS_CONTIGUOUS {
            true => (origin.output, origin.k),
            false => (origin.k, origin.output),
        };
        let to = (self.elements, stage * L::ROWS);
        // SAFETY: (1) is (1). (2) Vectors are copied only where each row starts at a multiple of them, and
        // both parts of `origin` are even. (3), (4) are (2) and (3).
        unsafe {
            if IN_BOUNDS && operand.rows_start_at_multiples_of(VECTOR) {
                copy_rows::<L, STAGES, VECTOR, IN_BOUNDS, false>(pipeline, to, operand, origin);
            } else {
                copy_rows::<L, STAGES, 1, IN_BOUNDS, false>(pipeline, to, operand, origin);
            }
        }
    }

    /// The element for output `output` and `k` of stage number `stage`.
    ///
    /// # Safety
    /// 1. There is such a stage, with such an element, and it has been written, before a barrier.
    #[inline(always)]
    pub unsafe fn element(self, stage: usize, output: usize, k: usize) -> f64 {
        // SAFETY: (1) it lies in the stage, by (1). (2) No thread writes it until the next barrier.
        unsafe {
            self.elements
                .load(stage * L::ELEMENTS + L::position(output, k))
        }
    }
}
