//! The order in which the products of a line with a vector are added.

use crate::epilogues::Sum;

/// Accumulators of a part, and of the parts of a line.
const STRANDS: usize = 32;

/// Values that are added as neighbours, then as neighbours of pairs, and so on.
fn add_neighbours<S: Sum>(mut values: Vec<S>) -> S {
    while values.len() > 1 {
        values = values.chunks(2).map(|it| it[0].plus(it[1])).collect();
    }
    values[0]
}

/// The sum of products in the order of `docs/products.md`, for elements of which 16 bytes are `vector`.
pub fn in_stated_order<S: Sum>(terms: &[(S, S)], vector: usize) -> S {
    let zeros = || vec![S::of(0.0); STRANDS];
    let round = STRANDS * vector;
    let all = terms.len().div_ceil(round);
    let rounds = match all {
        0..=4 => 4,
        5..=64 => all.div_ceil(8).next_power_of_two(),
        65..=8192 => 8,
        _ => all.div_ceil(1024).next_power_of_two(),
    };
    let parts = terms.chunks(rounds * round).map(|part| {
        let mut strands = zeros();
        for (index, &(left, right)) in part.iter().enumerate() {
            let strand = &mut strands[index / vector % STRANDS];
            *strand = left.mul_add(right, *strand);
        }
        add_neighbours(strands)
    });
    let mut strands = zeros();
    for (part, sum) in parts.enumerate() {
        let strand = &mut strands[part % STRANDS];
        *strand = strand.plus(sum);
    }
    add_neighbours(strands).plus(S::of(0.0))
}
