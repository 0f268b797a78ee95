//! Arrays of the crate `ndarray`, to a device and back.

mod copies;
mod products;
mod reductions;

pub use products::{gram, matmul, matmul_coarsened, matmul_tiled, matvec};
pub use reductions::{reduce_axis, reduce_dot_axis};
