//! f16 and bf16: products of halves in f32, rounded once, to halves or not at all.

use super::finish::staging_len;
use super::operand::{AcrossK, AlongK};
use super::outputs::{BulkOutputs, DirectOutputs};
use super::product::{MainLoop, Work, cluster_tile};
use super::schedule::ClusterTile;
use super::shape::TensorShape;
use crate::epilogue::{Epilogue, EpilogueNumbers};
use crate::finish::CMatrices;
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::{OperandLayout, ProductDescriptor, ProductKernel};
use ::half::{bf16, f16};
use cuda_std::prelude::*;
use cuda_std::tma::{TensorMap, TensorMapMut};

/// What a launch has that computes `rows` x `columns` outputs for each block.
const fn half_tile(rows: usize, columns: usize, stages: usize, resident: usize) -> ClusterTile {
    let output_bytes = rows * columns * size_of::<f16>();
    cluster_tile(
        (rows, columns),
        size_of::<f16>(),
        stages,
        output_bytes,
        resident,
    )
}

/// The tile of large products.
pub const HALF_LARGE: ClusterTile = half_tile(128, 256, 3, 1);

/// The tile of products that have too few large ones for the device.
pub const HALF_SMALL: ClusterTile = half_tile(64, 128, 4, 2);

macro_rules! half_kernels {
    ($tile:ident: $sizes:tt;
        $($element:ident: $names:tt, f32: $f32_names:tt;)*) => {$(
        half_kernels!(@layouts bulk $element to $element, $tile $sizes, $names);
        half_kernels!(@layouts direct $element to f32, $tile $sizes, $f32_names);
    )*};
    (@layouts $way:ident $element:ident to $output:ident,
        $tile:ident [$rows:literal x $columns:literal, part = $part:literal, $($sizes:tt)*],
        [$nn:ident, $nt:ident, $tn:ident, $tt:ident]) => {
        half_kernels! {
            @entries $way $element to $output, $tile [$rows x $columns, part = $part, $($sizes)*];
            $nn: AlongK[$rows] RowMajor, AcrossK[64] RowMajor;
            $nt: AlongK[$rows] RowMajor, AlongK[$part] ColumnMajor;
            $tn: AcrossK[64] ColumnMajor, AcrossK[64] RowMajor;
            $tt: AcrossK[64] ColumnMajor, AlongK[$part] ColumnMajor;
        }
    };
    (@entries $way:ident $element:ident to $output:ident, $tile:ident $sizes:tt;) => {};
    (@entries $way:ident $element:ident to $output:ident, $tile:ident $sizes:tt;
        $name:ident: $a:ident $a_rows:tt $a_layout:ident, $b:ident $b_rows:tt $b_layout:ident;
        $($others:tt)*) => {
        product_entry! {
            $way $name: $element to $output in f32, $tile $sizes,
            a = $a $a_rows $a_layout, b = $b $b_rows $b_layout, depth = 64, promoted = false
        }
        half_kernels!(@entries $way $element to $output, $tile $sizes; $($others)*);
    };
}
half_kernels! {
    HALF_LARGE: [128 x 256, part = 128, count = 128, stages = 3, threads = 384,
        resident = 1, consumers = 2];
    f16: [matmul_wgmma_f16_nn, matmul_wgmma_f16_nt, matmul_wgmma_f16_tn, matmul_wgmma_f16_tt],
        f32: [matmul_wgmma_f16_f32_nn, matmul_wgmma_f16_f32_nt, matmul_wgmma_f16_f32_tn,
            matmul_wgmma_f16_f32_tt];
    bf16: [matmul_wgmma_bf16_nn, matmul_wgmma_bf16_nt, matmul_wgmma_bf16_tn, matmul_wgmma_bf16_tt],
        f32: [matmul_wgmma_bf16_f32_nn, matmul_wgmma_bf16_f32_nt, matmul_wgmma_bf16_f32_tn,
            matmul_wgmma_bf16_f32_tt];
}
half_kernels! {
    HALF_SMALL: [64 x 128, part = 64, count = 64, stages = 4, threads = 256,
        resident = 2, consumers = 1];
    f16: [matmul_wgmma_small_f16_nn, matmul_wgmma_small_f16_nt, matmul_wgmma_small_f16_tn,
            matmul_wgmma_small_f16_tt],
        f32: [matmul_wgmma_small_f16_f32_nn, matmul_wgmma_small_f16_f32_nt,
            matmul_wgmma_small_f16_f32_tn, matmul_wgmma_small_f16_f32_tt];
    bf16: [matmul_wgmma_small_bf16_nn, matmul_wgmma_small_bf16_nt, matmul_wgmma_small_bf16_tn,
            matmul_wgmma_small_bf16_tt],
        f32: [matmul_wgmma_small_bf16_f32_nn, matmul_wgmma_small_bf16_f32_nt,
            matmul_wgmma_small_bf16_f32_tn, matmul_wgmma_small_bf16_f32_tt];
}
