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

/// What a crate with operations of its own names: [`Reduction`] is implemented for a type, and
/// [`reduction_kernels!`](crate::reduction_kernels) makes the kernels.
///
/// ```
/// use tilewright_kernels::reduce::own::*;
///
/// /// The bits that all elements have; all of them without elements.
/// pub struct CommonBits;
///
/// impl Reduction<u32> for CommonBits {
///     type Accumulator = u32;
///     type Output = u32;
///     const IDENTITY: u32 = u32::MAX;
///
///     fn lift(element: u32, _index: usize) -> u32 {
///         element
///     }
///
///     fn combine(left: u32, right: u32) -> u32 {
///         left & right
///     }
///
///     fn finish(total: u32, _elements: usize) -> u32 {
///         total
///     }
/// }
///
/// tilewright_kernels::reduction_kernels! {
///     common_bits_u32: CommonBits of u32;
/// }
/// ```
pub mod own {
    pub use super::operation::Reduction;
    pub use super::plan::{BLOCK_THREADS, Plan};
    #[doc(hidden)]
    pub use super::reduction::{Workspace, reduce_grid, reduce_thread_anywhere};
    #[doc(no_inline)]
    pub use cuda_std::block;
    #[doc(no_inline)]
    pub use cuda_std::prelude::*;
}
