//! f32 products on tensor cores with `mma.sync`, as three f16 products of split operands.
//!
//! ```text
//! load the first stage: 32 k of the high and low values of both operands
//! for each stage:
//!     wait for it, and load the next one
//!     sums   = 2^-11 (A.lo B.hi + A.hi B.lo)
//!     sums  += A.hi B.hi                            all in the tensor core
//!     totals += sums                                on the CUDA cores, rounded to nearest
//! scale the totals back, and store them
//! ```
//!
//! [`tensor`](crate::tensor) defines the high and low values, and has the error bound.

use super::super::operand::{GlobalOperand, TileOrigin};
use super::element::MmaElement;
use super::product::store_by_rows;
use super::stage::{AlongK, StageElement, StageLayout, Stages};
use super::tile::{MmaTile, SPLIT_LARGE, SPLIT_SMALL};
use super::warp_tile::{Fragments, WarpOutputs, WarpTile};
use crate::epilogue::{Epilogue, EpilogueNumbers};
use crate::finish::{CMatrices, STAGING_LEN, Staging};
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::descriptor::{OperandLayout, ProductDescriptor, ProductKernel};
use crate::matmul::grid::{block_position, is_left_out, is_within_c};
use crate::matmul::shape::ProductShape;
use crate::tensor::split::halves::LOW_SCALE;
use crate::tensor::split::lines::PANEL;
use crate::tensor::split::scaled::{ScaledBack, Scales};
use cuda_std::prelude::*;
use half::f16;

/// The k of a stage, and of one instruction.
const DEPTH: usize = <f16 as StageElement>::DEPTH;
const STEP: usize = <f16 as MmaElement>::STEP;

/// Instructions along k of a stage.
const STEPS: usize = DEPTH / STEP;

/// The high and the low part of something split.
#[derive(Clone, Copy)]
struct HighLow<T> {
    high: T,
    low: T,
}

/// The high and low values of an operand, and their stages.
#[derive(Clone, Copy)]
struct SplitOperand<'a, L: StageLayout> {
    values: HighLow<GlobalOperand<'a, f16>>,
    stages: HighLow<Stages<'a, L>>,
}

impl<'a, L: StageLayout<Element = f16>> SplitOperand<'a, L> {
    /// An operand of `outputs` rows of A or columns of B, each of `k` contiguous values, `pitch` apart.
    #[inline(always)]
    fn new(
        values: HighLow<Global<'a, f16>>,
        stages: HighLow<Stages<'a, L>>,
        (outputs, k): (usize, usize),
        pitch: usize,
    ) -> Self {
        Self {
            values: HighLow {
                high: L::operand(values.high, outputs, k, pitch, f16::ZERO),
                low: L::operand(values.low, outputs, k, pitch, f16::ZERO),
            },
            stages,
        }
    }

    /// Starts to copy 32 k of the high and low values to a stage.
    ///
    /// # Safety
    /// 1. There are `STAGES` stages. The last readers of the one that is filled have passed a barrier, and no thread
    ///    accesses it until the copies have been waited for and another barrier has been passed.
    /// 2. The operand has its values, in rows aligned to 16 bytes. `origin` lies within it, at multiples of the depth
    ///    and of the block's outputs; with `IN_BOUNDS`, all of the tile does.
    /// 3. All `L::THREADS` threads along x of the block make the call.
    #[inline(always)]
    unsafe fn load<const STAGES: usize, const IN_BOUNDS: bool>(
        self,
        pipeline: &mut Pipeline<STAGES>,
        origin: TileOrigin,
    ) {
        let stage = pipeline.producer_stage();
        let Self { values, stages } = self;
        // SAFETY: the stage is one of the pipeline's `STAGES`. No thread accesses it, the threads, the operand with
        // aligned rows, and the origin: the caller's contract.
        unsafe {
            (stages.high).load::<STAGES, IN_BOUNDS>(pipeline, stage, &values.high, origin);
            (stages.low).load::<STAGES, IN_BOUNDS>(pipeline, stage, &values.low, origin);
        }
    }
}

/// The calling warp's totals, in the block whose first output is (`row`, `column`).
///
/// `is_transposed`: C is the transpose of the result. The two products with low values are then added in the other
/// order, so that the result has the same bits.
///
/// # Safety
/// 1. The block has `WARPS` warps, all of whose threads make the call together.
/// 2. Both operands have their high and low values, m rows of A and n columns of B, each of k values, aligned to 16
///    bytes. (`row`, `column`) lies within the result, at multiples of the block's rows and columns.
/// 3. There are `STAGES` stages of the high and of the low values of each operand. Only this block accesses their
///    memory, and only in this call.
#[inline(always)]
unsafe fn multiply<
    A: StageLayout<Element = f16>,
    B: StageLayout<Element = f16>,
    const DOWN: usize,
    const ALONG: usize,
    const WARPS: usize,
    const WARPS_ALONG: usize,
    const STAGES: usize,
>(
    a: SplitOperand<'_, A>,
    b: SplitOperand<'_, B>,
    shape: &ProductShape,
    (row, column): (usize, usize),
    is_transposed: bool,
) -> WarpTile<f16, DOWN, ALONG, WARPS, WARPS_ALONG> {
    type Warp<const D: usize, const N: usize, const W: usize, const X: usize> =
        WarpTile<f16, D, N, W, X>;
    const {
        let (rows, columns) = Warp::<DOWN, ALONG, WARPS, WARPS_ALONG>::BLOCK;
        assert!(
            A::OUTPUTS == rows && B::OUTPUTS == columns,
            "stages have the block's rows and columns"
        )
    };
    let k = shape.k;
    let position = Warp::<DOWN, ALONG, WARPS, WARPS_ALONG>::position(thread::thread_idx_x());
    let mut totals = Warp::<DOWN, ALONG, WARPS, WARPS_ALONG>::zero();
    let mut pipeline = Pipeline::<STAGES>::new();
    let end_of_whole =
        match is_within_c((row, column), (A::OUTPUTS, B::OUTPUTS), (shape.m, shape.n)) {
            true => k / DEPTH * DEPTH,
            false => 0,
        };
    // Each call is a group of copies, empty past the end of K.
    let load = |pipeline: &mut Pipeline<STAGES>, first: usize| {
        let at = |output| TileOrigin { k: first, output };
        // SAFETY: there are `STAGES` stages, the operands have their values in aligned rows, and all threads are here:
        // the caller's contract. The stage's last readers have passed the barrier below, and its next readers wait and
        // pass it again. The origin lies within the operands: `first` is below k, a multiple of the depth, and the
        // block's origin is the caller's contract; below `end_of_whole`, all of the tile does.
        unsafe {
            if first < end_of_whole {
                a.load::<STAGES, true>(pipeline, at(row));
                b.load::<STAGES, true>(pipeline, at(column));
            } else if first < k {
                a.load::<STAGES, false>(pipeline, at(row));
                b.load::<STAGES, false>(pipeline, at(column));
            }
        }
        pipeline.commit();
    };
    let mut ahead = 0;
    while ahead < (STAGES - 1) * DEPTH {
        load(&mut pipeline, ahead);
        ahead += DEPTH;
    }
    while ahead < k + (STAGES - 1) * DEPTH {
        let stage = pipeline.consumer_wait();
        thread::sync_threads();
        load(&mut pipeline, ahead);
        ahead += DEPTH;
        let read = |a: Stages<'_, A>, b: Stages<'_, B>, k: usize| {
            // SAFETY: all threads have waited for their copies of the stage, and then passed a barrier; it is not
            // written before the next one. The stages have the block's rows and columns: asserted above. `k` counts
            // steps, and `position` is this warp's. The warp is converged: all threads are here, and the loops' bounds
            // are the block's.
            unsafe { Warp::<DOWN, ALONG, WARPS, WARPS_ALONG>::read(&position, (a, b), stage, k) }
        };
        let high: [Fragments<f16, DOWN, ALONG>; STEPS] =
            [0, STEP].map(|k| read(a.stages.high, b.stages.high, k));
        let mut sums = Warp::<DOWN, ALONG, WARPS, WARPS_ALONG>::zero();
        let mut step = 0;
        while step < STEPS {
            let low = read(a.stages.low, b.stages.low, step * STEP);
            let high = high[step];
            let low_by_high = Fragments { b: high.b, ..low };
            let high_by_low = Fragments { b: low.b, ..high };
            // SAFETY: the warp is converged: all threads are here, the caller's contract, and the loops' bounds and the
            // condition are the launch's.
            unsafe {
                if is_transposed {
                    sums.add_products(&high_by_low);
                    sums.add_products(&low_by_high);
                } else {
                    sums.add_products(&low_by_high);
                    sums.add_products(&high_by_low);
                }
            }
            step += 1;
        }
        sums.combine(&totals, |sum, _| sum * (1.0 / LOW_SCALE));
        let mut step = 0;
        while step < STEPS {
            // SAFETY: as above.
            unsafe { sums.add_products(&high[step]) };
            step += 1;
        }
        totals.combine(&sums, |total, sum| total + sum);
    }
    totals
}

macro_rules! split_kernels {
    ($($family:ident $name:ident {$method:ident($tiles:path) $tile:ident} $types:tt $layouts:tt;)*) => {$(
        /// C = A B in f32 of split operands, or the products of a batch, one for each block along y.
        ///
        /// If C is the transpose of a result, `is_transposed` is 1, and the bits are those of the result.
        ///
        /// # Safety
        /// 1. Block, grid and result meet the
        ///    [requirements of product kernels](crate::matmul#requirements-of-product-kernels). `shape` does not
        ///    divide K.
        /// 2. `a_high` and `a_low` have the high and low values of the m rows of each A, `b_high` and `b_low` those of
        ///    the n columns of each B, as the splits left them: k contiguous values for each row or column. Rows and
        ///    columns start `lda` and `ldb` values apart, multiples of
        ///    [`SPLIT_ALIGNMENT`](crate::tensor::SPLIT_ALIGNMENT), matrices as far apart as `shape` says: without a
        ///    gap, or 0. `a_words` and `b_words` have the [`RangeWords`](crate::tensor::RangeWords) of each matrix.
        #[allow(clippy::too_many_arguments)]
        #[kernel(max_threads = $tile.threads() as u32, min_blocks = $tile.resident, arch = "sm_80")]
        pub unsafe fn $name(
            a_high: Global<f16>,
            a_low: Global<f16>,
            b_high: Global<f16>,
            b_low: Global<f16>,
            a_words: Global<u32>,
            b_words: Global<u32>,
            c: GlobalMut<f32>,
            shape: GridConstant<ProductShape>,
            is_transposed: u32,
            numbers: GridConstant<EpilogueNumbers<f32>>,
            row_scale: Global<f32>,
            column_scale: Global<f32>,
            row_bias: Global<f32>,
            column_bias: Global<f32>,
        ) {
            const TILE: MmaTile = $tile;
            const { assert!(PANEL.is_multiple_of(TILE.rows()) && PANEL.is_multiple_of(TILE.columns())) };
            type Left = AlongK<f16, { TILE.rows() }, { TILE.threads() }>;
            type Right = AlongK<f16, { TILE.columns() }, { TILE.threads() }>;
            if is_left_out(&shape, TILE.rows(), TILE.columns()) {
                return;
            }
            let ProductShape { m, n, k, .. } = *shape;
            let place = block_position(
                thread::block_idx_x(), m.div_ceil(TILE.rows()), n.div_ceil(TILE.columns()));
            let (row, column) = (place.0 * TILE.rows(), place.1 * TILE.columns());
            let matrix = thread::block_idx_y() as usize;
            // The number of an operand's matrix: 0 where all products share it.
            let number = |stride: usize| if stride == 0 { 0 } else { matrix };
            let scales = Scales { a_words, b_words, m, n };
            let scales = scales.of_matrices(number(shape.a_stride), number(shape.b_stride));
            // SAFETY: all threads of the block make the call, for one tile, which begins in a column of C. The words are
            // those of the matrices: the caller's contract.
            if unsafe { scales.is_out_of_range((row, column)) } {
                return;
            }
            let mut shared = dynamic_shared_allotment!();
            let mut staging_memory = shared.alternative();
            let mut stages_of_a = || Stages::<Left>::new(
                shared.array::<f16, { TILE.stages * <Left as StageLayout>::ELEMENTS }>().as_slice());
            let stages = HighLow { high: stages_of_a(), low: stages_of_a() };
            let of_matrix = matrix * shape.a_stride;
            let values = HighLow { high: a_high.skip(of_matrix), low: a_low.skip(of_matrix) };
            let a = SplitOperand::new(values, stages, (m, k), shape.lda);
            let mut stages_of_b = || Stages::<Right>::new(
                shared.array::<f16, { TILE.stages * <Right as StageLayout>::ELEMENTS }>().as_slice());
            let stages = HighLow { high: stages_of_b(), low: stages_of_b() };
            let of_matrix = matrix * shape.b_stride;
            let values = HighLow { high: b_high.skip(of_matrix), low: b_low.skip(of_matrix) };
            let b = SplitOperand::new(values, stages, (n, k), shape.ldb);
            let staging: Staging<'_, f32, { TILE.warps * STAGING_LEN }> = staging_memory.array();
            let then = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
            let c = CMatrices::new(c, (m, n), shape.ldc, shape.c_stride);
            // SAFETY: the block's threads, the values and their alignment: the caller's contract. All threads make the
            // calls: a block has returned as a whole or not at all. `block_position` gives each block its own outputs,
            // of which the first lies within the result. The stages are taken here. `staging` lies in their memory,
            // which only this block accesses, and to which no copy is under way. C has the matrix: the caller's
            // contract.
            unsafe {
                let totals = multiply::<
                    Left, Right, { TILE.down }, { TILE.along }, { TILE.warps }, { TILE.warps_along }, { TILE.stages },
                >(a, b, &shape, (row, column), is_transposed != 0);
                store_by_rows(&totals, matrix, (row, column), staging, c, ScaledBack::<_, 1> { scales, then });
            }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            const DESCRIPTOR: ProductDescriptor = ProductDescriptor {
                tile: $tile.block_tile(),
                a: OperandLayout::Either,
                b: OperandLayout::Either,
                b_row_alignment: size_of::<f32>(),
                dynamic_shared_bytes: $tile.stages * size_of::<f16>() * 2
                    * (<AlongK<f16, { $tile.rows() }, { $tile.threads() }> as StageLayout>::ELEMENTS
                        + <AlongK<f16, { $tile.columns() }, { $tile.threads() }> as StageLayout>::ELEMENTS),
            };
        }
    )*};
}
crate::products!(split_kernels of split_mma);
