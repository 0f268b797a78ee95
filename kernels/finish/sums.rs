//! A warp's sums, handed on one after another, whole rows at a time.

use super::staging::{PAIR, ROWS, StagingBuffer};
use crate::epilogue::EpilogueElement;
use cuda_std::array;
use cuda_std::hint::opaque_size;
use cuda_std::prelude::*;

/// Rows whose sums are handed on together.
const AT_ONCE: usize = 4;
const _: () = assert!(ROWS.is_multiple_of(AT_ONCE));

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
    // Not unrolled, so that the code of `store` exists a few times only.
    let (end, rows) = (opaque_size(parts), opaque_size(ROWS));
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
        let (mut row, column) = (first, column + within);
        let last = first + rows;
        // Without a comparison for each sum, several are loaded, and mapped, at a time.
        while row < last && last <= m && column + PAIR <= n {
            // SAFETY: the buffer has the sums, which were written before the barrier.
            let sums: [[S; PAIR]; AT_ONCE] =
                array::from_fn(|down| unsafe { buffer.load(row - first + down, within) });
            let mut number = 0;
            while number < AT_ONCE * PAIR {
                let (down, along) = (number / PAIR, number % PAIR);
                store(row + down, column + along, sums[down][along]);
                number += 1;
            }
            row += AT_ONCE;
        }
        while row < last && row < m {
            let mut along = 0;
            while along < opaque_size(PAIR) {
                if column + along < n {
                    // SAFETY: as above.
                    let [sum] = unsafe { buffer.load::<1>(row - first, within + along) };
                    store(row, column + along, sum);
                }
                along += 1;
            }
            row += 1;
        }
        part += 1;
    }
}
