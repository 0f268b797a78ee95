//! Warp divergence: the cost of a branch that the lanes of a warp take differently (NVIDIA, CUDA
//! C++ Programming Guide, "SIMT Architecture").
//!
//! Both steps compute the same results: in each group of as many elements as a warp has lanes, the
//! first half takes one path, the second half the other. The steps differ in the assignment of
//! elements to threads.

mod by_warp;
mod half_warp;
mod paths;

pub use by_warp::divergence_by_warp;
pub use half_warp::divergence_half_warp;
pub use paths::ROUNDS;
