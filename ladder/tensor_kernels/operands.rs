//! The second operand, B, in its two orders.

use cuda_std::mbarrier::Slot;
use cuda_std::prelude::*;
use cuda_std::shared::{Allotment, SwizzledTile, SwizzledTiles};
use cuda_std::tma::TensorMap;
use cuda_std::wgmma::{KMajor, Major, MnMajor, Operand};
use half::bf16;

use crate::DEPTH;

/// A map of B whose boxes hold columns: `PART` of them, 64 along k.
#[derive(Clone, Copy)]
pub struct Columns<'a, const PART: usize>(pub GridConstant<'a, TensorMap<bf16, PART, DEPTH>>);

/// A map of B whose boxes hold rows: 64 along k, of 64 columns.
#[derive(Clone, Copy)]
pub struct Rows<'a>(pub GridConstant<'a, TensorMap<bf16, DEPTH, 64>>);

/// A tile of a stage.
pub trait Tile<'a>: Copy {
    /// The tiles of all stages.
    type Tiles<const STAGES: usize>: Copy;

    /// Allocates their memory.
    fn take<const STAGES: usize>(shared: &mut Allotment<'a>) -> Self::Tiles<STAGES>;

    /// The tile of one stage.
    fn of_stage<const STAGES: usize>(tiles: Self::Tiles<STAGES>, stage: usize) -> Self;
}

impl<'a, const ROWS: usize, const COLUMNS: usize> Tile<'a>
    for SwizzledTile<'a, bf16, ROWS, COLUMNS>
{
    type Tiles<const STAGES: usize> = SwizzledTiles<'a, bf16, ROWS, COLUMNS, STAGES>;

    #[inline(always)]
    fn take<const STAGES: usize>(shared: &mut Allotment<'a>) -> Self::Tiles<STAGES> {
        shared.tiles()
    }

    #[inline(always)]
    fn of_stage<const STAGES: usize>(tiles: Self::Tiles<STAGES>, stage: usize) -> Self {
        tiles.get(stage)
    }
}

/// Loads of B's tile of `N` columns, and its operand for products. One block of a cluster loads `PART` columns.
pub trait Second<const N: usize, const PART: usize>: Copy {
    /// The order of the operand.
    type Major: Major;

    /// A stage of B in shared memory.
    type Tile<'a>: Tile<'a>;

    /// The stage as an operand.
    fn operand(tile: Self::Tile<'_>) -> Operand<'_, bf16, Self::Major, N, DEPTH>;

    /// Starts to load `PART` columns from `column + first` into the tile of each block in `blocks`.
    ///
    /// # Safety
    /// As for [`GridConstant::load_multicast`](cuda_std::grid_constant::GridConstant::load_multicast).
    unsafe fn load(
        self,
        tile: Self::Tile<'_>,
        slot: &Slot<'_>,
        place: (u32, u32),
        first: usize,
        blocks: u16,
    );
}

impl<const N: usize, const PART: usize> Second<N, PART> for Columns<'_, PART> {
    type Major = KMajor;
    type Tile<'a> = SwizzledTile<'a, bf16, N, DEPTH>;

    #[inline(always)]
    fn operand(tile: Self::Tile<'_>) -> Operand<'_, bf16, KMajor, N, DEPTH> {
        tile.k_major()
    }

    #[inline(always)]
    unsafe fn load(
        self,
        tile: Self::Tile<'_>,
        slot: &Slot<'_>,
        (k, column): (u32, u32),
        first: usize,
        blocks: u16,
    ) {
        let (part, place) = (tile.rows::<PART>(first), (column + first as u32, k));
        // SAFETY: the caller's contract.
        unsafe { self.0.load_multicast(part, slot, place, blocks) };
    }
}

impl<const N: usize, const PART: usize> Second<N, PART> for Rows<'_> {
    type Major = MnMajor;
    type Tile<'a> = SwizzledTile<'a, bf16, DEPTH, N>;

    #[inline(always)]
    fn operand(tile: Self::Tile<'_>) -> Operand<'_, bf16, MnMajor, N, DEPTH> {
        tile.mn_major()
    }

    #[inline(always)]
    unsafe fn load(
        self,
        tile: Self::Tile<'_>,
        slot: &Slot<'_>,
        (k, column): (u32, u32),
        first: usize,
        blocks: u16,
    ) {
        let (part, place) = (tile.columns::<PART>(first), (k, column + first as u32));
        // SAFETY: the caller's contract.
        unsafe { self.0.load_multicast(part, slot, place, blocks) };
    }
}
