//! The two operands of a product, as a main loop sees them: slices to load, and slices to multiply.

use super::cluster::slice_bytes;
use super::operand::{OperandPlace, TensorOperand};
use super::shape::WARPGROUP_ROWS;
use core::marker::PhantomData;
use cuda_std::mbarrier::Slot;
use cuda_std::shared::Allotment;
use cuda_std::wgmma::{Element, Multiply, Products};

/// A and B of a block's tile, slice by slice along k.
pub trait Operands: Copy {
    /// The type of their elements.
    type Element: Element;

    /// Rows of the block's tile.
    const ROWS: usize;

    /// Columns of the block's tile.
    const COLUMNS: usize;

    /// Columns of B that the block loads: half of them in a cluster, all of them without one.
    const PART: usize;

    /// Elements along k of a slice.
    const DEPTH: usize;

    /// Slices in shared memory.
    const SLICES: usize;

    /// Bytes of a slice of A and one of B.
    const SLICE_BYTES: usize = slice_bytes(Self::ROWS, Self::COLUMNS);

    /// All slices of A.
    type ATiles<'a>: Copy;

    /// All slices of B.
    type BTiles<'a>: Copy;

    /// Prefetches the maps of both.
    fn prefetch(self);

    /// Allocates the slices of A.
    fn a_tiles<'a>(shared: &mut Allotment<'a>) -> Self::ATiles<'a>;

    /// Allocates the slices of B.
    fn b_tiles<'a>(shared: &mut Allotment<'a>) -> Self::BTiles<'a>;

    /// Starts to load slice number `slice` of A, for the calling block alone.
    ///
    /// # Safety
    /// As for [`TensorOperand::load`], of a slice in range.
    unsafe fn load_a(
        self,
        tiles: Self::ATiles<'_>,
        slice: usize,
        slot: &Slot<'_>,
        place: OperandPlace,
    );

    /// Starts to load `PART` columns of slice number `slice` of B, from column `first` on.
    ///
    /// They go to the blocks of the cluster whose bits are set, or to the calling block alone.
    ///
    /// # Safety
    /// As for [`TensorOperand::load`], of a slice in range.
    unsafe fn load_b(
        self,
        tiles: Self::BTiles<'_>,
        slice: usize,
        slot: &Slot<'_>,
        place: OperandPlace,
        first: usize,
        blocks: Option<u16>,
    );

    /// Starts to add the product of 64 rows of a slice of A, from `first` on, with the same slice of B.
    ///
    /// # Safety
    /// As for [`Products::multiply`], of slices and rows in range.
    unsafe fn multiply<S, const COUNT: usize>(
        products: &mut Products<COUNT, S>,
        a: Self::ATiles<'_>,
        b: Self::BTiles<'_>,
        slice: usize,
        first: usize,
    ) where
        [S; COUNT]: Multiply<Self::Element, Self::Element>;
}

/// Operands `A` and `B` with elements `T`, for a tile of these sizes.
#[derive(Clone, Copy)]
pub struct Pair<
    T,
    A,
    B,
    const ROWS: usize,
    const COLUMNS: usize,
    const PART: usize,
    const SLICES: usize,
    const DEPTH: usize,
> {
    a: A,
    b: B,
    element: PhantomData<T>,
}

impl<
    T,
    A,
    B,
    const ROWS: usize,
    const COLUMNS: usize,
    const PART: usize,
    const SLICES: usize,
    const DEPTH: usize,
> Pair<T, A, B, ROWS, COLUMNS, PART, SLICES, DEPTH>
{
    /// A product of `a` and `b`.
    #[inline(always)]
    pub const fn new(a: A, b: B) -> Self {
        Self {
            a,
            b,
            element: PhantomData,
        }
    }
}

impl<
    T: Element,
    A: TensorOperand<T, ROWS, ROWS, DEPTH>,
    B: TensorOperand<T, COLUMNS, PART, DEPTH>,
    const ROWS: usize,
    const COLUMNS: usize,
    const PART: usize,
    const SLICES: usize,
    const DEPTH: usize,
> Operands for Pair<T, A, B, ROWS, COLUMNS, PART, SLICES, DEPTH>
{
    type Element = T;
    const ROWS: usize = ROWS;
    const COLUMNS: usize = COLUMNS;
    const PART: usize = PART;
    const DEPTH: usize = DEPTH;
    const SLICES: usize = SLICES;
    type ATiles<'a> = A::Tiles<'a, SLICES>;
    type BTiles<'a> = B::Tiles<'a, SLICES>;

    #[inline(always)]
    fn prefetch(self) {
        self.a.prefetch();
        self.b.prefetch();
    }

    #[inline(always)]
    fn a_tiles<'a>(shared: &mut Allotment<'a>) -> Self::ATiles<'a> {
        A::tiles::<SLICES>(shared)
    }

    #[inline(always)]
    fn b_tiles<'a>(shared: &mut Allotment<'a>) -> Self::BTiles<'a> {
        B::tiles::<SLICES>(shared)
    }

    #[inline(always)]
    unsafe fn load_a(
        self,
        tiles: Self::ATiles<'_>,
        slice: usize,
        slot: &Slot<'_>,
        place: OperandPlace,
    ) {
        // SAFETY: the caller's contract.
        unsafe { (self.a).load(A::tile(tiles, slice), slot, place, 0, None) };
    }

    #[inline(always)]
    unsafe fn load_b(
        self,
        tiles: Self::BTiles<'_>,
        slice: usize,
        slot: &Slot<'_>,
        place: OperandPlace,
        first: usize,
        blocks: Option<u16>,
    ) {
        // SAFETY: the caller's contract.
        unsafe { (self.b).load(B::tile(tiles, slice), slot, place, first, blocks) };
    }

    #[inline(always)]
    unsafe fn multiply<S, const COUNT: usize>(
        products: &mut Products<COUNT, S>,
        a: Self::ATiles<'_>,
        b: Self::BTiles<'_>,
        slice: usize,
        first: usize,
    ) where
        [S; COUNT]: Multiply<T, T>,
    {
        let a = A::part::<WARPGROUP_ROWS>(A::tile(a, slice), first);
        let b = B::part::<COLUMNS>(B::tile(b, slice), 0);
        // SAFETY: the caller's contract.
        unsafe { products.multiply(a, b) };
    }
}
