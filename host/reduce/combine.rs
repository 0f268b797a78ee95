//! How the host puts the partial results of several devices together, in the tree of the kernels.

use cuda_std::Pod;
use std::array;
use tilewright_kernels::reduce::{BLOCK_THREADS, Reduction};

/// Threads that the last block's partial results are dealt out to.
const THREADS: usize = BLOCK_THREADS as usize;

/// The value of an array of `elements` elements from the partial results of all of its blocks, in the order
/// in which the last block of a launch combines them, by the functions that it calls.
pub fn value_of<R: Reduction<T>, T: Pod>(
    partials: &[R::Accumulator],
    elements: usize,
) -> R::Output {
    let mut of_threads: [R::Accumulator; THREADS] = array::from_fn(|thread| {
        let own = partials.iter().skip(thread).step_by(THREADS);
        own.fold(R::IDENTITY, |total, partial| R::combine(total, *partial))
    });
    let mut distance = 1;
    while distance < THREADS {
        for thread in (0..THREADS).step_by(2 * distance) {
            of_threads[thread] = R::combine(of_threads[thread], of_threads[thread + distance]);
        }
        distance *= 2;
    }
    R::finish(of_threads[0], elements)
}
