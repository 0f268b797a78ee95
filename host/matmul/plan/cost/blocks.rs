//! Tiles of kernels without clusters: on CUDA cores, and at warp level on tensor cores.

use super::model::{modelled, rounds_of_blocks};
use super::{RoundTime, RoundTimes, in_fewest_rounds};
use crate::matmul::kernel::{Method, TileSize};
use crate::matmul::plan::problem::{DeviceFacts, Problem};
use crate::matmul::plan::reason::SelectionReason;
use crate::matmul::table::kernels_of;
use crate::matmul::types::ElementType;
use tilewright_kernels::matmul::BlockTile;

/// The fewest large blocks for each multiprocessor, in halves, for which they are faster than small ones.
///
/// Measured on an H200 with 132 multiprocessors, f32 in the tiles of groups, in TFLOP/s, small and large: 14.4 and
/// 5.0 at 512 (16 large blocks), 31.3 and 21.1 at 1024 (64), 36.2 and 26.6 at 1536 (144), 42.0 and 47.4 at 2048
/// (256). So the limit is between 1.1 and 1.9 blocks.
const LARGE_FROM_HALVES: u32 = 3;

/// Whether large tiles, which have `large` outputs with those outside the result, are faster than small ones, which
/// have `small`. If both lie within the result, large ones are faster by a quarter.
pub fn large_tiles_pay(large: u64, small: u64) -> bool {
    large.saturating_mul(4) <= small.saturating_mul(5)
}

/// Split f32, at warp level. Large tiles have twice as many outputs as small ones. A multiprocessor computes two large
/// tiles at a time, or three small ones.
///
/// Measured on an H200, in us with the split, small and large: 50 and 58 at 1024 (1 and 1 rounds), 106 and 92 at
/// 1280 (2 and 1), 135 and 163 at 1536 (2 and 2), 266 and 250 at 2048 (3 and 2), 857 and 804 at 3072 (6 and 5).
const ROUNDS_OF_SPLIT_MMA: RoundTimes = RoundTimes::of_two(6, 7);

/// f64 at warp level. Medium tiles have twice, and large ones eight times as many outputs as small ones. A
/// multiprocessor computes two small tiles at a time; rounds of the others are the tiles of a multiprocessor. Times are
/// for each k, in tenths of a nanosecond.
///
/// Measured on an H200, row-major operands, kernels alone in us, small, medium and large: 12.6 and 18.7 at 512 (1 and 1
/// rounds), 19.2 and 23.3 at 640 (1 and 1), 40.9 and 34.4 at 768 (2 and 2), 57.2 and 48.5 at 1024 (2 and 2), 115 and
/// 103, medium and large, at 1280 (4 and 1), 165 and 236 at 1536 (5 and 2), 413 and 325 at 2048 (8 and 2), 539 and 534
/// at 2304 (10 and 3), 737 and 743 to 857 at 2560 (13 and 4). In parts, small and medium: 96 and 179 for 16 x 16 with K = 2^20
/// (1 and 2), 886 and 781 for 128 x 128 (2 and 2).
const ROUNDS_OF_F64: RoundTimes = RoundTimes {
    small: RoundTime::each(245),
    medium: Some(RoundTime {
        start: 40,
        each: 215,
    }),
    large: RoundTime {
        start: 60,
        each: 710,
    },
};

/// f64 at warp level, in parts of K, for which large tiles have no registers.
const ROUNDS_OF_F64_PARTS: RoundTimes = RoundTimes {
    large: RoundTime {
        start: u64::MAX,
        each: 0,
    },
    ..ROUNDS_OF_F64
};

/// f16, bf16 and i8 at warp level, on compute capability 9.0, which multiplies them by warps only with old drivers and
/// in small batches. Large tiles have four times as many outputs as small ones. A multiprocessor computes two large
/// tiles at a time, or three small ones, which read nearly three times as much shared memory for each output. Not
/// measured.
const ROUNDS_OF_NARROW: RoundTimes = RoundTimes::of_two(4, 8);

/// f32 on CUDA cores. Rounds are the tiles of a multiprocessor, and times are for each k, in tenths of a
/// nanosecond. Medium tiles have twice, and large ones four times as many outputs as small ones.
///
/// Measured on an H200, row-major operands, in us, small, medium and large: 11.8, 18.5 and 29.5 at 512 (1, 1 and 1
/// rounds), 25.6, 22.8 and 37.2 at 640 (2, 1 and 1), 38.1, 51.0 and 43.8 at 768 (3, 2 and 1), 61.7, 68.5 and 57.5
/// at 1024 (4, 2 and 1), 134, 128 and 131 at 1280 (7, 4 and 2), 199, 200 and 208 at 1536 (9, 5 and 3), 466, 408 and
/// 356 at 2048 (16, 8 and 4), 3641, 3192 and 2771 at 4096. A thousand products of 64: 24.4, 24.9 and 32.5; of 192:
/// 435, 376 and 450.
const ROUNDS_OF_CHAIN: RoundTimes = RoundTimes {
    small: RoundTime {
        start: 110,
        each: 136,
    },
    medium: Some(RoundTime {
        start: 120,
        each: 238,
    }),
    large: RoundTime {
        start: 130,
        each: 425,
    },
};

/// Sizes of tiles on modelled devices; of equally fast ones the first is selected.
const LARGE_AND_SMALL: [TileSize; 2] = [TileSize::Large, TileSize::Small];

/// Blocks of warp-level kernels that a multiprocessor computes in a round: small, medium and large ones. Narrow
/// elements have no medium ones.
type BlocksOfRound = [u64; 3];
const F64_BLOCKS: BlocksOfRound = [2, 1, 1];
const NARROW_BLOCKS: BlocksOfRound = [3, 2, 2];
const SPLIT_BLOCKS: BlocksOfRound = [3, 2, 2];

/// Warp-level products on tensor cores. Uses `tiles` if given and if the product is no part of K in f64, otherwise the
/// fastest size.
pub fn mma_in(
    problem: &Problem,
    device: DeviceFacts,
    tiles: Option<TileSize>,
) -> Option<(Method, SelectionReason)> {
    let (of_method, tiles) = match problem.element {
        ElementType::F64 if problem.is_part() => ((F64_BLOCKS, &ROUNDS_OF_F64_PARTS), None),
        ElementType::F64 => ((F64_BLOCKS, &ROUNDS_OF_F64), tiles),
        _ => ((NARROW_BLOCKS, &ROUNDS_OF_NARROW), tiles),
    };
    by_warps_in(Method::Mma, problem, device, of_method, tiles)
}

/// Warp-level products of split operands. Uses `tiles` if given, otherwise the fastest size.
pub fn split_mma_in(
    problem: &Problem,
    device: DeviceFacts,
    tiles: Option<TileSize>,
) -> Option<(Method, SelectionReason)> {
    let of_method = (SPLIT_BLOCKS, &ROUNDS_OF_SPLIT_MMA);
    by_warps_in(Method::SplitMma, problem, device, of_method, tiles)
}

/// The tile of a block by this method; `None` if no kernel has these types.
fn tile_of(method: Method, problem: &Problem) -> Option<&'static BlockTile> {
    let kernels = kernels_of(method, problem.element, problem.output);
    Some(&kernels.first()?.descriptor.tile)
}

/// A warp-level method, with the blocks and the times of its rounds on 9.0. Uses `tiles` if given, otherwise the fastest
/// size.
fn by_warps_in(
    method: fn(TileSize) -> Method,
    problem: &Problem,
    device: DeviceFacts,
    (blocks, times): (BlocksOfRound, &RoundTimes),
    tiles: Option<TileSize>,
) -> Option<(Method, SelectionReason)> {
    if tiles.is_none()
        && let Some(selected) = modelled(method, &LARGE_AND_SMALL, problem, device)
    {
        return Some(selected);
    }
    let tile = |tiles| tile_of(method(tiles), problem);
    let (small, large) = (tile(TileSize::Small)?, tile(TileSize::Large)?);
    let medium = tile(TileSize::Medium).unwrap_or(large);
    let [of_small, of_medium, of_large] = blocks;
    let rounds = |tiles| {
        let (tile, resident) = match tiles {
            TileSize::Small => (small, of_small),
            TileSize::Medium => (medium, of_medium),
            TileSize::Large => (large, of_large),
        };
        rounds_of_blocks(problem, device, tile, resident)
    };
    Some(in_fewest_rounds(method, rounds, times, tiles))
}

/// A block of outputs for each thread. Uses `tiles` if given. Otherwise f32, and f64 on modelled devices, have the
/// fastest size, and other types large tiles if these fill the device.
pub fn coarsened(
    problem: &Problem,
    device: DeviceFacts,
    tiles: Option<TileSize>,
) -> Option<(Method, SelectionReason)> {
    if problem.element == ElementType::F32 {
        return chain_in(problem, device, tiles);
    }
    let (tiles, reason) = match tiles {
        Some(tiles) => (tiles.of_two(), SelectionReason::Requested),
        // Large tiles leave nothing out.
        None if problem.is_gram && problem.element == ElementType::F64 => {
            (TileSize::Small, SelectionReason::OnlyTiles)
        }
        None => {
            if let Some(selected) = modelled(Method::Coarsened, &LARGE_AND_SMALL, problem, device) {
                return Some(selected);
            }
            tiles_for(problem, device)?
        }
    };
    Some((Method::Coarsened(tiles), reason))
}

/// A block of f32 outputs for each thread. Uses `tiles` if given, otherwise the fastest size.
fn chain_in(
    problem: &Problem,
    device: DeviceFacts,
    tiles: Option<TileSize>,
) -> Option<(Method, SelectionReason)> {
    if tiles.is_none() && problem.is_gram {
        // Tiles of the other sizes leave nothing out.
        let medium = Method::Coarsened(TileSize::Medium);
        return Some((medium, SelectionReason::OnlyTiles));
    }
    const SIZES: [TileSize; 3] = [TileSize::Large, TileSize::Medium, TileSize::Small];
    if tiles.is_none()
        && let Some(selected) = modelled(Method::Coarsened, &SIZES, problem, device)
    {
        return Some(selected);
    }
    let tile = |tiles| tile_of(Method::Coarsened(tiles), problem);
    let (small, medium, large) = (
        tile(TileSize::Small)?,
        tile(TileSize::Medium)?,
        tile(TileSize::Large)?,
    );
    let rounds = |tiles| {
        let tile = match tiles {
            TileSize::Small => small,
            TileSize::Medium => medium,
            TileSize::Large => large,
        };
        rounds_of_blocks(problem, device, tile, 1)
    };
    let of_chain = &ROUNDS_OF_CHAIN;
    Some(in_fewest_rounds(Method::Coarsened, rounds, of_chain, tiles))
}

impl DeviceFacts {
    /// The fewest large blocks for which they are faster than small ones.
    pub fn large_blocks(self) -> u32 {
        self.multiprocessors.saturating_mul(LARGE_FROM_HALVES) / 2
    }
}

/// Whether the products have enough large blocks on CUDA cores.
pub fn fills_device(problem: &Problem, device: DeviceFacts) -> bool {
    matches!(tiles_for(problem, device), Some((TileSize::Large, _)))
}

/// Large tiles, if they give each multiprocessor at least one and a half blocks, and those of a batch lie within
/// its results.
fn tiles_for(problem: &Problem, device: DeviceFacts) -> Option<(TileSize, SelectionReason)> {
    let tile = |tiles| tile_of(Method::Coarsened(tiles), problem);
    let (large, small) = (tile(TileSize::Large)?, tile(TileSize::Small)?);
    let needed = device.large_blocks();
    let is_batch = problem.batch > 1;
    if let (true, Some(large), Some(small)) =
        (is_batch, problem.covered(large), problem.covered(small))
        && !large_tiles_pay(large, small)
    {
        let reason = SelectionReason::EmptyTiles { large, small };
        return Some((TileSize::Small, reason));
    }
    let blocks = problem.blocks(large);
    let blocks = blocks.and_then(|it| it.checked_mul(u32::try_from(problem.batch).ok()?));
    Some(match blocks {
        Some(blocks) if blocks < needed => (
            TileSize::Small,
            SelectionReason::TooFewBlocks { blocks, needed },
        ),
        blocks => (
            TileSize::Large,
            SelectionReason::EnoughBlocks { blocks, needed },
        ),
    })
}
