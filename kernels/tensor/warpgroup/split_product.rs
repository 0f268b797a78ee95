//! The kernels of f32 products of split operands, and their tiles.

use super::cluster::{BLOCKS, threads_of_block};
use super::finish::staging_len;
use super::operand::{AlongK, AlongKMap};
use super::operands::Pair;
use super::schedule::{ClusterTile, Schedule};
use super::shape::{HALF_DEPTH, TensorShape};
use super::split_loop::{CONSUMERS, ROWS, SplitLoop, has_registers, stage_bytes};
use crate::epilogue::{Epilogue, EpilogueNumbers};
use crate::finish::CMatrices;
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::{OperandLayout, ProductDescriptor, ProductKernel};
use crate::tensor::split::lines::PANEL;
use crate::tensor::split::scaled::{ScaledBack, Scales};
use cuda_std::prelude::*;
use half::f16;

/// Launch parameters for blocks that each compute [`ROWS`] x `columns` outputs.
const fn split_tile(columns: usize, stages: usize) -> ClusterTile {
    assert!(
        PANEL.is_multiple_of(columns),
        "a tile lies within one panel of columns"
    );
    ClusterTile {
        rows: ROWS,
        columns,
        depth: HALF_DEPTH,
        slices: 1,
        stages,
        producers: 1,
        blocks: BLOCKS,
        resident: 1,
        threads: threads_of_block(ROWS),
        shared_bytes: stages * (stage_bytes(columns) + 16)
            + staging_len(CONSUMERS) * size_of::<f32>(),
    }
    .checked()
}

/// The tile of large products.
pub const SPLIT_LARGE: ClusterTile = split_tile(128, 3);

/// Used when large tiles would leave multiprocessors idle.
pub const SPLIT_SMALL: ClusterTile = split_tile(64, 4);

/// Rows of outputs that a lane finishes at a time.
const fn rows_at_once(count: usize) -> usize {
    if has_registers(count) { 4 } else { 1 }
}

macro_rules! split_kernels {
    ($($family:ident $name:ident {$method:ident($tiles:path) $tile:ident} $types:tt $layouts:tt;)*) => {$(
        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            const DESCRIPTOR: ProductDescriptor = $tile.descriptor(
                OperandLayout::Either, OperandLayout::Either, size_of::<f32>());
        }

        /// C = A B in f32 from split operands, for each product of a batch.
        ///
        /// If C is the transpose of the result, `is_transposed` is 1, and the result has the same bits.
        ///
        /// # Safety
        /// 1. The maps are of live matrices, which the launch does not write: the high halves of A's rows or B's
        ///    columns, k elements each, of all matrices, then the low halves. `a_words` and `b_words` have the
        ///    [`RangeWords`](crate::tensor::RangeWords) of m and n lines of each matrix, as the splits left them.
        ///    m, n, k and the numbers of matrices are those of `shape`.
        /// 2. `c` has the m x n matrices. The launch accesses no other elements of it.
        #[doc = concat!("3. The grid has whole clusters along x; threads and shared memory are those of [`", stringify!($tile), "`].")]
        #[allow(clippy::too_many_arguments)]
        #[kernel(arch = "sm_90a", max_threads = $tile.threads, min_blocks = $tile.resident,
            cluster = (2, 1, 1), dependent_launch)]
        pub unsafe fn $name(
            a: GridConstant<AlongKMap<f16, ROWS, HALF_DEPTH>>,
            b: GridConstant<AlongKMap<f16, { $tile.part() }, HALF_DEPTH>>,
            a_words: Global<u32>,
            b_words: Global<u32>,
            c: GlobalMut<f32>,
            shape: GridConstant<TensorShape>,
            is_transposed: u32,
            numbers: GridConstant<EpilogueNumbers<f32>>,
            row_scale: Global<f32>,
            column_scale: Global<f32>,
            row_bias: Global<f32>,
            column_bias: Global<f32>,
        ) {
            let c = CMatrices::of_shape(c, &shape);
            let scales = Scales { a_words, b_words, m: c.m, n: c.n };
            let then = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
            let schedule = Schedule::new($tile, &shape);
            let finish = ScaledBack::<_, { rows_at_once($tile.count()) }> { scales, then };
            // SAFETY: the operands, the words, C and the blocks are those of the shape and the tile: the caller's
            // contract. All threads of the launch do nothing but this call. The attribute states the bounds.
            unsafe {
                SplitLoop::<Pair<f16, _, _, ROWS, { $tile.columns }, { $tile.part() }, { $tile.stages }, HALF_DEPTH>,
                    { $tile.count() }, { $tile.stages }>::run(
                        Pair::new(AlongK(a), AlongK(b)), c, is_transposed != 0, (&shape, schedule), finish);
            }
        }
    )*};
}
crate::products!(split_kernels of split);
