//! Warp divergence, a branch within the warp: half of the lanes take each path.
//!
//! ```text
//! if lane < half a warp: grow
//! else: wander
//! ```
//!
//! The lanes of a warp share its instructions: while one half executes its path, the other waits,
//! so the warp takes the time of both paths.

use super::paths::{grow, wander};
use cuda_std::prelude::*;

/// Writes the result of each element's path. Elements past the end of `x` or `y` are skipped.
#[kernel(max_threads = 1024)]
pub fn divergence_half_warp(x: Global<f32>, y: GlobalMut<f32>) {
    let index = thread::unique_index();
    if let (Some(value), Some(result)) = (x.get(index.get()), y.own(index)) {
        if warp::lane() < warp::width() / 2 {
            result.set(grow(value));
        } else {
            result.set(wander(value));
        }
    }
}
