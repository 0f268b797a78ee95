//! The assignment of blocks to parts of C.

use super::shape::ProductShape;
use cuda_std::thread;

/// Block rows that neighbouring blocks share before they move to the next block column.
const GROUP_ROWS: usize = 8;

/// The block row and block column of C that block number `block` computes.
///
/// Blocks are numbered down a group of [`GROUP_ROWS`] block rows, then along. So blocks that run together form a
/// compact patch of C, and share more of A and B in L2 than a row of blocks would.
#[inline(always)]
pub fn block_position(block: u32, block_rows: usize, block_columns: usize) -> (usize, usize) {
    // The grid has at most 2^31 - 1 blocks, so 32-bit division is exact, and far cheaper.
    // A grid with a block has a row and a column: `max` only tells the compiler so.
    let (rows, columns) = (block_rows as u32, (block_columns as u32).max(1));
    let group_blocks = columns.saturating_mul(GROUP_ROWS as u32).max(1);
    let first_row = block / group_blocks * GROUP_ROWS as u32;
    let rows_in_group = (rows - first_row).clamp(1, GROUP_ROWS as u32);
    let within = block % group_blocks;
    (
        (first_row + within % rows_in_group) as usize,
        (within / rows_in_group) as usize,
    )
}

/// Whether all `rows` x `columns` outputs from (`row`, `column`) lie within an m x n C.
#[inline(always)]
pub fn is_within_c(
    (row, column): (usize, usize),
    (rows, columns): (usize, usize),
    (m, n): (usize, usize),
) -> bool {
    row + rows <= m && column + columns <= n
}

/// Whether `shape` leaves out the calling block, because all of its `rows` x `columns` outputs lie above the diagonal.
#[inline(always)]
pub fn is_left_out(shape: &ProductShape, rows: usize, columns: usize) -> bool {
    if shape.is_lower == 0 {
        return false;
    }
    let (block_rows, block_columns) = (shape.m.div_ceil(rows), shape.n.div_ceil(columns));
    let (row, column) = block_position(thread::block_idx_x(), block_rows, block_columns);
    column * columns >= (row + 1) * rows
}
