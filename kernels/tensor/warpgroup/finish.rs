//! Epilogues of a warpgroup's sums, and their staging buffers.

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

/// The number of the calling thread's staging buffer: those of a warpgroup's warps follow one another.
///
/// The calling warpgroup is number `number` of those that multiply.
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

    /// Applies `finish` to the calling warpgroup's sums of the tile at `place`, and writes the outputs.
    ///
    /// # Safety
    /// 1. All threads of the warpgroup make the call. No other warp accesses a warp's staging buffer.
    /// 2. C has matrix number `place.result`, and no other warpgroup of the launch accesses these outputs.
    #[inline(always)]
    pub unsafe fn store<S: Copy, const COUNT: usize, const LEN: usize>(
        self,
        sums: &[S; COUNT],
        place: TilePlace,
        buffer: StagingBuffer<'_, T::Sum, LEN>,
        finish: impl Finish<Sum = T::Sum>,
    ) where
        T::Sum: FromSum<S>,
    {
        let row = place.row as usize + ROWS * warp() as usize;
        let place_of = |part: usize| (row, place.column as usize + part * COLUMNS);
        let sum = |part: usize, i: usize| T::Sum::from_sum(sums[part * OF_LANE + i]);
        let parts = const { COUNT / OF_LANE };
        let c = self.above(place.end as usize);
        // SAFETY: all lanes call it, each warp has its own staging buffer, C has the matrix, and no other warpgroup
        // accesses the outputs: the caller's contract. The warps of a warpgroup have different rows.
        unsafe { c.store_parts(place.result as usize, parts, place_of, sum, buffer, finish) };
    }
}
