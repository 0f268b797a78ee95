//! How a tile of an operand comes to shared memory, and how products read it.

use super::shape::HALF_DEPTH;
use cuda_std::mbarrier::Slot;
use cuda_std::prelude::*;
use cuda_std::shared::{Allotment, SwizzledTile, SwizzledTiles};
use cuda_std::tma::TensorMap;
use cuda_std::wgmma::{Element, KMajor, Major, MnMajor, Operand};

/// The map of an operand whose elements along k are neighbours in memory: a row-major A or a column-major B. A
/// copy moves `DEPTH` elements of `PART` rows or columns: 128 bytes of each.
pub type AlongKMap<T, const PART: usize, const DEPTH: usize> = TensorMap<T, PART, DEPTH, 3>;

/// The map of an operand whose elements along m or n are neighbours in memory: a column-major A or a row-major
/// B. They have 16 bits, and a copy moves 64 of them of each k of a stage, whatever part a block brings.
pub type AcrossKMap<T, const PART: usize, const DEPTH: usize> = TensorMap<T, HALF_DEPTH, 64, 3>;

/// An operand whose elements along k are neighbours in memory.
pub struct AlongK<'a, T, const PART: usize, const DEPTH: usize = HALF_DEPTH>(
    pub GridConstant<'a, AlongKMap<T, PART, DEPTH>>,
);

/// An operand whose elements along m or n are neighbours in memory.
pub struct AcrossK<'a, T>(pub GridConstant<'a, AcrossKMap<T, HALF_DEPTH, HALF_DEPTH>>);

impl<T, const PART: usize, const DEPTH: usize> Clone for AlongK<'_, T, PART, DEPTH> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const PART: usize, const DEPTH: usize> Copy for AlongK<'_, T, PART, DEPTH> {}

impl<T> Clone for AcrossK<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for AcrossK<'_, T> {}

/// An operand in global memory. A block needs `OUTPUTS` of its rows or columns at a time, with `DEPTH` elements of each
/// in a stage, and copies `PART` of them.
pub trait TensorOperand<
    T: Element,
    const OUTPUTS: usize,
    const PART: usize,
    const DEPTH: usize = HALF_DEPTH,
>: Copy
{
    /// The direction of neighbouring elements.
    type Major: Major;

    /// A stage in shared memory.
    type Tile<'a>: Copy;

    /// Fetches the operand's map before its first use.
    fn prefetch(self);

    /// All stages.
    type Tiles<'a, const STAGES: usize>: Copy;

    /// Takes the memory of the stages.
    fn tiles<'a, const STAGES: usize>(shared: &mut Allotment<'a>) -> Self::Tiles<'a, STAGES>;

    /// One of the stages.
    fn tile<const STAGES: usize>(tiles: Self::Tiles<'_, STAGES>, stage: usize) -> Self::Tile<'_>;

    /// `COUNT` of the stage's rows or columns, from `first` on, for products.
    fn part<const COUNT: usize>(
        tile: Self::Tile<'_>,
        first: usize,
    ) -> Operand<'_, T, Self::Major, COUNT, DEPTH>;

    /// Starts to copy a part of a tile to the stage: `PART` rows or columns of matrix `matrix`, from `output + first`
    /// on, with `DEPTH` elements from `k` on. It goes to row or column `first` of the stage, in each block of the
    /// cluster whose bit is set in `blocks`, or in the calling one.
    ///
    /// # Safety
    /// 1. As for [`GridConstant::load_multicast`](cuda_std::grid_constant::GridConstant::load_multicast).
    unsafe fn load(
        self,
        tile: Self::Tile<'_>,
        slot: &Slot<'_>,
        place: OperandPlace,
        first: usize,
        blocks: Option<u16>,
    );
}

/// Where a stage of an operand begins.
#[derive(Clone, Copy)]
pub struct OperandPlace {
    /// The matrix of the batch.
    pub matrix: u32,
    /// The row of A or the column of B.
    pub output: u32,
    pub k: u32,
}

/// The place in matrices whose rows are contiguous along k.
#[inline(always)]
fn along_k(matrix: u32, output: u32, k: u32) -> (u32, u32, u32) {
    (matrix, output, k)
}

/// The place in matrices whose rows are contiguous across k.
#[inline(always)]
fn across_k(matrix: u32, output: u32, k: u32) -> (u32, u32, u32) {
    (matrix, k, output)
}

macro_rules! tensor_operands {
    ($([$($constant:ident)?] $operand:ty, depth = $depth:ident: $major:ident,
        [$rows:ident, $columns:ident], $cut:ident, $view:ident, $place:ident;)*) => {$(
        impl<T: Element, const OUTPUTS: usize, const PART: usize, $(const $constant: usize)?>
            TensorOperand<T, OUTPUTS, PART, $depth> for $operand
        {
            type Major = $major;
            type Tile<'a> = SwizzledTile<'a, T, $rows, $columns>;
            type Tiles<'a, const STAGES: usize> = SwizzledTiles<'a, T, $rows, $columns, STAGES>;

            #[inline(always)]
            fn prefetch(self) {
                self.0.prefetch();
            }

            #[inline(always)]
            fn tiles<'a, const STAGES: usize>(
                shared: &mut Allotment<'a>,
            ) -> Self::Tiles<'a, STAGES> {
                shared.tiles()
            }

            #[inline(always)]
            fn tile<const STAGES: usize>(
                tiles: Self::Tiles<'_, STAGES>,
                stage: usize,
            ) -> Self::Tile<'_> {
                tiles.get(stage)
            }

            #[inline(always)]
            fn part<const COUNT: usize>(
                tile: Self::Tile<'_>,
                first: usize,
            ) -> Operand<'_, T, $major, COUNT, $depth> {
                tile.$cut::<COUNT>(first).$view()
            }

            #[inline(always)]
            unsafe fn load(
                self,
                tile: Self::Tile<'_>,
                slot: &Slot<'_>,
                OperandPlace { matrix, output, k }: OperandPlace,
                first: usize,
                blocks: Option<u16>,
            ) {
                let tile = tile.$cut::<PART>(first);
                let place = $place(matrix, output + first as u32, k);
                match blocks {
                    // SAFETY: the map, the slot, the tile and the block's end: the caller's contract.
                    Some(blocks) => unsafe { self.0.load_multicast(tile, slot, place, blocks) },
                    // SAFETY: as above.
                    None => unsafe { self.0.load(tile, slot, place) },
                }
            }
        }
    )*};
}
tensor_operands! {
    [DEPTH] AlongK<'_, T, PART, DEPTH>, depth = DEPTH: KMajor, [OUTPUTS, DEPTH], rows, k_major, along_k;
    [] AcrossK<'_, T>, depth = HALF_DEPTH: MnMajor, [HALF_DEPTH, OUTPUTS], columns, mn_major, across_k;
}
