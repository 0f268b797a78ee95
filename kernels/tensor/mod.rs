//! Matrix products on the tensor cores of compute capability 9.0.
//!
//! C = A B, where A is M x K, B is K x N, and C is M x N and row-major. An entry's name ends in the layouts of A and B,
//! like those of [`matmul`](crate::matmul).
//!
//! | part | place |
//! |---|---|
//! | products by warpgroups, only in images for compute capability 9.0 | `warpgroup/` |
//! | f32 matrices split into high and low halves | `split/` |
//!
//! A tensor core adds the products of one instruction to the accumulator exactly, except for bits more than 25 below
//! the largest summand, and rounds toward zero (`docs/tensor_cores.md`). So an output's bits depend on K and the type
//! alone, not on the shape, the tile or the layout. Integer sums are exact, and wrap around.

#[cfg(feature = "entries")]
pub(crate) mod split;
#[cfg(any(not(target_arch = "nvptx64"), cuda_arch_at_least = "90a"))]
mod warpgroup;

#[cfg(feature = "entries")]
pub use split::*;
#[cfg(any(not(target_arch = "nvptx64"), cuda_arch_at_least = "90a"))]
pub use warpgroup::*;
