//! Products of f16 and bf16 by warpgroups, with a function of their sums that another crate defines.
//!
//! A is row-major, and B column-major: both are contiguous along k.

use super::cluster::Work;
use super::finish::{staging_len, warp, warp_of_group};
use super::operand::{AlongK, AlongKMap};
use super::operands::Pair;
use super::outputs::{Outputs, Writer};
use super::product::MainLoop;
use super::schedule::{ClusterTile, TilePlace};
use super::shape::TensorShape;
use crate::finish::{COLUMNS, OF_LANE, ROWS, Staging, StagingBuffer, for_each_sum};
use crate::matmul::{MappedShape, ProductMap, Sink, StoreMapped};
use bytemuck::Pod;
use cuda_std::prelude::*;
use cuda_std::shared::Allotment;
use cuda_std::wgmma::{AccumulatorElement, Element, Multiply, Registers};

/// The map of A or B, whose copies move 64 elements of `PART` rows or columns.
#[doc(hidden)]
pub type MappedMap<T, const PART: usize> = AlongKMap<T, PART, { super::shape::HALF_DEPTH }>;

impl ClusterTile {
    /// Elements of the staging buffers of a block.
    #[doc(hidden)]
    #[must_use]
    pub const fn mapped_staging(&self) -> usize {
        staging_len(self.consumers())
    }
}

/// Outputs that a function makes of sums.
struct MappedOutputs<
    'launch,
    M: ProductMap<T, OTHERS>,
    T: Pod,
    const OTHERS: usize,
    const LEN: usize,
> {
    store: StoreMapped<'launch, M, T, OTHERS>,
    extents: (usize, usize),
}

impl<M: ProductMap<T, OTHERS>, T: Pod, const OTHERS: usize, const LEN: usize> Clone
    for MappedOutputs<'_, M, T, OTHERS, LEN>
{
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<M: ProductMap<T, OTHERS>, T: Pod, const OTHERS: usize, const LEN: usize> Copy
    for MappedOutputs<'_, M, T, OTHERS, LEN>
{
}

/// Hands a warpgroup's sums to the function.
struct MappedWriter<'a, M: ProductMap<T, OTHERS>, T: Pod, const OTHERS: usize, const LEN: usize> {
    to: MappedOutputs<'a, M, T, OTHERS, LEN>,
    buffer: StagingBuffer<'a, f32, LEN>,
}

impl<M: ProductMap<T, OTHERS>, T: Pod, const COUNT: usize, const OTHERS: usize, const LEN: usize>
    Outputs<COUNT> for MappedOutputs<'_, M, T, OTHERS, LEN>
{
    type Sum = f32;
    type Memory<'a> = Staging<'a, f32, LEN>;
    type Writer<'a>
        = MappedWriter<'a, M, T, OTHERS, LEN>
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
        MappedWriter {
            to: self,
            buffer: StagingBuffer::of_warp(staging, warp_of_group(number)),
        }
    }
}

impl<M: ProductMap<T, OTHERS>, T: Pod, const COUNT: usize, const OTHERS: usize, const LEN: usize>
    Writer<f32, COUNT> for MappedWriter<'_, M, T, OTHERS, LEN>
{
    #[inline(always)]
    unsafe fn store(&self, sums: &[f32; COUNT], place: TilePlace) {
        let row = place.row as usize + ROWS * warp() as usize;
        let place_of = |part: usize| (row, place.column as usize + part * COLUMNS);
        let sum = |part: usize, i: usize| sums[part * OF_LANE + i];
        let parts = const { COUNT / OF_LANE };
        let MappedOutputs { store, extents } = self.to;
        // SAFETY: all lanes call it, and each warp has its own staging buffer: the caller's contract. The result has
        // the output: it is within the extents. No other warpgroup accesses it: the caller's contract; the warps of a
        // warpgroup have different rows, and lanes different columns.
        unsafe {
            for_each_sum(
                parts,
                place_of,
                sum,
                extents,
                self.buffer,
                |row, column, sum| {
                    store.store(row, column, sum);
                },
            );
        }
    }

    #[inline(always)]
    fn finish(&self) {}
}

/// The calling block's part of a product, whose sums `store` takes.
///
/// # Safety
/// 1. `a` is a map of a live m x k matrix of `tensor`, and `b` of the transpose of a k x n matrix. The launch writes
///    neither, and `store` takes the m x n result of `shape`.
/// 2. The grid has whole clusters along x; threads and shared memory are those of `tile`, of which the constants are.
///    The kernel states the bounds of the tile. All threads of the launch do nothing but this call.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn map_product_by_warpgroups<
    M: ProductMap<T, OTHERS>,
    T: Pod,
    E: Element + super::element::TensorElement,
    const OTHERS: usize,
    const ROWS: usize,
    const BLOCK_COLUMNS: usize,
    const PART: usize,
    const COUNT: usize,
    const STAGES: usize,
    const LEN: usize,
>(
    a: GridConstant<'_, MappedMap<E, ROWS>>,
    b: GridConstant<'_, MappedMap<E, PART>>,
    (tensor, shape): (GridConstant<'_, TensorShape>, &MappedShape),
    tile: ClusterTile,
    store: StoreMapped<'_, M, T, OTHERS>,
) where
    f32: AccumulatorElement,
    [f32; COUNT]: Multiply<E, E> + Registers,
{
    let outputs = MappedOutputs::<'_, M, T, OTHERS, LEN> {
        store,
        extents: (shape.m, shape.n),
    };
    // SAFETY: the operands, the result, the blocks and the bounds: the caller's contract.
    unsafe {
        MainLoop::<
            Pair<E, _, _, ROWS, BLOCK_COLUMNS, PART, STAGES, { super::shape::HALF_DEPTH }>,
            COUNT,
            STAGES,
        >::run::<_, 1>(
            Pair::new(AlongK(a), AlongK(b)),
            outputs,
            Work::new(tensor, tile),
        )
    }
}
