//! Products of 8-bit floats with block scales, and products of groups of rows whose sizes are in device memory.
//!
//! The sums of each stage, 128 elements of k, are one block of both operands: they are scaled as they are added to the
//! totals. Tiles have at most 128 columns, which share a scale of B.

use super::block_scales::{BlockScales, SCALE_BLOCK, ScaleShape};
use super::cluster::{Work, cluster_tile};
use super::counted::CountedTiles;
use super::element::TensorElement;
use super::finish::staging_len;
use super::operand::{AcrossK, AcrossKMap, AlongK, AlongKMap};
use super::operands::{Operands, Pair};
use super::outputs::{BulkOutputs, DirectOutputs, Outputs};
use super::product::MainLoop;
use super::scaling::Unscaled;
use super::schedule::ClusterTile;
use super::shape::{TensorShape, WARPGROUP_ROWS};
use crate::epilogue::{Epilogue, EpilogueNumbers};
use crate::finish::CMatrices;
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::{OperandLayout, ProductDescriptor, ProductKernel};
use cuda_std::fp8::F8E4M3;
use cuda_std::prelude::*;
use cuda_std::tma::TensorMapMut;
use cuda_std::wgmma::{Multiply, Registers};
use half::{bf16, f16};

/// Launch parameters for blocks that each compute a `rows` x `columns` tile, in blocks with a multiprocessor each.
///
/// 16-bit outputs are staged as a tile, others in buffers of fewer bytes.
const fn alone(rows: usize, columns: usize, element_bytes: usize, stages: usize) -> ClusterTile {
    assert!(
        SCALE_BLOCK.is_multiple_of(columns),
        "the columns of a tile share a scale"
    );
    let tile_bytes = rows * columns * size_of::<bf16>();
    let buffer_bytes = staging_len(rows / WARPGROUP_ROWS) * size_of::<f32>();
    let output_bytes = if tile_bytes > buffer_bytes {
        tile_bytes
    } else {
        buffer_bytes
    };
    cluster_tile((rows, columns), element_bytes, (stages, 1), output_bytes, 1)
}

/// The tile of large products with block scales.
pub const F8_SCALED_LARGE: ClusterTile = alone(128, 128, 1, 6);

/// The tile of products with block scales that have few rows, or few large tiles: two threads copy in turn.
pub const F8_SCALED_SMALL: ClusterTile = ClusterTile {
    producers: 2,
    ..alone(64, 64, 1, 12)
};

/// The tile of groups of rows of 16-bit floats.
pub const HALF_COUNTED: ClusterTile = alone(128, 128, 2, 6);

impl<O: Operands<Element: TensorElement>, const COUNT: usize, const STAGES: usize>
    MainLoop<'_, O, COUNT, STAGES>
{
    /// The kernel for groups of `counts` rows.
    ///
    /// # Safety
    /// 1. to 3. as for [`run`](Self::run).
    /// 4. The launch does not write `counts`, which has a count for each matrix of the batch or none.
    #[inline(always)]
    unsafe fn run_counted<'launch, To, const PRODUCERS: usize>(
        operands: O,
        outputs: To,
        work: Work<'launch>,
        tile: ClusterTile,
        counts: Global<'launch, u32>,
    ) where
        To: Outputs<COUNT>,
        [To::Sum; COUNT]: Multiply<O::Element, O::Element> + Registers,
    {
        let tiles = || CountedTiles::new(counts, work.shape, tile);
        // SAFETY: the caller's contract. All threads of the launch read the same counts, and so number the same tiles,
        // of which each cluster takes every so many. Counts are cut off where the rows of the matrices end.
        unsafe { Self::run_over::<To, _, _, PRODUCERS>(operands, outputs, work, tiles, Unscaled) }
    }

    /// The kernel for operands with block scales, in groups of `counts` rows.
    ///
    /// # Safety
    /// 1. to 4. as for [`run_counted`](Self::run_counted).
    /// 5. `a_scales` and `b_scales` have those of all blocks of the operands, where `scales` says, and the launch does
    ///    not write them.
    #[inline(always)]
    unsafe fn run_scaled<'launch, To, const PRODUCERS: usize>(
        operands: O,
        outputs: To,
        work: Work<'launch>,
        tile: ClusterTile,
        (counts, a_scales, b_scales): (
            Global<'launch, u32>,
            Global<'launch, f32>,
            Global<'launch, f32>,
        ),
        scales: GridConstant<'launch, ScaleShape>,
    ) where
        To: Outputs<COUNT, Sum = f32>,
        [f32; COUNT]: Multiply<O::Element, O::Element> + Registers,
    {
        const {
            assert!(
                O::Element::HAS_TOTALS && O::DEPTH == SCALE_BLOCK,
                "a stage is a block"
            );
        }
        let tiles = || CountedTiles::new(counts, work.shape, tile);
        // SAFETY: the scales are those of the operands: the caller's contract. Tiles lie within the operands.
        let scales = unsafe { BlockScales::new([a_scales, b_scales], scales, work.shape.m) };
        // SAFETY: the caller's contract, as in `run_counted`.
        unsafe { Self::run_over::<To, _, _, PRODUCERS>(operands, outputs, work, tiles, scales) }
    }
}

crate::products!(product_entries of scaled, counted);
