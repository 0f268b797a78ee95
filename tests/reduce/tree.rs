//! How values are combined, without the operation that combines them: the models of trees are compiled once for each
//! type of accumulators.

use bytemuck::Pod;
use tilewright_kernels::reduce::Reduction;

/// The combination of accumulators `A`.
#[derive(Clone, Copy)]
pub struct Tree<A> {
    pub identity: A,
    combine: fn(A, A) -> A,
}

impl<A: Copy> Tree<A> {
    /// That of `R` for elements `T`.
    pub fn of<R: Reduction<T, Accumulator = A>, T: Pod>() -> Self {
        Self {
            identity: R::IDENTITY,
            combine: R::combine,
        }
    }

    pub fn combine(&self, left: A, right: A) -> A {
        (self.combine)(left, right)
    }

    /// Neighbours, then neighbours of pairs, and so on.
    pub fn neighbours(&self, mut values: Vec<A>) -> A {
        let mut count = values.len();
        assert!(count.is_power_of_two());
        while count > 1 {
            for pair in 0..count / 2 {
                values[pair] = self.combine(values[2 * pair], values[2 * pair + 1]);
            }
            count /= 2;
        }
        values[0]
    }
}

/// The elements as accumulators.
pub fn lifted<R: Reduction<T>, T: Pod>(elements: &[T]) -> Vec<R::Accumulator> {
    let mut lifted = Vec::with_capacity(elements.len());
    for (index, element) in elements.iter().enumerate() {
        lifted.push(R::lift(*element, index));
    }
    lifted
}
