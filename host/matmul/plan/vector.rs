//! Products with a vector, y = X v: how blocks and threads share the rows of X.

use crate::matmul::kernel::VectorRows;
use tilewright_kernels::matvec::{
    BYTE_ROWS, LOAD_BYTES, ROWS_OF_GROUP, SHORT_ROWS, VECTOR_ACCUMULATORS, VECTOR_THREADS,
    VectorPlan, rows_of_block,
};

/// The number of groups of 32 threads that fill any device: an H200 holds 2112. If a row-major X has fewer rows,
/// several groups share one.
const GROUPS: usize = 2048;

/// The fewest rounds of a group that has some of a row's parts: with fewer, adding the groups' sums takes longer than
/// the row.
const LEAST_ROUNDS: usize = 8;

/// The kernel for columns of `rows` elements of `bytes` bytes, whose starts are aligned or not.
pub fn columns_of(rows: usize, bytes: usize, are_aligned: bool) -> VectorRows {
    match are_aligned && rows.is_multiple_of(LOAD_BYTES / bytes) {
        true => VectorRows::Across,
        false => VectorRows::Unaligned,
    }
}

/// Whether rows of `bytes` bytes are short: at most a vector for each lane of a group.
pub fn are_short(bytes: usize) -> bool {
    bytes <= VECTOR_ACCUMULATORS * LOAD_BYTES
}

/// How blocks and threads share the rows of X, in each product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorWork {
    /// Outputs of a block.
    pub rows_of_block: usize,
    pub blocks: usize,
    pub lanes: usize,
    pub parts_of_group: usize,
    pub rows_of_group: usize,
    /// The number of partial results and of tickets of a product.
    pub partials: usize,
    pub tickets: usize,
}

impl VectorWork {
    /// The work for `rows` rows of `k` elements of `bytes` bytes in each of `products`.
    pub fn new(
        order: VectorRows,
        (rows, k): (usize, usize),
        bytes: usize,
        products: usize,
    ) -> Self {
        let plan = VectorPlan::new(k, LOAD_BYTES / bytes);
        match order {
            VectorRows::Across | VectorRows::Unaligned => Self::across((rows, k), plan, bytes),
            VectorRows::Either => Self::grouped(rows, plan, products, BYTE_ROWS),
            VectorRows::Short => Self::short(rows, k * bytes),
            VectorRows::Along => Self::along(rows, plan, products),
        }
    }

    fn across((rows, k): (usize, usize), plan: VectorPlan, bytes: usize) -> Self {
        let rows_of_block = rows_of_block(bytes, k);
        let groups = rows.div_ceil(rows_of_block);
        let is_shared = plan.parts > 1;
        Self {
            rows_of_block,
            blocks: groups.saturating_mul(plan.parts),
            lanes: 0,
            parts_of_group: 1,
            rows_of_group: 1,
            partials: if is_shared { rows * plan.parts } else { 0 },
            tickets: if is_shared { groups } else { 0 },
        }
    }

    /// Rows of `bytes` bytes, at most a vector for each lane, in a row-major X.
    fn short(rows: usize, bytes: usize) -> Self {
        let lanes = bytes.div_ceil(LOAD_BYTES).max(1).next_power_of_two();
        let rows_of_block = VECTOR_THREADS as usize / lanes * SHORT_ROWS;
        Self {
            rows_of_block,
            blocks: rows.div_ceil(rows_of_block),
            lanes,
            parts_of_group: 1,
            rows_of_group: 1,
            partials: 0,
            tickets: 0,
        }
    }

    /// Longer rows of a row-major X.
    fn along(rows: usize, plan: VectorPlan, products: usize) -> Self {
        let are_many = rows.saturating_mul(products) / ROWS_OF_GROUP >= GROUPS;
        let rows_of_group = if are_many { ROWS_OF_GROUP } else { 1 };
        Self::grouped(rows, plan, products, rows_of_group)
    }

    /// Rows of a row-major X, of which a group of threads adds `rows_of_group` together.
    fn grouped(all_rows: usize, plan: VectorPlan, products: usize, rows_of_group: usize) -> Self {
        let rows = all_rows.div_ceil(rows_of_group);
        let all = plan.parts.saturating_mul(rows).saturating_mul(products);
        let worthwhile = LEAST_ROUNDS.div_ceil(plan.rounds);
        let most = (all / GROUPS).max(worthwhile).clamp(1, plan.parts);
        // As evenly as possible.
        let groups = plan.parts.div_ceil(most);
        let of_block = VECTOR_THREADS as usize / VECTOR_ACCUMULATORS;
        let of_groups = rows.saturating_mul(groups);
        Self {
            rows_of_block: (of_block * rows_of_group / groups).max(1),
            blocks: of_groups.div_ceil(of_block),
            lanes: 0,
            parts_of_group: plan.parts.div_ceil(groups),
            rows_of_group,
            partials: if groups > 1 { all_rows * plan.parts } else { 0 },
            tickets: if groups > 1 { all_rows } else { 0 },
        }
    }
}
