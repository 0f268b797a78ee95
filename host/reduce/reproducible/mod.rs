//! Sums whose bits depend on the elements alone.
//!
//! - `element.rs`: the types and their kernels.
//! - `state.rs`: the sum on the host.
//! - `launch.rs`: sums of buffers.

mod element;
mod launch;
mod state;

pub use element::ReproducibleElement;
pub use launch::reduce_sum_reproducible;
pub use state::ReproducibleSum;
