//! i8: exact products, added up in i32, which wraps around.
//!
//! Tensor cores read 8-bit operands whose elements along k are neighbours, whatever their layout in
//! memory: the host has others [transposed](crate::transpose) before.

use super::BYTE_DEPTH;
use super::finish::{CMatrices, staging_len};
use super::operand::AlongK;
use super::outputs::DirectOutputs;
use super::product::{Work, cluster_tile, product};
use super::schedule::ClusterTile;
use super::shape::TensorShape;
use crate::epilogue::{Epilogue, EpilogueNumbers};
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::{OperandLayout, ProductDescriptor, ProductKernel};
use cuda_std::prelude::*;
use cuda_std::tma::TensorMap;

/// The tile of large products of i8.
pub const I8_LARGE: ClusterTile =
    cluster_tile((128, 256), size_of::<i8>(), 4, staging_len(2) * size_of::<i32>(), 1);

/// The tile of products of i8 that have too few large ones for the device.
pub const I8_SMALL: ClusterTile =
    cluster_tile((64, 128), size_of::<i8>(), 4, staging_len(1) * size_of::<i32>(), 2);

macro_rules! i8_kernels {
    ($($name:ident: $tile:ident, $rows:literal x $columns:literal, part = $part:literal,
        count = $count:literal, stages = $stages:literal, threads = $threads:literal,
        resident = $resident:literal, consumers = $consumers:literal;)*) => {$(
        /// C = A B, A and B in i8, C in i32.
        ///
        /// # Safety
        /// 1. `a` and `b` are maps of m x k matrices and of the transposes of k x n matrices of `shape`. `c`
        ///    has the m x n matrices, and the launch accesses no other elements of it.
        #[doc = concat!("2. The grid has whole clusters along x, and blocks as [`", stringify!($tile), "`] says.")]
        #[allow(clippy::too_many_arguments)]
        #[kernel(arch = "sm_90a", max_threads = $threads, min_blocks = $resident, cluster = (2, 1, 1))]
        pub unsafe fn $name(
            a: GridConstant<TensorMap<i8, $rows, 128, 3>>,
            b: GridConstant<TensorMap<i8, $part, 128, 3>>,
            c: GlobalMut<i32>,
            shape: GridConstant<TensorShape>,
            numbers: GridConstant<EpilogueNumbers<i32>>,
            row_scale: Global<i32>,
            column_scale: Global<i32>,
            row_bias: Global<i32>,
            column_bias: Global<i32>,
        ) {
            let epilogue = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
            let outputs = DirectOutputs::<_, { staging_len($consumers) }> {
                c: CMatrices::of_shape(c, &shape),
                epilogue,
            };
            // SAFETY: (1) is (1) and (2).
            unsafe {
                product::<i8, _, _, _, $rows, $columns, $part, $count, $stages, BYTE_DEPTH>(
                    AlongK(a), AlongK(b), outputs, Work::new(shape, $tile));
            }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            type Element = i8;
            const DESCRIPTOR: ProductDescriptor = ProductDescriptor {
                tile: $tile.block_tile(),
                a: OperandLayout::Either,
                b: OperandLayout::Either,
                b_row_alignment: size_of::<i8>(),
            };
        }
    )*};
}
i8_kernels! {
    matmul_wgmma_i8: I8_LARGE, 128 x 256, part = 128, count = 128, stages = 4, threads = 384,
        resident = 1, consumers = 2;
    matmul_wgmma_small_i8: I8_SMALL, 64 x 128, part = 64, count = 64, stages = 4, threads = 256,
        resident = 2, consumers = 1;
}
