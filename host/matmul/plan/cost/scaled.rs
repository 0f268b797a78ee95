//! Tiles of products with block scales or counted rows.

use super::{RoundTimes, in_fewest_rounds, rounds_of_clusters};
use crate::matmul::kernel::{Method, TileSize};
use crate::matmul::plan::problem::{DeviceFacts, Problem};
use crate::matmul::plan::reason::SelectionReason;
use tilewright_kernels::tensor::{
    F8_SCALED_LARGE, F8_SCALED_MEDIUM, F8_SCALED_SKINNY, F8_SCALED_SMALL,
};

/// Products with block scales. Medium tiles have four times, and large ones six times as many outputs as small ones.
///
/// Measured on an H200, 4096 rows, in us, medium and large: 155 and 138 for 2112 columns with K = 7168 (5 and 3 rounds),
/// 262 and 278 for 4096 with K = 7168 (8 and 6), 363 and 338 for 24576 with K = 1536 (47 and 32), 7,883 and 7,600 for
/// 129280 with K = 7168 (245 and 164). 128 rows by 129280 columns, small and medium: 422 and 597 (31 and 16).
const ROUNDS_OF_SCALED: RoundTimes = RoundTimes::of_three(6, 16, 23);

/// Few rows: small tiles, and tiles of 128 x 128 that compute the transpose.
///
/// Measured on an H200, 128 rows, in us, small tiles and transposes: 13.4 and 35.2 for 2112 columns with K = 7168 (1
/// round of each), 14.9 and 35.2 for 4096 with K = 7168 (1 and 1), 58.5 and 86.1 for 7168 with K = 16384 (2 and 1), 21.7
/// and 21.5 for 24576 with K = 1536 (6 and 2), 422 and 356 for 129280 with K = 7168 (31 and 8). 16 rows: 30.9 and 22.7
/// for 24576 columns, 484 and 359 for 129280.
const ROUNDS_OF_FEW_ROWS: RoundTimes = RoundTimes::of_two(6, 18);

/// Products with block scales or counted rows. Uses `tiles` if given, otherwise the fastest size. The large tiles of few
/// rows are those of the transpose.
pub fn scaled_in(
    problem: &Problem,
    device: DeviceFacts,
    tiles: Option<TileSize>,
) -> (Method, SelectionReason) {
    if !problem.is_scaled {
        return (Method::Counted, SelectionReason::OnlyTiles);
    }
    let has_few_rows = problem.m <= F8_SCALED_SKINNY.columns && !problem.is_counted;
    let method: fn(TileSize) -> Method = match has_few_rows {
        true => |tiles| match tiles {
            TileSize::Large => Method::ScaledSkinny,
            _ => Method::Scaled(tiles),
        },
        false => Method::Scaled,
    };
    if let Some(tiles) = tiles {
        return (method(tiles), SelectionReason::Requested);
    }
    let transposed = problem.transposed();
    let rounds = |tiles| {
        let (problem, tile) = match tiles {
            TileSize::Small => (problem, &F8_SCALED_SMALL),
            TileSize::Medium => (problem, &F8_SCALED_MEDIUM),
            TileSize::Large if has_few_rows => (&transposed, &F8_SCALED_SKINNY),
            TileSize::Large => (problem, &F8_SCALED_LARGE),
        };
        rounds_of_clusters(problem, device, tile)
    };
    let times = match has_few_rows {
        true => &ROUNDS_OF_FEW_ROWS,
        false => &ROUNDS_OF_SCALED,
    };
    in_fewest_rounds(method, rounds, times, None)
}
