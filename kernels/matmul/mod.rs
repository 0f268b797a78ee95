//! Matrix products C = A B: A is M x K, B is K x N, C is M x N and row-major.
//!
//! A and B are row-major, too, where a kernel's name does not say otherwise: `_a_t` and `_b_t`
//! mark an operand that is column-major, which is how the transpose of a row-major matrix lies.
//!
//! Every kernel here adds the K products of one output in order, from +0 on, each by a fused
//! multiply-add onto the sum so far, and writes one NaN for all (`Float::canonical_nan`). So all
//! kernels give the same bits as the naive loop that does the same, the sign of a zero included,
//! whatever their tiles, and |C' - C| <= gamma_K |A||B| (Higham, Accuracy and Stability of
//! Numerical Algorithms, 3.5).

mod coarsened;
mod fetch;
mod tiled;

pub use coarsened::{
    COARSENED_F32, COARSENED_F64, COARSENED_SMALL_F32, COARSENED_SMALL_F64, matmul_coarsened_f32,
    matmul_coarsened_f32_a_t, matmul_coarsened_f32_a_t_b_t, matmul_coarsened_f32_b_t,
    matmul_coarsened_f32_unaligned, matmul_coarsened_f64, matmul_coarsened_f64_a_t,
    matmul_coarsened_f64_a_t_b_t, matmul_coarsened_f64_b_t, matmul_coarsened_f64_unaligned,
    matmul_coarsened_small_f32, matmul_coarsened_small_f32_a_t, matmul_coarsened_small_f32_a_t_b_t,
    matmul_coarsened_small_f32_b_t, matmul_coarsened_small_f32_unaligned,
    matmul_coarsened_small_f64, matmul_coarsened_small_f64_a_t, matmul_coarsened_small_f64_a_t_b_t,
    matmul_coarsened_small_f64_b_t, matmul_coarsened_small_f64_unaligned,
};
pub use tiled::{
    TILED, matmul_tiled_f32, matmul_tiled_f32_a_t, matmul_tiled_f32_a_t_b_t, matmul_tiled_f32_b_t,
    matmul_tiled_f64, matmul_tiled_f64_a_t, matmul_tiled_f64_a_t_b_t, matmul_tiled_f64_b_t,
};

/// What the host must know of a product kernel to launch it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiling {
    /// Rows of C that one block computes.
    pub block_rows: usize,
    /// Columns of C that one block computes.
    pub block_columns: usize,
    /// Threads of a block, along x.
    pub threads: u32,
}

impl Tiling {
    /// Blocks that cover an `m` x `n` result, or `None` where they are more than a grid can have
    /// along x (2^31 - 1).
    #[must_use]
    pub const fn blocks(&self, m: usize, n: usize) -> Option<u32> {
        let rows = m.div_ceil(self.block_rows);
        let columns = n.div_ceil(self.block_columns);
        match rows.checked_mul(columns) {
            Some(blocks) if blocks <= i32::MAX as usize => Some(blocks as u32),
            _ => None,
        }
    }
}

/// The three matrices of a product and their sizes, as every kernel takes them.
#[derive(Clone, Copy)]
struct Product<'launch, T> {
    a: cuda_std::global::Global<'launch, T>,
    b: cuda_std::global::Global<'launch, T>,
    c: cuda_std::global::GlobalMut<'launch, T>,
    m: usize,
    n: usize,
    k: usize,
}

/// Block rows that neighbouring blocks share before they move to the next block column.
const GROUP_ROWS: usize = 8;

/// Which block of C the calling block computes, as (block row, block column).
///
/// Blocks are numbered down a group of [`GROUP_ROWS`] block rows, then along: blocks that run
/// together form a compact patch of C, and share more of A and B in L2 than a whole row of blocks
/// would.
#[inline(always)]
fn block_position(block_rows: usize, block_columns: usize) -> (usize, usize) {
    let block = cuda_std::thread::block_idx_x();
    // The grid has at most 2^31 - 1 blocks: 32-bit division is exact, and far cheaper.
    // A grid with a block has a row and a column; `max` only tells the compiler.
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
