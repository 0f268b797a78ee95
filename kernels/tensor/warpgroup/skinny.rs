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

/// Launch parameters for blocks that each compute a `rows` x `columns` tile, of elements of `element_bytes`, in so many
/// stages of so many slices.
///
/// A stage of few columns comes sooner than one thread waits for the next one and issues its copies: two take turns.
/// If no sums of a stage are added to totals, two slices are waited for as one.
const fn skinny_tile(
    (rows, columns): (usize, usize),
    element_bytes: usize,
    (stages, slices): (usize, usize),
) -> ClusterTile {
    assert!(
        columns.is_multiple_of(room_columns(rows, columns)),
        "outputs fill the staging buffers of their warps"
    );
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

crate::products!(product_entries of skinny);
