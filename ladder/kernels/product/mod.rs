//! The product ladder, step by step, up to `matmul_coarsened`.
//!
//! The first steps are those of chapter 6 of PMPP, which in these files is Hwu, Kirk, El Hajj:
//! Programming Massively Parallel Processors, 4th edition.
//!
//! Every kernel computes C = A B in f32, for M x K, K x N and M x N matrices of any size. All are
//! row-major, except for B in some kernels. Each output adds its K products in order, with fused
//! multiply-adds, so all steps give the same bits.
//!
//! Grids and blocks have two dimensions, as in PMPP: x along the columns of C, y down its rows.

mod coalesced;
mod coarsened;
mod corner_turned;
mod double_buffered;
mod naive;
mod register_tile;
mod tiled;
mod tiled_uncoalesced;
mod two_dimensional;
mod uncoalesced;
mod vector_addition;
mod vectorised;

pub use coalesced::product_coalesced;
pub use coarsened::{
    product_coarsened_1, product_coarsened_2, product_coarsened_4, product_coarsened_8,
    product_coarsened_8_one_block, product_coarsened_16,
};
pub use corner_turned::product_corner_turned;
pub use double_buffered::product_double_buffered;
pub use naive::product_naive;
pub use register_tile::{BLOCK, SIDE};
pub use tiled::product_tiled;
pub use tiled_uncoalesced::product_tiled_uncoalesced;
pub use two_dimensional::product_two_dimensional;
pub use uncoalesced::product_uncoalesced;
pub use vector_addition::{
    addition_coarsened_1, addition_coarsened_2, addition_coarsened_4, addition_coarsened_8,
    addition_coarsened_16,
};
pub use vectorised::product_vectorised;

use cuda_std::prelude::*;

/// Rows and columns of a block with one thread per output, and of its tiles.
pub const TILE: usize = 32;

/// The calling block's first row and column of C, for blocks of `height` x `width` outputs.
#[inline(always)]
fn block_corner(height: usize, width: usize) -> (usize, usize) {
    (
        thread::block_idx_y() as usize * height,
        thread::block_idx_x() as usize * width,
    )
}

/// The calling thread's row and column in its block.
#[inline(always)]
fn place_in_block() -> (usize, usize) {
    (
        thread::thread_idx_y() as usize,
        thread::thread_idx_x() as usize,
    )
}

/// Element (`row`, `column`) of a row-major matrix of `rows` x `columns`, or zero outside it. For a
/// column-major matrix, swap rows and columns.
///
/// # Safety
/// 1. The matrix has rows * columns elements.
#[inline(always)]
#[track_caller]
unsafe fn element_or_zero(
    matrix: Global<f32>,
    (rows, columns): (usize, usize),
    (row, column): (usize, usize),
) -> f32 {
    if row < rows && column < columns {
        // SAFETY: the element is in the matrix: compared above, and the caller's contract.
        unsafe { matrix.load(row * columns + column) }
    } else {
        0.0
    }
}

/// Writes element (`row`, `column`) of the `m` x `n` matrix C, if C has it.
///
/// # Safety
/// 1. C has m * n elements, and no other thread writes this one.
#[inline(always)]
#[track_caller]
unsafe fn store_output(
    c: GlobalMut<f32>,
    (m, n): (usize, usize),
    (row, column): (usize, usize),
    sum: f32,
) {
    if row < m && column < n {
        // SAFETY: C has the element: compared above. No other thread writes it: the caller's
        // contract.
        unsafe { c.store(row * n + column, sum) };
    }
}
