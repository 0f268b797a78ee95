//! Reductions of arrays.
//!
//! `operation.rs` says what an operation is, `operations/` has all of them, and `table.rs` a line for
//! each kernel; `reduction.rs` reduces a whole array, `places.rs` finds the place of an extreme in one,
//! `plan.rs` says how that is split, and so the tree; `elements.rs` is what is read, and `ticket.rs` finds the last block; `entries.rs` has the kernels,
//! and `custom.rs` makes those of others' operations; `lines/` reduces the rows or columns of a matrix, and
//! `reproducible/` adds exactly.

#[macro_use]
mod table;

mod custom;
mod elements;
#[cfg(feature = "entries")]
mod entries;
#[cfg(feature = "entries")]
pub mod lines;
mod operation;
mod operations;
#[cfg(feature = "entries")]
mod places;
mod plan;
mod reduction;
#[cfg(feature = "entries")]
pub mod reproducible;
mod ticket;

#[cfg(not(target_arch = "nvptx64"))]
pub use custom::ReductionKernel;
#[doc(hidden)]
pub use custom::lanes_of;
#[cfg(feature = "entries")]
pub use entries::*;
pub use operation::Reduction;
pub use operations::*;
pub use plan::{BLOCK_THREADS, MAX_BLOCKS, Plan, VECTORS_IN_FLIGHT};
#[doc(hidden)]
pub use reduction::reduce_array;
#[cfg(feature = "entries")]
pub(crate) use ticket::takes_last_ticket;
