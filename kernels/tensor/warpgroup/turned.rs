//! Outputs of products whose results are the transposes of row-major ones.
//!
//! The rows of a tile lie along the rows of C in memory, 64 for each warpgroup, so bulk copies write any multiple of 16
//! columns. B lies along K: boxes of 64 columns would not divide its tiles.

use super::columns::{ColumnOutputs, ColumnWriter};
use super::outputs::{Outputs, Writer, copy_tile, is_first_of_warpgroup, rounded_pairs};
use super::schedule::TilePlace;
use super::shape::WARPGROUP_ROWS;
use crate::epilogue::Epilogue;
use crate::finish::Output;
use cuda_std::float::HalfFloat;
use cuda_std::hint::opaque;
use cuda_std::prelude::*;
use cuda_std::shared::{Allotment, SharedArray, SwizzledTile, SwizzledTiles};
use cuda_std::tma::{self, TensorMapMut};
use cuda_std::warpgroup;

/// A map of the transposes of the matrices C. A copy moves 64 columns of `COLUMNS` rows.
type CMap<'a, T, const COLUMNS: usize> =
    GridConstant<'a, TensorMapMut<T, COLUMNS, WARPGROUP_ROWS, 3>>;

/// Outputs of the transpose of C, written by bulk copies if the epilogue is plain, otherwise by stores.
#[derive(Clone, Copy)]
pub struct TurnedOutputs<
    'launch,
    T: Output<Sum = f32>,
    const COLUMNS: usize,
    const CONSUMERS: usize,
    const STAGED: usize,
    const LEN: usize,
> {
    /// The transposes of C, for bulk copies.
    pub map: CMap<'launch, T, COLUMNS>,
    /// The matrices C, for stores.
    pub elements: ColumnOutputs<'launch, T, f32, COLUMNS, STAGED, LEN>,
    pub epilogue: Epilogue<'launch, f32>,
}

/// The shared memory of all warpgroups: a tile for each, or staging buffers in the same place.
#[derive(Clone, Copy)]
pub struct TurnedMemory<'a, T, const COLUMNS: usize, const CONSUMERS: usize, const LEN: usize> {
    tiles: SwizzledTiles<'a, T, COLUMNS, WARPGROUP_ROWS, CONSUMERS>,
    staging: SharedArray<'a, f32, LEN>,
}

/// Writes a warpgroup's outputs to C.
pub struct TurnedWriter<
    'a,
    T: Output<Sum = f32>,
    const COLUMNS: usize,
    const STAGED: usize,
    const LEN: usize,
> {
    tile: SwizzledTile<'a, T, COLUMNS, WARPGROUP_ROWS>,
    map: CMap<'a, T, COLUMNS>,
    elements: ColumnWriter<'a, T, f32, COLUMNS, STAGED, LEN>,
    epilogue: Epilogue<'a, f32>,
    /// The number of a barrier that only the warpgroup uses.
    barrier: u32,
}

impl<
    T,
    const COUNT: usize,
    const COLUMNS: usize,
    const CONSUMERS: usize,
    const STAGED: usize,
    const LEN: usize,
> Outputs<COUNT> for TurnedOutputs<'_, T, COLUMNS, CONSUMERS, STAGED, LEN>
where
    T: HalfFloat + Output<Sum = f32>,
{
    type Sum = f32;
    type Memory<'a> = TurnedMemory<'a, T, COLUMNS, CONSUMERS, LEN>;
    type Writer<'a>
        = TurnedWriter<'a, T, COLUMNS, STAGED, LEN>
    where
        Self: 'a;

    #[inline(always)]
    fn memory<'a>(shared: &mut Allotment<'a>) -> Self::Memory<'a> {
        // A launch uses one of them. Later allocations follow the larger one.
        let mut alternative = shared.alternative();
        match const { LEN * size_of::<f32>() <= CONSUMERS * WARPGROUP_ROWS * COLUMNS * size_of::<T>() }
        {
            true => TurnedMemory {
                staging: alternative.array(),
                tiles: shared.tiles(),
            },
            false => TurnedMemory {
                tiles: alternative.tiles(),
                staging: shared.array(),
            },
        }
    }

    #[inline(always)]
    fn writer<'a>(self, memory: Self::Memory<'a>, number: u32) -> Self::Writer<'a>
    where
        Self: 'a,
    {
        TurnedWriter {
            tile: memory.tiles.get(number as usize),
            map: self.map,
            elements: Outputs::<COUNT>::writer(self.elements, memory.staging, number),
            epilogue: self.epilogue,
            barrier: 1 + number,
        }
    }
}

impl<T, const COUNT: usize, const COLUMNS: usize, const STAGED: usize, const LEN: usize>
    Writer<f32, COUNT> for TurnedWriter<'_, T, COLUMNS, STAGED, LEN>
where
    T: HalfFloat + Output<Sum = f32>,
{
    #[inline(always)]
    unsafe fn store(&self, sums: &[f32; COUNT], place: TilePlace) {
        const { assert!(COLUMNS == 2 * COUNT, "the tile holds the outputs") };
        if !self.epilogue.is_plain() {
            // SAFETY: all threads are here, no other warpgroup has the memory, C is live, and no other thread accesses
            // the outputs: the caller's contract. A warpgroup's warps have different staging buffers.
            return unsafe { self.elements.store_staged(sums, place) };
        }
        // SAFETY: nothing else accesses the warpgroup's tile: the caller's contract, and its copy has been waited for.
        // The whole warpgroup is here: the caller's contract.
        let fill = || unsafe { self.fill(sums) };
        let at = (place.matrix, place.column, place.row);
        // SAFETY: C is live, and no other thread accesses the outputs: the caller's contract. The tile is in range, and
        // is written; `copy_tile` has the writers' fence and barrier. The next call, or `finish`, waits for the copy
        // before anything else is written there.
        let copy = || unsafe { self.map.store(self.tile, at) };
        copy_tile(self.barrier, fill, copy);
    }

    #[inline(always)]
    fn finish(&self) {
        if is_first_of_warpgroup() {
            tma::wait::<0>();
        }
    }
}

impl<T, const COLUMNS: usize, const STAGED: usize, const LEN: usize>
    TurnedWriter<'_, T, COLUMNS, STAGED, LEN>
where
    T: HalfFloat + Output<Sum = f32>,
{
    /// Writes the transpose of the rounded sums to the tile. Each warp writes 16 columns, 16 rows at a time.
    ///
    /// # Safety
    /// 1. No other warpgroup and no copy accesses the tile meanwhile.
    /// 2. All threads of the warpgroup make the call.
    #[inline(always)]
    unsafe fn fill<const COUNT: usize>(&self, sums: &[f32; COUNT]) {
        // Unknown before: the addresses would take registers meanwhile.
        let column = opaque(16 * (warpgroup::thread_rank() / 32)) as usize;
        let mut i = 0;
        while i < COUNT {
            // SAFETY: the tile is in range: the writer's own. Its 2 `COUNT` rows have these 16, eight outputs of each
            // thread, and its 64 columns the warp's 16. Nothing else accesses the tile, and all lanes make the call with
            // the same place: the caller's contract. Rows and columns are multiples of 16.
            unsafe {
                (self.tile).store_transposed_matrices(2 * i, column, rounded_pairs(sums, i));
            }
            i += 8;
        }
    }
}
