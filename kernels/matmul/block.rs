//! How the coarsened kernels arrange a warp's lanes over its outputs.

/// Lanes down a column of a warp's outputs, lanes along a row, and all of them.
pub const LANES_DOWN: usize = 4;
pub const LANES_ALONG: usize = 8;
pub const LANES: usize = LANES_DOWN * LANES_ALONG;
