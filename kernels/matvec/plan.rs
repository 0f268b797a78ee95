//! How a row is split, and thereby the order in which its products are added.
//!
//! ```text
//! a part:   its products are dealt to 32 accumulators in turns, 16 bytes of the row at a time
//!           an accumulator adds its products in order, each by a fused multiply-add, from +0
//!           the accumulators are added as neighbours, then as neighbouring pairs, and so on
//! a row:    part p goes to accumulator p mod 32, which adds its parts in order
//!           the 32 accumulators are added the same way
//! ```
//!
//! The split depends only on the number and the size of a row's elements: not on other rows, the order of the matrix,
//! or the threads that compute it.

use bytemuck::{Pod, Zeroable};

/// Threads of a block.
pub const VECTOR_THREADS: u32 = 256;

/// Accumulators of a part's products, and of a row's parts; also the lanes of a group with a row of a row-major X.
pub const VECTOR_ACCUMULATORS: usize = 32;

/// Bytes of a row that an accumulator takes in one turn: one load.
pub const LOAD_BYTES: usize = 16;

/// Short rows that a thread loads before it adds: those of at most one vector for each of its threads.
pub const SHORT_ROWS: usize = 8;

/// Longer rows that a group of threads adds together if there are many, so that it loads v once for all of them.
pub const ROWS_OF_GROUP: usize = 4;

/// Rows of 8-bit elements that a group of threads adds together.
pub const BYTE_ROWS: usize = 2;

/// The longest row of one part, in rounds of all accumulators.
const ONE_PART: usize = 4;

/// The most parts of a row whose parts are shorter than [`ROUNDS`].
const FEW_PARTS: usize = 8;

/// Rounds of a part of a row with more parts, up to [`MOST_PARTS`].
const ROUNDS: usize = 8;

/// The most parts of a row.
const MOST_PARTS: usize = 1024;

/// The split of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorPlan {
    /// Rounds of a part, in which each accumulator takes 16 bytes: a power of two.
    pub rounds: usize,
    /// Elements of a part, a power of two. The last part may have fewer.
    pub part: usize,
    /// Parts, at least one.
    pub parts: usize,
}

impl VectorPlan {
    /// The split of a row of `k` elements, with `vector` elements in 16 bytes.
    #[inline(always)]
    #[must_use]
    pub const fn new(k: usize, vector: usize) -> Self {
        let round = VECTOR_ACCUMULATORS * vector;
        let all = k.div_ceil(round);
        let rounds = if all <= ONE_PART {
            ONE_PART
        } else if all <= FEW_PARTS * ROUNDS {
            all.div_ceil(FEW_PARTS).next_power_of_two()
        } else if all <= MOST_PARTS * ROUNDS {
            ROUNDS
        } else {
            all.div_ceil(MOST_PARTS).next_power_of_two()
        };
        let part = rounds * round;
        // A power of two: a shift instead of a division.
        let parts = (k >> part.trailing_zeros()) + !k.is_multiple_of(part) as usize;
        Self {
            rounds,
            part,
            parts: if parts == 0 { 1 } else { parts },
        }
    }
}

/// The sizes of a batch of products y = X v of one shape, as a kernel's parameter, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct VectorShape {
    /// Rows of X, and elements of y.
    pub rows: usize,
    /// Columns of X, and elements of v.
    pub k: usize,
    /// From one row of a row-major X to the next, or from one column of a column-major X.
    pub x_apart: usize,
    /// From one element of v to the next. The elements of an empty v are 1.
    pub v_apart: usize,
    /// Columns of y: 1, or those of the matrix that sums of parts belong to.
    pub y_columns: usize,
    /// From one row of y to the next.
    pub y_apart: usize,
    /// From one X of the batch to the next; 0 if all products share it.
    pub x_stride: usize,
    /// As `x_stride`, for v.
    pub v_stride: usize,
    /// As `x_stride`, for y, which no products share.
    pub y_stride: usize,
    /// Threads of a short row, of at most one round: a power of two up to [`VECTOR_ACCUMULATORS`], with 16 bytes each. 0
    /// for longer rows, which have them all.
    pub lanes: usize,
    /// Parts of a row of a row-major X that a group of threads adds.
    pub parts_of_group: usize,
    /// Rows of a row-major X that a group of threads adds unless it is short: 1, or [`ROWS_OF_GROUP`] with all of their
    /// parts, or [`BYTE_ROWS`] of 8-bit elements.
    pub rows_of_group: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_row_and_are_not_too_many() {
        for vector in [2, 4, 8, 16] {
            let round = VECTOR_ACCUMULATORS * vector;
            for rounds in [1, 4, 5, 8, 9, 64, 65, 8192, 8193, 1 << 20] {
                for k in [rounds * round - 1, rounds * round, rounds * round + 1] {
                    let VectorPlan { part, parts, .. } = VectorPlan::new(k, vector);
                    assert!((parts - 1) * part < k && k <= parts * part, "{k}");
                    assert!(parts <= MOST_PARTS, "{k}: {parts}");
                }
            }
            assert_eq!(VectorPlan::new(0, vector).parts, 1);
        }
    }

    /// The longest path from a product to the sum has at most K roundings: |y' - y| <= gamma_K |X||v|.
    #[test]
    fn no_sum_is_higher_than_a_chain() {
        let height_of = |accumulators: usize| accumulators.next_power_of_two().ilog2() as usize;
        for vector in [2, 4, 8, 16] {
            let ks = (1..40_000).chain([1 << 20, (1 << 24) + 1, 1 << 30]);
            for k in ks {
                let VectorPlan { part, parts, .. } = VectorPlan::new(k, vector);
                let in_part = k.min(part);
                let accumulators = in_part.div_ceil(vector).min(VECTOR_ACCUMULATORS);
                let in_accumulator = in_part.div_ceil(VECTOR_ACCUMULATORS * vector) * vector;
                let over_parts = match parts {
                    1 => 0,
                    _ => {
                        parts.div_ceil(VECTOR_ACCUMULATORS)
                            + height_of(parts.min(VECTOR_ACCUMULATORS))
                    }
                };
                let height = in_accumulator.min(k) + height_of(accumulators) + over_parts;
                assert!(height <= k, "{height} for {k} of {vector}");
            }
        }
    }
}
