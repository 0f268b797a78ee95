//! The kernels of reproducible sums.
//!
//! ```text
//! each thread: for each tile of its block: load 16 bytes at a time; add each element to its bins, exactly
//! each warp:   add the bins of its threads to its digits in shared memory
//! each block:  add the digits of its warps; add those to the launch's by atomics; take a ticket
//! last block:  carry; round
//! ```

use super::accumulate::{Accumulator, WarpDigits};
use super::element::ReproducibleElement;
use super::format::{DIGIT_BITS, Format, SPECIALS};
use super::round::finish;
use crate::reduce::lanes_of;
use crate::reduce::plan::{BLOCK_THREADS, Plan, VECTORS_IN_FLIGHT};
use crate::reduce::ticket::takes_last_ticket;
use cuda_std::Pod;
use cuda_std::array;
use cuda_std::hint;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;
use cuda_std::warp;
use half::{bf16, f16};

/// Maximum warps per block, for warps of 32 lanes or more.
const WARPS: usize = BLOCK_THREADS as usize / 32;

/// Maximum tiles per block: 2^18 elements per thread, with at most 32 in a tile.
const MOST_TILES_OF_BLOCK: usize = 1 << 13;

/// Words of a sum before carries: its digits, and the counts of special elements.
#[must_use]
pub const fn total_len<F: Format>() -> usize {
    F::DIGITS + SPECIALS
}

/// 64-bit words of a sum: an integer in two's complement, the lowest word first, then the counts of NaN, infinity and
/// negative infinity.
#[must_use]
pub const fn state_words<F: Format>() -> usize {
    F::DIGITS / 2 + SPECIALS
}

/// Blocks to launch for `elements` elements of `element_bytes` bytes.
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

/// The memory that a launch's blocks share, and its outputs.
struct Outputs<'launch, F> {
    /// The digits of the launch: 0 when it starts, and again when it ends.
    totals: GlobalMut<'launch, i64>,
    /// One counter: 0 when the launch starts, and again when it ends.
    ticket: GlobalMut<'launch, u32>,
    /// The words of the sum, or empty.
    state: GlobalMut<'launch, u64>,
    /// The rounded sum, or empty.
    result: GlobalMut<'launch, F>,
}

/// Adds `x`.
///
/// # Safety
/// 1. The launch has blocks of `BLOCK_THREADS` threads along x, [`blocks`] of them or more.
/// 2. `LANES` elements are 16 bytes.
/// 3. `outputs` has [`total_len`] totals and a ticket, which are 0 and which no other launch uses
///    meanwhile, [`state_words`] words or none, and one result or none.
/// 4. Only this block uses `scratch`, which has [`total_len`] digits for each of `WARPS` warps and
///    for the block.
#[inline(always)]
unsafe fn sum_grid<T: ReproducibleElement, const LANES: usize, const BINS: usize>(
    x: Global<T>,
    outputs: &Outputs<T::Total>,
    scratch: Scratch,
) {
    // SAFETY: the launch, the size of elements and the scratch: the caller's contract.
    unsafe { sum_tiles::<T, LANES, BINS>(x, scratch) };
    thread::sync_threads();
    // SAFETY: the scratch: the caller's contract. The warps wrote their digits before the barrier.
    unsafe { add_warps::<T::Total>(scratch) };
    if thread::grid_dim_x() > 1 {
        // SAFETY: the outputs and the scratch: the caller's contract. `add_warps` ends with a
        // barrier.
        let is_last = unsafe { add_blocks(outputs, scratch) };
        if !is_last {
            return;
        }
    }
    // SAFETY: the outputs and the scratch: the caller's contract. `add_blocks` and `add_warps` end
    // with a barrier. Only one block gets here.
    unsafe { write(outputs, scratch) };
}

/// Adds the block's tiles to the digits of its warps.
///
/// # Safety
/// 1. The launch has blocks of `BLOCK_THREADS` threads along x, [`blocks`] of them or more.
/// 2. `LANES` elements are 16 bytes.
/// 3. Only this block uses `scratch`, which has the digits of `WARPS` warps.
#[inline(always)]
unsafe fn sum_tiles<T: ReproducibleElement, const LANES: usize, const BINS: usize>(
    x: Global<T>,
    scratch: Scratch,
) {
    let len = total_len::<T::Total>();
    let mut index = thread::thread_idx_x() as usize;
    while index < WARPS * len {
        // SAFETY: the scratch has the digits of `WARPS` warps: the caller's contract. Each thread
        // writes its own.
        unsafe { scratch.warps.store(index, 0) };
        index += BLOCK_THREADS as usize;
    }
    thread::sync_threads();
    // SAFETY: each of at most `WARPS` warps has `len` digits. Barriers here and after this function
    // separate other accesses.
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
            // SAFETY: the tile is whole, and was found aligned. `LANES` elements are 16 bytes: the
            // caller's contract.
            unsafe { load::<T, LANES>(x, start) }
        } else {
            load_or_zero::<T, LANES>(x, start)
        };
        if !sum.add_fitting(|window| T::add_to(window, &vectors)) {
            // Loaded again: keeping the elements would leave fewer registers for this rare path.
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

/// The index of the thread's vector `vector` of the tile that starts at `start`.
#[inline(always)]
fn vector_start<const LANES: usize>(start: usize, vector: usize) -> usize {
    start + (vector * BLOCK_THREADS as usize + thread::thread_idx_x() as usize) * LANES
}

/// Loads the thread's elements of the tile that starts at `start`.
///
/// # Safety
/// 1. `x` has the whole tile, and starts at a multiple of `LANES` elements, which are 16 bytes.
#[inline(always)]
unsafe fn load<T: Pod, const LANES: usize>(
    x: Global<T>,
    start: usize,
) -> [[T; LANES]; VECTORS_IN_FLIGHT] {
    array::from_fn(|vector| {
        // SAFETY: the tile is whole and aligned: the caller's contract.
        unsafe { x.load_streaming(vector_start::<LANES>(start, vector)) }
    })
}

/// [`load`] for any tile, with zeros past the end.
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

/// Adds the warps' digits to the block's, and carries once, so that a digit of the block is below 2^33. Ends with a
/// barrier.
///
/// # Safety
/// 1. Only this block uses `scratch`, which has the digits of `WARPS` warps and of the block.
/// 2. The warps have written their digits before a barrier.
#[inline(always)]
unsafe fn add_warps<F: Format>(scratch: Scratch) {
    let len = total_len::<F>();
    let index = thread::thread_idx_x() as usize;
    let mut total = 0;
    if index < len {
        for warp in 0..WARPS {
            // SAFETY: the warps' digits exist, and were written before a barrier: the caller's
            // contract.
            total += unsafe { scratch.warps.load(warp * len + index) };
        }
        // SAFETY: the scratch has the digit: the caller's contract. Each thread writes its own.
        unsafe { scratch.block.store(index, total) };
    }
    thread::sync_threads();
    let mut carry = 0;
    if index > 0 && index < F::DIGITS {
        // SAFETY: the scratch has the digit: the caller's contract. It was written before the
        // barrier.
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
        // SAFETY: the scratch has the digit: the caller's contract. Each thread writes its own,
        // after the barrier.
        unsafe { scratch.block.store(index, kept + carry) };
    }
    thread::sync_threads();
}

/// Adds the block's digits to the totals, and returns whether this block is the last.
///
/// The last block takes the totals as its digits, and resets them to zero. Ends with a barrier.
///
/// # Safety
/// 1. `outputs` has [`total_len`] totals and a ticket, which were 0 when the launch started, and which no
///    other launch uses meanwhile.
/// 2. Only this block uses `scratch`, whose digits of the block were written before a barrier.
#[inline(always)]
unsafe fn add_blocks<F: Format>(outputs: &Outputs<F>, scratch: Scratch) -> bool {
    let index = thread::thread_idx_x() as usize;
    let len = total_len::<F>();
    if index < len {
        // SAFETY: both have the digit: the caller's contract. All accesses of totals are atomic;
        // each thread has its own digit.
        unsafe {
            let digit = scratch.block.load(index);
            if digit != 0 {
                outputs.totals.atomic_add(index, digit);
            }
        }
        thread::fence_device();
    }
    thread::sync_threads();
    // SAFETY: the ticket was 0, and only this block uses the flag: the caller's contract.
    let is_last =
        unsafe { takes_last_ticket(outputs.ticket, (0, thread::grid_dim_x()), scratch.flag) };
    if is_last && index < len {
        // SAFETY: both have the digit: the caller's contract. All other blocks have taken their
        // tickets, and each thread has its own digit.
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
/// 1. `outputs` has [`state_words`] words or none, and one result or none. No other block writes them.
/// 2. Only this block uses `scratch`, whose digits of the block were written before a barrier.
#[inline(always)]
unsafe fn write<F: Format>(outputs: &Outputs<F>, scratch: Scratch) {
    // SAFETY: all indices are within `total_len` digits: the caller's contract. Barriers before and
    // below order the accesses.
    let at = |index: usize| unsafe { scratch.block.load(index) };
    if thread::thread_idx_x() == 0 {
        let mut carry = 0;
        // Not unrolled: this loop and the following code would take more registers, in all threads.
        for index in 0..hint::opaque_size(F::DIGITS) {
            let digit = at(index) + carry;
            carry = digit >> DIGIT_BITS;
            // SAFETY: the digit is in the scratch: the caller's contract. Only this thread writes
            // it, between barriers.
            unsafe { scratch.block.store(index, i64::from(digit as u32)) };
        }
        if outputs.result.len() == 1 {
            let specials = array::from_fn(|index| at(F::DIGITS + index) as u64);
            // SAFETY: the result has one element, and only this thread writes it: the caller's
            // contract.
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
        // SAFETY: the word exists: compared above. Each thread writes its own.
        unsafe { outputs.state.store(word, value as u64) };
    }
}

macro_rules! reproducible_sum_kernels {
    ($($name:ident: sum of $element:ident in $total:ident, $bins:literal bins,
        $blocks:literal blocks;)*) => {$(
        #[doc = concat!("The exact sum of an array of ", stringify!($element), ", rounded once.")]
        ///
        /// `totals` has [`total_len`] digits of the sum before carries, `state` [`state_words`] words for the sum or
        /// none, and `result` one element for the rounded sum or none.
        ///
        /// # Safety
        /// 1. The launch has blocks of [`BLOCK_THREADS`] threads along x, [`blocks`] of them or more.
        /// 2. `totals`, `state` and `result` have the lengths above, and `ticket` has one element.
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
            const LANES: usize = lanes_of::<$element>();
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
            // SAFETY: the launch, the lengths, the tickets and totals: the caller's contract.
            // `LANES` elements are 16 bytes. Shared memory is declared here.
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
