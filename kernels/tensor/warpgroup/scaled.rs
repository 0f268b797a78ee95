//! Products of 8-bit floats with block scales, and products of groups of rows whose sizes are in device memory.
//!
//! The sums of each stage, 128 elements of k, are one block of both operands: they are scaled as they are added to the
//! totals. Products of few rows by many columns are computed as the transposes of products of few columns: a tile has all
//! rows of A, so each element of B is read once.

use super::block_scales::{
    BlockScales, RowScales, SCALE_BLOCK, ScaleShape, blocks_of, stages_ahead,
};
use super::cluster::{Work, cluster_tile};
use super::column_scales::{ColumnScales, factors_len};
use super::columns::{ColumnOutputs, staging_columns, staging_elements};
use super::counted::CountedTiles;
use super::element::TensorElement;
use super::finish::staging_len;
use super::operand::{AcrossK, AcrossKMap, AlongK, AlongKMap};
use super::operands::{Operands, Pair};
use super::outputs::{BulkOutputs, DirectOutputs, Outputs};
use super::product::MainLoop;
use super::scaling::Unscaled;
use super::schedule::{ClusterTile, TilePlace, TileSequence, Tiles};
use super::shape::{TensorShape, WARPGROUP_ROWS};
use super::turned::TurnedOutputs;
use crate::epilogue::{Epilogue, EpilogueNumbers};
use crate::finish::CMatrices;
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::{OperandLayout, ProductDescriptor, ProductKernel};
use cuda_std::fp8::F8E4M3;
use cuda_std::hint::opaque;
use cuda_std::prelude::*;
use cuda_std::tma::TensorMapMut;
use cuda_std::wgmma::{Multiply, Registers};
use half::{bf16, f16};

/// Launch parameters for blocks that each compute a `rows` x `columns` tile, in blocks with a multiprocessor each.
///
/// 16-bit outputs are staged as a tile, others in buffers of `buffer_bytes`.
const fn alone(
    (rows, columns): (usize, usize),
    element_bytes: usize,
    stages: usize,
    buffer_bytes: usize,
) -> ClusterTile {
    let tile_bytes = rows * columns * size_of::<bf16>();
    let output_bytes = if tile_bytes > buffer_bytes {
        tile_bytes
    } else {
        buffer_bytes
    };
    cluster_tile((rows, columns), element_bytes, (stages, 1), output_bytes, 1)
}

/// [`alone`] for row-major results.
const fn by_rows(
    (rows, columns): (usize, usize),
    element_bytes: usize,
    stages: usize,
) -> ClusterTile {
    let buffer_bytes = staging_len(rows / WARPGROUP_ROWS) * size_of::<f32>();
    alone((rows, columns), element_bytes, stages, buffer_bytes)
}

/// The tile of large products with block scales.
pub const F8_SCALED_LARGE: ClusterTile = by_rows((128, 192), 1, 4);

/// Used when large tiles of operands with block scales would leave multiprocessors idle.
pub const F8_SCALED_MEDIUM: ClusterTile = by_rows((128, 128), 1, 6);

/// The tile of products with block scales of few rows, or of few large tiles: two threads copy in turn.
pub const F8_SCALED_SMALL: ClusterTile = ClusterTile {
    producers: 2,
    ..by_rows((64, 64), 1, 12)
};

/// The tile of products with block scales and few rows, which computes the transpose: 128 columns of B by all rows of A.
/// Two threads copy in turn.
pub const F8_SCALED_SKINNY: ClusterTile = {
    let (rows, columns) = (128, 128);
    let buffer_bytes = staging_elements(rows, columns) * size_of::<f32>();
    let tile = alone((rows, columns), 1, 6, buffer_bytes);
    let factors = factors_len(columns, tile.consumers());
    ClusterTile {
        producers: 2,
        shared_bytes: tile.shared_bytes + factors * size_of::<f32>(),
        ..tile
    }
    .checked()
};

/// The tile of groups of rows of 16-bit floats.
pub const HALF_COUNTED: ClusterTile = by_rows((128, 128), 2, 6);

/// [`Tiles`] whose writers are made when the sums are computed, so that no registers hold them before.
struct LateTiles(Tiles);

impl TileSequence for LateTiles {
    #[inline(always)]
    fn next(&mut self) -> Option<TilePlace> {
        self.0.next()
    }

    #[inline(always)]
    fn writer(number: u32) -> u32 {
        opaque(number)
    }
}

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
        let shared = dynamic_shared_allotment!();
        let tiles = || CountedTiles::new(counts, work.shape, tile);
        // SAFETY: the caller's contract. All threads of the launch read the same counts, and so number the same tiles,
        // of which each cluster takes every so many. Counts are cut off where the rows of the matrices end.
        unsafe {
            Self::run_over::<To, _, _, PRODUCERS>(
                operands,
                outputs,
                work,
                tiles,
                (Unscaled, shared),
            );
        }
    }

    /// The kernel for operands with block scales, in groups of `counts` rows.
    ///
    /// Tiles have columns of `BLOCKS` blocks. Scales are loaded `AHEAD` stages ahead.
    ///
    /// # Safety
    /// 1. to 4. as for [`run_counted`](Self::run_counted).
    /// 5. `a_scales` and `b_scales` have those of all blocks of the operands, where `scales` says, and the launch does
    ///    not write them.
    #[inline(always)]
    unsafe fn run_scaled<
        'launch,
        To,
        const PRODUCERS: usize,
        const BLOCKS: usize,
        const AHEAD: usize,
    >(
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
        Self::assert_stages_are_blocks();
        let lines = [work.shape.m, work.shape.n];
        // SAFETY: the scales are those of the operands: the caller's contract. Tiles lie within the operands.
        let scales = unsafe { BlockScales::new([a_scales, b_scales], scales, lines) };
        let scales = RowScales::<BLOCKS, AHEAD>(scales);
        let shared = dynamic_shared_allotment!();
        let tiles = || CountedTiles::new(counts, work.shape, tile);
        // SAFETY: the caller's contract, as in `run_counted`.
        unsafe {
            Self::run_over::<To, _, _, PRODUCERS>(operands, outputs, work, tiles, (scales, shared));
        }
    }

    /// The kernel for the transposes of results of few rows, with the memory of `LEN` factors of `COLUMNS` columns.
    ///
    /// # Safety
    /// 1. to 3. as for [`run`](Self::run).
    /// 4. `a_scales` has those of the blocks of the operands' transposes: of B here. `b_scales` has those of A here. They
    ///    are where `scales` says, and the launch does not write them.
    #[inline(always)]
    unsafe fn run_scaled_skinny<
        'launch,
        To,
        const PRODUCERS: usize,
        const COLUMNS: usize,
        const LEN: usize,
    >(
        operands: O,
        outputs: To,
        work: Work<'launch>,
        (a_scales, b_scales): (Global<'launch, f32>, Global<'launch, f32>),
        scales: GridConstant<'launch, ScaleShape>,
    ) where
        To: Outputs<COUNT, Sum = f32>,
        [f32; COUNT]: Multiply<O::Element, O::Element> + Registers,
    {
        Self::assert_stages_are_blocks();
        let mut shared = dynamic_shared_allotment!();
        let lines = [work.shape.n, work.shape.m];
        // SAFETY: the scales are those of the operands: the caller's contract. Tiles lie within the operands. Nothing
        // else uses this part of the shared memory.
        let scales = unsafe {
            let scales = BlockScales::new([a_scales, b_scales], scales, lines);
            ColumnScales::<COLUMNS, LEN>::new(scales, shared.array())
        };
        let tiles = || LateTiles(work.schedule.tiles());
        // SAFETY: the caller's contract. The schedule's tiles are those of the results.
        unsafe {
            Self::run_over::<To, _, _, PRODUCERS>(operands, outputs, work, tiles, (scales, shared));
        }
    }

    #[inline(always)]
    const fn assert_stages_are_blocks() {
        const {
            assert!(
                O::Element::HAS_TOTALS && O::DEPTH == SCALE_BLOCK,
                "a stage is a block"
            );
        }
    }
}

crate::products!(product_entries of scaled, scaled_skinny, counted);
