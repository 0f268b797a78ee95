//! 8-bit products: i8 with sums in i32, which wrap around, and 8-bit floats with sums in f32.
//!
//! Outputs of i8 products are i32, or the results of an epilogue in f32, for which each sum is rounded to f32.
//!
//! Tensor cores read 8-bit operands that are contiguous along k. The host [transposes](crate::transpose) the others.
//!
//! A tensor core keeps 13 bits of a sum of 8-bit floats. So the CUDA cores add the sums to totals after each stage, 128
//! elements of k. Tiles are small enough for the totals to fit into registers beside the sums.

use super::cluster::{Work, cluster_tile};
use super::finish::staging_len;
use super::operand::{AlongK, AlongKMap};
use super::operands::Pair;
use super::outputs::{BulkOutputs, DirectOutputs};
use super::product::MainLoop;
use super::schedule::ClusterTile;
use super::shape::{TensorShape, WARPGROUP_ROWS};
use crate::epilogue::{Epilogue, EpilogueNumbers};
use crate::finish::CMatrices;
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::{OperandLayout, ProductDescriptor, ProductKernel};
use cuda_std::fp8::{F8E4M3, F8E5M2};
use cuda_std::prelude::*;
use cuda_std::tma::TensorMapMut;
use half::{bf16, f16};

/// Launch parameters for blocks that each compute a `rows` x `columns` tile, whose outputs use staging buffers.
const fn byte_tile(rows: usize, columns: usize, stages: usize, resident: u32) -> ClusterTile {
    let output_bytes = staging_len(rows / WARPGROUP_ROWS) * size_of::<i32>();
    cluster_tile((rows, columns), 1, (stages, 1), output_bytes, resident)
}

/// [`byte_tile`] for 16-bit outputs, which are staged as a tile: at least as many bytes as the staging buffers.
const fn bulk_tile(rows: usize, columns: usize, stages: usize, resident: u32) -> ClusterTile {
    let output_bytes = rows * columns * size_of::<bf16>();
    cluster_tile((rows, columns), 1, (stages, 1), output_bytes, resident)
}

/// The tile of large products of i8.
pub const I8_LARGE: ClusterTile = byte_tile(128, 256, 4, 1);

/// Used when large tiles of i8 would leave multiprocessors idle; three quarters of the large tile's area.
pub const I8_MEDIUM: ClusterTile = byte_tile(192, 128, 4, 1);

/// Used when medium tiles of i8 would leave multiprocessors idle, too.
pub const I8_SMALL: ClusterTile = byte_tile(64, 128, 4, 2);

/// The small tile when each multiprocessor has one block at most: all of its shared memory is stages.
pub const I8_DEEP: ClusterTile = byte_tile(64, 128, 8, 1);

/// The tile of large products of 8-bit floats.
pub const F8_LARGE: ClusterTile = bulk_tile(128, 192, 4, 1);

/// Used when large tiles of 8-bit floats would leave multiprocessors idle.
pub const F8_MEDIUM: ClusterTile = bulk_tile(128, 128, 6, 1);

/// Used when medium tiles of 8-bit floats would leave multiprocessors idle, too.
pub const F8_SMALL: ClusterTile = bulk_tile(64, 128, 4, 2);

/// The small tile when each multiprocessor has one block at most.
pub const F8_DEEP: ClusterTile = bulk_tile(64, 128, 8, 1);

crate::products!(product_entries of wgmma_bytes);
