//! The place of a simulated thread in its launch.

use super::dim::Dim3;

/// The indices and extents of a simulated thread in its launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Position {
    /// The thread's index in its block.
    pub thread_idx: Dim3,
    /// The block's index in the grid.
    pub block_idx: Dim3,
    /// The extent of a block, in threads.
    pub block_dim: Dim3,
    /// The extent of the grid, in blocks.
    pub grid_dim: Dim3,
    /// The thread's index in its warp.
    pub lane: u32,
    /// The warp's index in its block.
    pub warp: u32,
    /// How many lanes a full warp has.
    pub warp_width: u32,
}

impl Position {
    /// The position of thread number `thread` of block (0, 0, 0).
    pub(crate) fn in_first_block(
        grid_dim: Dim3,
        block_dim: Dim3,
        warp_width: u32,
        thread: u32,
    ) -> Self {
        Self {
            thread_idx: block_dim.index_of(u64::from(thread)),
            block_idx: Dim3::new(0, 0, 0),
            block_dim,
            grid_dim,
            lane: thread % warp_width,
            warp: thread / warp_width,
            warp_width,
        }
    }

    /// The thread's number in its block.
    #[inline]
    pub(crate) fn thread(&self) -> u32 {
        self.warp * self.warp_width + self.lane
    }

    /// The thread's bit in the masks of its warp.
    #[inline]
    pub(crate) fn lane_bit(&self) -> u64 {
        1 << self.lane
    }
}
