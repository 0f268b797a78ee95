//! A model of the tree of whole-buffer reductions on the host, step by step, for the expected bits.

use crate::tree::{Tree, lifted};
use tilewright_kernels::reduce::{BLOCK_THREADS, Plan, Reduction, VECTORS_IN_FLIGHT};

const THREADS: usize = BLOCK_THREADS as usize;

/// The value of `elements`, as a launch combines them.
pub fn value<R: Reduction<T>, T: bytemuck::Pod>(elements: &[T], element_bytes: usize) -> R::Output {
    let tree = Tree::of::<R, T>();
    let total = tree.over_buffer(&lifted::<R, T>(elements), element_bytes);
    R::finish(total, elements.len())
}

impl<A: Copy> Tree<A> {
    fn over_buffer(&self, lifted: &[A], element_bytes: usize) -> A {
        let plan = Plan::new(lifted.len(), element_bytes);
        let lanes = 16 / element_bytes;
        let blocks = plan.blocks.max(1) as usize;
        let mut of_blocks = Vec::new();
        for block in 0..blocks {
            let of_threads =
                (0..THREADS).map(|thread| self.of_thread(lifted, &plan, lanes, block, thread));
            of_blocks.push(self.over_block(of_threads.collect()));
        }
        if blocks == 1 {
            return of_blocks[0];
        }
        let mut of_threads = vec![self.identity; THREADS];
        for (block, partial) in of_blocks.into_iter().enumerate() {
            let total = &mut of_threads[block % THREADS];
            *total = self.combine(*total, partial);
        }
        self.over_block(of_threads)
    }

    /// A thread's share of the tiles of its block.
    fn of_thread(&self, lifted: &[A], plan: &Plan, lanes: usize, block: usize, thread: usize) -> A {
        let tiles = lifted.len().div_ceil(plan.tile);
        let mut totals = [self.identity; VECTORS_IN_FLIGHT];
        for tile in (block..tiles).step_by(plan.blocks.max(1) as usize) {
            for (vector, total) in totals.iter_mut().enumerate() {
                let start = tile * plan.tile + (vector * THREADS + thread) * lanes;
                let lanes = (start..start + lanes)
                    .map(|index| lifted.get(index).copied().unwrap_or(self.identity));
                *total = self.combine(*total, self.by_halves(lanes.collect()));
            }
        }
        let [first, second, third, fourth] = totals;
        self.combine(self.combine(first, second), self.combine(third, fourth))
    }

    fn by_halves(&self, mut values: Vec<A>) -> A {
        let mut count = values.len();
        assert!(count.is_power_of_two());
        while count > 1 {
            count /= 2;
            for lane in 0..count {
                values[lane] = self.combine(values[lane], values[lane + count]);
            }
        }
        values[0]
    }

    /// Neighbours, then pairs, and so on; then the lanes of the first warp that have no warp's value.
    fn over_block(&self, values: Vec<A>) -> A {
        self.combine(self.neighbours(values), self.identity)
    }
}
