//! f16 and bf16: products of halves in f32, rounded once, to halves or not at all.

use super::cluster::{Work, cluster_tile};
use super::finish::staging_len;
use super::operand::{AcrossK, AcrossKMap, AlongK, AlongKMap};
use super::outputs::{BulkOutputs, DirectOutputs};
use super::product::MainLoop;
use super::schedule::ClusterTile;
use super::shape::TensorShape;
use super::single::single_tile;
use crate::epilogue::{Epilogue, EpilogueNumbers};
use crate::finish::CMatrices;
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::{OperandLayout, ProductDescriptor, ProductKernel};
use ::half::{bf16, f16};
use cuda_std::prelude::*;
use cuda_std::tma::TensorMapMut;

/// What a launch has that computes `rows` x `columns` outputs for each block.
const fn half_tile(rows: usize, columns: usize, stages: usize, resident: u32) -> ClusterTile {
    let output_bytes = rows * columns * size_of::<f16>();
    cluster_tile(
        (rows, columns),
        size_of::<f16>(),
        (stages, 1),
        output_bytes,
        resident,
    )
}

/// The tile of large products.
pub const HALF_LARGE: ClusterTile = half_tile(128, 256, 3, 1);

/// The tile of products of which large tiles would fill the device in part: three quarters of one.
pub const HALF_MEDIUM: ClusterTile = half_tile(192, 128, 4, 1);

/// The tile of products that have too few large ones for the device.
pub const HALF_SMALL: ClusterTile = half_tile(64, 128, 4, 2);

/// The same where each multiprocessor has one block at most: all of its shared memory is stages.
pub const HALF_DEEP: ClusterTile = half_tile(64, 128, 8, 1);

/// The tile of small results, of which blocks without a cluster compute one each.
pub const HALF_SINGLE: ClusterTile = single_tile(64, size_of::<f16>(), 2, 5);

/// Kernels of pairs of types in their tiles, for each layout of A and of B.
macro_rules! half_kernels {
    ($($element:ident to $output:ident, $way:ident:
        $($nn:ident $nt:ident $tn:ident $tt:ident of $tile:ident),*;)*) => {$($(
        half_kernels!(@entry $way $nn: $element to $output, $tile,
            a = AlongK AlongKMap RowMajor, b = AcrossK AcrossKMap RowMajor);
        half_kernels!(@entry $way $nt: $element to $output, $tile,
            a = AlongK AlongKMap RowMajor, b = AlongK AlongKMap ColumnMajor);
        half_kernels!(@entry $way $tn: $element to $output, $tile,
            a = AcrossK AcrossKMap ColumnMajor, b = AcrossK AcrossKMap RowMajor);
        half_kernels!(@entry $way $tt: $element to $output, $tile,
            a = AcrossK AcrossKMap ColumnMajor, b = AlongK AlongKMap ColumnMajor);
    )*)*};
    (@entry $way:ident $name:ident: $element:ident to $output:ident, $tile:ident, $($operands:tt)*) => {
        product_entry! { $way $name: $element to $output in f32, $tile, $($operands)*, promoted = false }
    };
}
half_kernels! {
    f16 to f16, bulk:
        matmul_wgmma_f16_nn matmul_wgmma_f16_nt matmul_wgmma_f16_tn matmul_wgmma_f16_tt of HALF_LARGE,
        matmul_wgmma_medium_f16_nn matmul_wgmma_medium_f16_nt
            matmul_wgmma_medium_f16_tn matmul_wgmma_medium_f16_tt of HALF_MEDIUM,
        matmul_wgmma_small_f16_nn matmul_wgmma_small_f16_nt
            matmul_wgmma_small_f16_tn matmul_wgmma_small_f16_tt of HALF_SMALL,
        matmul_wgmma_deep_f16_nn matmul_wgmma_deep_f16_nt
            matmul_wgmma_deep_f16_tn matmul_wgmma_deep_f16_tt of HALF_DEEP;
    f16 to f32, direct:
        matmul_wgmma_f16_f32_nn matmul_wgmma_f16_f32_nt matmul_wgmma_f16_f32_tn matmul_wgmma_f16_f32_tt of HALF_LARGE,
        matmul_wgmma_medium_f16_f32_nn matmul_wgmma_medium_f16_f32_nt
            matmul_wgmma_medium_f16_f32_tn matmul_wgmma_medium_f16_f32_tt of HALF_MEDIUM,
        matmul_wgmma_small_f16_f32_nn matmul_wgmma_small_f16_f32_nt
            matmul_wgmma_small_f16_f32_tn matmul_wgmma_small_f16_f32_tt of HALF_SMALL,
        matmul_wgmma_deep_f16_f32_nn matmul_wgmma_deep_f16_f32_nt
            matmul_wgmma_deep_f16_f32_tn matmul_wgmma_deep_f16_f32_tt of HALF_DEEP;
    bf16 to bf16, bulk:
        matmul_wgmma_bf16_nn matmul_wgmma_bf16_nt matmul_wgmma_bf16_tn matmul_wgmma_bf16_tt of HALF_LARGE,
        matmul_wgmma_medium_bf16_nn matmul_wgmma_medium_bf16_nt
            matmul_wgmma_medium_bf16_tn matmul_wgmma_medium_bf16_tt of HALF_MEDIUM,
        matmul_wgmma_small_bf16_nn matmul_wgmma_small_bf16_nt
            matmul_wgmma_small_bf16_tn matmul_wgmma_small_bf16_tt of HALF_SMALL,
        matmul_wgmma_deep_bf16_nn matmul_wgmma_deep_bf16_nt
            matmul_wgmma_deep_bf16_tn matmul_wgmma_deep_bf16_tt of HALF_DEEP;
    bf16 to f32, direct:
        matmul_wgmma_bf16_f32_nn matmul_wgmma_bf16_f32_nt
            matmul_wgmma_bf16_f32_tn matmul_wgmma_bf16_f32_tt of HALF_LARGE,
        matmul_wgmma_medium_bf16_f32_nn matmul_wgmma_medium_bf16_f32_nt
            matmul_wgmma_medium_bf16_f32_tn matmul_wgmma_medium_bf16_f32_tt of HALF_MEDIUM,
        matmul_wgmma_small_bf16_f32_nn matmul_wgmma_small_bf16_f32_nt
            matmul_wgmma_small_bf16_f32_tn matmul_wgmma_small_bf16_f32_tt of HALF_SMALL,
        matmul_wgmma_deep_bf16_f32_nn matmul_wgmma_deep_bf16_f32_nt
            matmul_wgmma_deep_bf16_f32_tn matmul_wgmma_deep_bf16_f32_tt of HALF_DEEP;
    f16 to f16, single_bulk:
        matmul_wgmma_single_f16_nn matmul_wgmma_single_f16_nt
            matmul_wgmma_single_f16_tn matmul_wgmma_single_f16_tt of HALF_SINGLE;
    f16 to f32, single_direct:
        matmul_wgmma_single_f16_f32_nn matmul_wgmma_single_f16_f32_nt
            matmul_wgmma_single_f16_f32_tn matmul_wgmma_single_f16_f32_tt of HALF_SINGLE;
    bf16 to bf16, single_bulk:
        matmul_wgmma_single_bf16_nn matmul_wgmma_single_bf16_nt
            matmul_wgmma_single_bf16_tn matmul_wgmma_single_bf16_tt of HALF_SINGLE;
    bf16 to f32, single_direct:
        matmul_wgmma_single_bf16_f32_nn matmul_wgmma_single_bf16_f32_nt
            matmul_wgmma_single_bf16_f32_tn matmul_wgmma_single_bf16_f32_tt of HALF_SINGLE;
}
