//! Products with a vector: how lines are shared among blocks and threads.

use crate::matmul::kernel::VectorLines;
use tilewright_kernels::matvec::{
    LINES_OF_BYTES, LINES_OF_GROUP, SHORT_LINES, STRAND_BYTES, VECTOR_STRANDS, VECTOR_THREADS,
    VectorPlan, lines_of_block,
};

/// The number of groups of 32 threads that fill any device: an H200 holds 2112. If there are fewer contiguous
/// lines, several groups share one.
const GROUPS: usize = 2048;

/// The fewest rounds of a group that has some of a line's parts: with fewer, adding the groups' sums takes longer
/// than the line.
const LEAST_ROUNDS: usize = 8;

/// How the rows or columns of each product with a vector are shared among blocks and threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorWork {
    /// Outputs of a block.
    pub lines_of_block: usize,
    pub blocks: usize,
    pub lanes: usize,
    pub parts_of_group: usize,
    pub lines_of_group: usize,
    /// The number of partial results and of tickets of a product.
    pub partials: usize,
    pub tickets: usize,
}

impl VectorWork {
    /// The work for `lines` of `k` elements of `bytes` bytes in each of `products`.
    pub fn new(
        order: VectorLines,
        (lines, k): (usize, usize),
        bytes: usize,
        products: usize,
    ) -> Self {
        let plan = VectorPlan::new(k, STRAND_BYTES / bytes);
        match order {
            VectorLines::Across => Self::across(lines, plan, bytes),
            VectorLines::Either => Self::grouped(lines, plan, products, LINES_OF_BYTES),
            VectorLines::Along if k * bytes <= VECTOR_STRANDS * STRAND_BYTES => {
                Self::short(lines, k * bytes)
            }
            VectorLines::Along => Self::along(lines, plan, products),
        }
    }

    fn across(lines: usize, plan: VectorPlan, bytes: usize) -> Self {
        let groups = lines.div_ceil(lines_of_block(bytes));
        let is_shared = plan.parts > 1;
        Self {
            lines_of_block: lines_of_block(bytes),
            blocks: groups.saturating_mul(plan.parts),
            lanes: 0,
            parts_of_group: 1,
            lines_of_group: 1,
            partials: if is_shared { lines * plan.parts } else { 0 },
            tickets: if is_shared { groups } else { 0 },
        }
    }

    /// Contiguous lines of `bytes` bytes, at most a vector for each lane.
    fn short(lines: usize, bytes: usize) -> Self {
        let lanes = bytes.div_ceil(STRAND_BYTES).max(1).next_power_of_two();
        let lines_of_block = VECTOR_THREADS as usize / lanes * SHORT_LINES;
        Self {
            lines_of_block,
            blocks: lines.div_ceil(lines_of_block),
            lanes,
            parts_of_group: 1,
            lines_of_group: 1,
            partials: 0,
            tickets: 0,
        }
    }

    /// Longer contiguous lines.
    fn along(lines: usize, plan: VectorPlan, products: usize) -> Self {
        let are_many = lines.saturating_mul(products) / LINES_OF_GROUP >= GROUPS;
        let lines_of_group = if are_many { LINES_OF_GROUP } else { 1 };
        Self::grouped(lines, plan, products, lines_of_group)
    }

    /// The work for contiguous lines, if a group of threads adds `lines_of_group` of them at the same time.
    fn grouped(all_lines: usize, plan: VectorPlan, products: usize, lines_of_group: usize) -> Self {
        let lines = all_lines.div_ceil(lines_of_group);
        let all = plan.parts.saturating_mul(lines).saturating_mul(products);
        let worthwhile = LEAST_ROUNDS.div_ceil(plan.rounds);
        let most = (all / GROUPS).max(worthwhile).clamp(1, plan.parts);
        // As evenly as possible.
        let groups = plan.parts.div_ceil(most);
        let of_block = VECTOR_THREADS as usize / VECTOR_STRANDS;
        let of_groups = lines.saturating_mul(groups);
        Self {
            lines_of_block: (of_block * lines_of_group / groups).max(1),
            blocks: of_groups.div_ceil(of_block),
            lanes: 0,
            parts_of_group: plan.parts.div_ceil(groups),
            lines_of_group,
            partials: if groups > 1 {
                all_lines * plan.parts
            } else {
                0
            },
            tickets: if groups > 1 { all_lines } else { 0 },
        }
    }
}
