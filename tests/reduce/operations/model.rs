//! The tree of whole-buffer reductions on the host, one step after another: what gives the bits.

use tilewright_kernels::reduce::{BLOCK_THREADS, Plan, Reduction, VECTORS_IN_FLIGHT};

const THREADS: usize = BLOCK_THREADS as usize;

/// The value of `elements`, as a launch combines them.
pub fn value<R: Reduction<T>, T: bytemuck::Pod>(elements: &[T], element_bytes: usize) -> R::Output {
    let plan = Plan::new(elements.len(), element_bytes);
    let lanes = 16 / element_bytes;
    let blocks = plan.blocks.max(1) as usize;
    let of_blocks: Vec<_> = (0..blocks)
        .map(|block| {
            let of_threads =
                (0..THREADS).map(|thread| of_thread::<R, T>(elements, &plan, lanes, block, thread));
            over_block::<R, T>(of_threads.collect())
        })
        .collect();
    if blocks == 1 {
        return R::finish(of_blocks[0], elements.len());
    }
    let of_threads = (0..THREADS).map(|thread| {
        let own = of_blocks.iter().skip(thread).step_by(THREADS);
        own.fold(R::IDENTITY, |total, partial| R::combine(total, *partial))
    });
    R::finish(over_block::<R, T>(of_threads.collect()), elements.len())
}

/// What a thread has of the tiles of its block.
fn of_thread<R: Reduction<T>, T: bytemuck::Pod>(
    elements: &[T],
    plan: &Plan,
    lanes: usize,
    block: usize,
    thread: usize,
) -> R::Accumulator {
    let tiles = elements.len().div_ceil(plan.tile);
    let mut totals = [R::IDENTITY; VECTORS_IN_FLIGHT];
    for tile in (block..tiles).step_by(plan.blocks.max(1) as usize) {
        for (vector, total) in totals.iter_mut().enumerate() {
            let start = tile * plan.tile + (vector * THREADS + thread) * lanes;
            let lifted = (start..start + lanes).map(|index| {
                let element = elements.get(index);
                element.map_or(R::IDENTITY, |element| R::lift(*element, index))
            });
            *total = R::combine(*total, by_halves::<R, T>(lifted.collect()));
        }
    }
    let [first, second, third, fourth] = totals;
    R::combine(R::combine(first, second), R::combine(third, fourth))
}

fn by_halves<R: Reduction<T>, T: bytemuck::Pod>(mut values: Vec<R::Accumulator>) -> R::Accumulator {
    while values.len() > 1 {
        let half = values.len() / 2;
        values = (0..half)
            .map(|lane| R::combine(values[lane], values[lane + half]))
            .collect();
    }
    values[0]
}

/// Neighbours, then pairs, and so on; then the lanes of the first warp that have no warp's value.
fn over_block<R: Reduction<T>, T: bytemuck::Pod>(
    mut values: Vec<R::Accumulator>,
) -> R::Accumulator {
    while values.len() > 1 {
        values = values
            .chunks(2)
            .map(|pair| R::combine(pair[0], pair[1]))
            .collect();
    }
    R::combine(values[0], R::IDENTITY)
}
