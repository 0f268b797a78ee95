//! How a line is split, and so the order in which its products are added.
//!
//! ```text
//! a part:   products belong to 32 accumulators, 16 bytes of the line at a time, in turns;
//!           an accumulator takes its products in order, each by a fused multiply-add, from +0 on
//!           the accumulators are added as neighbours, then as neighbours of pairs, and so on
//! a line:   part p belongs to accumulator p mod 32; an accumulator takes its parts in order
//!           the 32 accumulators are added the same way
//! ```
//!
//! The split depends on the number and the size of a line's elements alone: not on the other lines, on
//! the order of the matrix, or on which threads compute it.

use bytemuck::{Pod, Zeroable};

/// Threads of a block.
pub const VECTOR_THREADS: u32 = 256;

/// Threads of a line that is contiguous, and sequences in which products, and parts, are added.
pub const VECTOR_STRANDS: usize = 32;

/// Bytes of a line that an accumulator takes at once.
pub const STRAND_BYTES: usize = 16;

/// Lines that a thread loads at once where a line has one vector for each of its threads.
pub const SHORT_LINES: usize = 8;

/// Longer lines that a group of threads adds at the same time where there are many, so that it loads v once for
/// all of them.
pub const LINES_OF_GROUP: usize = 4;

/// Lines of elements of 8 bits that a group of threads adds at the same time.
pub const LINES_OF_BYTES: usize = 2;

/// The longest line of one part, in rounds of all accumulators.
const ONE_PART: usize = 4;

/// Parts that a line is worth if they are short, and the rounds of one that is not.
const FEW_PARTS: usize = 8;
const ROUNDS: usize = 8;

/// The most parts of a line.
const MOST_PARTS: usize = 1024;

/// The split of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorPlan {
    /// Rounds of a part, in which each accumulator takes 16 bytes: a power of two.
    pub rounds: usize,
    /// Elements of a part, but for the last: a power of two.
    pub part: usize,
    /// Parts, one at least.
    pub parts: usize,
}

impl VectorPlan {
    /// The split of a line of `k` elements, of which 16 bytes are `vector`.
    #[inline(always)]
    #[must_use]
    pub const fn new(k: usize, vector: usize) -> Self {
        let round = VECTOR_STRANDS * vector;
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
    /// Lines of X, and elements of y.
    pub lines: usize,
    /// Elements of a line, and of v.
    pub k: usize,
    /// From one line to the next where lines are contiguous, from one element of a line to the next where
    /// they are not.
    pub x_apart: usize,
    /// From each element of v to the next. Where v is empty its elements are 1.
    pub v_apart: usize,
    /// Elements of y that lie one after another, a row: 1, or those of a matrix whose elements are summed.
    pub columns: usize,
    /// From each row of y to the next.
    pub y_apart: usize,
    /// From each X of the batch to the next; 0 where all products share it.
    pub x_stride: usize,
    /// As `x_stride`, for v.
    pub v_stride: usize,
    /// As `x_stride`, for y, which no products share.
    pub y_stride: usize,
    /// Threads of a contiguous line of at most one round: a power of two up to [`VECTOR_STRANDS`], of
    /// which each takes 16 bytes; 0 for longer ones, which take all.
    pub lanes: usize,
    /// Parts of a contiguous line that a group of threads adds.
    pub parts_of_group: usize,
    /// Contiguous lines that a group of threads adds where `lanes` is 0: 1, or [`LINES_OF_GROUP`], all parts of
    /// them; [`LINES_OF_BYTES`] of elements of 8 bits.
    pub lines_of_group: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_line_and_are_not_too_many() {
        for vector in [2, 4, 8, 16] {
            let round = VECTOR_STRANDS * vector;
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
        let height_of = |strands: usize| strands.next_power_of_two().ilog2() as usize;
        for vector in [2, 4, 8, 16] {
            let ks = (1..40_000).chain([1 << 20, (1 << 24) + 1, 1 << 30]);
            for k in ks {
                let VectorPlan { part, parts, .. } = VectorPlan::new(k, vector);
                let in_part = k.min(part);
                let strands = in_part.div_ceil(vector).min(VECTOR_STRANDS);
                let in_strand = in_part.div_ceil(VECTOR_STRANDS * vector) * vector;
                let over_parts = match parts {
                    1 => 0,
                    _ => parts.div_ceil(VECTOR_STRANDS) + height_of(parts.min(VECTOR_STRANDS)),
                };
                let height = in_strand.min(k) + height_of(strands) + over_parts;
                assert!(height <= k, "{height} for {k} of {vector}");
            }
        }
    }
}
