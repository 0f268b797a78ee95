//! How outputs of few columns come from registers to global memory.
//!
//! A result of few rows is the transpose of one of few columns, so its C lies in the other order: outputs are
//! written one by one, and either order is a pair of steps.

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

/// Elements from column to column of a warp's staging buffer, of 16 rows each: columns of a quad in different banks.
const COLUMN_STEP: usize = ROWS + 4;

/// Columns of a warp's staging buffer, for sums of a tile of `rows` x `columns`: staging buffers take 20 KiB at most.
pub const fn room_columns(rows: usize, columns: usize) -> usize {
    let most = 64 * WARPGROUP_ROWS / rows;
    if columns < most { columns } else { most }
}

/// Elements of the staging buffers of all warps of such a tile.
pub const fn rooms_len(rows: usize, columns: usize) -> usize {
    WARPS * (rows / WARPGROUP_ROWS) * room_columns(rows, columns) * COLUMN_STEP
}

/// Outputs of type `T`, of sums of type `S`, that go to C one by one: sums as they are from registers, others by
/// way of shared memory, `ROOM` columns at a time.
#[derive(Clone, Copy)]
pub struct ColumnOutputs<
    'launch,
    T: Output,
    S,
    const COLUMNS: usize,
    const ROOM: usize,
    const LEN: usize,
> {
    c: GlobalMut<'launch, T>,
    shape: GridConstant<'launch, TensorShape>,
    epilogue: Epilogue<'launch, T::Sum>,
    sums: PhantomData<S>,
}

impl<'launch, T: Output, S, const COLUMNS: usize, const ROOM: usize, const LEN: usize>
    ColumnOutputs<'launch, T, S, COLUMNS, ROOM, LEN>
{
    /// Of the matrices C of `shape`.
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
pub struct ColumnWriter<'a, T: Output, S, const COLUMNS: usize, const ROOM: usize, const LEN: usize>
{
    to: ColumnOutputs<'a, T, S, COLUMNS, ROOM, LEN>,
    rooms: SharedArray<'a, S, LEN>,
    /// Where the warp's staging buffer begins.
    first: usize,
}

impl<T, S, const COUNT: usize, const COLUMNS: usize, const ROOM: usize, const LEN: usize>
    Outputs<COUNT> for ColumnOutputs<'_, T, S, COLUMNS, ROOM, LEN>
where
    T: Output<Sum: FromSum<S>>,
    S: AccumulatorElement + EpilogueElement,
{
    type Sum = S;
    type Memory<'a> = SharedArray<'a, S, LEN>;
    type Writer<'a>
        = ColumnWriter<'a, T, S, COLUMNS, ROOM, LEN>
    where
        Self: 'a;

    #[inline(always)]
    fn memory<'a>(shared: &mut Allotment<'a>) -> Self::Memory<'a> {
        shared.array()
    }

    #[inline(always)]
    fn writer<'a>(self, rooms: Self::Memory<'a>, number: u32) -> Self::Writer<'a>
    where
        Self: 'a,
    {
        let room = WARPS * number as usize + warp() as usize;
        ColumnWriter {
            to: self,
            rooms,
            first: room * ROOM * COLUMN_STEP,
        }
    }
}

impl<T, S, const COUNT: usize, const COLUMNS: usize, const ROOM: usize, const LEN: usize>
    Writer<S, COUNT> for ColumnWriter<'_, T, S, COLUMNS, ROOM, LEN>
where
    T: Output<Sum: FromSum<S>>,
    S: EpilogueElement,
{
    #[inline(always)]
    unsafe fn store(&self, sums: &[S; COUNT], place: TilePlace) {
        const { assert!(COLUMNS == 2 * COUNT, "the sums are those of the columns") };
        // SAFETY: (1) is (1), (2) is (2).
        unsafe {
            if self.to.epilogue.is_plain() {
                self.store_plain(sums, place);
            } else {
                self.store_by_rooms(sums, place);
            }
        }
    }

    #[inline(always)]
    fn finish(&self) {}
}

/// The row and the column of a lane's sum number `i`, from the lane's first ones: sums are those of products of 16 x
/// 8, one after the other.
#[inline(always)]
const fn place_of_sum(i: usize) -> (usize, usize) {
    (8 * (i / 2 % 2), 8 * (i / 4) + i % 2)
}

impl<T, S, const COLUMNS: usize, const ROOM: usize, const LEN: usize>
    ColumnWriter<'_, T, S, COLUMNS, ROOM, LEN>
where
    T: Output<Sum: FromSum<S>>,
    S: EpilogueElement,
{
    /// The row of a tile in which the warp's rows begin.
    #[inline(always)]
    fn first_row(place: TilePlace) -> usize {
        place.row as usize + ROWS * warp() as usize
    }

    /// The row and the column of a lane's first sum in the warp's rows.
    #[inline(always)]
    fn first_of_lane() -> (usize, usize) {
        // Unknown before each tile: what follows from it takes no register while sums are computed.
        let lane = opaque(warp::lane()) as usize;
        (lane / 4, 2 * (lane % 4))
    }

    /// Writes a lane's sums as they are, eight neighbours of a column or of a row of C at a time.
    ///
    /// # Safety
    /// 1. All lanes of the warp make the call.
    /// 2. No other warp of the launch accesses these outputs.
    #[inline(always)]
    unsafe fn store_plain<const COUNT: usize>(&self, sums: &[S; COUNT], place: TilePlace) {
        let ColumnOutputs { c, shape, .. } = self.to;
        // SAFETY: (1) no element is an own one.
        let c = unsafe { c.skip(place.matrix as usize * shape.c_stride) };
        let (row, column) = Self::first_of_lane();
        let (row, column) = (Self::first_row(place) + row, place.column as usize + column);
        let mut i = 0;
        while i < COUNT {
            let (rows, columns) = place_of_sum(i);
            let (row, column) = (row + rows, column + columns);
            if row < shape.m as usize && column < shape.n as usize {
                let at = row * shape.ldc + column * shape.c_columns_apart;
                // SAFETY: (1) the row and the column are there. (2) is (2).
                unsafe { store_plain(c, at, sums[i]) };
            }
            i += 1;
        }
    }

    /// Writes what the epilogue makes of a lane's sums.
    ///
    /// # Safety
    /// As for [`store_plain`](Self::store_plain).
    #[inline(always)]
    unsafe fn store_by_rooms<const COUNT: usize>(&self, sums: &[S; COUNT], place: TilePlace) {
        let columns = (self.to.shape.n as usize - place.column as usize).min(opaque_size(COLUMNS));
        let mut from = 0;
        while from < columns {
            // SAFETY: (1) is (1). The staging buffer is written by all lanes before it is read, and read by all
            // before it is written. (2) is (2).
            unsafe {
                warp::sync(LaneMask::all());
                self.stage(sums, from);
                warp::sync(LaneMask::all());
                self.write(place, from, (columns - from).min(ROOM));
            }
            from += ROOM;
        }
    }

    /// Where an element stands in the staging buffers.
    #[inline(always)]
    fn at(&self, row: usize, column: usize) -> usize {
        self.first + column * COLUMN_STEP + row
    }

    /// Writes a lane's sums of the staging buffer's columns, from `from` on, to the warp's staging buffer.
    ///
    /// # Safety
    /// 1. All lanes of the warp make the call, and none reads the staging buffer meanwhile.
    #[inline(always)]
    unsafe fn stage<const COUNT: usize>(&self, sums: &[S; COUNT], from: usize) {
        let (row, column) = Self::first_of_lane();
        let mut i = 0;
        while i < COUNT {
            let (rows, columns) = place_of_sum(i);
            if columns / ROOM * ROOM == from {
                let at = self.at(row + rows, column + columns % ROOM);
                // SAFETY: (1) the place is of the warp's staging buffer. (2) is (1).
                unsafe { self.rooms.store(at, sums[i]) };
            }
            i += 1;
        }
    }

    /// Writes the outputs of the warp's staging buffer, `count` columns from `from` on, half a warp each column:
    /// where columns of C are contiguous, 16 neighbours.
    ///
    /// # Safety
    /// 1. All lanes of the warp make the call, and the staging buffer holds their sums.
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
        // SAFETY: (1) no element is an own one.
        let c = unsafe { c.skip(place.matrix as usize * shape.c_stride) };
        let mut i = first;
        while i < count {
            let column = place.column as usize + from + i;
            let at = row * shape.ldc + column * shape.c_columns_apart;
            // SAFETY: (1) the place is of the warp's staging buffer. (2) is (1). For C, (1) the row and the column
            // are there, (2) is (2).
            unsafe {
                let sum = self.rooms.load(self.at(within, i));
                store_output(c, at, (row, column), sum, epilogue);
            }
            i += 2;
        }
    }
}
