//! Skinny products, whose results have few columns: each stage has many rows of A and all columns of B.
//!
//! A result with few rows is computed as the transpose of one with few columns (`columns.rs`).

use super::cluster::{Work, cluster_tile};
use super::columns::{ColumnOutputs, staging_columns, staging_elements};
use super::operand::{AcrossK, AcrossKMap, AlongK, AlongKMap};
use super::operands::Pair;
use super::product::MainLoop;
use super::schedule::ClusterTile;
use super::shape::TensorShape;
use crate::epilogue::{Epilogue, EpilogueNumbers};
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::{OperandLayout, ProductDescriptor, ProductKernel};
use cuda_std::fp8::{F8E4M3, F8E5M2};
use cuda_std::prelude::*;
use half::{bf16, f16};

/// Launch parameters for blocks that each compute a `rows` x `columns` tile.
///
/// Elements have `element_bytes`. There are `stages` stages of `slices` slices each. A stage with few columns arrives
/// faster than one thread can wait for the next one and issue its copies, so two threads take turns. Where no totals
/// are kept, a stage has two slices, which are waited for together.
const fn skinny_tile(
    (rows, columns): (usize, usize),
    element_bytes: usize,
    (stages, slices): (usize, usize),
) -> ClusterTile {
    assert!(
        columns.is_multiple_of(staging_columns(rows, columns)),
        "outputs fill the staging buffers of their warps"
    );
    let output_bytes = staging_elements(rows, columns) * size_of::<f32>();
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

/// The tile of 16-bit products with at most 16 columns.
pub const HALF_SKINNY_SMALL: ClusterTile = skinny_tile((64, 16), size_of::<f16>(), (10, 2));

/// The tile of 16-bit products with 17 to 32 columns.
pub const HALF_SKINNY_MEDIUM: ClusterTile = skinny_tile((64, 32), size_of::<f16>(), (8, 2));

/// The tile of 16-bit products with 33 to 64 columns.
pub const HALF_SKINNY: ClusterTile = skinny_tile((64, 64), size_of::<f16>(), (6, 2));

/// The 64-column tile with twice as many rows.
pub const HALF_SKINNY_TALL: ClusterTile = skinny_tile((128, 64), size_of::<f16>(), (8, 1));

/// The tile of 16-bit products with twice as many rows and up to 128 columns.
pub const HALF_SKINNY_SQUARE: ClusterTile = skinny_tile((128, 128), size_of::<f16>(), (6, 1));

/// The tile of 8-bit products with at most 16 columns.
pub const BYTE_SKINNY_SMALL: ClusterTile = skinny_tile((64, 16), size_of::<u8>(), (20, 1));

/// The tile of 8-bit products with 17 to 32 columns.
pub const BYTE_SKINNY_MEDIUM: ClusterTile = skinny_tile((64, 32), size_of::<u8>(), (16, 1));

/// The tile of 8-bit products with 33 to 64 columns.
pub const BYTE_SKINNY: ClusterTile = skinny_tile((64, 64), size_of::<u8>(), (12, 1));

/// The 64-column tile with twice as many rows.
pub const BYTE_SKINNY_TALL: ClusterTile = skinny_tile((128, 64), size_of::<u8>(), (8, 1));

/// The tile of 8-bit products with twice as many rows and up to 128 columns.
pub const BYTE_SKINNY_SQUARE: ClusterTile = skinny_tile((128, 128), size_of::<u8>(), (6, 1));

crate::products!(product_entries of skinny);
