//! The host's part of a reduction over several devices: it combines partial results in the kernels' tree.

use cuda_std::Pod;
use std::array;
use tilewright_kernels::reduce::{BLOCK_THREADS, Reduction};

/// Threads among which the last block distributes the partial results.
const THREADS: usize = BLOCK_THREADS as usize;

/// The value of an array of `elements` elements, from the partial results of all its blocks.
///
/// It combines them with the kernels' functions, in the order in which the last block of a launch does.
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
