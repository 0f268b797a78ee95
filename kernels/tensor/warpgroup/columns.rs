//! Writing the outputs of skinny products from registers to global memory.
//!
//! A result with few rows is the transpose of one with few columns, so its C is in the other order. Outputs are stored
//! one by one, at two strides: from row to row, and from column to column.

use super::finish::{WARPS, warp};
use super::outputs::{Outputs, Writer};
use super::schedule::TilePlace;
use super::shape::{TensorShape, WARPGROUP_ROWS};
use crate::epilogue::{Epilogue, EpilogueElement};
use crate::finish::{FromSum, Output, ROWS, store_output, store_plain};
use core::marker::PhantomData;
use cuda_std::hint::{opaque, opaque_size};
use cuda_std::prelude::*;
use cuda_std::shared::{Allotment, SharedArray};
use cuda_std::wgmma::AccumulatorElement;

/// Elements from one column of a warp's staging buffer to the next: 16 rows, and padding that places the columns of
/// four lanes in different banks.
const COLUMN_STEP: usize = ROWS + 4;

/// Columns of a warp's staging buffer, for a `rows` x `columns` tile. All buffers together take at most 20 KiB.
pub const fn staging_columns(rows: usize, columns: usize) -> usize {
    let most = 64 * WARPGROUP_ROWS / rows;
    if columns < most { columns } else { most }
}

/// Elements of the staging buffers of all warps, for a `rows` x `columns` tile.
pub const fn staging_elements(rows: usize, columns: usize) -> usize {
    WARPS * (rows / WARPGROUP_ROWS) * staging_columns(rows, columns) * COLUMN_STEP
}

/// Outputs of type `T`, from sums of type `S`, stored one by one.
///
/// Plain sums are stored from registers. Other epilogues stage `STAGED` columns of sums at a time in shared memory.
#[derive(Clone, Copy)]
pub struct ColumnOutputs<
    'launch,
    T: Output,
    S,
    const COLUMNS: usize,
    const STAGED: usize,
    const LEN: usize,
> {
    c: GlobalMut<'launch, T>,
    shape: GridConstant<'launch, TensorShape>,
    epilogue: Epilogue<'launch, T::Sum>,
    sums: PhantomData<S>,
}

impl<'launch, T: Output, S, const COLUMNS: usize, const STAGED: usize, const LEN: usize>
    ColumnOutputs<'launch, T, S, COLUMNS, STAGED, LEN>
{
    /// Outputs that go to the matrices C of `shape`.
    #[inline(always)]
    pub fn new(
        c: GlobalMut<'launch, T>,
        shape: GridConstant<'launch, TensorShape>,
        epilogue: Epilogue<'launch, T::Sum>,
    ) -> Self {
        Self {
            c,
            shape,
            epilogue,
            sums: PhantomData,
        }
    }
}

/// Writes a warp's outputs to C.
pub struct ColumnWriter<
    'a,
    T: Output,
    S,
    const COLUMNS: usize,
    const STAGED: usize,
    const LEN: usize,
> {
    to: ColumnOutputs<'a, T, S, COLUMNS, STAGED, LEN>,
    staging: SharedArray<'a, S, LEN>,
    /// Where the warp's staging buffer begins.
    first: usize,
}

impl<T, S, const COUNT: usize, const COLUMNS: usize, const STAGED: usize, const LEN: usize>
    Outputs<COUNT> for ColumnOutputs<'_, T, S, COLUMNS, STAGED, LEN>
where
    T: Output<Sum: FromSum<S>>,
    S: AccumulatorElement + EpilogueElement,
{
    type Sum = S;
    type Memory<'a> = SharedArray<'a, S, LEN>;
    type Writer<'a>
        = ColumnWriter<'a, T, S, COLUMNS, STAGED, LEN>
    where
        Self: 'a;

    #[inline(always)]
    fn memory<'a>(shared: &mut Allotment<'a>) -> Self::Memory<'a> {
        shared.array()
    }

    #[inline(always)]
    fn writer<'a>(self, staging: Self::Memory<'a>, number: u32) -> Self::Writer<'a>
    where
        Self: 'a,
    {
        let warp = WARPS * number as usize + warp() as usize;
        ColumnWriter {
            to: self,
            staging,
            first: warp * STAGED * COLUMN_STEP,
        }
    }
}

impl<T, S, const COUNT: usize, const COLUMNS: usize, const STAGED: usize, const LEN: usize>
    Writer<S, COUNT> for ColumnWriter<'_, T, S, COLUMNS, STAGED, LEN>
where
    T: Output<Sum: FromSum<S>>,
    S: EpilogueElement,
{
    #[inline(always)]
    unsafe fn store(&self, sums: &[S; COUNT], place: TilePlace) {
        const { assert!(COLUMNS == 2 * COUNT, "the sums are those of the columns") };
        // SAFETY: all lanes are here, no other warpgroup has the memory, and no other thread accesses the outputs: the
        // caller's contract. A warpgroup's warps have different rows, and different staging buffers.
        unsafe {
            if self.to.epilogue.is_plain() {
                self.store_plain(sums, place);
            } else {
                self.store_staged(sums, place);
            }
        }
    }

    #[inline(always)]
    fn finish(&self) {}
}

/// The row and the column of a lane's sum number `i`, relative to its first sum.
///
/// The sums are those of consecutive 16 x 8 products.
#[inline(always)]
const fn place_of_sum(i: usize) -> (usize, usize) {
    (8 * (i / 2 % 2), 8 * (i / 4) + i % 2)
}

impl<T, S, const COLUMNS: usize, const STAGED: usize, const LEN: usize>
    ColumnWriter<'_, T, S, COLUMNS, STAGED, LEN>
where
    T: Output<Sum: FromSum<S>>,
    S: EpilogueElement,
{
    /// The first of the warp's rows of C.
    #[inline(always)]
    fn first_row(place: TilePlace) -> usize {
        place.row as usize + ROWS * warp() as usize
    }

    /// The row and the column of a lane's first sum, within the warp's rows.
    #[inline(always)]
    fn first_of_lane() -> (usize, usize) {
        // Opaque, so that what is computed from it takes no registers while sums are computed.
        let lane = opaque(warp::lane()) as usize;
        (lane / 4, 2 * (lane % 4))
    }

    /// Writes a lane's sums unchanged. Eight lanes write neighbours of a row or a column of C.
    ///
    /// # Safety
    /// 1. All lanes of the warp make the call, and no other warp has this writer's staging buffer.
    /// 2. No other warp of the launch accesses these outputs.
    #[inline(always)]
    unsafe fn store_plain<const COUNT: usize>(&self, sums: &[S; COUNT], place: TilePlace) {
        let ColumnOutputs { c, shape, .. } = self.to;
        // SAFETY: the kernel owns no elements by unique index.
        let c = unsafe { c.skip(place.matrix as usize * shape.c_stride) };
        let (row, column) = Self::first_of_lane();
        let (row, column) = (Self::first_row(place) + row, place.column as usize + column);
        let mut i = 0;
        while i < COUNT {
            let (rows, columns) = place_of_sum(i);
            let (row, column) = (row + rows, column + columns);
            if row < shape.m as usize && column < shape.n as usize {
                let at = row * shape.ldc + column * shape.c_columns_apart;
                // SAFETY: row and column were compared with the shape, which C has: the kernel's contract. No other
                // warp accesses the output: the caller's contract. Lanes have different outputs.
                unsafe { store_plain(c, at, sums[i]) };
            }
            i += 1;
        }
    }

    /// Applies the epilogue to the warp's sums, and writes the outputs.
    ///
    /// # Safety
    /// As for [`store_plain`](Self::store_plain).
    #[inline(always)]
    pub(super) unsafe fn store_staged<const COUNT: usize>(
        &self,
        sums: &[S; COUNT],
        place: TilePlace,
    ) {
        let columns = (self.to.shape.n as usize - place.column as usize).min(opaque_size(COLUMNS));
        let mut from = 0;
        while from < columns {
            // SAFETY: all lanes are here, and no other warp accesses the staging buffer or the outputs: the caller's
            // contract. The barriers order all lanes' writes of the buffer before the reads, and the reads before the
            // next writes.
            unsafe {
                warp::sync(LaneMask::all());
                self.stage(sums, from);
                warp::sync(LaneMask::all());
                self.write(place, from, (columns - from).min(STAGED));
            }
            from += STAGED;
        }
    }

    /// The index of an element of the warp's staging buffer.
    #[inline(always)]
    fn at(&self, row: usize, column: usize) -> usize {
        self.first + column * COLUMN_STEP + row
    }

    /// Writes a lane's sums of the `STAGED` columns from `from` on to the warp's staging buffer.
    ///
    /// # Safety
    /// 1. All lanes of the warp make the call. Meanwhile none reads the staging buffer, and no other warp accesses it.
    #[inline(always)]
    unsafe fn stage<const COUNT: usize>(&self, sums: &[S; COUNT], from: usize) {
        let (row, column) = Self::first_of_lane();
        let mut i = 0;
        while i < COUNT {
            let (rows, columns) = place_of_sum(i);
            if columns / STAGED * STAGED == from {
                let at = self.at(row + rows, column + columns % STAGED);
                // SAFETY: row and column are within the warp's staging buffer. No other warp accesses it, and no lane
                // reads it: the caller's contract. Lanes have different elements.
                unsafe { self.staging.store(at, sums[i]) };
            }
            i += 1;
        }
    }

    /// Writes the outputs of `count` columns from `from` on, from the warp's staging buffer.
    ///
    /// Half a warp writes 16 rows of a column, which are neighbours if columns of C are contiguous.
    ///
    /// # Safety
    /// 1. All lanes of the warp make the call, and the staging buffer holds their sums. Meanwhile no thread writes it.
    /// 2. No other warp of the launch accesses these outputs.
    #[inline(always)]
    unsafe fn write(&self, place: TilePlace, from: usize, count: usize) {
        let ColumnOutputs {
            c, shape, epilogue, ..
        } = self.to;
        let lane = warp::lane() as usize;
        let (within, first) = (lane % ROWS, lane / ROWS);
        let row = Self::first_row(place) + within;
        if row >= shape.m as usize {
            return;
        }
        // SAFETY: the kernel owns no elements by unique index.
        let c = unsafe { c.skip(place.matrix as usize * shape.c_stride) };
        let mut i = first;
        while i < count {
            let column = place.column as usize + from + i;
            let at = row * shape.ldc + column * shape.c_columns_apart;
            // SAFETY: the staging buffer holds the sum, and no thread writes it: the caller's contract. C has the row,
            // compared above, and the column: `count` ends with C's last. No other warp accesses the output: the
            // caller's contract. Lanes have different outputs.
            unsafe {
                let sum = self.staging.load(self.at(within, i));
                store_output(c, at, (row, column), sum, epilogue);
            }
            i += 2;
        }
    }
}
