//! The lanes of a warp of the coarsened kernels.

/// Lanes of a warp down its outputs, along, and in all.
pub const LANES_DOWN: usize = 4;
pub const LANES_ALONG: usize = 8;
pub const LANES: usize = LANES_DOWN * LANES_ALONG;
