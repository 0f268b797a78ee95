//! Writing outputs to global memory.

use cuda_std::float::HalfFloat;
use cuda_std::prelude::*;
use cuda_std::shared::SwizzledTile;
use cuda_std::warpgroup;
use cuda_std::wgmma::Accumulator;
use half::bf16;

/// Writes a warpgroup's outputs to `c`, which has `columns` columns, from (`row`, `column`) on. Each thread writes its
/// own, two neighbours at a time, and skips outputs outside `c`.
///
/// # Safety
/// 1. `c` has a whole number of rows of `columns` elements, an even number, and starts at a multiple of 4 bytes.
/// 2. No other thread accesses these outputs.
#[inline(always)]
pub unsafe fn store<const COUNT: usize>(
    sums: &Accumulator<COUNT>,
    c: GlobalMut<'_, bf16>,
    (row, column): (u32, u32),
    columns: u32,
) {
    let rows = (c.len() / columns as usize) as u32;
    let mut i = 0;
    while i < COUNT {
        let (r, k) = Accumulator::<COUNT>::place(i);
        let (r, k) = (row + r, column + k);
        if r < rows && k < columns {
            let at = r as usize * columns as usize + k as usize;
            // SAFETY: row and column were compared with `c`. Pairs begin at even elements, so they are within a row and
            // aligned. No other thread accesses them. Even columns, the start of `c` and other threads: the caller's
            // contract.
            unsafe { c.store_vector(at, bf16::narrow_pair([sums.get(i), sums.get(i + 1)])) };
        }
        i += 2;
    }
}

/// Writes a warpgroup's outputs to a tile in shared memory. Each warp writes 16 rows, 16 columns at a time.
///
/// # Safety
/// 1. The tile is in range, and no other thread and no copy accesses it meanwhile.
/// 2. All threads of the warpgroup make the call.
#[inline(always)]
pub unsafe fn store_to_tile<const COUNT: usize, const COLUMNS: usize>(
    sums: &Accumulator<COUNT>,
    tile: SwizzledTile<'_, bf16, 64, COLUMNS>,
) {
    const { assert!(COLUMNS == 2 * COUNT, "the tile holds the outputs") };
    let row = 16 * (warpgroup::thread_rank() / 32) as usize;
    let mut i = 0;
    while i < COUNT {
        let pair = |pair: usize| bf16::narrow_pair([sums.get(i + pair), sums.get(i + pair + 1)]);
        let pairs = [pair(0), pair(2), pair(4), pair(6)];
        // SAFETY: the tile is in range, and the outputs are within it. Nothing else accesses it, and all threads make
        // the call: the caller's contract. Eight outputs of a thread cover 16 columns, so rows and columns are
        // multiples of 8.
        unsafe { tile.store_matrices(row, 2 * i, pairs) };
        i += 8;
    }
}

/// The id of warpgroup `number`'s own named barrier; 0 is the block's.
#[inline(always)]
pub fn barrier_of(number: u32) -> u32 {
    number + 1
}

/// Whether the calling thread is the first of its warpgroup.
#[inline(always)]
pub fn is_first_of_warpgroup() -> bool {
    warpgroup::thread_rank() == 0
}
