//! Matrix products on the tensor cores of compute capability 9.0: C = A B, A is M x K, B is K x N, C is
//! M x N and row-major.
//!
//! An entry's name ends in the layouts of A and B, as those of [`matmul`](crate::matmul) do.
//!
//! | part | place |
//! |---|---|
//! | products of warpgroups, which images for other architectures do not have | `warpgroup/` |
//! | f32 matrices split into halves | `split/` |
//!
//! A tensor core adds the products of one instruction and the accumulator exactly, but for what lies
//! more than 25 bits below the largest of them, and rounds toward zero (`docs/tensor_cores.md`). So an
//! output's bits depend on K and the type alone, and not on the shape, the tile or the layout. Sums of
//! integers are exact, and wrap around.

pub(crate) mod split;
#[cfg(any(not(target_arch = "nvptx64"), cuda_arch_at_least = "90a"))]
mod warpgroup;

pub use split::*;
#[cfg(any(not(target_arch = "nvptx64"), cuda_arch_at_least = "90a"))]
pub use warpgroup::*;
