//! The largest elements of each row, in order.
//!
//! ```text
//! each block:  a chunk of a row; the key of an element is its rank, then its index, lower ones first
//!     for each digit of 8 bits, the highest first, until the keys of a digit are as many as are still wanted:
//!         count the digits of the keys whose higher digits are those of the threshold
//!         the threshold's digit: the one that the wanted number falls into
//!     collect the keys from the threshold on, and sort them
//! ```
//!
//! This is a radix selection (Alabi et al., Fast k-Selection Algorithms for Graphics Processing Units, 2012). Keys are
//! unique, so the selected ones are, whatever the order in which threads collect them. A row of several chunks takes
//! further launches, whose elements are the chunks' largest.

use crate::reduce::{Ordered, Rank, rank_for_max};
use bytemuck::{Pod, Zeroable};
use cuda_std::array;
use cuda_std::prelude::*;
use cuda_std::warp;
use half::{bf16, f16};

/// Elements that are selected, at most.
pub const MOST_SELECTED: usize = 2048;

/// Threads per block.
pub const TOP_K_THREADS: u32 = 256;

/// Elements of a chunk, at most: their places have two digits.
pub const MOST_OF_CHUNK: usize = 1 << 16;

/// Values of a digit: one for each thread.
const DIGITS: usize = TOP_K_THREADS as usize;

/// Bits of a digit.
const DIGIT_BITS: u32 = 8;

/// Digits of a place in a chunk.
const PLACE_DIGITS: u32 = 2;

/// Elements that a thread loads before it uses the first.
const IN_FLIGHT: usize = 4;

/// Warps of a block, of 32 lanes.
const WARPS: usize = DIGITS / 32;

/// The kernels' parameter for the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct TopKShape {
    /// Rows of the matrix.
    pub rows: usize,
    /// Elements of a row.
    pub len: usize,
    /// Elements from one row to the next.
    pub apart: usize,
    /// Elements of a chunk: at least `selected`, at most [`MOST_OF_CHUNK`].
    pub chunk: usize,
    /// Elements to select of each chunk, at most [`MOST_SELECTED`].
    pub selected: usize,
}

impl TopKShape {
    /// Chunks of a row.
    #[inline(always)]
    #[must_use]
    pub const fn chunks(&self) -> usize {
        self.len.div_ceil(self.chunk)
    }

    /// Elements that are selected of a row: of the last chunk at most all.
    #[inline(always)]
    #[must_use]
    pub const fn selected_of_row(&self) -> usize {
        let last = self.len - (self.chunks() - 1) * self.chunk;
        let of_last = if last < self.selected {
            last
        } else {
            self.selected
        };
        (self.chunks() - 1) * self.selected + of_last
    }
}

/// The shared memory of a block.
pub struct Shared<'block, R> {
    counts: SharedArray<'block, u32, DIGITS>,
    of_warps: SharedArray<'block, u32, WARPS>,
    /// The threshold's digit, the number wanted of it, the number that has it, and the number collected.
    state: SharedArray<'block, u32, 4>,
    ranks: SharedArray<'block, R, MOST_SELECTED>,
    places: SharedArray<'block, u32, MOST_SELECTED>,
}

/// A key, or its first digits: the rank, and a number that is higher for lower places.
#[derive(Clone, Copy)]
struct Key {
    rank: u64,
    place: u32,
}

impl Key {
    /// The element with this rank at `place` of its chunk.
    #[inline(always)]
    fn new(rank: u64, place: usize) -> Self {
        Self {
            rank,
            place: (MOST_OF_CHUNK - 1 - place) as u32,
        }
    }

    /// Digit number `digit`, of which the first `of_rank` are the rank's.
    #[inline(always)]
    fn digit(self, digit: u32, of_rank: u32) -> u32 {
        let shifted = if digit < of_rank {
            self.rank >> (DIGIT_BITS * (of_rank - 1 - digit))
        } else {
            u64::from(self.place >> (DIGIT_BITS * (of_rank + PLACE_DIGITS - 1 - digit)))
        };
        shifted as u32 & (DIGITS as u32 - 1)
    }

    /// The first `digits` digits; the others are 0.
    #[inline(always)]
    fn first(self, digits: u32, of_rank: u32) -> Self {
        if digits == 0 {
            return Self { rank: 0, place: 0 };
        }
        if digits <= of_rank {
            let cut = DIGIT_BITS * (of_rank - digits);
            return Self {
                rank: self.rank >> cut << cut,
                place: 0,
            };
        }
        let cut = DIGIT_BITS * (of_rank + PLACE_DIGITS - digits);
        Self {
            rank: self.rank,
            place: self.place >> cut << cut,
        }
    }

    /// With digit number `digit`, which was 0.
    #[inline(always)]
    fn with(self, digit: u32, value: u32, of_rank: u32) -> Self {
        if digit < of_rank {
            let shift = DIGIT_BITS * (of_rank - 1 - digit);
            return Self {
                rank: self.rank | u64::from(value) << shift,
                ..self
            };
        }
        let shift = DIGIT_BITS * (of_rank + PLACE_DIGITS - 1 - digit);
        Self {
            place: self.place | value << shift,
            ..self
        }
    }

    #[inline(always)]
    fn is(self, other: Self) -> bool {
        self.rank == other.rank && self.place == other.place
    }

    #[inline(always)]
    fn is_at_least(self, other: Self) -> bool {
        self.rank > other.rank || (self.rank == other.rank && self.place >= other.place)
    }
}

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
unsafe fn select<T: Ordered<Rank: Into<u64>>>(
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
    // SAFETY: `x` has the chunk: the caller's contract. Only this block uses the memory. `collect` finds as many as
    // `threshold` says, which is what the sort and the stores below read.
    unsafe {
        let (key, digits) = threshold(chunk, wanted, &shared);
        collect(chunk, (key, digits), wanted, &shared);
        sort::<T::Rank>(wanted.next_power_of_two(), &shared);
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
    let (mut key, mut digit, mut wanted) = (Key { rank: 0, place: 0 }, 0, wanted);
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

/// Collects the elements from a key on, and fills up to a power of two with what comes after all.
///
/// # Safety
/// 1. The chunk exists, and `wanted` of its keys are at least the key, as far as its digits go. All threads of the
///    block call it.
/// 2. Only this block uses `shared`.
#[inline(always)]
unsafe fn collect<T: Ordered<Rank: Into<u64>>>(
    chunk: Chunk<T>,
    (key, digits): (Key, u32),
    wanted: u32,
    shared: &Shared<T::Rank>,
) {
    let of_rank = size_of::<T::Rank>() as u32;
    let thread = thread::thread_idx_x();
    // SAFETY: the chunk exists: the caller's contract. One thread clears the count, before a barrier. Slots are
    // unique, and at most `wanted`; those that are filled up are others.
    unsafe {
        if thread == 0 {
            shared.state.store(3, 0);
        }
        let mut slot = wanted + thread;
        while slot < wanted.next_power_of_two() {
            shared.ranks.store(slot as usize, T::Rank::LOWEST);
            shared.places.store(slot as usize, u32::MAX);
            slot += TOP_K_THREADS;
        }
        thread::sync_threads();
        chunk.for_each(|rank, place| {
            let own = Key::new(rank.into(), place).first(digits, of_rank);
            if own.is_at_least(key) {
                let slot = shared.state.atomic_add(3, 1) as usize;
                shared.ranks.store(slot, rank);
                shared.places.store(slot, place as u32);
            }
        });
        thread::sync_threads();
    }
}

/// Sorts the first `count` collected elements, a power of two: higher ranks first, then lower places (Batcher, Sorting
/// Networks and Their Applications, 1968).
///
/// # Safety
/// 1. The elements were written before a barrier. All threads of the block call it.
/// 2. Only this block uses `shared`.
#[inline(always)]
unsafe fn sort<R: Rank>(count: u32, shared: &Shared<R>) {
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

/// Calls the macro `$with` with the kernels that select the largest elements of each type.
#[macro_export]
macro_rules! for_each_top_k {
    ($with:ident) => {
        $with! {
            f32: top_k_f32;
            f64: top_k_f64;
            f16: top_k_f16;
            bf16: top_k_bf16;
            i32: top_k_i32;
            u32: top_k_u32;
            i64: top_k_i64;
            u64: top_k_u64;
        }
    };
}

macro_rules! top_k_kernels {
    ($($element:ident: $name:ident;)*) => {$(
        #[doc = concat!("Selects the largest elements of each chunk of rows of ", stringify!($element), ", in order.")]
        ///
        /// Of equal elements, those with lower indices come first; NaN comes before all numbers. `origins` has the
        /// index that is written for each element, or nothing: then it is the element's in its row.
        ///
        /// # Safety
        /// 1. The launch has blocks of [`TOP_K_THREADS`] threads along x, one for each chunk of each row of `shape`,
        ///    which has elements.
        /// 2. `x` has the rows, and `origins` as many elements, or none.
        /// 3. `values` and `indices` have the shape's `selected_of_row()` elements for each row.
        #[kernel(max_threads = 256)]
        pub unsafe fn $name(
            x: Global<$element>,
            origins: Global<u64>,
            values: GlobalMut<$element>,
            indices: GlobalMut<u64>,
            shape: GridConstant<TopKShape>,
        ) {
            let shared = Shared {
                counts: shared_array![u32; DIGITS],
                of_warps: shared_array![u32; WARPS],
                state: shared_array![u32; 4],
                ranks: shared_array![<$element as Ordered>::Rank; MOST_SELECTED],
                places: shared_array![u32; MOST_SELECTED],
            };
            // SAFETY: the caller's contract. Shared memory is declared here.
            unsafe { select::<$element>((x, origins), (values, indices), &shape, shared) }
        }
    )*};
}
for_each_top_k!(top_k_kernels);
