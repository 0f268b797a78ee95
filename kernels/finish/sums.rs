//! A warp's sums, handed on one after another, whole rows at a time.

use super::staging::{PAIR, ROWS, StagingBuffer};
use crate::epilogue::EpilogueElement;
use cuda_std::hint::opaque_size;
use cuda_std::prelude::*;

/// Hands the calling warp's sums within an m x n result to `store`, with their rows and columns. Each lane has two
/// neighbours of each row.
///
/// The parts, their places and the lane's sums are as for [`CMatrices::store_parts`](super::CMatrices::store_parts).
/// Lanes and rows have different places.
///
/// # Safety
/// 1. All lanes of the warp make the call, with a staging buffer that no other thread accesses.
#[inline(always)]
pub unsafe fn for_each_sum<S: EpilogueElement, const LEN: usize>(
    parts: usize,
    place: impl Fn(usize) -> (usize, usize),
    sum: impl Fn(usize, usize) -> S,
    (m, n): (usize, usize),
    buffer: StagingBuffer<'_, S, LEN>,
    store: impl Fn(usize, usize, S),
) {
    let within = PAIR * warp::lane() as usize;
    // Not unrolled, so that the code of `store` exists once.
    let (end, each) = (opaque_size(parts), opaque_size(PAIR * ROWS));
    let mut part = 0;
    while part < end {
        // SAFETY: all lanes call it, and nothing else accesses the buffer: the caller's contract. The barriers order
        // all lanes' writes of the buffer before the reads, and the reads before the next writes.
        unsafe {
            warp::sync(LaneMask::all());
            buffer.stage(&sum, (part, parts));
            warp::sync(LaneMask::all());
        }
        let (first, column) = place(part);
        let mut number = 0;
        while number < each {
            let (down, along) = (number / PAIR, within + number % PAIR);
            if first + down < m && column + along < n {
                // SAFETY: the buffer has the sum, which was written before the barrier.
                let [sum] = unsafe { buffer.load::<1>(down, along) };
                store(first + down, column + along, sum);
            }
            number += 1;
        }
        part += 1;
    }
}
