//! The order in which the products of a row or a column with a vector are added.

use crate::epilogues::Sum;

/// Accumulators of a part, and of the parts of a row or a column.
const ACCUMULATORS: usize = 32;

/// The values added as neighbours, then as neighbouring pairs, and so on.
fn add_neighbours<S: Sum>(mut values: Vec<S>) -> S {
    while values.len() > 1 {
        values = values.chunks(2).map(|it| it[0].plus(it[1])).collect();
    }
    values[0]
}

/// The sum of products in the order of `docs/products.md`, with `vector` elements in 16 bytes.
pub fn in_stated_order<S: Sum>(terms: &[(S, S)], vector: usize) -> S {
    let zeros = || vec![S::of(0.0); ACCUMULATORS];
    let round = ACCUMULATORS * vector;
    let all = terms.len().div_ceil(round);
    let rounds = match all {
        0..=4 => 4,
        5..=64 => all.div_ceil(8).next_power_of_two(),
        65..=8192 => 8,
        _ => all.div_ceil(1024).next_power_of_two(),
    };
    let parts = terms.chunks(rounds * round).map(|part| {
        let mut accumulators = zeros();
        for (index, &(left, right)) in part.iter().enumerate() {
            let accumulator = &mut accumulators[index / vector % ACCUMULATORS];
            *accumulator = left.mul_add(right, *accumulator);
        }
        add_neighbours(accumulators)
    });
    let mut accumulators = zeros();
    for (part, sum) in parts.enumerate() {
        let accumulator = &mut accumulators[part % ACCUMULATORS];
        *accumulator = accumulator.plus(sum);
    }
    add_neighbours(accumulators).plus(S::of(0.0))
}
