//! Products whose results have few columns: each stage brings many rows of A and all columns of B.
//!
//! A result of few rows is the transpose of one of few columns, so its C lies in the other order: outputs are
//! written one by one, and either order is a pair of steps.

use super::cluster::{Work, cluster_tile};
use super::finish::{WARPS, warp};
use super::operand::{AcrossK, AcrossKMap, AlongK, AlongKMap};
use super::outputs::{Outputs, Writer};
use super::product::MainLoop;
use super::schedule::{ClusterTile, TilePlace};
use super::shape::{TensorShape, WARPGROUP_ROWS};
use crate::epilogue::{Epilogue, EpilogueElement, EpilogueNumbers};
use crate::finish::{FromSum, Output, ROWS, store_output, store_plain};
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::{OperandLayout, ProductDescriptor, ProductKernel};
use core::marker::PhantomData;
use cuda_std::fp8::{F8E4M3, F8E5M2};
use cuda_std::hint::{opaque, opaque_size};
use cuda_std::prelude::*;
use cuda_std::shared::{Allotment, SharedArray};
use cuda_std::wgmma::AccumulatorElement;
use half::{bf16, f16};

/// Elements from column to column of a warp's room, of 16 rows each: columns of a quad in different banks.
const COLUMN_STEP: usize = ROWS + 4;

/// Columns of a warp's room, for sums of a tile of `rows` x `columns`: rooms take 20 KiB at most.
const fn room_columns(rows: usize, columns: usize) -> usize {
    let most = 64 * WARPGROUP_ROWS / rows;
    if columns < most { columns } else { most }
}

/// Elements of the rooms of all warps of such a tile.
const fn rooms_len(rows: usize, columns: usize) -> usize {
    WARPS * (rows / WARPGROUP_ROWS) * room_columns(rows, columns) * COLUMN_STEP
}

/// What a launch has that computes `rows` x `columns` outputs for each block, of elements of `element_bytes`.
const fn skinny_tile(
    (rows, columns): (usize, usize),
    element_bytes: usize,
    stages: usize,
) -> ClusterTile {
    let output_bytes = rooms_len(rows, columns) * size_of::<f32>();
    cluster_tile((rows, columns), element_bytes, stages, output_bytes, 1)
}

/// The tile of products of halves with at most 16 columns.
pub const HALF_SKINNY_SMALL: ClusterTile = skinny_tile((64, 16), size_of::<f16>(), 20);

/// The tile of those with more, up to 32.
pub const HALF_SKINNY_MEDIUM: ClusterTile = skinny_tile((64, 32), size_of::<f16>(), 16);

/// The tile of those with more, up to 64.
pub const HALF_SKINNY: ClusterTile = skinny_tile((64, 64), size_of::<f16>(), 12);

/// The tile of twice as many rows.
pub const HALF_SKINNY_TALL: ClusterTile = skinny_tile((128, 64), size_of::<f16>(), 8);

/// The tile of twice as many rows and up to 128 columns.
pub const HALF_SKINNY_SQUARE: ClusterTile = skinny_tile((128, 128), size_of::<f16>(), 6);

/// The tile of products of elements of 8 bits with at most 16 columns.
pub const BYTE_SKINNY_SMALL: ClusterTile = skinny_tile((64, 16), size_of::<u8>(), 20);

/// The tile of those with more, up to 32.
pub const BYTE_SKINNY_MEDIUM: ClusterTile = skinny_tile((64, 32), size_of::<u8>(), 16);

/// The tile of those with more, up to 64.
pub const BYTE_SKINNY: ClusterTile = skinny_tile((64, 64), size_of::<u8>(), 12);

/// The tile of twice as many rows.
pub const BYTE_SKINNY_TALL: ClusterTile = skinny_tile((128, 64), size_of::<u8>(), 8);

/// The tile of twice as many rows and up to 128 columns.
pub const BYTE_SKINNY_SQUARE: ClusterTile = skinny_tile((128, 128), size_of::<u8>(), 6);

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

/// A warp's way to C.
pub struct ColumnWriter<'a, T: Output, S, const COLUMNS: usize, const ROOM: usize, const LEN: usize>
{
    to: ColumnOutputs<'a, T, S, COLUMNS, ROOM, LEN>,
    rooms: SharedArray<'a, S, LEN>,
    /// Where the warp's room begins.
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
        let c = c.skip(place.matrix as usize * shape.c_stride);
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
            // SAFETY: (1) is (1). The room is written by all lanes before it is read, and read by all before it
            // is written. (2) is (2).
            unsafe {
                warp::sync(LaneMask::all());
                self.stage(sums, from);
                warp::sync(LaneMask::all());
                self.write(place, from, (columns - from).min(ROOM));
            }
            from += ROOM;
        }
    }

    /// Where an element stands in the rooms.
    #[inline(always)]
    fn at(&self, row: usize, column: usize) -> usize {
        self.first + column * COLUMN_STEP + row
    }

    /// Writes a lane's sums of the room's columns, from `from` on, to the warp's room.
    ///
    /// # Safety
    /// 1. All lanes of the warp make the call, and none reads the room meanwhile.
    #[inline(always)]
    unsafe fn stage<const COUNT: usize>(&self, sums: &[S; COUNT], from: usize) {
        let (row, column) = Self::first_of_lane();
        let mut i = 0;
        while i < COUNT {
            let (rows, columns) = place_of_sum(i);
            if columns / ROOM * ROOM == from {
                let at = self.at(row + rows, column + columns % ROOM);
                // SAFETY: (1) the place is of the warp's room. (2) is (1).
                unsafe { self.rooms.store(at, sums[i]) };
            }
            i += 1;
        }
    }

    /// Writes the outputs of the warp's room, `count` columns from `from` on, half a warp each column: where columns
    /// of C are contiguous, 16 neighbours.
    ///
    /// # Safety
    /// 1. All lanes of the warp make the call, and the room holds their sums.
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
        let c = c.skip(place.matrix as usize * shape.c_stride);
        let mut i = first;
        while i < count {
            let column = place.column as usize + from + i;
            let at = row * shape.ldc + column * shape.c_columns_apart;
            // SAFETY: (1) the place is of the warp's room. (2) is (1). For C, (1) the row and the column are
            // there, (2) is (2).
            unsafe {
                let sum = self.rooms.load(self.at(within, i));
                store_output(c, at, (row, column), sum, epilogue);
            }
            i += 2;
        }
    }
}

/// Kernels of pairs of types in their tiles: of halves for each layout of A.
macro_rules! skinny_kernels {
    (@halves $($element:ident to $output:ident: $($n:ident $t:ident of $tile:ident),*;)*) => {$($(
        product_entry! {
            columns of f32 $n: $element to $output in f32, $tile, a = AlongK AlongKMap RowMajor,
            b = AlongK AlongKMap ColumnMajor, promoted = false
        }
        product_entry! {
            columns of f32 $t: $element to $output in f32, $tile, a = AcrossK AcrossKMap ColumnMajor,
            b = AlongK AlongKMap ColumnMajor, promoted = false
        }
    )*)*};
    (@bytes $($element:ident in $added:ident to $output:ident in $sum:ident, promoted = $promoted:literal:
        $($name:ident of $tile:ident),*;)*) => {$($(
        product_entry! {
            columns of $added $name: $element to $output in $sum, $tile, a = AlongK AlongKMap Either,
            b = AlongK AlongKMap Either, promoted = $promoted
        }
    )*)*};
}
skinny_kernels! {
    @halves
    f16 to f16:
        matmul_wgmma_skinny_small_f16_n matmul_wgmma_skinny_small_f16_t of HALF_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_f16_n matmul_wgmma_skinny_medium_f16_t of HALF_SKINNY_MEDIUM,
        matmul_wgmma_skinny_f16_n matmul_wgmma_skinny_f16_t of HALF_SKINNY,
        matmul_wgmma_skinny_tall_f16_n matmul_wgmma_skinny_tall_f16_t of HALF_SKINNY_TALL,
        matmul_wgmma_skinny_square_f16_n matmul_wgmma_skinny_square_f16_t of HALF_SKINNY_SQUARE;
    f16 to f32:
        matmul_wgmma_skinny_small_f16_f32_n matmul_wgmma_skinny_small_f16_f32_t of HALF_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_f16_f32_n matmul_wgmma_skinny_medium_f16_f32_t of HALF_SKINNY_MEDIUM,
        matmul_wgmma_skinny_f16_f32_n matmul_wgmma_skinny_f16_f32_t of HALF_SKINNY,
        matmul_wgmma_skinny_tall_f16_f32_n matmul_wgmma_skinny_tall_f16_f32_t of HALF_SKINNY_TALL,
        matmul_wgmma_skinny_square_f16_f32_n matmul_wgmma_skinny_square_f16_f32_t of HALF_SKINNY_SQUARE;
    bf16 to bf16:
        matmul_wgmma_skinny_small_bf16_n matmul_wgmma_skinny_small_bf16_t of HALF_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_bf16_n matmul_wgmma_skinny_medium_bf16_t of HALF_SKINNY_MEDIUM,
        matmul_wgmma_skinny_bf16_n matmul_wgmma_skinny_bf16_t of HALF_SKINNY,
        matmul_wgmma_skinny_tall_bf16_n matmul_wgmma_skinny_tall_bf16_t of HALF_SKINNY_TALL,
        matmul_wgmma_skinny_square_bf16_n matmul_wgmma_skinny_square_bf16_t of HALF_SKINNY_SQUARE;
    bf16 to f32:
        matmul_wgmma_skinny_small_bf16_f32_n matmul_wgmma_skinny_small_bf16_f32_t of HALF_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_bf16_f32_n matmul_wgmma_skinny_medium_bf16_f32_t of HALF_SKINNY_MEDIUM,
        matmul_wgmma_skinny_bf16_f32_n matmul_wgmma_skinny_bf16_f32_t of HALF_SKINNY,
        matmul_wgmma_skinny_tall_bf16_f32_n matmul_wgmma_skinny_tall_bf16_f32_t of HALF_SKINNY_TALL,
        matmul_wgmma_skinny_square_bf16_f32_n matmul_wgmma_skinny_square_bf16_f32_t of HALF_SKINNY_SQUARE;
}
skinny_kernels! {
    @bytes
    i8 in i32 to i32 in i32, promoted = false:
        matmul_wgmma_skinny_small_i8 of BYTE_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_i8 of BYTE_SKINNY_MEDIUM,
        matmul_wgmma_skinny_i8 of BYTE_SKINNY,
        matmul_wgmma_skinny_tall_i8 of BYTE_SKINNY_TALL,
        matmul_wgmma_skinny_square_i8 of BYTE_SKINNY_SQUARE;
    i8 in i32 to f32 in f32, promoted = false:
        matmul_wgmma_skinny_small_i8_f32 of BYTE_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_i8_f32 of BYTE_SKINNY_MEDIUM,
        matmul_wgmma_skinny_i8_f32 of BYTE_SKINNY,
        matmul_wgmma_skinny_tall_i8_f32 of BYTE_SKINNY_TALL,
        matmul_wgmma_skinny_square_i8_f32 of BYTE_SKINNY_SQUARE;
    i8 in i32 to bf16 in f32, promoted = false:
        matmul_wgmma_skinny_small_i8_bf16 of BYTE_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_i8_bf16 of BYTE_SKINNY_MEDIUM,
        matmul_wgmma_skinny_i8_bf16 of BYTE_SKINNY,
        matmul_wgmma_skinny_tall_i8_bf16 of BYTE_SKINNY_TALL,
        matmul_wgmma_skinny_square_i8_bf16 of BYTE_SKINNY_SQUARE;
    i8 in i32 to f16 in f32, promoted = false:
        matmul_wgmma_skinny_small_i8_f16 of BYTE_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_i8_f16 of BYTE_SKINNY_MEDIUM,
        matmul_wgmma_skinny_i8_f16 of BYTE_SKINNY,
        matmul_wgmma_skinny_tall_i8_f16 of BYTE_SKINNY_TALL,
        matmul_wgmma_skinny_square_i8_f16 of BYTE_SKINNY_SQUARE;
    F8E4M3 in f32 to bf16 in f32, promoted = true:
        matmul_wgmma_skinny_small_e4m3 of BYTE_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_e4m3 of BYTE_SKINNY_MEDIUM,
        matmul_wgmma_skinny_e4m3 of BYTE_SKINNY,
        matmul_wgmma_skinny_tall_e4m3 of BYTE_SKINNY_TALL,
        matmul_wgmma_skinny_square_e4m3 of BYTE_SKINNY_SQUARE;
    F8E4M3 in f32 to f32 in f32, promoted = true:
        matmul_wgmma_skinny_small_e4m3_f32 of BYTE_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_e4m3_f32 of BYTE_SKINNY_MEDIUM,
        matmul_wgmma_skinny_e4m3_f32 of BYTE_SKINNY,
        matmul_wgmma_skinny_tall_e4m3_f32 of BYTE_SKINNY_TALL,
        matmul_wgmma_skinny_square_e4m3_f32 of BYTE_SKINNY_SQUARE;
    F8E5M2 in f32 to bf16 in f32, promoted = true:
        matmul_wgmma_skinny_small_e5m2 of BYTE_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_e5m2 of BYTE_SKINNY_MEDIUM,
        matmul_wgmma_skinny_e5m2 of BYTE_SKINNY,
        matmul_wgmma_skinny_tall_e5m2 of BYTE_SKINNY_TALL,
        matmul_wgmma_skinny_square_e5m2 of BYTE_SKINNY_SQUARE;
    F8E5M2 in f32 to f32 in f32, promoted = true:
        matmul_wgmma_skinny_small_e5m2_f32 of BYTE_SKINNY_SMALL,
        matmul_wgmma_skinny_medium_e5m2_f32 of BYTE_SKINNY_MEDIUM,
        matmul_wgmma_skinny_e5m2_f32 of BYTE_SKINNY,
        matmul_wgmma_skinny_tall_e5m2_f32 of BYTE_SKINNY_TALL,
        matmul_wgmma_skinny_square_e5m2_f32 of BYTE_SKINNY_SQUARE;
}
