//! Warp divergence: the cost of a branch that the lanes of a warp take differently (NVIDIA, CUDA
//! C++ Programming Guide, "SIMT Architecture").
//!
//! Both steps do the same to the same elements: in each group of as many as a warp has lanes, the
//! first half takes one path, the second half the other. They differ in which thread has which
//! element.

mod by_warp;
mod half_warp;
mod paths;

pub use by_warp::divergence_by_warp;
pub use half_warp::divergence_half_warp;
pub use paths::ROUNDS;
