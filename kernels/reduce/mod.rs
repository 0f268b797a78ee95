//! Reductions of all elements of an array to one value.
//!
//! `operation.rs` says what an operation is, and what sums are; `table.rs` has a line for each
//! kernel; `reduction.rs` is the kernel; `plan.rs` how the work is split, and so the tree.

#[macro_use]
mod table;

mod operation;
mod plan;
mod reduction;

pub use operation::*;
pub use plan::{BLOCK_THREADS, MAX_BLOCKS, Plan, VECTORS_IN_FLIGHT};
pub use reduction::*;
