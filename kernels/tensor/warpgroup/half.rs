//! Products of f16 and of bf16, with sums in f32, which 16-bit outputs round once.

use super::cluster::{Work, cluster_tile};
use super::columns::{ColumnOutputs, staging_columns, staging_elements};
use super::finish::staging_len;
use super::operand::{AcrossK, AcrossKMap, AlongK, AlongKMap};
use super::operands::Pair;
use super::outputs::{BulkOutputs, DirectOutputs};
use super::product::MainLoop;
use super::schedule::ClusterTile;
use super::shape::TensorShape;
use super::single::single_tile;
use super::turned::TurnedOutputs;
use crate::epilogue::{Epilogue, EpilogueNumbers};
use crate::finish::CMatrices;
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::{OperandLayout, ProductDescriptor, ProductKernel};
use ::half::{bf16, f16};
use cuda_std::prelude::*;
use cuda_std::tma::TensorMapMut;

/// Launch parameters for blocks that each compute a `rows` x `columns` tile.
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

/// Used when large tiles would leave multiprocessors idle; three quarters of the large tile's area.
pub const HALF_MEDIUM: ClusterTile = half_tile(192, 128, 4, 1);

/// Used when medium tiles would leave multiprocessors idle, too.
pub const HALF_SMALL: ClusterTile = half_tile(64, 128, 4, 2);

/// The small tile when each multiprocessor has one block at most: all of its shared memory is stages.
pub const HALF_DEEP: ClusterTile = half_tile(64, 128, 8, 1);

/// Used where it fills the device once: 1536 x 1536 outputs are 132 tiles. Nine sixteenths of the large tile's area.
pub const HALF_TURNED: ClusterTile = half_tile(128, 144, 5, 1);

/// The tile of small results: a block without a cluster computes each.
pub const HALF_SINGLE: ClusterTile = single_tile(64, size_of::<f16>(), 2, 5);

#[cfg(feature = "entries")]
crate::products!(product_entries of wgmma, turned, single);
