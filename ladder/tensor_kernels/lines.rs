//! Tiles of the step with products of a warp: how they are copied to shared memory, and how B becomes
//! fragments, in its two orders.
//!
//! A line in shared memory is 16 bytes longer than what it holds, so that eight neighbouring lines, of which
//! `ldmatrix` reads 16 bytes each in one pass, are in different banks.

use crate::DEPTH;
use cuda_std::mma::B;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;
use half::bf16;

/// Columns of the outputs of a block.
pub const COLUMNS: usize = 128;

/// Stages of the ring.
pub const STAGES: usize = 3;

/// Threads of a block: two warps above two others.
pub const THREADS: usize = 128;

/// Elements along k of a product.
pub const STEP: usize = 16;

/// Elements of 16 bytes.
const CHUNK: usize = 8;

/// Elements from the start of a line of `length` elements to the next: an odd number of chunks.
pub const fn pitch(length: usize) -> usize {
    length + CHUNK
}

/// A matrix in global memory, by lines of neighbours.
#[derive(Clone, Copy)]
pub struct Lines<'a> {
    /// The elements, line after line.
    pub elements: Global<'a, bf16>,
    /// Elements of a line.
    pub length: usize,
}

impl Lines<'_> {
    /// Starts to copy `COUNT` lines of `LENGTH` elements from (`line`, `first`) on to element `to` of
    /// shared memory; zeros where the matrix ends.
    ///
    /// # Safety
    /// 1. The matrix has whole lines, of a multiple of 8 elements.
    /// 2. The lines have room there, which no thread accesses until the copies have been waited for and a
    ///    barrier has been passed.
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
            // SAFETY: (1) a chunk of a line that is there, or nothing; (2). (2) Lines and pitch are
            // multiples of 8 elements. (3) is (2).
            unsafe { pipeline.copy_or_zero::<_, CHUNK>(shared, to, self.elements, from, present) };
            i += 1;
        }
    }
}

/// The order in which B lies in both memories.
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

    /// The 16 x 16 elements from (`k`, `column`) of the tile at element `at` on, as two fragments.
    ///
    /// # Safety
    /// 1. The tile is there, and no thread writes it.
    /// 2. All threads of the warp make the call together: none has branched away.
    unsafe fn load(
        shared: SharedSlice<'_, bf16>,
        at: usize,
        place: (usize, usize),
    ) -> [B<bf16, STEP, 8>; 2];
}

/// Elements of a column are neighbours.
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
        // SAFETY: (1), (2) are the caller's.
        unsafe { b.copy::<COLUMNS, DEPTH>(pipeline, shared, to, (column, k)) };
    }

    #[inline(always)]
    unsafe fn load(
        shared: SharedSlice<'_, bf16>,
        at: usize,
        (k, column): (usize, usize),
    ) -> [B<bf16, STEP, 8>; 2] {
        let index = |row, c| at + (column + c) * pitch(DEPTH) + k + row;
        // SAFETY: (1), (2) are (1). (3) Lines begin at multiples of 8 elements. (4) is (2).
        unsafe { B::load_pair(shared, index) }
    }
}

/// Elements of a row are neighbours.
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
        // SAFETY: (1), (2) are the caller's.
        unsafe { b.copy::<DEPTH, COLUMNS>(pipeline, shared, to, place) };
    }

    #[inline(always)]
    unsafe fn load(
        shared: SharedSlice<'_, bf16>,
        at: usize,
        (k, column): (usize, usize),
    ) -> [B<bf16, STEP, 8>; 2] {
        let index = |row, c| at + (k + row) * pitch(COLUMNS) + column + c;
        // SAFETY: (1), (2) are (1). (3) Lines begin at multiples of 8 elements. (4) is (2).
        unsafe { B::load_pair_transposed(shared, index) }
    }
}
