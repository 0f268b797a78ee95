//! Outputs of a warp, whole rows of C at a time.

use super::output::Output;
use super::room::{PAIR, ROWS, WarpRoom};
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
    /// Elements from row to row.
    ldc: usize,
    /// Elements from matrix to matrix.
    stride: usize,
}

impl<'launch, T: Output> CMatrices<'launch, T> {
    /// Matrices of m x n `elements`, whose rows start `ldc` elements apart, and they themselves `stride`.
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

    /// Writes what `finish` makes of the calling warp's sums of matrix number `matrix`, in `parts`, a
    /// constant, of [`ROWS`] x [`COLUMNS`](super::COLUMNS): a part begins at `place(part)`, a row and a column, and the
    /// lane's sums of it are `sum(part, i)`, [`OF_LANE`](super::OF_LANE) of them.
    ///
    /// # Safety
    /// 1. All lanes of the warp make the call, with a staging buffer that no other thread accesses.
    /// 2. No other warp of the launch accesses these outputs.
    #[inline(always)]
    pub unsafe fn store_parts<const LEN: usize>(
        self,
        matrix: usize,
        parts: usize,
        place: impl Fn(usize) -> (usize, usize),
        sum: impl Fn(usize, usize) -> T::Sum,
        room: WarpRoom<'_, T::Sum, LEN>,
        finish: impl Finish<Sum = T::Sum>,
    ) {
        // SAFETY: (1) no element is an own one.
        let c = unsafe { self.elements.skip(matrix * self.stride) };
        // A loop that is not unrolled: what is done with the outputs stands here once.
        let end = opaque_size(parts);
        let mut part = 0;
        while part < end {
            // SAFETY: (1), (2) are the caller's. The staging buffer is written by all lanes before it is read, and
            // read by all before it is written.
            unsafe {
                warp::sync(LaneMask::all());
                room.stage(&sum, (part, parts));
                warp::sync(LaneMask::all());
                self.write(c, place(part), room, finish);
            }
            part += 1;
        }
    }

    /// Writes the outputs of the warp's staging buffer, which begin at (`row`, `column`) of C, each lane two
    /// neighbours of each row.
    ///
    /// # Safety
    /// 1. All lanes of the warp make the call, and the staging buffer holds their sums.
    /// 2. As (2) of `store_parts`.
    #[inline(always)]
    unsafe fn write<const LEN: usize>(
        self,
        c: GlobalMut<'_, T>,
        (row, column): (usize, usize),
        room: WarpRoom<'_, T::Sum, LEN>,
        finish: impl Finish<Sum = T::Sum>,
    ) {
        let has_pairs = self.ldc.is_multiple_of(PAIR)
            && c.as_mut_ptr().addr().is_multiple_of(PAIR * size_of::<T>());
        let within = PAIR * warp::lane() as usize;
        // SAFETY: (1) is (1), and the columns are there. (2) is (2). (3) `has_pairs`.
        unsafe {
            if has_pairs && column + within + 1 < self.n {
                self.write_columns::<PAIR, LEN, _>(c, (row, column), within, room, finish);
                return;
            }
            let end = within + opaque_size(PAIR);
            let mut j = within;
            while j < end {
                if column + j < self.n {
                    self.write_columns::<1, LEN, _>(c, (row, column), j, room, finish);
                }
                j += 1;
            }
        }
    }

    /// Writes the outputs of `WIDTH` columns, one or two, from `within` on in the staging buffer, as many rows at
    /// a time as `finish` says.
    ///
    /// # Safety
    /// 1. The staging buffer holds the sums, and the columns are there.
    /// 2. As (2) of `store_parts`.
    /// 3. Each row of C starts at a multiple of `WIDTH` elements, and so do the columns.
    #[inline(always)]
    unsafe fn write_columns<const WIDTH: usize, const LEN: usize, F: Finish<Sum = T::Sum>>(
        self,
        c: GlobalMut<'_, T>,
        place: (usize, usize),
        within: usize,
        room: WarpRoom<'_, T::Sum, LEN>,
        finish: F,
    ) {
        const { assert!(F::ROWS_AT_ONCE == 1 || F::ROWS_AT_ONCE == 4) };
        // SAFETY: (1) to (3) are the caller's.
        unsafe {
            match F::ROWS_AT_ONCE {
                1 => self.write_rows::<1, WIDTH, LEN>(c, place, within, room, finish),
                _ => self.write_rows::<4, WIDTH, LEN>(c, place, within, room, finish),
            }
        }
    }

    /// The same, `AT_ONCE` rows at a time.
    ///
    /// # Safety
    /// As for `write_columns`.
    #[inline(always)]
    unsafe fn write_rows<const AT_ONCE: usize, const WIDTH: usize, const LEN: usize>(
        self,
        c: GlobalMut<'_, T>,
        (row, column): (usize, usize),
        within: usize,
        room: WarpRoom<'_, T::Sum, LEN>,
        finish: impl Finish<Sum = T::Sum>,
    ) {
        let column = column + within;
        let rows = self.m.saturating_sub(row).min(ROWS);
        // SAFETY: (1) is (1).
        let (first, last) = unsafe { (finish.column(column), finish.column(column + WIDTH - 1)) };
        let at = |i: usize| (row + i) * self.ldc + column;
        let mut i = 0;
        while i < rows {
            // Rows that are not there stand for the last one, and are not written.
            let is_there = |j: usize| AT_ONCE == 1 || i + j < rows;
            let number = |j: usize| if is_there(j) { i + j } else { rows - 1 };
            // SAFETY: for the staging buffer, (1), (2) are (1), (3) is (3). For C, (1) the row is there, and the
            // columns are by (1). (2) is (3). (3) is (2). For the row, (1) it is there.
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
                    sums[j] = room.load(i, within);
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
