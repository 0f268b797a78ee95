//! Registers and local memory: a per-thread array.
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
//! Step: registers have no addresses. If every index is a constant after unrolling, the array is 16
//! registers. A dynamic index either selects among all of them, or moves the array to local memory:
//! a part of global memory, cached in L1, that `ptxas` reports as a stack frame. Of this crate's
//! kernels, only the local array is meant to have one.
//!
//! Prediction: if all lanes have the same index, local memory serves a warp from one L1 line, so a
//! round costs two L1 accesses for each element. Selection costs 16 comparisons and 32 selections.
//! Constant indices cost only the multiplication.

use cuda_std::prelude::*;

/// Elements of the array of each thread.
pub const ARRAY_ELEMENTS: usize = 16;

/// The initial array.
#[inline(always)]
fn beginning(x: u32) -> [u32; ARRAY_ELEMENTS] {
    let mut state = [0; ARRAY_ELEMENTS];
    for (k, element) in state.iter_mut().enumerate() {
        *element = x.wrapping_add(k as u32);
    }
    state
}

/// The next sum, which replaces the element.
#[inline(always)]
fn next(sum: u32, element: u32) -> u32 {
    sum.wrapping_mul(5).wrapping_add(element)
}

/// `rounds` rounds with constant indices.
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

/// `rounds` rounds with indices from `first`, `step` apart, that select among all elements.
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

/// `rounds` rounds with indices from `first`, `step` apart, used as addresses.
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
