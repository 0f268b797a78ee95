//! Writing outputs from registers to global memory.

use super::finish::warp_of_group;
use super::schedule::{ALL_ROWS, TilePlace};
use super::shape::WARPGROUP_ROWS;
use crate::epilogue::{Epilogue, EpilogueElement};
use crate::finish::{CMatrices, FromSum, Output, Staging, StagingBuffer};
use core::marker::PhantomData;
use cuda_std::float::HalfFloat;
use cuda_std::hint::opaque;
use cuda_std::prelude::*;
use cuda_std::shared::{Allotment, SwizzledTile, SwizzledTiles};
use cuda_std::tma::{self, TensorMapMut};
use cuda_std::warpgroup;
use cuda_std::wgmma::AccumulatorElement;

/// Whether the calling thread is the first one of its warpgroup.
#[inline(always)]
pub fn is_first_of_warpgroup() -> bool {
    warpgroup::thread_rank() == 0
}

/// Where the outputs of a kernel go. Each thread writes `COUNT` at a time.
pub trait Outputs<const COUNT: usize>: Copy {
    /// The type of sums.
    type Sum: AccumulatorElement + EpilogueElement;

    /// Shared memory for the outputs of all warpgroups.
    type Memory<'a>: Copy;

    /// The writer of one warpgroup.
    type Writer<'a>: Writer<Self::Sum, COUNT>
    where
        Self: 'a;

    /// Allocates the memory.
    fn memory<'a>(shared: &mut Allotment<'a>) -> Self::Memory<'a>;

    /// The writer of the calling warpgroup, number `number` of those that multiply.
    fn writer<'a>(self, memory: Self::Memory<'a>, number: u32) -> Self::Writer<'a>
    where
        Self: 'a;
}

/// Writes a warpgroup's outputs to C.
pub trait Writer<S, const COUNT: usize> {
    /// Starts to write the outputs of the warpgroup's sums, from `place` on. Outputs outside C are not written.
    ///
    /// # Safety
    /// 1. All threads of the warpgroup make the call, and no other warpgroup has this writer's memory.
    /// 2. C is live and has matrix number `place.result`. No other thread of the launch accesses these outputs.
    /// 3. [`finish`](Self::finish) is called before the block ends.
    unsafe fn store(&self, sums: &[S; COUNT], place: TilePlace);

    /// Waits until all outputs are written.
    fn finish(&self);
}

/// A map of the matrices C. A copy moves 64 columns of a warpgroup's 64 rows.
pub type CMap<'a, T> = GridConstant<'a, TensorMapMut<T, WARPGROUP_ROWS, 64, 3>>;

/// Outputs written by bulk copies if the epilogue is plain, otherwise by stores.
///
/// A warpgroup writes plain sums to a tile in shared memory, and continues while a bulk copy moves them to C. Other
/// epilogues, and tiles that reach beyond the end of a group of rows, use the same memory as a staging buffer.
#[derive(Clone, Copy)]
pub struct BulkOutputs<'launch, T, const COLUMNS: usize, const CONSUMERS: usize, const LEN: usize> {
    /// C, for bulk copies.
    pub map: CMap<'launch, T>,
    /// The same matrices, for stores.
    pub c: CMatrices<'launch, T>,
    pub epilogue: Epilogue<'launch, f32>,
}

impl TilePlace {
    /// Whether a bulk copy may write all rows of a warpgroup.
    #[inline(always)]
    fn has_whole_rows(self) -> bool {
        self.end == ALL_ROWS || self.row + WARPGROUP_ROWS as u32 <= self.end
    }
}

/// The shared memory of all warpgroups: a tile for each, or staging buffers in the same place.
#[derive(Clone, Copy)]
pub struct BulkMemory<'a, T, const COLUMNS: usize, const CONSUMERS: usize, const LEN: usize> {
    tiles: SwizzledTiles<'a, T, WARPGROUP_ROWS, COLUMNS, CONSUMERS>,
    staging: Staging<'a, f32, LEN>,
}

/// Writes a warpgroup's outputs to C by bulk copies.
pub struct BulkWriter<'a, T, const COLUMNS: usize, const LEN: usize> {
    tile: SwizzledTile<'a, T, WARPGROUP_ROWS, COLUMNS>,
    buffer: StagingBuffer<'a, f32, LEN>,
    map: CMap<'a, T>,
    c: CMatrices<'a, T>,
    epilogue: Epilogue<'a, f32>,
    /// The number of a barrier that only the warpgroup uses.
    barrier: u32,
}

impl<T, const COUNT: usize, const COLUMNS: usize, const CONSUMERS: usize, const LEN: usize>
    Outputs<COUNT> for BulkOutputs<'_, T, COLUMNS, CONSUMERS, LEN>
where
    T: HalfFloat + Output<Sum = f32>,
{
    type Sum = f32;
    type Memory<'a> = BulkMemory<'a, T, COLUMNS, CONSUMERS, LEN>;
    type Writer<'a>
        = BulkWriter<'a, T, COLUMNS, LEN>
    where
        Self: 'a;

    #[inline(always)]
    fn memory<'a>(shared: &mut Allotment<'a>) -> Self::Memory<'a> {
        const {
            assert!(
                COLUMNS.is_multiple_of(64),
                "bulk copies write 64 columns at a time"
            );
        }
        // A launch uses one of them. Later allocations follow the larger one.
        let mut alternative = shared.alternative();
        match const { LEN * size_of::<f32>() <= CONSUMERS * WARPGROUP_ROWS * COLUMNS * size_of::<T>() }
        {
            true => BulkMemory {
                staging: alternative.array(),
                tiles: shared.tiles(),
            },
            false => BulkMemory {
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
        BulkWriter {
            tile: memory.tiles.get(number as usize),
            buffer: StagingBuffer::of_warp(memory.staging, warp_of_group(number)),
            map: self.map,
            c: self.c,
            epilogue: self.epilogue,
            barrier: 1 + number,
        }
    }
}

impl<T, const COUNT: usize, const COLUMNS: usize, const LEN: usize> Writer<f32, COUNT>
    for BulkWriter<'_, T, COLUMNS, LEN>
where
    T: HalfFloat + Output<Sum = f32>,
{
    #[inline(always)]
    unsafe fn store(&self, sums: &[f32; COUNT], place: TilePlace) {
        // SAFETY: the whole warpgroup is here, C has the matrix, nothing else accesses the warpgroup's memory or the
        // outputs, and `finish` is called: the caller's contract. Each warp has its own staging buffer.
        unsafe {
            if self.epilogue.is_plain() && place.has_whole_rows() {
                self.store_tile(sums, place);
            } else {
                if place.end != ALL_ROWS {
                    // The launch may have bulk copies, too, from where the staging buffers are.
                    wait_for_copy(self.barrier);
                }
                (self.c).store(sums, place, self.buffer, self.epilogue);
            }
        }
    }

    #[inline(always)]
    fn finish(&self) {
        if is_first_of_warpgroup() {
            tma::wait::<0>();
        }
    }
}

/// Waits, as a warpgroup whose own barrier has the number `barrier`, until the previous copy has read the tile.
#[inline(always)]
fn wait_for_copy(barrier: u32) {
    if is_first_of_warpgroup() {
        tma::wait_read::<0>();
    }
    thread::named_barrier_sync(barrier, warpgroup::THREADS);
}

/// Fills a warpgroup's tile and starts to copy it to C.
///
/// All threads wait until the previous copy has read the tile, and call `fill`; then one thread calls `copy`. `barrier`
/// is the number of a barrier that only the warpgroup uses.
#[inline(always)]
pub fn copy_tile(barrier: u32, fill: impl FnOnce(), copy: impl FnOnce()) {
    wait_for_copy(barrier);
    fill();
    tma::fence();
    thread::named_barrier_sync(barrier, warpgroup::THREADS);
    if is_first_of_warpgroup() {
        copy();
        tma::commit();
    }
}

/// Four pairs of neighbouring sums, from number `first` on, rounded: a thread's of 16 x 16 outputs.
#[inline(always)]
pub fn rounded_pairs<T: HalfFloat, const COUNT: usize>(
    sums: &[f32; COUNT],
    first: usize,
) -> [[T; 2]; 4] {
    let pair = |from: usize| T::narrow_pair([sums[first + from], sums[first + from + 1]]);
    [pair(0), pair(2), pair(4), pair(6)]
}

impl<T: HalfFloat, const COLUMNS: usize, const LEN: usize> BulkWriter<'_, T, COLUMNS, LEN> {
    /// Rounds the sums into the tile and starts to copy it to C.
    ///
    /// # Safety
    /// As for [`Writer::store`].
    #[inline(always)]
    unsafe fn store_tile<const COUNT: usize>(&self, sums: &[f32; COUNT], place: TilePlace) {
        // SAFETY: nothing else accesses the warpgroup's tile: the caller's contract, and its copy has been waited for.
        // The whole warpgroup is here: the caller's contract.
        let fill = || unsafe { self.fill(sums) };
        let at = (place.result, place.row, place.column);
        // SAFETY: C is live, and no other thread accesses the outputs: the caller's contract. The tile is in range, and
        // is written; `copy_tile` has the writers' fence and barrier. The next call, or `finish`, waits for the copy
        // before anything else is written there.
        let copy = || unsafe { self.map.store(self.tile, at) };
        copy_tile(self.barrier, fill, copy);
    }

    /// Writes the rounded sums to the tile. Each warp writes 16 rows, 16 columns at a time.
    ///
    /// # Safety
    /// 1. No other warpgroup and no copy accesses the tile meanwhile.
    /// 2. All threads of the warpgroup make the call.
    #[inline(always)]
    unsafe fn fill<const COUNT: usize>(&self, sums: &[f32; COUNT]) {
        const { assert!(COLUMNS == 2 * COUNT, "the tile holds the outputs") };
        // Opaque, so that the addresses take no registers before.
        let row = opaque(16 * (warpgroup::thread_rank() / 32)) as usize;
        let mut i = 0;
        while i < COUNT {
            let pairs = rounded_pairs(sums, i);
            // SAFETY: the tile is in range: the writer's own. Its 64 rows have the warp's 16, and its 2 `COUNT` columns
            // have these 16: eight outputs of each thread. Nothing else accesses the tile, and all lanes make the
            // call with the same place: the caller's contract. Rows and columns are multiples of 16.
            unsafe { self.tile.store_matrices(row, 2 * i, pairs) };
            i += 8;
        }
    }
}

/// Outputs of type `T`, from sums of type `S`, all written by stores.
#[derive(Clone, Copy)]
pub struct DirectOutputs<'launch, T: Output, S, const LEN: usize> {
    c: CMatrices<'launch, T>,
    epilogue: Epilogue<'launch, T::Sum>,
    sums: PhantomData<S>,
}

impl<'launch, T: Output, S, const LEN: usize> DirectOutputs<'launch, T, S, LEN> {
    #[inline(always)]
    pub fn new(c: CMatrices<'launch, T>, epilogue: Epilogue<'launch, T::Sum>) -> Self {
        Self {
            c,
            epilogue,
            sums: PhantomData,
        }
    }
}

/// Writes a warpgroup's outputs to C by stores of its threads.
pub struct DirectWriter<'a, T: Output, S, const LEN: usize> {
    to: DirectOutputs<'a, T, S, LEN>,
    buffer: StagingBuffer<'a, T::Sum, LEN>,
}

impl<T, S, const COUNT: usize, const LEN: usize> Outputs<COUNT> for DirectOutputs<'_, T, S, LEN>
where
    T: Output<Sum: FromSum<S>>,
    S: AccumulatorElement + EpilogueElement,
{
    type Sum = S;
    type Memory<'a> = Staging<'a, T::Sum, LEN>;
    type Writer<'a>
        = DirectWriter<'a, T, S, LEN>
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
        DirectWriter {
            to: self,
            buffer: StagingBuffer::of_warp(staging, warp_of_group(number)),
        }
    }
}

impl<T, S, const COUNT: usize, const LEN: usize> Writer<S, COUNT> for DirectWriter<'_, T, S, LEN>
where
    T: Output<Sum: FromSum<S>>,
    S: EpilogueElement,
{
    #[inline(always)]
    unsafe fn store(&self, sums: &[S; COUNT], place: TilePlace) {
        let DirectOutputs { c, epilogue, .. } = self.to;
        let finish = T::finish(epilogue, place.result as usize);
        // SAFETY: the whole warpgroup is here, C has the matrix, and nothing else accesses the warpgroup's memory or
        // the outputs: the caller's contract. Each warp has its own staging buffer.
        unsafe { c.store(sums, place, self.buffer, finish) };
    }

    #[inline(always)]
    fn finish(&self) {}
}
