//! Outputs of a warpgroup that are computed from sums one after the other.

use super::schedule::TilePlace;
use super::shape::TensorShape;
use crate::finish::{
    CMatrices, COLUMNS, Finish, FromSum, OF_LANE, Output, ROWS, STAGING_LEN, StagingBuffer,
};
use cuda_std::global::GlobalMut;
use cuda_std::warpgroup;

/// Warps of a warpgroup.
pub const WARPS: usize = warpgroup::THREADS as usize / 32;

/// Elements of the staging buffers for the sums of `warpgroups` warpgroups.
pub const fn staging_len(warpgroups: usize) -> usize {
    WARPS * warpgroups * STAGING_LEN
}

/// The number of the calling thread's warp in its warpgroup.
#[inline(always)]
pub fn warp() -> u32 {
    warpgroup::thread_rank() / 32
}

/// The number of the calling thread's warp, in warpgroup number `number` of those that have a staging buffer.
#[inline(always)]
pub fn warp_of_group(number: u32) -> u32 {
    WARPS as u32 * number + warp()
}

impl<'launch, T: Output> CMatrices<'launch, T> {
    /// The matrices C of `shape`.
    #[inline(always)]
    pub fn of_shape(elements: GlobalMut<'launch, T>, shape: &TensorShape) -> Self {
        let extents = (shape.m as usize, shape.n as usize);
        Self::new(elements, extents, shape.ldc, shape.c_stride)
    }

    /// Writes what `finish` makes of the calling warpgroup's sums of the tile at `place`.
    ///
    /// # Safety
    /// 1. All threads of the warpgroup make the call, each warp with a staging buffer that no other thread
    ///    accesses.
    /// 2. No other warpgroup of the launch accesses these outputs.
    #[inline(always)]
    pub unsafe fn store<S: Copy, const COUNT: usize, const LEN: usize>(
        self,
        sums: &[S; COUNT],
        place: TilePlace,
        room: StagingBuffer<'_, T::Sum, LEN>,
        finish: impl Finish<Sum = T::Sum>,
    ) where
        T::Sum: FromSum<S>,
    {
        let row = place.row as usize + ROWS * warp() as usize;
        let place_of = |part: usize| (row, place.column as usize + part * COLUMNS);
        let sum = |part: usize, i: usize| T::Sum::from_sum(sums[part * OF_LANE + i]);
        let parts = const { COUNT / OF_LANE };
        // SAFETY: (1), (2) are the caller's.
        unsafe { self.store_parts(place.matrix as usize, parts, place_of, sum, room, finish) };
    }
}
