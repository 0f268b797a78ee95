//! Divergence: what a branch costs that the lanes of a warp take differently (seed 004, "warp
//! divergence", its figure of a branch that half of the lanes take).
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
