//! How a tile of an operand is loaded to shared memory, and how products read it.

use super::shape::HALF_DEPTH;
use cuda_std::mbarrier::Slot;
use cuda_std::prelude::*;
use cuda_std::shared::{Allotment, SwizzledTile, SwizzledTiles};
use cuda_std::tma::TensorMap;
use cuda_std::wgmma::{Element, KMajor, Major, MnMajor, Operand};

/// The map of an operand that is contiguous along k: a row-major A or a column-major B.
///
/// A copy moves `DEPTH` elements of `PART` rows or columns: 128 bytes of each.
pub type AlongKMap<T, const PART: usize, const DEPTH: usize> = TensorMap<T, PART, DEPTH, 3>;

/// The map of an operand that is contiguous along m or n: a column-major A or a row-major B.
///
/// Its elements have 16 bits. A copy moves 64 of them for each k of a stage, whatever part a block loads.
pub type AcrossKMap<T, const PART: usize, const DEPTH: usize> = TensorMap<T, HALF_DEPTH, 64, 3>;

/// An operand that is contiguous along k.
pub struct AlongK<'a, T, const PART: usize, const DEPTH: usize = HALF_DEPTH>(
    pub GridConstant<'a, AlongKMap<T, PART, DEPTH>>,
);

/// An operand that is contiguous along m or n.
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

/// An operand in global memory.
///
/// A stage has `DEPTH` elements of each of `OUTPUTS` rows or columns. The calling block loads `PART` of these rows or
/// columns.
pub trait TensorOperand<
    T: Element,
    const OUTPUTS: usize,
    const PART: usize,
    const DEPTH: usize = HALF_DEPTH,
>: Copy
{
    /// The dimension along which the operand is contiguous.
    type Major: Major;

    /// A stage in shared memory.
    type Tile<'a>: Copy;

    /// Prefetches the operand's map.
    fn prefetch(self);

    /// All stages.
    type Tiles<'a, const STAGES: usize>: Copy;

    /// Allocates the stages.
    fn tiles<'a, const STAGES: usize>(shared: &mut Allotment<'a>) -> Self::Tiles<'a, STAGES>;

    /// Stage number `stage`.
    fn tile<const STAGES: usize>(tiles: Self::Tiles<'_, STAGES>, stage: usize) -> Self::Tile<'_>;

    /// `COUNT` rows or columns of a stage from `first` on, as an operand of products.
    fn part<const COUNT: usize>(
        tile: Self::Tile<'_>,
        first: usize,
    ) -> Operand<'_, T, Self::Major, COUNT, DEPTH>;

    /// Starts to load `PART` rows or columns of a stage: those from `place.output + first` on, to row or column
    /// `first` of the tile.
    ///
    /// They go to each block of the cluster whose bit is set in `blocks`, or to the calling block alone.
    ///
    /// # Safety
    /// As for [`GridConstant::load_multicast`](cuda_std::grid_constant::GridConstant::load_multicast).
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
    /// The first element along k.
    pub k: u32,
}

/// The matrix, row and column of a place in matrices whose rows run along k.
#[inline(always)]
fn along_k(matrix: u32, output: u32, k: u32) -> (u32, u32, u32) {
    (matrix, output, k)
}

/// The matrix, row and column of a place in matrices whose columns run along k.
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
                    // SAFETY: the caller's contract.
                    Some(blocks) => unsafe { self.0.load_multicast(tile, slot, place, blocks) },
                    // SAFETY: the caller's contract, in the calling block alone.
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
