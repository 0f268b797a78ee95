//! Outputs, from registers to global memory.

use super::WARPGROUP_ROWS;
use cuda_std::float::HalfFloat;
use cuda_std::prelude::*;
use cuda_std::shared::SwizzledTile;
use cuda_std::tma::{self, TensorMapMut};
use cuda_std::warpgroup;
use cuda_std::wgmma::{Accumulator, Element};

/// A map of C, 64 columns of a warpgroup's rows at a time.
pub type CMap<'a, T> = GridConstant<'a, TensorMapMut<T, WARPGROUP_ROWS, 64>>;

/// Whether the calling thread is the first one of its warpgroup.
#[inline(always)]
pub fn is_first_of_warpgroup() -> bool {
    warpgroup::thread_rank() == 0
}

/// A warpgroup's way to C: outputs are rounded into a tile in shared memory, which a bulk copy writes
/// to C while the warpgroup goes on.
pub struct TileStore<'a, T: Element, const COLUMNS: usize> {
    /// The warpgroup's own tile.
    pub tile: SwizzledTile<'a, T, WARPGROUP_ROWS, COLUMNS>,
    pub c: CMap<'a, T>,
    /// The number of a barrier that only the warpgroup uses.
    pub barrier: u32,
}

impl<T: Element + HalfFloat, const COLUMNS: usize> TileStore<'_, T, COLUMNS> {
    /// Starts to write the warpgroup's outputs to (`row`, `column`) of C. What lies outside of C is left
    /// out.
    ///
    /// # Safety
    /// 1. All threads of the warpgroup make the call.
    /// 2. No other thread of the launch accesses these outputs.
    #[inline(always)]
    pub unsafe fn store<const COUNT: usize>(
        &self,
        sums: &Accumulator<COUNT>,
        (row, column): (u32, u32),
    ) {
        // The copy of the tile before still reads the memory.
        if is_first_of_warpgroup() {
            tma::wait_read::<0>();
        }
        thread::named_barrier_sync(self.barrier, warpgroup::THREADS);
        // SAFETY: (1) the tile is the warpgroup's, and its copy has been waited for. (2) is (1).
        unsafe { self.fill(sums) };
        tma::fence();
        thread::named_barrier_sync(self.barrier, warpgroup::THREADS);
        if is_first_of_warpgroup() {
            // SAFETY: (1) is (2), and C lives through the launch. (2) The fence and the barrier are
            // above. (3) The next call waits.
            unsafe { self.c.store(self.tile, (row, column)) };
            tma::commit();
        }
    }

    /// Waits until all outputs are written.
    #[inline(always)]
    pub fn finish(&self) {
        if is_first_of_warpgroup() {
            tma::wait::<0>();
        }
    }

    /// Writes the outputs to the tile, each warp 16 rows, 16 columns at a time.
    ///
    /// # Safety
    /// 1. No other warpgroup and no copy accesses the tile meanwhile.
    /// 2. All threads of the warpgroup make the call.
    #[inline(always)]
    unsafe fn fill<const COUNT: usize>(&self, sums: &Accumulator<COUNT>) {
        const { assert!(COLUMNS == 2 * COUNT, "the tile holds the outputs") };
        let row = 16 * (warpgroup::thread_rank() / 32) as usize;
        let mut i = 0;
        while i < COUNT {
            let pair = |pair: usize| T::narrow_pair([sums.get(i + pair), sums.get(i + pair + 1)]);
            let pairs = [pair(0), pair(2), pair(4), pair(6)];
            // SAFETY: (1) the outputs lie within the tile, which is there. (2) is (1). (3) Eight outputs
            // of a thread are of 16 columns; (2).
            unsafe { self.tile.store_matrices(row, 2 * i, pairs) };
            i += 8;
        }
    }
}
