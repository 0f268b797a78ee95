//! Registers and local memory: an array of each thread.
//!
//! ```text
//! state = 16 numbers made of x[thread]
//! `rounds` times, for each k of 0 .. 16:
//!     i = k                                          (register array)
//!     i = (k * step + first) mod 16, at run time     (selected array, local array)
//!     sum = 5 sum + state[i]; state[i] = sum
//! y[thread] = sum
//! ```
//!
//! Step: registers have no addresses. Where every index is a constant after unrolling, the array
//! is 16 registers. An index that is known at run time alone either selects among all of them, or
//! sends the array to local memory: a part of global memory, behind L1, that `ptxas` reports as a
//! stack frame. The local array here is the one kernel of the crate that is meant to have one.
//!
//! Prediction: with indices that are equal in all lanes, local memory serves a warp with one line
//! of L1, so a round costs two accesses of L1 for each element; selection costs 16 comparisons and
//! twice as many selections. Constant indices cost the multiplication alone.

use cuda_std::prelude::*;

/// Elements of the array of each thread.
pub const ARRAY_ELEMENTS: usize = 16;

/// The array at its beginning.
#[inline(always)]
fn beginning(x: u32) -> [u32; ARRAY_ELEMENTS] {
    let mut state = [0; ARRAY_ELEMENTS];
    for (k, element) in state.iter_mut().enumerate() {
        *element = x.wrapping_add(k as u32);
    }
    state
}

/// The next sum, which also replaces the element.
#[inline(always)]
fn next(sum: u32, element: u32) -> u32 {
    sum.wrapping_mul(5).wrapping_add(element)
}

/// `rounds` rounds with indices that are constants.
#[kernel(max_threads = 256)]
pub fn memory_register_array(rounds: u32, x: Global<u32>, y: GlobalMut<u32>) {
    let own = thread::unique_index();
    if let (Some(x), Some(y)) = (x.get(own.get()), y.own(own)) {
        let mut state = beginning(x);
        let mut sum = 0;
        for _ in 0..rounds {
            for element in &mut state {
                sum = next(sum, *element);
                *element = sum;
            }
        }
        y.set(sum);
    }
}

/// `rounds` rounds with indices from `first` on, `step` apart, that select among all elements.
#[kernel(max_threads = 256)]
pub fn memory_selected_array(
    rounds: u32,
    first: u32,
    step: u32,
    x: Global<u32>,
    y: GlobalMut<u32>,
) {
    let own = thread::unique_index();
    if let (Some(x), Some(y)) = (x.get(own.get()), y.own(own)) {
        let mut state = beginning(x);
        let mut sum = 0;
        for _ in 0..rounds {
            let mut index = first;
            for _ in 0..ARRAY_ELEMENTS {
                let chosen = index as usize % ARRAY_ELEMENTS;
                let mut element = state[0];
                for (k, candidate) in state.iter().enumerate() {
                    element = if k == chosen { *candidate } else { element };
                }
                sum = next(sum, element);
                for (k, candidate) in state.iter_mut().enumerate() {
                    *candidate = if k == chosen { sum } else { *candidate };
                }
                index = index.wrapping_add(step);
            }
        }
        y.set(sum);
    }
}

/// `rounds` rounds with indices from `first` on, `step` apart, that are addresses.
#[kernel(max_threads = 256)]
pub fn memory_local_array(rounds: u32, first: u32, step: u32, x: Global<u32>, y: GlobalMut<u32>) {
    let own = thread::unique_index();
    if let (Some(x), Some(y)) = (x.get(own.get()), y.own(own)) {
        let mut state = beginning(x);
        let mut sum = 0;
        for _ in 0..rounds {
            let mut index = first;
            for _ in 0..ARRAY_ELEMENTS {
                let element = &mut state[index as usize % ARRAY_ELEMENTS];
                sum = next(sum, *element);
                *element = sum;
                index = index.wrapping_add(step);
            }
        }
        y.set(sum);
    }
}
