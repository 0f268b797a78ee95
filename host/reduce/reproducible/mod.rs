//! Sums whose bits depend on the elements alone.
//!
//! `element.rs` has the types and their kernels, `state.rs` the sum on the host, `launch.rs` that of
//! buffers.

mod element;
mod launch;
mod state;

pub use element::ReproducibleElement;
pub use launch::reduce_sum_reproducible;
pub use state::ReproducibleSum;
