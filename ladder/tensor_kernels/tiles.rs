//! In which order tiles of outputs are computed.

/// Rows of tiles that are computed together: their parts of A and B stay in the second-level cache.
const GROUP_ROWS: u32 = 8;

/// The row and the column of tile number `number`, of `rows` x `columns` tiles: groups of eight rows, in
/// each of them column after column.
#[inline(always)]
pub fn place(number: u32, rows: u32, columns: u32) -> (u32, u32) {
    let first = number / (GROUP_ROWS * columns) * GROUP_ROWS;
    let height = (rows - first).min(GROUP_ROWS);
    let within = number - first * columns;
    (first + within % height, within / height)
}
