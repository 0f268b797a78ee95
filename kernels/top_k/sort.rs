//! A sorting network in shared memory.

use super::plan::{Shared, TOP_K_THREADS};
use crate::reduce::Rank;
use cuda_std::prelude::*;

/// Sorts the first `count` collected elements, a power of two: higher ranks first, then lower places (Batcher, Sorting
/// Networks and Their Applications, 1968).
///
/// # Safety
/// 1. The elements were written before a barrier. All threads of the block call it.
/// 2. Only this block uses `shared`.
#[inline(always)]
pub unsafe fn sort<R: Rank>(count: u32, shared: &Shared<R>) {
    let mut size = 2;
    while size <= count {
        let mut apart = size / 2;
        while apart > 0 {
            let mut pair = thread::thread_idx_x();
            while pair < count / 2 {
                let left = (pair / apart * 2 * apart + pair % apart) as usize;
                let right = left + apart as usize;
                // SAFETY: both elements exist: they are below `count`. No other thread has them before the barrier.
                unsafe {
                    let ranks = (shared.ranks.load(left), shared.ranks.load(right));
                    let places = (shared.places.load(left), shared.places.load(right));
                    let is_after = ranks.1 > ranks.0 || (ranks.1 == ranks.0 && places.1 < places.0);
                    let is_descending = left as u32 & size == 0;
                    if is_after == is_descending {
                        shared.ranks.store(left, ranks.1);
                        shared.ranks.store(right, ranks.0);
                        shared.places.store(left, places.1);
                        shared.places.store(right, places.0);
                    }
                }
                pair += TOP_K_THREADS;
            }
            thread::sync_threads();
            apart /= 2;
        }
        size *= 2;
    }
}
