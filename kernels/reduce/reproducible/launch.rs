//! The kernels.
//!
//! ```text
//! each thread: for each tile of its block: load 16 bytes at a time; add each element to its bins, exactly
//! each warp:   add the bins of its threads to its digits in shared memory
//! each block:  add the digits of its warps; add those to the launch's by atomics; take a ticket
//! last block:  carry; round
//! ```

use super::accumulate::{Accumulator, WarpDigits};
use super::format::{DIGIT_BITS, Format, ReproducibleElement, SPECIALS};
use super::round::finish;
use crate::reduce::plan::{BLOCK_THREADS, Plan, VECTORS_IN_FLIGHT};
use crate::reduce::ticket::takes_last_ticket;
use cuda_std::Pod;
use cuda_std::array;
use cuda_std::hint;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;
use cuda_std::warp;
use half::{bf16, f16};

/// Warps of a block, of 32 lanes or more.
const WARPS: usize = BLOCK_THREADS as usize / 32;

/// Tiles that a block takes: 2^18 elements of a thread, where 32 are the most of a tile.
const MOST_TILES_OF_BLOCK: usize = 1 << 13;

/// Elements of a sum before its carries are done: its digits, and how many special elements there are.
#[must_use]
pub const fn total_len<F: Format>() -> usize {
    F::DIGITS + SPECIALS
}

/// Words of 64 bits of a sum: an integer in two's complement, the lowest word first, and the counts of
/// NaN, of infinity and of negative infinity.
#[must_use]
pub const fn state_words<F: Format>() -> usize {
    F::DIGITS / 2 + SPECIALS
}

/// Blocks to launch for `elements` elements of `element_bytes` bytes each.
#[must_use]
pub const fn blocks(elements: usize, element_bytes: usize) -> u32 {
    let plan = Plan::new(elements, element_bytes);
    let least = plan
        .elements
        .div_ceil(plan.tile)
        .div_ceil(MOST_TILES_OF_BLOCK);
    if least > plan.blocks as usize {
        least as u32
    } else if plan.blocks == 0 {
        1
    } else {
        plan.blocks
    }
}

/// The shared memory of a block.
#[derive(Clone, Copy)]
struct Scratch<'block> {
    /// The digits of `WARPS` warps.
    warps: SharedSlice<'block, i64>,
    /// The digits of the block.
    block: SharedSlice<'block, i64>,
    flag: SharedArray<'block, u32, 1>,
}

/// What the blocks of a launch share, and what it writes.
struct Outputs<'launch, F> {
    /// The digits of the launch: 0 when it starts, and again when it ends.
    totals: GlobalMut<'launch, i64>,
    /// One counter: 0 when the launch starts, and again when it ends.
    ticket: GlobalMut<'launch, u32>,
    /// The words of the sum, or none.
    state: GlobalMut<'launch, u64>,
    /// The sum rounded, or none.
    result: GlobalMut<'launch, F>,
}

/// Adds `x`.
///
/// # Safety
/// 1. The launch has blocks of `BLOCK_THREADS` threads along x, [`blocks`] of them or more.
/// 2. `LANES` elements are 16 bytes.
/// 3. `outputs` has [`total_len`] totals and a ticket, which are 0 and which no other launch uses
///    meanwhile, [`state_words`] words or none, and one result or none.
/// 4. `scratch` is the block's own and has room for `WARPS` times, and once, [`total_len`] digits.
#[inline(always)]
unsafe fn sum_grid<T: ReproducibleElement, const LANES: usize, const BINS: usize>(
    x: Global<T>,
    outputs: &Outputs<T::Total>,
    scratch: Scratch,
) {
    // SAFETY: (1), (2) are the caller's (1), (2); (3) its (4).
    unsafe { sum_tiles::<T, LANES, BINS>(x, scratch) };
    thread::sync_threads();
    // SAFETY: (1) by (4). (2) The barrier.
    unsafe { add_warps::<T::Total>(scratch) };
    if thread::grid_dim_x() > 1 {
        // SAFETY: (1) by (3). (2) by (4).
        let is_last = unsafe { add_blocks(outputs, scratch) };
        if !is_last {
            return;
        }
    }
    // SAFETY: (1) by (3). (2) by (4), and `add_blocks` and `add_warps` end with a barrier.
    unsafe { write(outputs, scratch) };
}

/// Adds the block's tiles to the digits of its warps.
///
/// # Safety
/// 1. The launch has blocks of `BLOCK_THREADS` threads along x, [`blocks`] of them or more.
/// 2. `LANES` elements are 16 bytes.
/// 3. `scratch` is the block's own, with the digits of `WARPS` warps.
#[inline(always)]
unsafe fn sum_tiles<T: ReproducibleElement, const LANES: usize, const BINS: usize>(
    x: Global<T>,
    scratch: Scratch,
) {
    let len = total_len::<T::Total>();
    let mut index = thread::thread_idx_x() as usize;
    while index < WARPS * len {
        // SAFETY: (1) `WARPS` warps have as many, by (3). (2) Each thread has its own.
        unsafe { scratch.warps.store(index, 0) };
        index += BLOCK_THREADS as usize;
    }
    thread::sync_threads();
    // SAFETY: (1) `len` of each warp, of which there are at most `WARPS`. (2) The barriers here and
    // behind this function.
    let digits = unsafe {
        let first = warp::warp_in_block() as usize * len;
        WarpDigits::new(scratch.warps, first)
    };
    let mut sum = Accumulator::<T::Total, BINS>::new(digits);
    let tile = BLOCK_THREADS as usize * LANES * VECTORS_IN_FLIGHT;
    let is_aligned = x.as_ptr().addr().is_multiple_of(16);
    let mut start = thread::block_idx_x() as usize * tile;
    while start < x.len() {
        let vectors = if is_aligned && x.len() - start >= tile {
            // SAFETY: (1) the tile is whole, of aligned vectors of 16 bytes, by (2).
            unsafe { load::<T, LANES>(x, start) }
        } else {
            load_or_zero::<T, LANES>(x, start)
        };
        if !sum.add_fitting(&widened(vectors)) {
            // Loaded again, which leaves more registers to what is seldom done than keeping them does.
            let again = hint::opaque_size(start);
            sum.add_any(widened(load_or_zero::<T, LANES>(x, again)));
        }
        start += thread::grid_dim_x() as usize * tile;
    }
    sum.flush(0);
}

#[inline(always)]
fn widened<T: ReproducibleElement, const LANES: usize>(
    vectors: [[T; LANES]; VECTORS_IN_FLIGHT],
) -> [[T::Total; LANES]; VECTORS_IN_FLIGHT] {
    vectors.map(|vector| vector.map(T::widen))
}

/// The first element of the thread's vector `vector` of the tile that starts at `start`.
#[inline(always)]
fn vector_start<const LANES: usize>(start: usize, vector: usize) -> usize {
    start + (vector * BLOCK_THREADS as usize + thread::thread_idx_x() as usize) * LANES
}

/// The thread's elements of the tile that starts at `start`.
///
/// # Safety
/// 1. `x` has the whole tile, and starts at a multiple of `LANES` elements, which are 16 bytes.
#[inline(always)]
unsafe fn load<T: Pod, const LANES: usize>(
    x: Global<T>,
    start: usize,
) -> [[T; LANES]; VECTORS_IN_FLIGHT] {
    array::from_fn(|vector| {
        // SAFETY: (1), (2) by (1).
        unsafe { x.load_streaming(vector_start::<LANES>(start, vector)) }
    })
}

/// [`load`] of any tile, with zeros for elements past the end.
#[inline(always)]
fn load_or_zero<T: Pod, const LANES: usize>(
    x: Global<T>,
    start: usize,
) -> [[T; LANES]; VECTORS_IN_FLIGHT] {
    array::from_fn(|vector| {
        let first = vector_start::<LANES>(start, vector);
        array::from_fn(|lane| x.get(first + lane).unwrap_or(T::zeroed()))
    })
}

/// Adds the digits of the warps to those of the block, and carries once, so that a digit of the block is
/// below 2^33. Ends with a barrier.
///
/// # Safety
/// 1. `scratch` is the block's own, with the digits of `WARPS` warps and of a block.
/// 2. The warps have written theirs before a barrier.
#[inline(always)]
unsafe fn add_warps<F: Format>(scratch: Scratch) {
    let len = total_len::<F>();
    let index = thread::thread_idx_x() as usize;
    let mut total = 0;
    if index < len {
        for warp in 0..WARPS {
            // SAFETY: (1) by (1). (2) by (2).
            total += unsafe { scratch.warps.load(warp * len + index) };
        }
        // SAFETY: (1) by (1). (2) Each thread has its own.
        unsafe { scratch.block.store(index, total) };
    }
    thread::sync_threads();
    let mut carry = 0;
    if index > 0 && index < F::DIGITS {
        // SAFETY: (1) by (1). (2) The barrier.
        carry = unsafe { scratch.block.load(index - 1) } >> DIGIT_BITS;
    }
    thread::sync_threads();
    if index < len {
        let keeps_all = index + 1 >= F::DIGITS;
        let kept = if keeps_all {
            total
        } else {
            i64::from(total as u32)
        };
        // SAFETY: (1) by (1). (2) Each thread has its own, and the barrier.
        unsafe { scratch.block.store(index, kept + carry) };
    }
    thread::sync_threads();
}

/// Adds the digits of the block to the totals. Returns whether it is the last block to do so, which then
/// has the totals as its digits, and leaves zeros. Ends with a barrier.
///
/// # Safety
/// 1. `outputs` has [`total_len`] totals and a ticket, which were 0 when the launch started, and which no
///    other launch uses meanwhile.
/// 2. `scratch` is the block's own, with the digits of a block, written before a barrier.
#[inline(always)]
unsafe fn add_blocks<F: Format>(outputs: &Outputs<F>, scratch: Scratch) -> bool {
    let index = thread::thread_idx_x() as usize;
    let len = total_len::<F>();
    if index < len {
        // SAFETY: (1) by (1), (2). (2) Totals are touched by atomics alone; each thread has its digit.
        unsafe {
            let digit = scratch.block.load(index);
            if digit != 0 {
                outputs.totals.atomic_add(index, digit);
            }
        }
        thread::fence_device();
    }
    thread::sync_threads();
    // SAFETY: (1) by (1). (2) by (2).
    let is_last =
        unsafe { takes_last_ticket(outputs.ticket, (0, thread::grid_dim_x()), scratch.flag) };
    if is_last && index < len {
        // SAFETY: (1) by (1), (2). (2) All other blocks are done with totals and ticket, of which each
        // thread has its own.
        unsafe {
            scratch
                .block
                .store(index, outputs.totals.atomic_load(index));
            outputs.totals.atomic_store(index, 0);
            if index == 0 {
                outputs.ticket.atomic_store(0, 0);
            }
        }
    }
    thread::sync_threads();
    is_last
}

/// Carries, and writes the sum, rounded and in words.
///
/// # Safety
/// 1. `outputs` has [`state_words`] words or none, and one result or none, and no other block writes them.
/// 2. `scratch` is the block's own, with the digits of a block, written before a barrier.
#[inline(always)]
unsafe fn write<F: Format>(outputs: &Outputs<F>, scratch: Scratch) {
    // SAFETY: (1) of all are within `total_len`, by (2). (2) The barriers before and below.
    let at = |index: usize| unsafe { scratch.block.load(index) };
    if thread::thread_idx_x() == 0 {
        let mut carry = 0;
        // Unrolled, this and what follows would take registers that the other threads need.
        for index in 0..hint::opaque_size(F::DIGITS) {
            let digit = at(index) + carry;
            carry = digit >> DIGIT_BITS;
            // SAFETY: (1) by (2). (2) This thread alone, between barriers.
            unsafe { scratch.block.store(index, i64::from(digit as u32)) };
        }
        if outputs.result.len() == 1 {
            let specials = array::from_fn(|index| at(F::DIGITS + index) as u64);
            // SAFETY: (1) it has one element. (2) This thread alone writes it, by (1).
            unsafe {
                outputs
                    .result
                    .store(0, finish(|index| at(index) as u32, specials))
            };
        }
    }
    thread::sync_threads();
    let word = thread::thread_idx_x() as usize;
    if word < outputs.state.len() {
        let value = match word.checked_sub(F::DIGITS / 2) {
            Some(special) => at(F::DIGITS + special),
            None => at(2 * word + 1) << DIGIT_BITS | at(2 * word),
        };
        // SAFETY: (1) the comparison. (2) Each thread has its own.
        unsafe { outputs.state.store(word, value as u64) };
    }
}

macro_rules! reproducible_sum_kernels {
    ($($name:ident: sum of $element:ident in $total:ident, $bins:literal bins,
        $blocks:literal blocks;)*) => {$(
        #[doc = concat!("The exact sum of an array of ", stringify!($element), ", rounded once.")]
        ///
        /// `totals` has [`total_len`] digits of a sum that is carried at the end, `state` [`state_words`]
        /// words for the sum, or none, and `result` one element for the sum rounded, or none.
        ///
        /// # Safety
        /// 1. The launch has blocks of [`BLOCK_THREADS`] threads along x, [`blocks`] of them or more.
        /// 2. `totals`, `ticket`, `state` and `result` have as many elements as it says above, and
        ///    `ticket` one.
        /// 3. `totals` and `ticket` are 0, and no other launch uses them meanwhile; the launch leaves them
        ///    at 0.
        #[kernel(max_threads = 256, min_blocks = $blocks)]
        pub unsafe fn $name(
            x: Global<$element>,
            totals: GlobalMut<i64>,
            ticket: GlobalMut<u32>,
            state: GlobalMut<u64>,
            result: GlobalMut<$total>,
        ) {
            const LANES: usize = 16 / size_of::<$element>();
            const LEN: usize = total_len::<$total>();
            let warps = shared_array![i64; WARPS * LEN];
            let block = shared_array![i64; LEN];
            let flag = shared_array![u32; 1];
            let scratch = Scratch {
                warps: warps.as_slice(),
                block: block.as_slice(),
                flag,
            };
            let outputs = Outputs { totals, ticket, state, result };
            // SAFETY: (1) is the launch's. (2) `LANES` says so. (3) is the launch's (2) and (3). (4) All
            // are declared here.
            unsafe { sum_grid::<$element, LANES, $bins>(x, &outputs, scratch) };
        }
    )*};
}
for_each_reproducible_sum!(reproducible_sum_kernels);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduce::plan::MAX_BLOCKS;

    #[test]
    fn no_thread_takes_more_than_2_to_the_18_elements() {
        for element_bytes in [2, 4, 8] {
            for elements in [1, 1 << 20, 1 << 36, (1 << 40) + 1] {
                let tile = Plan::new(elements, element_bytes).tile;
                let blocks = blocks(elements, element_bytes) as usize;
                let tiles_of_block = elements.div_ceil(tile).div_ceil(blocks);
                assert!(tiles_of_block * tile / BLOCK_THREADS as usize <= 1 << 18);
            }
            assert_eq!(blocks(0, element_bytes), 1);
            assert_eq!(blocks(1 << 30, element_bytes), MAX_BLOCKS);
        }
    }
}
