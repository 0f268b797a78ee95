//! Writing a warp's outputs, whole rows of C at a time.

use super::output::Output;
use super::staging::{PAIR, ROWS, StagingBuffer};
use super::sum::Finish;
use crate::epilogue::EpilogueElement;
use cuda_std::hint::opaque_size;
use cuda_std::prelude::*;

/// The matrices C.
#[derive(Clone, Copy)]
pub struct CMatrices<'launch, T> {
    elements: GlobalMut<'launch, T>,
    pub m: usize,
    pub n: usize,
    /// Elements from one row to the next.
    ldc: usize,
    /// Elements from one matrix to the next.
    stride: usize,
}

impl<'launch, T: Output> CMatrices<'launch, T> {
    /// Matrices of m x n `elements`. Rows start `ldc` elements apart, matrices `stride`.
    #[inline(always)]
    pub fn new(
        elements: GlobalMut<'launch, T>,
        (m, n): (usize, usize),
        ldc: usize,
        stride: usize,
    ) -> Self {
        Self {
            elements,
            m,
            n,
            ldc,
            stride,
        }
    }

    /// The same matrices without the rows from `end` on.
    #[inline(always)]
    #[must_use]
    pub fn above(self, end: usize) -> Self {
        Self {
            m: self.m.min(end),
            ..self
        }
    }

    /// Applies `finish` to the calling warp's sums of matrix number `matrix`, and writes the outputs.
    ///
    /// There are `parts` parts, a constant, of [`ROWS`] x [`COLUMNS`](super::COLUMNS) sums. A part begins at
    /// `place(part)`, a row and a column. The lane's sums of it are `sum(part, i)`, for `i` below
    /// [`OF_LANE`](super::OF_LANE).
    ///
    /// # Safety
    /// 1. All lanes of the warp make the call, with a staging buffer that no other thread accesses.
    /// 2. `self` has the matrix, and no other warp of the launch accesses these outputs.
    #[inline(always)]
    pub unsafe fn store_parts<const LEN: usize>(
        self,
        matrix: usize,
        parts: usize,
        place: impl Fn(usize) -> (usize, usize),
        sum: impl Fn(usize, usize) -> T::Sum,
        buffer: StagingBuffer<'_, T::Sum, LEN>,
        finish: impl Finish<Sum = T::Sum>,
    ) {
        // SAFETY: the kernel owns no elements by unique index.
        let c = unsafe { self.elements.skip(matrix * self.stride) };
        // Not unrolled, so that the code for outputs exists once.
        let end = opaque_size(parts);
        let mut part = 0;
        while part < end {
            // SAFETY: all lanes call it, C has the matrix, and nothing else accesses the buffer and the outputs: the
            // caller's contract. The barriers order all lanes' writes of the buffer before the reads, and the reads
            // before the next writes.
            unsafe {
                warp::sync(LaneMask::all());
                buffer.stage(&sum, (part, parts));
                warp::sync(LaneMask::all());
                self.write(c, place(part), buffer, finish);
            }
            part += 1;
        }
    }

    /// Writes the outputs of the warp's staging buffer, from (`row`, `column`) of C. Each lane writes two neighbours
    /// of each row.
    ///
    /// # Safety
    /// 1. All lanes of the warp make the call, and the staging buffer holds their sums.
    /// 2. `c` has an m x n matrix, and no other warp of the launch accesses these outputs.
    #[inline(always)]
    unsafe fn write<const LEN: usize>(
        self,
        c: GlobalMut<'_, T>,
        (row, column): (usize, usize),
        buffer: StagingBuffer<'_, T::Sum, LEN>,
        finish: impl Finish<Sum = T::Sum>,
    ) {
        let has_pairs = self.ldc.is_multiple_of(PAIR)
            && c.as_mut_ptr().addr().is_multiple_of(PAIR * size_of::<T>());
        let within = PAIR * warp::lane() as usize;
        // SAFETY: the buffer holds the sums, C has the matrix, and no other warp accesses the outputs: the caller's
        // contract. The columns were compared with n. Pairs are aligned if `has_pairs`.
        unsafe {
            if has_pairs && column + within + 1 < self.n {
                self.write_columns::<PAIR, LEN, _>(c, (row, column), within, buffer, finish);
                return;
            }
            let end = within + opaque_size(PAIR);
            let mut j = within;
            while j < end {
                if column + j < self.n {
                    self.write_columns::<1, LEN, _>(c, (row, column), j, buffer, finish);
                }
                j += 1;
            }
        }
    }

    /// Writes the outputs of `WIDTH` columns, one or two, from column `within` of the staging buffer,
    /// [`Finish::ROWS_AT_ONCE`] rows at a time.
    ///
    /// # Safety
    /// 1. The staging buffer holds the sums, and `c` has an m x n matrix with the columns.
    /// 2. No other warp of the launch accesses these outputs.
    /// 3. Each row of C starts at a multiple of `WIDTH` elements, and so do the columns.
    #[inline(always)]
    unsafe fn write_columns<const WIDTH: usize, const LEN: usize, F: Finish<Sum = T::Sum>>(
        self,
        c: GlobalMut<'_, T>,
        place: (usize, usize),
        within: usize,
        buffer: StagingBuffer<'_, T::Sum, LEN>,
        finish: F,
    ) {
        const { assert!(F::ROWS_AT_ONCE == 1 || F::ROWS_AT_ONCE == 4) };
        // SAFETY: the caller's contract.
        unsafe {
            match F::ROWS_AT_ONCE {
                1 => self.write_rows::<1, WIDTH, LEN>(c, place, within, buffer, finish),
                _ => self.write_rows::<4, WIDTH, LEN>(c, place, within, buffer, finish),
            }
        }
    }

    /// [`Self::write_columns`], `AT_ONCE` rows at a time.
    ///
    /// # Safety
    /// As for `write_columns`.
    #[inline(always)]
    unsafe fn write_rows<const AT_ONCE: usize, const WIDTH: usize, const LEN: usize>(
        self,
        c: GlobalMut<'_, T>,
        (row, column): (usize, usize),
        within: usize,
        buffer: StagingBuffer<'_, T::Sum, LEN>,
        finish: impl Finish<Sum = T::Sum>,
    ) {
        let column = column + within;
        let rows = self.m.saturating_sub(row).min(ROWS);
        // SAFETY: C has the columns: the caller's contract.
        let (first, last) = unsafe { (finish.column(column), finish.column(column + WIDTH - 1)) };
        let at = |i: usize| (row + i) * self.ldc + column;
        let mut i = 0;
        while i < rows {
            // Rows past the end repeat the last one, and are not written.
            let is_there = |j: usize| AT_ONCE == 1 || i + j < rows;
            let number = |j: usize| if is_there(j) { i + j } else { rows - 1 };
            // SAFETY: rows are below `rows`, so C and the staging buffer have them. The buffer holds the sums, C has
            // the columns, vectors are aligned, and no other warp accesses the outputs: the caller's contract.
            unsafe {
                let mut of_rows = [finish.row(row + i); AT_ONCE];
                let mut sums = [[T::Sum::ZERO; WIDTH]; AT_ONCE];
                let mut old = [[T::Sum::ZERO; 2]; AT_ONCE];
                let mut j = 0;
                while j < AT_ONCE {
                    let i = number(j);
                    if j > 0 {
                        of_rows[j] = finish.row(row + i);
                    }
                    sums[j] = buffer.load(i, within);
                    if finish.reads_c() {
                        old[j] = match WIDTH {
                            PAIR => c.load_vector::<PAIR>(at(i)).map(T::widen),
                            _ => [c.load(at(i)).widen(), T::Sum::ZERO],
                        };
                    }
                    j += 1;
                }
                j = 0;
                while j < AT_ONCE {
                    let outputs = T::narrow_pair([
                        finish.output(sums[j][0], old[j][0], of_rows[j], first),
                        finish.output(sums[j][WIDTH - 1], old[j][WIDTH - 1], of_rows[j], last),
                    ]);
                    match (is_there(j), WIDTH) {
                        (false, _) => {}
                        (true, PAIR) => c.store_vector(at(number(j)), outputs),
                        (true, _) => c.store(at(number(j)), outputs[0]),
                    }
                    j += 1;
                }
            }
            i += AT_ONCE;
        }
    }
}
