//! Constant memory: the lanes of a warp read one address, or one each.
//!
//! ```text
//! `rounds` times: sum += TABLE[(lane * lane_step + round) mod 1024]
//! ```
//!
//! Step: `lane_step` is 0, then odd. The host sets the table before the launch.
//!
//! Prediction: the constant cache serves one address to all lanes at once, and serialises 32
//! addresses.

use cuda_std::prelude::*;

/// Elements of [`TABLE`].
pub const TABLE_ELEMENTS: usize = 1024;

constant_array! {
    /// The summands, set by the host.
    pub static TABLE: [u32; TABLE_ELEMENTS] = [0; TABLE_ELEMENTS];
}

/// Reads [`TABLE`] `rounds` times, in lanes `lane_step` elements apart, and writes each thread's
/// sum to `y`.
#[kernel(max_threads = 256)]
pub fn memory_constant(lane_step: u32, rounds: u32, y: GlobalMut<u32>) {
    let first = (thread::thread_idx_x() % 32).wrapping_mul(lane_step);
    let mut sum = 0_u32;
    for round in 0..rounds {
        let index = first.wrapping_add(round) as usize % TABLE_ELEMENTS;
        // SAFETY: the index is a remainder below the length.
        sum = sum.wrapping_add(unsafe { TABLE.load(index) });
    }
    if let Some(y) = y.own(thread::unique_index()) {
        y.set(sum);
    }
}
