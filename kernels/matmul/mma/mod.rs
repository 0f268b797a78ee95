//! The product of f64 on tensor cores: a block of outputs for each warp.
//!
//! ```text
//! load the first tiles of A and of B, to all stages but one
//! wait for the first, and read fragments of its first 8 k
//! for each tile of K:
//!     load a later one to the stage that was read last
//!     for each 8 k of the tile:
//!         read fragments of the next 8 k, after the last of them from the next tile
//!         multiply: each warp adds the products of its fragments to its outputs
//! store what the epilogue makes of the sums
//! ```
//!
//! A product of f64 on tensor cores adds up in order of k, by a fused multiply-add each
//! (`docs/tensor_cores.md`): the bits are those of the ordinary units.
//!
//! For each 8 k a large block reads 48 KiB of shared memory in 384 cycles, in which its tensor cores
//! multiply for 1024. What it takes is a tile of outputs for each warp that is as large as registers allow,
//! fragments that are there before the last ones are multiplied, and copies that are never waited for.
//! `stage.rs` has how operands lie in shared memory, `warp_tile.rs` what a warp computes.

mod stage;
mod warp_tile;

use super::accumulators::Accumulators;
#[cfg(not(target_arch = "nvptx64"))]
use super::descriptor::{BlockTile, OperandLayout, ProductDescriptor, ProductKernel};
use super::factor::Factor;
use super::grid::{block_position, is_left_out};
use super::operand::{Operands, TileOrigin, matrices_of_block};
use super::shape::ProductShape;
use super::sink::StoreFinished;
use crate::epilogue::{Epilogue, EpilogueNumbers};
use cuda_std::prelude::*;
use stage::{AcrossK, AlongK, StageLayout, Stages};
use warp_tile::{Fragments, STEP, WarpTile};

/// The k of one stage.
const DEPTH: usize = 16;

/// The main loop.
///
/// # Safety
/// 1. The launch has blocks of `THREADS` of the warps' outputs along x, one for each of their `BLOCK`s of the
///    result, which `store` writes.
/// 2. A and B have the elements of m x k and k x n matrices, `lda` and `ldb` elements from row to row
///    in memory.
/// 3. The memory of the stages is the block's own, and has `STAGES` of each operand.
#[inline(always)]
unsafe fn multiply<
    A: StageLayout,
    B: StageLayout,
    const DOWN: usize,
    const ALONG: usize,
    const WARPS: usize,
    const WARPS_ALONG: usize,
    const STAGES: usize,
>(
    operands: Operands<'_, f64>,
    (a_stages, b_stages): (Stages<'_, A>, Stages<'_, B>),
    store: StoreFinished<'_, f64>,
) {
    const { assert!(A::OUTPUTS == WarpTile::<DOWN, ALONG, WARPS, WARPS_ALONG>::BLOCK.0) };
    const { assert!(B::OUTPUTS == WarpTile::<DOWN, ALONG, WARPS, WARPS_ALONG>::BLOCK.1) };
    let Operands {
        a,
        b,
        m,
        n,
        k,
        lda,
        ldb,
    } = operands;
    let (block_row, block_column) = block_position(
        thread::block_idx_x(),
        m.div_ceil(A::OUTPUTS),
        n.div_ceil(B::OUTPUTS),
    );
    let (row, column) = (block_row * A::OUTPUTS, block_column * B::OUTPUTS);
    let (a_outside, b_outside) = f64::OUTSIDE;
    let a = A::operand(a, m, k, lda, a_outside);
    let b = B::operand(b, n, k, ldb, b_outside);
    let tiles = k.div_ceil(DEPTH) as u32;
    let is_within_c = row + A::OUTPUTS <= m && column + B::OUTPUTS <= n;
    let tiles_in_bounds = match is_within_c {
        true => (k / DEPTH) as u32,
        false => 0,
    };

    let mut pipeline = Pipeline::<STAGES>::new();
    // Each call is a group of copies, an empty one past the end of K.
    let load = |pipeline: &mut Pipeline<STAGES>, tile: u32| {
        let (stage, k) = (pipeline.producer_stage(), tile as usize * DEPTH);
        let of_a = TileOrigin { k, output: row };
        let of_b = TileOrigin { k, output: column };
        // SAFETY: (1) it is the pipeline's. (2) The last readers of the stage have passed a barrier. (3) The
        // comparison.
        unsafe {
            if tile < tiles_in_bounds {
                a_stages.load::<STAGES, true>(pipeline, stage, &a, of_a);
                b_stages.load::<STAGES, true>(pipeline, stage, &b, of_b);
            } else if tile < tiles {
                a_stages.load::<STAGES, false>(pipeline, stage, &a, of_a);
                b_stages.load::<STAGES, false>(pipeline, stage, &b, of_b);
            }
        }
        pipeline.commit();
    };
    let ahead = STAGES as u32 - 1;
    for tile in 0..ahead {
        load(&mut pipeline, tile);
    }

    let mut sums = WarpTile::<DOWN, ALONG, WARPS, WARPS_ALONG>::zero();
    let position = WarpTile::<DOWN, ALONG, WARPS, WARPS_ALONG>::position();
    let read = |stage: usize, k: usize| {
        // SAFETY: (1) all threads have waited for their copies of the stage, and for one another. (2) The
        // assertions above.
        unsafe {
            WarpTile::<DOWN, ALONG, WARPS, WARPS_ALONG>::read(
                &position, a_stages, b_stages, stage, k,
            )
        }
    };
    let mut stage = 0;
    let mut next = Fragments::zero();
    if tiles > 0 {
        stage = pipeline.consumer_wait();
        thread::sync_threads();
        next = read(stage, 0);
    }
    for tile in 0..tiles {
        load(&mut pipeline, tile + ahead);
        let mut k = STEP;
        while k < DEPTH {
            let fragments = next;
            next = read(stage, k);
            sums.add_products(&fragments);
            k += STEP;
        }
        let fragments = next;
        let following = pipeline.consumer_wait();
        thread::sync_threads();
        // After the last tile its own stage is read again, for nothing: a branch would wait for the fragments.
        stage = if tile + 1 < tiles { following } else { stage };
        next = read(stage, 0);
        sums.add_products(&fragments);
    }
    // SAFETY: (1) `block_position` gives each block its own outputs. (2) The stages are the block's, and no
    // longer read; no copy is under way.
    unsafe {
        if store.epilogue.is_plain() {
            sums.store(&position, (row, column), (m, n), &store.to);
        } else {
            // The last readers of the stages are done.
            thread::sync_threads();
            sums.store_through(
                a_stages.as_slice(),
                &position,
                (row, column),
                (m, n),
                &store,
            );
        }
    };
}

macro_rules! mma_kernels {
    ($($rows:literal x $columns:literal, warps = [$down:literal x $along:literal; $warps:literal, $warps_along:literal],
        threads = $threads:literal, stages = $stages:literal, resident = $resident:literal,
        kernels = $nn:ident $tn:ident $nt:ident $tt:ident;)*) => {$(
        mma_kernels!(@kernel $nn: RowMajor RowMajor, AlongK<$rows, $threads>, AcrossK<$columns, $threads>,
            [$rows $columns $down $along $warps $warps_along $threads $stages $resident],
            "A and B are row-major.");
        mma_kernels!(@kernel $tn: ColumnMajor RowMajor, AcrossK<$rows, $threads>, AcrossK<$columns, $threads>,
            [$rows $columns $down $along $warps $warps_along $threads $stages $resident],
            "A is column-major, B is row-major.");
        mma_kernels!(@kernel $nt: RowMajor ColumnMajor, AlongK<$rows, $threads>, AlongK<$columns, $threads>,
            [$rows $columns $down $along $warps $warps_along $threads $stages $resident],
            "A is row-major, B is column-major.");
        mma_kernels!(@kernel $tt: ColumnMajor ColumnMajor, AcrossK<$rows, $threads>, AlongK<$columns, $threads>,
            [$rows $columns $down $along $warps $warps_along $threads $stages $resident],
            "A and B are column-major.");
    )*};
    (@kernel $name:ident: $a_layout:ident $b_layout:ident, $a:ty, $b:ty,
        [$rows:literal $columns:literal $down:literal $along:literal $warps:literal $warps_along:literal
            $threads:literal $stages:literal $resident:literal], $layout:literal) => {
        #[doc = concat!("C = A B in f64 on tensor cores, ", $rows, " x ", $columns,
            " outputs of a block. ", $layout)]
        ///
        /// # Safety
        /// 1. The launch has the block and the dynamic shared memory of the kernel's [`ProductDescriptor`],
        ///    its blocks for m x n of `shape` along x, and so many along y as the batch has products.
        /// 2. `a`, `b`, `c` start with the first elements of m x k, k x n and m x n matrices and reach to
        ///    the last of the batch's; rows (columns, if column-major) and matrices start as far apart as
        ///    `shape` says, and no two matrices of C have a common element.
        ///    The launch touches no other elements of the views: those between the rows may be
        ///    elements of another of the matrices.
        #[doc = concat!("3. ", $layout)]
        #[allow(clippy::too_many_arguments)]
        #[kernel(max_threads = $threads, min_blocks = $resident, arch = "sm_90a")]
        pub unsafe fn $name(
            a: Global<f64>,
            b: Global<f64>,
            c: GlobalMut<f64>,
            shape: GridConstant<ProductShape>,
            numbers: GridConstant<EpilogueNumbers<f64>>,
            row_scale: Global<f64>,
            column_scale: Global<f64>,
            row_bias: Global<f64>,
            column_bias: Global<f64>,
        ) {
            if is_left_out(&shape, $rows, $columns) {
                return;
            }
            let mut shared = dynamic_shared_allotment!();
            let a_stages = shared.array::<f64, { $stages * <$a as StageLayout>::ELEMENTS }>();
            let b_stages = shared.array::<f64, { $stages * <$b as StageLayout>::ELEMENTS }>();
            let stages = (Stages::<$a>::new(a_stages.as_slice()), Stages::<$b>::new(b_stages.as_slice()));
            // SAFETY: of `matrices_of_block`, (1) and (2) are (2). Of `multiply`, (1) is (1), (2) is (2) and
            // (3), and (3) the stages are taken here.
            unsafe {
                let (operands, to) = matrices_of_block(a, b, c, &shape);
                let epilogue = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
                multiply::<$a, $b, $down, $along, $warps, $warps_along, $stages>(
                    operands, stages, StoreFinished { to, epilogue });
            }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            type Element = f64;
            const DESCRIPTOR: ProductDescriptor = ProductDescriptor {
                tile: BlockTile { rows: $rows, columns: $columns, threads: $threads },
                a: OperandLayout::$a_layout,
                b: OperandLayout::$b_layout,
                b_row_alignment: size_of::<f64>(),
                dynamic_shared_bytes:
                    $stages * (<$a as StageLayout>::ELEMENTS + <$b as StageLayout>::ELEMENTS) * size_of::<f64>(),
            };
        }
    };
}
mma_kernels! {
    128 x 128, warps = [2 x 8; 8, 2], threads = 256, stages = 4, resident = 1,
        kernels = matmul_mma_f64_nn matmul_mma_f64_tn matmul_mma_f64_nt matmul_mma_f64_tt;
    64 x 64, warps = [2 x 4; 4, 2], threads = 128, stages = 3, resident = 3,
        kernels = matmul_mma_small_f64_nn matmul_mma_small_f64_tn matmul_mma_small_f64_nt
            matmul_mma_small_f64_tt;
}
