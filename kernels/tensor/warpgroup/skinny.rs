//! Products whose results have few columns: each stage brings many rows of A and all columns of B.
//!
//! A result of few rows is the transpose of one of few columns (`columns.rs`).

use super::cluster::{Work, cluster_tile};
use super::columns::{ColumnOutputs, room_columns, rooms_len};
use super::operand::{AcrossK, AcrossKMap, AlongK, AlongKMap};
use super::product::MainLoop;
use super::schedule::ClusterTile;
use super::shape::TensorShape;
use crate::epilogue::{Epilogue, EpilogueNumbers};
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::{OperandLayout, ProductDescriptor, ProductKernel};
use cuda_std::fp8::{F8E4M3, F8E5M2};
use cuda_std::prelude::*;
use half::{bf16, f16};

/// What a launch has that computes `rows` x `columns` outputs for each block, of elements of `element_bytes`, in so many
/// stages of so many slices.
///
/// A stage of few columns comes sooner than one thread waits for the next one and issues its copies: two take turns.
/// Where no sums of a stage are added to totals, two slices are waited for as one.
const fn skinny_tile(
    (rows, columns): (usize, usize),
    element_bytes: usize,
    (stages, slices): (usize, usize),
) -> ClusterTile {
    let output_bytes = rooms_len(rows, columns) * size_of::<f32>();
    ClusterTile {
        producers: 2,
        ..cluster_tile(
            (rows, columns),
            element_bytes,
            (stages, slices),
            output_bytes,
            1,
        )
    }
}

/// The tile of products of halves with at most 16 columns.
pub const HALF_SKINNY_SMALL: ClusterTile = skinny_tile((64, 16), size_of::<f16>(), (10, 2));

/// The tile of those with more, up to 32.
pub const HALF_SKINNY_MEDIUM: ClusterTile = skinny_tile((64, 32), size_of::<f16>(), (8, 2));

/// The tile of those with more, up to 64.
pub const HALF_SKINNY: ClusterTile = skinny_tile((64, 64), size_of::<f16>(), (6, 2));

/// The tile of twice as many rows.
pub const HALF_SKINNY_TALL: ClusterTile = skinny_tile((128, 64), size_of::<f16>(), (8, 1));

/// The tile of twice as many rows and up to 128 columns.
pub const HALF_SKINNY_SQUARE: ClusterTile = skinny_tile((128, 128), size_of::<f16>(), (6, 1));

/// The tile of products of elements of 8 bits with at most 16 columns.
pub const BYTE_SKINNY_SMALL: ClusterTile = skinny_tile((64, 16), size_of::<u8>(), (20, 1));

/// The tile of those with more, up to 32.
pub const BYTE_SKINNY_MEDIUM: ClusterTile = skinny_tile((64, 32), size_of::<u8>(), (16, 1));

/// The tile of those with more, up to 64.
pub const BYTE_SKINNY: ClusterTile = skinny_tile((64, 64), size_of::<u8>(), (12, 1));

/// The tile of twice as many rows.
pub const BYTE_SKINNY_TALL: ClusterTile = skinny_tile((128, 64), size_of::<u8>(), (8, 1));

/// The tile of twice as many rows and up to 128 columns.
pub const BYTE_SKINNY_SQUARE: ClusterTile = skinny_tile((128, 128), size_of::<u8>(), (6, 1));

/// Kernels of pairs of types in their tiles: of halves for each layout of A.
macro_rules! skinny_kernels {
    (@halves $($element:ident to $output:ident: $($n:ident $t:ident of $tile:ident),*;)*) => {$($(
        product_entry! {
            columns of f32 $n: $element to $output in f32, $tile, a = AlongK AlongKMap RowMajor,
            b = AlongK AlongKMap ColumnMajor, promoted = false
        }
        product_entry! {
            columns of f32 $t: $element to $output in f32, $tile, a = AcrossK AcrossKMap ColumnMajor,
            b = AlongK AlongKMap ColumnMajor, promoted = false
        }
    )*)*};
    (@bytes $($element:ident in $added:ident to $output:ident in $sum:ident, promoted = $promoted:literal:
        $($name:ident of $tile:ident),*;)*) => {$($(
        product_entry! {
            columns of $added $name: $element to $output in $sum, $tile, a = AlongK AlongKMap Either,
            b = AlongK AlongKMap Either, promoted = $promoted
        }
    )*)*};
}
skinny_kernels! {
    @halves
    f16 to f16:
        matmul_wgmma_skinny_small_f16_n matmul_wgmma_skinny_small_f16_t of HALF_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_f16_n matmul_wgmma_skinny_medium_f16_t of HALF_SKINNY_MEDIUM,
        matmul_wgmma_skinny_f16_n matmul_wgmma_skinny_f16_t of HALF_SKINNY,
        matmul_wgmma_skinny_tall_f16_n matmul_wgmma_skinny_tall_f16_t of HALF_SKINNY_TALL,
        matmul_wgmma_skinny_square_f16_n matmul_wgmma_skinny_square_f16_t of HALF_SKINNY_SQUARE;
    f16 to f32:
        matmul_wgmma_skinny_small_f16_f32_n matmul_wgmma_skinny_small_f16_f32_t of HALF_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_f16_f32_n matmul_wgmma_skinny_medium_f16_f32_t of HALF_SKINNY_MEDIUM,
        matmul_wgmma_skinny_f16_f32_n matmul_wgmma_skinny_f16_f32_t of HALF_SKINNY,
        matmul_wgmma_skinny_tall_f16_f32_n matmul_wgmma_skinny_tall_f16_f32_t of HALF_SKINNY_TALL,
        matmul_wgmma_skinny_square_f16_f32_n matmul_wgmma_skinny_square_f16_f32_t of HALF_SKINNY_SQUARE;
    bf16 to bf16:
        matmul_wgmma_skinny_small_bf16_n matmul_wgmma_skinny_small_bf16_t of HALF_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_bf16_n matmul_wgmma_skinny_medium_bf16_t of HALF_SKINNY_MEDIUM,
        matmul_wgmma_skinny_bf16_n matmul_wgmma_skinny_bf16_t of HALF_SKINNY,
        matmul_wgmma_skinny_tall_bf16_n matmul_wgmma_skinny_tall_bf16_t of HALF_SKINNY_TALL,
        matmul_wgmma_skinny_square_bf16_n matmul_wgmma_skinny_square_bf16_t of HALF_SKINNY_SQUARE;
    bf16 to f32:
        matmul_wgmma_skinny_small_bf16_f32_n matmul_wgmma_skinny_small_bf16_f32_t of HALF_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_bf16_f32_n matmul_wgmma_skinny_medium_bf16_f32_t of HALF_SKINNY_MEDIUM,
        matmul_wgmma_skinny_bf16_f32_n matmul_wgmma_skinny_bf16_f32_t of HALF_SKINNY,
        matmul_wgmma_skinny_tall_bf16_f32_n matmul_wgmma_skinny_tall_bf16_f32_t of HALF_SKINNY_TALL,
        matmul_wgmma_skinny_square_bf16_f32_n matmul_wgmma_skinny_square_bf16_f32_t of HALF_SKINNY_SQUARE;
}
skinny_kernels! {
    @bytes
    i8 in i32 to i32 in i32, promoted = false:
        matmul_wgmma_skinny_small_i8 of BYTE_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_i8 of BYTE_SKINNY_MEDIUM,
        matmul_wgmma_skinny_i8 of BYTE_SKINNY,
        matmul_wgmma_skinny_tall_i8 of BYTE_SKINNY_TALL,
        matmul_wgmma_skinny_square_i8 of BYTE_SKINNY_SQUARE;
    i8 in i32 to f32 in f32, promoted = false:
        matmul_wgmma_skinny_small_i8_f32 of BYTE_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_i8_f32 of BYTE_SKINNY_MEDIUM,
        matmul_wgmma_skinny_i8_f32 of BYTE_SKINNY,
        matmul_wgmma_skinny_tall_i8_f32 of BYTE_SKINNY_TALL,
        matmul_wgmma_skinny_square_i8_f32 of BYTE_SKINNY_SQUARE;
    i8 in i32 to bf16 in f32, promoted = false:
        matmul_wgmma_skinny_small_i8_bf16 of BYTE_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_i8_bf16 of BYTE_SKINNY_MEDIUM,
        matmul_wgmma_skinny_i8_bf16 of BYTE_SKINNY,
        matmul_wgmma_skinny_tall_i8_bf16 of BYTE_SKINNY_TALL,
        matmul_wgmma_skinny_square_i8_bf16 of BYTE_SKINNY_SQUARE;
    i8 in i32 to f16 in f32, promoted = false:
        matmul_wgmma_skinny_small_i8_f16 of BYTE_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_i8_f16 of BYTE_SKINNY_MEDIUM,
        matmul_wgmma_skinny_i8_f16 of BYTE_SKINNY,
        matmul_wgmma_skinny_tall_i8_f16 of BYTE_SKINNY_TALL,
        matmul_wgmma_skinny_square_i8_f16 of BYTE_SKINNY_SQUARE;
    F8E4M3 in f32 to bf16 in f32, promoted = true:
        matmul_wgmma_skinny_small_e4m3 of BYTE_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_e4m3 of BYTE_SKINNY_MEDIUM,
        matmul_wgmma_skinny_e4m3 of BYTE_SKINNY,
        matmul_wgmma_skinny_tall_e4m3 of BYTE_SKINNY_TALL,
        matmul_wgmma_skinny_square_e4m3 of BYTE_SKINNY_SQUARE;
    F8E4M3 in f32 to f32 in f32, promoted = true:
        matmul_wgmma_skinny_small_e4m3_f32 of BYTE_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_e4m3_f32 of BYTE_SKINNY_MEDIUM,
        matmul_wgmma_skinny_e4m3_f32 of BYTE_SKINNY,
        matmul_wgmma_skinny_tall_e4m3_f32 of BYTE_SKINNY_TALL,
        matmul_wgmma_skinny_square_e4m3_f32 of BYTE_SKINNY_SQUARE;
    F8E5M2 in f32 to bf16 in f32, promoted = true:
        matmul_wgmma_skinny_small_e5m2 of BYTE_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_e5m2 of BYTE_SKINNY_MEDIUM,
        matmul_wgmma_skinny_e5m2 of BYTE_SKINNY,
        matmul_wgmma_skinny_tall_e5m2 of BYTE_SKINNY_TALL,
        matmul_wgmma_skinny_square_e5m2 of BYTE_SKINNY_SQUARE;
    F8E5M2 in f32 to f32 in f32, promoted = true:
        matmul_wgmma_skinny_small_e5m2_f32 of BYTE_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_e5m2_f32 of BYTE_SKINNY_MEDIUM,
        matmul_wgmma_skinny_e5m2_f32 of BYTE_SKINNY,
        matmul_wgmma_skinny_tall_e5m2_f32 of BYTE_SKINNY_TALL,
        matmul_wgmma_skinny_square_e5m2_f32 of BYTE_SKINNY_SQUARE;
}
