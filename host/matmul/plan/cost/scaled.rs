//! Tiles of products with block scales or counted rows.

use super::{RoundTimes, in_fewest_rounds, rounds_of_clusters};
use crate::matmul::kernel::{Method, TileSize};
use crate::matmul::plan::problem::{DeviceFacts, Problem};
use crate::matmul::plan::reason::SelectionReason;
use tilewright_kernels::tensor::{F8_SCALED_LARGE, F8_SCALED_SMALL};

/// Products with block scales. Large tiles have four times as many outputs as small ones, which are for results of
/// few rows. Not measured: the time is that of reading from shared memory.
const ROUNDS_OF_SCALED: RoundTimes = RoundTimes::of_two(6, 16);

/// Products with block scales or counted rows. Uses `tiles` if given, otherwise the fastest size.
pub fn scaled_in(
    problem: &Problem,
    device: DeviceFacts,
    tiles: Option<TileSize>,
) -> (Method, SelectionReason) {
    if !problem.is_scaled {
        return (Method::Counted, SelectionReason::OnlyTiles);
    }
    let rounds = |tiles| {
        let tile = match tiles {
            TileSize::Small => &F8_SCALED_SMALL,
            _ => &F8_SCALED_LARGE,
        };
        rounds_of_clusters(problem, device, tile)
    };
    in_fewest_rounds(Method::Scaled, rounds, &ROUNDS_OF_SCALED, tiles)
}
