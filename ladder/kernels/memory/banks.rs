//! Bank conflicts of shared memory: lanes that read words `stride` apart.
//!
//! ```text
//! words[i] = 7 i, for 1024 words
//! `rounds` times: sum += words[(lane * stride + round) mod 1024]
//! ```
//!
//! Step: a word is in bank `index mod 32`. Lanes of a warp that read different words of one bank
//! are serialised: with a stride of `s` words, gcd(s, 32) lanes share each bank.
//!
//! Prediction: access time is proportional to gcd(s, 32). Odd strides cost as much as stride 1, and
//! stride 32 costs 32 times as much.

use cuda_std::prelude::*;

/// Words of the array.
pub const BANK_WORDS: usize = 1024;

/// Banks of shared memory, and the largest stride.
pub const BANKS: u32 = 32;

/// Reads shared words `stride` apart, `rounds` times, and writes each thread's sum to `y`.
///
/// # Safety
/// 1. The launch has one dimension.
#[kernel(max_threads = 256)]
pub unsafe fn memory_bank_stride(stride: u32, rounds: u32, y: GlobalMut<u32>) {
    let words = shared_array![u32; BANK_WORDS];
    let (own, threads) = (thread::thread_idx_x(), thread::block_dim_x());
    let mut index = own as usize;
    while index < BANK_WORDS {
        // SAFETY: the index was compared with the length. One thread writes each word, before the
        // barrier.
        unsafe { words.store(index, 7 * index as u32) };
        index += threads as usize;
    }
    thread::sync_threads();
    let first = own % BANKS * stride;
    let mut sum = 0_u32;
    for round in 0..rounds {
        let index = first.wrapping_add(round) as usize % BANK_WORDS;
        // SAFETY: the index is a remainder below the length. No thread writes after the barrier.
        sum = sum.wrapping_add(unsafe { words.load(index) });
    }
    if let Some(y) = y.own(thread::unique_index()) {
        y.set(sum);
    }
}
