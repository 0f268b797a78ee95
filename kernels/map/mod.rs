//! Element-wise maps of up to four matrices or buffers by functions that other crates define.
//!
//! ```text
//! each thread:  load its vectors of every operand; map each element; store the vectors
//! ```
//!
//! A matrix of one row, one column or one element is repeated. `body.rs` has the map, `custom.rs` the macro and what
//! the host needs.

mod body;
mod custom;

#[doc(hidden)]
pub use body::{map_elements, slots_of};
#[cfg(not(target_arch = "nvptx64"))]
pub use custom::{MapKernel, MapParams, RowMapKernel, RowMapParams, scratch_bytes};

use bytemuck::{Pod, Zeroable};

/// Operands of a map, at most.
pub const MOST_OPERANDS: usize = 4;

/// Threads per block.
pub const MAP_THREADS: u32 = 256;

/// A function of elements at the same place of `OPERANDS` matrices or buffers, one to four.
///
/// It waits at no barrier and calls no collective.
pub trait Map<T: Pod, const OPERANDS: usize> {
    /// The type of the result.
    type Output: Pod;

    /// The result for the elements at one place. `index` counts the results from 0, row after row.
    #[must_use]
    fn map(elements: [T; OPERANDS], index: usize) -> Self::Output;
}

/// The kernels' parameter for the matrices of a map. A buffer is one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct MapShape {
    /// Rows of the results.
    pub rows: usize,
    /// Columns of the results.
    pub cols: usize,
    /// Elements from one row of the results to the next.
    pub apart: usize,
    /// Elements from one row of each operand to the next, and from one column to the next: 0 where it is repeated.
    pub strides: [[usize; 2]; MOST_OPERANDS],
    /// 1 if rows consist of whole vectors at multiples of 16 bytes in all operands with contiguous columns, and in the
    /// results; then other operands are repeated along columns. Otherwise 0.
    pub has_vectors: usize,
}
