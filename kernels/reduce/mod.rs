//! Reductions of arrays.
//!
//! `operation.rs` says what an operation is, `operations/` has all of them, and `table.rs` a line for
//! each kernel; `reduction.rs` reduces a whole array, `plan.rs` says how that is split, and so the
//! tree; `elements.rs` is what is read; `lines/` reduces the lines of a matrix, and `reproducible/` adds
//! exactly.

#[macro_use]
mod table;

mod elements;
pub mod lines;
mod operation;
mod operations;
mod plan;
mod reduction;
pub mod reproducible;

pub use operation::Reduction;
pub use operations::*;
pub use plan::{BLOCK_THREADS, MAX_BLOCKS, Plan, VECTORS_IN_FLIGHT};
pub use reduction::*;
