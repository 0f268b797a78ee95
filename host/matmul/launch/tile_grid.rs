//! Grids of a block for each tile of a matrix along x, and of the matrices of a batch along y.

use crate::error::Outcome;
use crate::launch::{LaunchConfig, MAX_GRID_Y, grid_x};

/// The grid of `along` x `down` tiles of each of so many matrices, which blocks of `threads` threads take in steps of
/// the grid's rows. An error names the matrix by `what`.
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
