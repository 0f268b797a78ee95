//! f32 products on tensor cores with `mma.sync`: each operand in two halves, three products of halves.
//!
//! ```text
//! load the first stage: 32 k of both halves of both operands
//! for each stage:
//!     wait for it, and load the next one
//!     sums   = 2^-11 (A.lo B.hi + A.hi B.lo)
//!     sums  += A.hi B.hi                            all in the tensor core
//!     totals += sums                                on the CUDA cores, rounded to nearest
//! store the totals, scaled back
//! ```
//!
//! What the halves are, and the error bound, stand in [`tensor`](crate::tensor).

use super::super::operand::{Operand, TileOrigin};
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

/// k of a stage, and of one instruction.
const DEPTH: usize = <f16 as StageElement>::DEPTH;
const STEP: usize = <f16 as MmaElement>::STEP;

/// Instructions along k of a stage.
const STEPS: usize = DEPTH / STEP;

/// Both halves of something.
#[derive(Clone, Copy)]
struct Halves<T> {
    high: T,
    low: T,
}

/// Both halves of an operand, and their stages.
#[derive(Clone, Copy)]
struct SplitOperand<'a, L: StageLayout> {
    halves: Halves<Operand<'a, f16>>,
    stages: Halves<Stages<'a, L>>,
}

impl<'a, L: StageLayout<Element = f16>> SplitOperand<'a, L> {
    /// `halves` are those of `lines` lines of `k` elements, `pitch` apart.
    #[inline(always)]
    fn new(
        halves: Halves<Global<'a, f16>>,
        stages: Halves<Stages<'a, L>>,
        (lines, k): (usize, usize),
        pitch: usize,
    ) -> Self {
        Self {
            halves: Halves {
                high: L::operand(halves.high, lines, k, pitch, f16::ZERO),
                low: L::operand(halves.low, lines, k, pitch, f16::ZERO),
            },
            stages,
        }
    }

    /// Starts to copy 32 k of both halves to a stage.
    ///
    /// # Safety
    /// 1. The stage is the pipeline's, its last readers have passed a barrier, and none touches it until the
    ///    copies have been waited for and another one has been passed.
    /// 2. `origin` lies within the operand, whose lines start at multiples of 16 bytes.
    /// 3. With `IN_BOUNDS` all of it does.
    #[inline(always)]
    unsafe fn load<const STAGES: usize, const IN_BOUNDS: bool>(
        self,
        pipeline: &mut Pipeline<STAGES>,
        origin: TileOrigin,
    ) {
        let stage = pipeline.producer_stage();
        let Self { halves, stages } = self;
        // SAFETY: (1), (2) are (1); (2). (3) is (3). (4) is (2).
        unsafe {
            (stages.high).load::<STAGES, IN_BOUNDS>(pipeline, stage, &halves.high, origin);
            (stages.low).load::<STAGES, IN_BOUNDS>(pipeline, stage, &halves.low, origin);
        }
    }
}

/// The totals of the calling warp, of the block whose outputs begin at (`row`, `column`).
///
/// Where C stands for the transpose of a result, `is_transposed` says so: the order in which both products with a
/// lower half are added is that of the result, so that its bits are.
///
/// # Safety
/// 1. The launch has blocks of the warps' threads, all of which make the call together.
/// 2. The halves of both operands have m and n lines of k elements, which start at multiples of 16 bytes, and the
///    block's outputs begin with one of each.
/// 3. The memory of the stages is the block's own, and has `STAGES` of each half of each operand.
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
    let k = shape.k;
    let position = Warp::<DOWN, ALONG, WARPS, WARPS_ALONG>::position(thread::thread_idx_x());
    let mut totals = Warp::<DOWN, ALONG, WARPS, WARPS_ALONG>::zero();
    let mut pipeline = Pipeline::<STAGES>::new();
    let end_of_whole =
        match is_within_c((row, column), (A::OUTPUTS, B::OUTPUTS), (shape.m, shape.n)) {
            true => k / DEPTH * DEPTH,
            false => 0,
        };
    // Each call is a group of copies, an empty one past the end of K.
    let load = |pipeline: &mut Pipeline<STAGES>, first: usize| {
        let at = |output| TileOrigin { k: first, output };
        // SAFETY: (1) it is: the last readers have passed the barrier below. (2), (3) The comparisons, and (2).
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
            // SAFETY: (1) all threads have waited for their copies of the stage, and for one another. (2) The
            // stages have the block's outputs, and `k` counts steps. (3) No thread of the block is elsewhere.
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
            // SAFETY: (1) is (1): the loops' bounds and the condition are the launch's, so no thread has branched
            // away.
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
        /// Where C stands for the transpose of a result, `is_transposed` is 1: its bits are those of the result.
        ///
        /// # Safety
        /// 1. The launch has the block and the dynamic shared memory of the kernel's [`ProductDescriptor`],
        ///    its blocks for m x n of `shape` along x, and so many along y as the batch has products,
        ///    of which `shape` divides no K.
        /// 2. `a_high` and `a_low` have the halves of m lines of k elements of each A, `b_high` and `b_low` of n
        ///    lines of each B, as the splits left them. Lines start `lda` and `ldb` elements apart, multiples of
        ///    [`SPLIT_ALIGNMENT`](crate::tensor::SPLIT_ALIGNMENT), and matrices without a gap, or as strides of 0
        ///    say. `a_words` and `b_words` have the [`LineWords`](crate::tensor::LineWords) of each matrix.
        /// 3. `c` has the m x n matrices, as `shape` says. The launch accesses no other elements of it, and no two
        ///    of them have a common element.
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
            // SAFETY: (1) all threads of the block make the call for one tile.
            if unsafe { scales.is_wide((row, column)) } {
                return;
            }
            let mut shared = dynamic_shared_allotment!();
            let mut room = shared.alternative();
            let mut stages_of_a = || Stages::<Left>::new(
                shared.array::<f16, { TILE.stages * <Left as StageLayout>::ELEMENTS }>().as_slice());
            let stages = Halves { high: stages_of_a(), low: stages_of_a() };
            let of_matrix = matrix * shape.a_stride;
            let halves = Halves { high: a_high.skip(of_matrix), low: a_low.skip(of_matrix) };
            let a = SplitOperand::new(halves, stages, (m, k), shape.lda);
            let mut stages_of_b = || Stages::<Right>::new(
                shared.array::<f16, { TILE.stages * <Right as StageLayout>::ELEMENTS }>().as_slice());
            let stages = Halves { high: stages_of_b(), low: stages_of_b() };
            let of_matrix = matrix * shape.b_stride;
            let halves = Halves { high: b_high.skip(of_matrix), low: b_low.skip(of_matrix) };
            let b = SplitOperand::new(halves, stages, (n, k), shape.ldb);
            let staging: Staging<'_, f32, { TILE.warps * STAGING_LEN }> = room.array();
            let then = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
            let c = CMatrices::new(c, (m, n), shape.ldc, shape.c_stride);
            // SAFETY: (1) is (1). (2) is (2): `block_position` gives blocks with an output. (3) They are taken here.
            // Of the stores, (1) is (1). (2) `room` deals out the memory of the stages, to which no copy is under
            // way. (3) Each block has its own; (3).
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
