//! The threads of a coarsened kernel's block, and the stages of its tiles.

/// Warps of a block down its outputs, and along.
pub const WARPS_DOWN: usize = 4;
pub const WARPS_ALONG: usize = 2;

/// Lanes of a warp down its outputs, along, and in all.
pub const LANES_DOWN: usize = 4;
pub const LANES_ALONG: usize = 8;
pub const LANES: usize = LANES_DOWN * LANES_ALONG;

/// Threads of a block down its outputs, along, and in all.
pub const THREADS_DOWN: usize = WARPS_DOWN * LANES_DOWN;
pub const THREADS_ALONG: usize = WARPS_ALONG * LANES_ALONG;
pub const THREADS: usize = THREADS_DOWN * THREADS_ALONG;

/// Tiles of each operand in shared memory: the one that is read, and the one that is filled.
pub const STAGES: usize = 2;
