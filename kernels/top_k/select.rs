//! The selection: a bound that many elements reach, or a threshold, digit by digit, and the keys from there on.

use super::key::Key;
use super::plan::{
    DIGITS, IN_FLIGHT, MOST_SELECTED, PLACE_DIGITS, Shared, TOP_K_THREADS, TopKShape, WARPS,
};
use super::sort::sort;
use crate::reduce::{Ordered, Rank, rank_for_max};
use cuda_std::array;
use cuda_std::prelude::*;
use cuda_std::warp;

/// A chunk of a row.
#[derive(Clone, Copy)]
struct Chunk<'launch, T> {
    x: Global<'launch, T>,
    first: usize,
    len: usize,
}

impl<T: Ordered<Rank: Into<u64>>> Chunk<'_, T> {
    /// Calls `each` with the calling thread's elements: their ranks and places.
    ///
    /// # Safety
    /// 1. `x` has the chunk.
    #[inline(always)]
    unsafe fn for_each(self, mut each: impl FnMut(T::Rank, usize)) {
        let threads = TOP_K_THREADS as usize;
        let mut place = thread::thread_idx_x() as usize;
        while place < self.len {
            let loaded: [T; IN_FLIGHT] = array::from_fn(|number| {
                let at = place + number * threads;
                match at < self.len {
                    // SAFETY: the chunk has the element: compared.
                    true => unsafe { self.x.load(self.first + at) },
                    false => T::zeroed(),
                }
            });
            let mut number = 0;
            while number < IN_FLIGHT {
                let at = place + number * threads;
                if at < self.len {
                    each(rank_for_max(loaded[number]), at);
                }
                number += 1;
            }
            place += IN_FLIGHT * threads;
        }
    }
}

/// Selects the largest elements of the calling block's chunk.
///
/// # Safety
/// 1. The requirements of the kernels hold.
/// 2. Only this block uses `shared`, and for nothing else.
#[inline(always)]
pub unsafe fn select<T: Ordered<Rank: Into<u64>>>(
    (x, origins): (Global<T>, Global<u64>),
    (values, indices): (GlobalMut<T>, GlobalMut<u64>),
    shape: &TopKShape,
    shared: Shared<T::Rank>,
) {
    let chunks = shape.chunks();
    let block = thread::block_idx_x() as usize;
    let (row, number) = (block / chunks, block % chunks);
    let start = number * shape.chunk;
    let chunk = Chunk {
        x,
        first: row * shape.apart + start,
        len: (shape.len - start).min(shape.chunk),
    };
    let wanted = shape.selected.min(chunk.len) as u32;
    // SAFETY: `x` has the chunk: the caller's contract. Only this block uses the memory. At least `wanted` elements are
    // collected, and no more than fit: those that the sort and the stores below read.
    unsafe {
        let mut collected = u32::MAX;
        if wanted <= TOP_K_THREADS {
            let bound = bound(chunk, wanted, &shared);
            collected = collect(chunk, |rank, _| rank >= bound, &shared);
        }
        if collected > MOST_SELECTED as u32 {
            let (key, digits) = threshold(chunk, wanted, &shared);
            let of_rank = size_of::<T::Rank>() as u32;
            collected = collect(
                chunk,
                |rank, place| {
                    let own = Key::new(rank.into(), place);
                    own.first(digits, of_rank).is_at_least(key)
                },
                &shared,
            );
        }
        sort::<T::Rank>(collected.next_power_of_two(), &shared);
        let to = row * shape.selected_of_row() + number * shape.selected;
        let mut slot = thread::thread_idx_x() as usize;
        while slot < wanted as usize {
            let index = start + shared.places.load(slot) as usize;
            let origin = match origins.is_empty() {
                true => index as u64,
                false => origins.load(row * shape.apart + index),
            };
            values.store(to + slot, T::of_rank(shared.ranks.load(slot)));
            indices.store(to + slot, origin);
            slot += TOP_K_THREADS as usize;
        }
    }
}

/// A rank that at least `wanted` elements reach, one for each of so many threads: seldom many more, if elements are
/// in no order.
///
/// # Safety
/// 1. The chunk exists and has as many elements, at most one for each thread. All threads of the block call it.
/// 2. Only this block uses `shared`.
#[inline(always)]
unsafe fn bound<T: Ordered<Rank: Into<u64>>>(
    chunk: Chunk<T>,
    wanted: u32,
    shared: &Shared<T::Rank>,
) -> T::Rank {
    let thread = thread::thread_idx_x();
    let mut largest = T::Rank::LOWEST;
    // SAFETY: the chunk exists: the caller's contract. Each thread writes its own element, before a barrier; the sort
    // ends with one.
    unsafe {
        chunk.for_each(|rank, _| largest = largest.max(rank));
        shared.ranks.store(thread as usize, largest);
        shared.places.store(thread as usize, thread);
        thread::sync_threads();
        sort::<T::Rank>(TOP_K_THREADS, shared);
        shared.ranks.load(wanted as usize - 1)
    }
}

/// The key from which on `wanted` elements are: its first digits, and how many.
///
/// # Safety
/// 1. The chunk exists and has as many elements. All threads of the block call it.
/// 2. Only this block uses `shared`.
#[inline(always)]
unsafe fn threshold<T: Ordered<Rank: Into<u64>>>(
    chunk: Chunk<T>,
    wanted: u32,
    shared: &Shared<T::Rank>,
) -> (Key, u32) {
    let of_rank = size_of::<T::Rank>() as u32;
    let thread = thread::thread_idx_x();
    let (mut key, mut digit, mut wanted) = (Key::NOTHING, 0, wanted);
    while digit < of_rank + PLACE_DIGITS {
        // SAFETY: the chunk exists: the caller's contract. Each thread clears one count, barriers separate that, the
        // atomic additions and the loads, and each state is written by one thread, between barriers.
        unsafe {
            shared.counts.store(thread as usize, 0);
            thread::sync_threads();
            chunk.for_each(|rank, place| {
                let own = Key::new(rank.into(), place);
                if own.first(digit, of_rank).is(key) {
                    shared
                        .counts
                        .atomic_add(own.digit(digit, of_rank) as usize, 1);
                }
            });
            thread::sync_threads();
            // Higher digits first.
            let value = DIGITS as u32 - 1 - thread;
            let count = shared.counts.load(value as usize);
            let up_to = up_to_thread(count, shared.of_warps);
            let before = up_to - count;
            if before < wanted && wanted <= up_to {
                shared.state.store(0, value);
                shared.state.store(1, wanted - before);
                shared.state.store(2, count);
            }
            thread::sync_threads();
            key = key.with(digit, shared.state.load(0), of_rank);
            wanted = shared.state.load(1);
            digit += 1;
            if shared.state.load(2) == wanted {
                break;
            }
        }
    }
    (key, digit)
}

/// The sum of the values of the threads up to the calling one.
///
/// # Safety
/// 1. All threads of the block call it. Only this function uses `of_warps` from the last barrier on.
#[inline(always)]
unsafe fn up_to_thread(value: u32, of_warps: SharedArray<u32, WARPS>) -> u32 {
    let thread = thread::thread_idx_x();
    let (warp, lane) = (thread / 32, thread % 32);
    let mut up_to = value;
    let mut distance = 1;
    while distance < 32 {
        let below = warp::shuffle_up_in(LaneMask::all(), up_to, distance, 32);
        if lane >= distance {
            up_to += below;
        }
        distance *= 2;
    }
    if lane == 31 {
        // SAFETY: the array has an element for each warp. One thread writes it, before the barrier.
        unsafe { of_warps.store(warp as usize, up_to) };
    }
    thread::sync_threads();
    let mut number = 0;
    while number < warp {
        // SAFETY: each warp wrote its element before the barrier above.
        up_to += unsafe { of_warps.load(number as usize) };
        number += 1;
    }
    up_to
}

/// Collects the elements for which `is_wanted` holds, and fills up to a power of two with what comes after all. Returns
/// how many there are; if they do not fit, what was collected has no meaning.
///
/// # Safety
/// 1. The chunk exists, and `is_wanted` answers the same for the same element. All threads of the block call it.
/// 2. Only this block uses `shared`.
#[inline(always)]
unsafe fn collect<T: Ordered<Rank: Into<u64>>>(
    chunk: Chunk<T>,
    is_wanted: impl Fn(T::Rank, usize) -> bool,
    shared: &Shared<T::Rank>,
) -> u32 {
    let thread = thread::thread_idx_x();
    // SAFETY: the chunk exists: the caller's contract. One thread clears the count, between barriers. Slots are unique,
    // and those beyond the arrays are not stored; what fills up comes after them.
    unsafe {
        thread::sync_threads();
        if thread == 0 {
            shared.state.store(3, 0);
        }
        thread::sync_threads();
        chunk.for_each(|rank, place| {
            if is_wanted(rank, place) {
                let slot = shared.state.atomic_add(3, 1) as usize;
                if slot < MOST_SELECTED {
                    shared.ranks.store(slot, rank);
                    shared.places.store(slot, place as u32);
                }
            }
        });
        thread::sync_threads();
        let collected = shared.state.load(3);
        let mut slot = collected as usize + thread as usize;
        while slot < MOST_SELECTED.min(collected.next_power_of_two() as usize) {
            shared.ranks.store(slot, T::Rank::LOWEST);
            shared.places.store(slot, u32::MAX);
            slot += TOP_K_THREADS as usize;
        }
        thread::sync_threads();
        collected
    }
}
