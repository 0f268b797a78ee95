//! Grids with a block for each tile of a matrix along x, and for the matrices of a batch along y.

use crate::error::Outcome;
use crate::launch::{LaunchConfig, MAX_GRID_Y, grid_x};

/// The grid for `along` x `down` tiles of each of `matrices`, with blocks of `threads` threads, which step by the
/// grid's rows. An error names the matrix by `what`.
pub fn tile_grid(
    (along, down): (usize, usize),
    matrices: usize,
    threads: usize,
    what: impl FnOnce() -> String,
) -> Outcome<LaunchConfig> {
    let tiles = grid_x(along.checked_mul(down), what)?;
    let rows = matrices.min(MAX_GRID_Y as usize) as u32;
    Ok(LaunchConfig::new((tiles, rows), threads as u32))
}
