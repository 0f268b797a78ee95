//! Elements of 8 bits: i8, whose products are added up in i32, which wraps around, and numbers of 8 bits,
//! whose products are added up in f32. Outputs of i8 are i32, or what an epilogue in f32 makes of the sums,
//! each rounded to f32 first.
//!
//! Tensor cores read 8-bit operands whose elements along k are neighbours, whatever their layout in
//! memory: the host has others [transposed](crate::transpose) before.
//!
//! Sums of 8-bit floats keep 13 bits in the tensor core. So they are added to totals on the CUDA cores
//! after each stage, 128 elements of k, in tiles whose totals fit into the registers beside them.

use super::cluster::{Work, cluster_tile};
use super::finish::staging_len;
use super::operand::{AlongK, AlongKMap};
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

/// Launch parameters for blocks that each compute a `rows` x `columns` tile, which goes through shared memory as
/// words of a warp's rows.
const fn byte_tile(rows: usize, columns: usize, stages: usize, resident: u32) -> ClusterTile {
    let output_bytes = staging_len(rows / WARPGROUP_ROWS) * size_of::<i32>();
    cluster_tile((rows, columns), 1, (stages, 1), output_bytes, resident)
}

/// As [`byte_tile`], for 16-bit outputs, which are staged as a tile: it takes as many bytes as the words, or more.
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
