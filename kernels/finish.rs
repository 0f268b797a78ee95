//! Outputs that are computed from sums one after the other, and written straight to global memory.
//!
//! A warp's sums pass through shared memory, 16 rows of 64 columns at a time, so that a loop can go over
//! them, and so that a warp reads and writes whole rows of C.

use crate::epilogue::{Epilogue, EpilogueElement, Line};
use bytemuck::Pod;
use cuda_std::float::HalfFloat;
use cuda_std::hint::opaque_size;
use cuda_std::prelude::*;
use cuda_std::shared::SharedArray;
use half::{bf16, f16};

/// A type of outputs.
pub trait Output: Pod {
    /// The type that they are computed in.
    type Sum: EpilogueElement;

    /// The same value.
    fn widen(self) -> Self::Sum;

    /// Both values, rounded to the nearest.
    fn narrow_pair(values: [Self::Sum; 2]) -> [Self; 2];
}

macro_rules! sums {
    ($($sum:ident)*) => {$(
        impl Output for $sum {
            type Sum = Self;

            #[inline(always)]
            fn widen(self) -> Self {
                self
            }

            #[inline(always)]
            fn narrow_pair(values: [Self; 2]) -> [Self; 2] {
                values
            }
        }
    )*};
}
sums!(f32 f64 i32);

macro_rules! half_outputs {
    ($($half:ident)*) => {$(
        impl Output for $half {
            type Sum = f32;

            #[inline(always)]
            fn widen(self) -> f32 {
                HalfFloat::widen(self)
            }

            #[inline(always)]
            fn narrow_pair(values: [f32; 2]) -> [Self; 2] {
                HalfFloat::narrow_pair(values)
            }
        }
    )*};
}
half_outputs!(f16 bf16);

/// A type in which outputs are computed, from sums of type `S`.
pub trait FromSum<S>: EpilogueElement {
    /// The nearest number to `sum`, ties to even.
    #[must_use]
    fn from_sum(sum: S) -> Self;
}

impl<S: EpilogueElement> FromSum<S> for S {
    #[inline(always)]
    fn from_sum(sum: S) -> S {
        sum
    }
}

impl FromSum<i32> for f32 {
    #[inline(always)]
    fn from_sum(sum: i32) -> Self {
        sum as Self
    }
}

/// What becomes of a sum.
pub trait Finish: Copy {
    /// The type of sums.
    type Sum;

    /// What a row or a column contributes.
    type Line: Copy;

    /// Rows of a lane's outputs that are computed together, none of which waits for the one before: 1 or 4. A kernel
    /// has the code so many times.
    const ROWS_AT_ONCE: usize = 1;

    /// Whether what C held before is read.
    fn reads_c(&self) -> bool;

    /// What row `index` of the result contributes.
    ///
    /// # Safety
    /// 1. The row is there.
    unsafe fn row(&self, index: usize) -> Self::Line;

    /// What column `index` of the result contributes.
    ///
    /// # Safety
    /// 1. The column is there.
    unsafe fn column(&self, index: usize) -> Self::Line;

    /// The output of `sum`; `c` is ignored where C is not read.
    fn output(
        &self,
        sum: Self::Sum,
        c: Self::Sum,
        row: Self::Line,
        column: Self::Line,
    ) -> Self::Sum;
}

impl<S: EpilogueElement> Finish for Epilogue<'_, S> {
    type Sum = S;
    type Line = Line<S>;

    #[inline(always)]
    fn reads_c(&self) -> bool {
        Self::reads_c(self)
    }

    #[inline(always)]
    unsafe fn row(&self, index: usize) -> Line<S> {
        Self::row(self, index)
    }

    #[inline(always)]
    unsafe fn column(&self, index: usize) -> Line<S> {
        Self::column(self, index)
    }

    #[inline(always)]
    fn output(&self, sum: S, c: S, row: Line<S>, column: Line<S>) -> S {
        Self::output(self, sum, c, row, column)
    }
}

/// Writes to element `at` of C what `epilogue` makes of the sum of the output at (`row`, `column`).
///
/// # Safety
/// 1. C has the element.
/// 2. No other thread of the launch has it.
#[inline(always)]
pub unsafe fn store_output<S, T: Output<Sum: FromSum<S>>>(
    c: GlobalMut<'_, T>,
    at: usize,
    (row, column): (usize, usize),
    sum: S,
    epilogue: Epilogue<'_, T::Sum>,
) {
    let sum = T::Sum::from_sum(sum);
    let output = match epilogue.is_plain() {
        true => sum.canonical(),
        false => {
            let before = match epilogue.reads_c() {
                // SAFETY: (1), (2) are the caller's; what is loaded was there before the launch.
                true => unsafe { c.load(at) }.widen(),
                false => T::Sum::ZERO,
            };
            epilogue.output(sum, before, epilogue.row(row), epilogue.column(column))
        }
    };
    let [output, _] = T::narrow_pair([output, T::Sum::ZERO]);
    // SAFETY: as above.
    unsafe { c.store(at, output) };
}

/// The same of a sum that is written as it is.
///
/// # Safety
/// As for [`store_output`].
#[inline(always)]
pub unsafe fn store_plain<S, T: Output<Sum: FromSum<S>>>(c: GlobalMut<'_, T>, at: usize, sum: S) {
    let sum = T::Sum::from_sum(sum).canonical();
    let [output, _] = T::narrow_pair([sum, T::Sum::ZERO]);
    // SAFETY: (1), (2) are the caller's.
    unsafe { c.store(at, output) };
}

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

/// Rows and columns of sums that a warp handles at a time.
pub const ROWS: usize = 16;
pub const COLUMNS: usize = 64;

/// Sums of a lane among them: those of eight products of 16 x 8, one after the other.
pub const OF_LANE: usize = ROWS * COLUMNS / 32;

/// Neighbours that a lane handles at a time.
const PAIR: usize = 2;

/// Room for the sums of warps.
pub type Staging<'a, S, const LEN: usize> = SharedArray<'a, S, LEN>;

/// Elements of a warp's room.
pub const WARP_ROOM: usize = ROWS * COLUMNS;

/// A warp's room.
#[derive(Clone, Copy)]
pub struct WarpRoom<'a, S, const LEN: usize> {
    staging: Staging<'a, S, LEN>,
    first: usize,
}

impl<'a, S: Copy, const LEN: usize> WarpRoom<'a, S, LEN> {
    /// The room of warp number `warp` of those that have some.
    #[inline(always)]
    pub fn of_warp(staging: Staging<'a, S, LEN>, warp: u32) -> Self {
        Self {
            staging,
            first: warp as usize * WARP_ROOM,
        }
    }

    /// Where an element stands: the columns of neighbouring rows in different banks.
    #[inline(always)]
    fn place(self, row: usize, column: usize) -> usize {
        self.first + row * COLUMNS + (column ^ (row % 4 * 8))
    }
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
    /// constant, of [`ROWS`] x [`COLUMNS`]: a part begins at `place(part)`, a row and a column, and the
    /// lane's sums of it are `sum(part, i)`, [`OF_LANE`] of them.
    ///
    /// # Safety
    /// 1. All lanes of the warp make the call, with a room that no other thread accesses.
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
        let c = self.elements.skip(matrix * self.stride);
        // A loop that is not unrolled: what is done with the outputs stands here once.
        let end = opaque_size(parts);
        let mut part = 0;
        while part < end {
            // SAFETY: (1), (2) are the caller's. The room is written by all lanes before it is read, and
            // read by all before it is written.
            unsafe {
                warp::sync(LaneMask::all());
                stage(&sum, (part, parts), room);
                warp::sync(LaneMask::all());
                self.write(c, place(part), room, finish);
            }
            part += 1;
        }
    }

    /// Writes the outputs of the warp's room, which begin at (`row`, `column`) of C, each lane two
    /// neighbours of each row.
    ///
    /// # Safety
    /// 1. All lanes of the warp make the call, and the room holds their sums.
    /// 2. As for `store`.
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

    /// Writes the outputs of `WIDTH` columns, one or two, from `within` on in the room, as many rows at a time as
    /// `finish` says.
    ///
    /// # Safety
    /// 1. The room holds the sums, and the columns are there.
    /// 2. As for `store`.
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
            // SAFETY: for the room, (1), (2) are (1), (3) is (3). For C, (1) the row is there, and the
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
                    sums[j] = room.staging.load_vector(room.place(i, within));
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

/// Writes a warp's sums of part number `part` of `parts`, a constant, to its room.
///
/// # Safety
/// 1. All lanes make the call, and no lane reads the room meanwhile.
#[inline(always)]
unsafe fn stage<S: EpilogueElement, const LEN: usize>(
    sum: &impl Fn(usize, usize) -> S,
    (part, parts): (usize, usize),
    room: WarpRoom<'_, S, LEN>,
) {
    let lane = warp::lane() as usize;
    let (row, column) = (lane / 4, PAIR * (lane % 4));
    // Not by an index that is known to the launch alone, for which the sums would leave registers.
    let mut known = 0;
    while known < parts {
        if known == part {
            let mut j = 0;
            while j < COLUMNS / 8 {
                let of_product = |i: usize| sum(known, 4 * j + i);
                // SAFETY: (1) the places are of the warp's room. (2) is (1). (3) Pairs begin at even
                // columns.
                unsafe {
                    let at = |down: usize| room.place(row + down, column + 8 * j);
                    room.staging
                        .store_vector(at(0), [of_product(0), of_product(1)]);
                    room.staging
                        .store_vector(at(8), [of_product(2), of_product(3)]);
                }
                j += 1;
            }
        }
        known += 1;
    }
}
