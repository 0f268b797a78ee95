//! Tiles of the step with warp-level products: copies to shared memory, and fragments of B in its two orders.
//!
//! Each row or column in shared memory has 16 bytes of padding, so that the 16-byte pieces of eight neighbours, which
//! `ldmatrix` reads in one pass, are in different banks.

use crate::DEPTH;
use cuda_std::mma::B;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;
use half::bf16;

/// Columns of the outputs of a block.
pub const COLUMNS: usize = 128;

/// Stages of the ring.
pub const STAGES: usize = 3;

/// Threads of a block: two by two warps.
pub const THREADS: usize = 128;

/// Elements along k in a product.
pub const STEP: usize = 16;

/// Elements in 16 bytes.
const CHUNK: usize = 8;

/// Elements from the start of a line of `length` elements to the next: an odd number of chunks.
pub const fn pitch(length: usize) -> usize {
    length + CHUNK
}

/// A matrix in global memory, as contiguous lines.
#[derive(Clone, Copy)]
pub struct Lines<'a> {
    /// The elements, line after line.
    pub elements: Global<'a, bf16>,
    /// Elements per line.
    pub length: usize,
}

impl Lines<'_> {
    /// Starts to copy `COUNT` lines of `LENGTH` elements from (`line`, `first`) to element `to` of shared memory,
    /// with zeros past the end of the matrix.
    ///
    /// # Safety
    /// 1. The matrix has whole lines, of a multiple of 8 elements, and starts at a multiple of 16 bytes.
    /// 2. Shared memory has the lines. No thread accesses them until the copies have been waited for and a barrier
    ///    has been passed.
    #[inline(always)]
    pub unsafe fn copy<const COUNT: usize, const LENGTH: usize>(
        self,
        pipeline: &mut Pipeline<STAGES>,
        shared: SharedSlice<'_, bf16>,
        to: usize,
        (line, first): (usize, usize),
    ) {
        let thread = thread::rank_in_block() as usize;
        let mut i = 0;
        while i < COUNT * LENGTH / CHUNK / THREADS {
            let chunk = i * THREADS + thread;
            let (l, e) = (chunk / (LENGTH / CHUNK), chunk % (LENGTH / CHUNK) * CHUNK);
            let from = (line + l) * self.length + first + e;
            let is_inside = first + e < self.length && from < self.elements.len();
            let present = if is_inside { CHUNK } else { 0 };
            let to = to + l * pitch(LENGTH) + e;
            // SAFETY: the chunk is part of an existing line, or nothing is read. Shared memory has
            // the lines, and nothing else accesses them; the matrix is aligned, and lines are multiples
            // of 8 elements: the caller's contract. So are the pitch and `to`.
            unsafe { pipeline.copy_or_zero::<_, CHUNK>(shared, to, self.elements, from, present) };
            i += 1;
        }
    }
}

/// The order of B, in both memories.
pub trait Second {
    /// Starts to copy the tile of B whose first element is at (`k`, `column`).
    ///
    /// # Safety
    /// As for [`Lines::copy`].
    unsafe fn copy(
        b: Lines<'_>,
        pipeline: &mut Pipeline<STAGES>,
        shared: SharedSlice<'_, bf16>,
        to: usize,
        place: (usize, usize),
    );

    /// Loads 16 x 16 elements from (`k`, `column`) of the tile at element `at`, as two fragments.
    ///
    /// # Safety
    /// 1. The tile has been written, and no thread writes it meanwhile.
    /// 2. All threads of the warp make the call together, converged.
    unsafe fn load(
        shared: SharedSlice<'_, bf16>,
        at: usize,
        place: (usize, usize),
    ) -> [B<bf16, STEP, 8>; 2];
}

/// Column-major B.
#[derive(Debug)]
pub struct ByColumns;

impl Second for ByColumns {
    #[inline(always)]
    unsafe fn copy(
        b: Lines<'_>,
        pipeline: &mut Pipeline<STAGES>,
        shared: SharedSlice<'_, bf16>,
        to: usize,
        (k, column): (usize, usize),
    ) {
        // SAFETY: the caller's contract.
        unsafe { b.copy::<COLUMNS, DEPTH>(pipeline, shared, to, (column, k)) };
    }

    #[inline(always)]
    unsafe fn load(
        shared: SharedSlice<'_, bf16>,
        at: usize,
        (k, column): (usize, usize),
    ) -> [B<bf16, STEP, 8>; 2] {
        let index = |row, c| at + (column + c) * pitch(DEPTH) + k + row;
        // SAFETY: the tile was written, no thread writes it, and all threads make the call: the
        // caller's contract. Lines begin at multiples of 8 elements.
        unsafe { B::load_pair(shared, index) }
    }
}

/// Row-major B.
#[derive(Debug)]
pub struct ByRows;

impl Second for ByRows {
    #[inline(always)]
    unsafe fn copy(
        b: Lines<'_>,
        pipeline: &mut Pipeline<STAGES>,
        shared: SharedSlice<'_, bf16>,
        to: usize,
        place: (usize, usize),
    ) {
        // SAFETY: the caller's contract.
        unsafe { b.copy::<DEPTH, COLUMNS>(pipeline, shared, to, place) };
    }

    #[inline(always)]
    unsafe fn load(
        shared: SharedSlice<'_, bf16>,
        at: usize,
        (k, column): (usize, usize),
    ) -> [B<bf16, STEP, 8>; 2] {
        let index = |row, c| at + (k + row) * pitch(COLUMNS) + column + c;
        // SAFETY: the tile was written, no thread writes it, and all threads make the call: the
        // caller's contract. Lines begin at multiples of 8 elements.
        unsafe { B::load_pair_transposed(shared, index) }
    }
}
