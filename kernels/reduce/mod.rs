//! Reductions of arrays.
//!
//! | part | file |
//! |---|---|
//! | the trait of operations, the operations, and tuples of them | `operation.rs`, `operations/`, `tuple.rs` |
//! | a table with a line for each kernel | `table.rs` |
//! | the kernels of whole arrays, and custom ones | `entries.rs`, `custom.rs` |
//! | the reduction of an array, and the index of an extreme | `reduction.rs`, `places.rs` |
//! | the split of an array, which determines the tree | `plan.rs` |
//! | the input, and the search for the last block | `elements.rs`, `ticket.rs` |
//! | the rows or columns of a matrix | `lines/` |
//! | exact sums | `reproducible/` |

#[macro_use]
mod table;

mod custom;
mod elements;
#[cfg(feature = "entries")]
mod entries;
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
mod tuple;

#[doc(hidden)]
pub use custom::lanes_of;
#[cfg(not(target_arch = "nvptx64"))]
pub use custom::{LineReductionKernel, ReductionKernel, SegmentReductionKernel};
#[cfg(feature = "entries")]
pub use entries::*;
pub use operation::Reduction;
#[cfg(feature = "entries")]
pub(crate) use operations::rank_for_max;
pub use operations::*;
pub use plan::{BLOCK_THREADS, MAX_BLOCKS, Plan, VECTORS_IN_FLIGHT};
#[doc(hidden)]
pub use reduction::reduce_array;
#[cfg(feature = "entries")]
pub(crate) use ticket::takes_last_ticket;
pub use tuple::{Values2, Values3, Values4};
