//! The order in which tiles of outputs are computed.

/// Rows of tiles per group, whose parts of A and B stay in L2.
const GROUP_ROWS: u32 = 8;

/// The row and the column of tile number `number`, of `rows` x `columns` tiles: groups of eight rows, column after
/// column within a group.
#[inline(always)]
pub fn place(number: u32, rows: u32, columns: u32) -> (u32, u32) {
    let first = number / (GROUP_ROWS * columns) * GROUP_ROWS;
    let height = (rows - first).min(GROUP_ROWS);
    let within = number - first * columns;
    (first + within % height, within / height)
}
