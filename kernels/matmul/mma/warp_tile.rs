//! A warp's outputs: products of 16 x 8 outputs on tensor cores.

use super::super::accumulators::Accumulators;
use super::super::element::FmaElement;
use super::element::{COLUMNS_OF_PRODUCT, MmaElement, ROWS_OF_PRODUCT, Sums};
use super::stage::{StageLayout, Stages};
use cuda_std::thread;

/// Outputs that a lane has of one product. As [`Accumulators`], each is a row of the thread.
const OF_LANE: usize = 4;

/// Threads of a warp.
const LANES: usize = 32;

/// A warp's outputs, and how warps divide a block's.
pub trait WarpOutputs: Sized {
    /// The type of the operands' elements.
    type Element: MmaElement;

    /// The operands of one step: [`MmaElement::STEP`] k of the warp's rows of A and columns of B.
    type Fragments;

    /// Products of 16 x 8 outputs down the warp's tile.
    const DOWN: usize;

    /// Products of 16 x 8 outputs along the warp's tile.
    const ALONG: usize;

    /// Warps of a block.
    const WARPS: usize;

    /// Rows and columns of the block's outputs.
    const BLOCK: (usize, usize);

    /// Outputs to which nothing has been added.
    fn zero() -> Self;

    /// Fragments of zeros.
    fn no_fragments() -> Self::Fragments;

    /// The place of the warp of thread number `thread`.
    fn position(thread: u32) -> WarpPosition;

    /// The warp's fragments of [`MmaElement::STEP`] k, from `k` on, of one stage of both operands.
    ///
    /// # Safety
    /// 1. The stage has these k. It has been written, before a barrier, and no thread writes it before the next one.
    /// 2. A's stages have the block's rows, B's the block's columns, `position` is that of a warp of the block, and `k`
    ///    is a multiple of [`MmaElement::STEP`].
    /// 3. All threads of the warp make the call together, converged.
    unsafe fn read<
        A: StageLayout<Element = Self::Element>,
        B: StageLayout<Element = Self::Element>,
    >(
        position: &WarpPosition,
        stages: (Stages<'_, A>, Stages<'_, B>),
        stage: usize,
        k: usize,
    ) -> Self::Fragments;

    /// Adds the products of the fragments.
    ///
    /// # Safety
    /// 1. All threads of the warp make the call together, converged.
    unsafe fn add_products(&mut self, fragments: &Self::Fragments);

    /// Adds the products of the fragments, and replaces these by the fragments from `k` on.
    ///
    /// Two columns of B are read after the products with the last two: f64 is fast with reads between products. This
    /// saves no registers, because ptxas reads into other ones.
    ///
    /// # Safety
    /// 1. As for [`read`](Self::read).
    unsafe fn add_products_and_read<
        A: StageLayout<Element = Self::Element>,
        B: StageLayout<Element = Self::Element>,
    >(
        &mut self,
        fragments: &mut Self::Fragments,
        position: &WarpPosition,
        stages: (Stages<'_, A>, Stages<'_, B>),
        stage: usize,
        k: usize,
    );

    /// The lane's sum number `i` of the row `down` of products, counted from left to right.
    fn sum(&self, down: usize, i: usize) -> <Self::Element as MmaElement>::Sum;
}

/// A warp's sums: `DOWN` x `ALONG` products. A block has `WARPS` warps, in rows of `WARPS_ALONG`.
pub struct WarpTile<
    T: MmaElement,
    const DOWN: usize,
    const ALONG: usize,
    const WARPS: usize,
    const WARPS_ALONG: usize,
> {
    sums: [[Sums<T>; ALONG]; DOWN],
}

/// The operands of one step of a warp.
#[derive(Clone, Copy)]
pub struct Fragments<T: MmaElement, const DOWN: usize, const ALONG: usize> {
    pub a: [T::A; DOWN],
    pub b: [T::B; ALONG],
}

impl<
    T: MmaElement,
    const DOWN: usize,
    const ALONG: usize,
    const WARPS: usize,
    const WARPS_ALONG: usize,
> WarpTile<T, DOWN, ALONG, WARPS, WARPS_ALONG>
{
    /// Adds the products of column `j` of products.
    ///
    /// # Safety
    /// 1. All threads of the warp make the call together, converged.
    #[inline(always)]
    unsafe fn add_column(&mut self, fragments: &Fragments<T, DOWN, ALONG>, j: usize) {
        let mut i = 0;
        while i < DOWN {
            // SAFETY: the warp is converged: the caller's contract, and the loop's bound is a constant.
            self.sums[i][j] =
                unsafe { T::add_product(self.sums[i][j], fragments.a[i], fragments.b[j]) };
            i += 1;
        }
    }

    /// The fragments of the warp's rows of A.
    ///
    /// # Safety
    /// 1. As for [`WarpOutputs::read`].
    #[inline(always)]
    unsafe fn read_rows<A: StageLayout<Element = T>>(
        position: &WarpPosition,
        stages: Stages<'_, A>,
        stage: usize,
        k: usize,
    ) -> [T::A; DOWN] {
        let mut rows = [T::zero().0; DOWN];
        let mut i = 0;
        while i < DOWN {
            let first = position.row + i * ROWS_OF_PRODUCT;
            // SAFETY: the stage has the elements: it has the k and the block's rows, of which these are the warp's.
            // They were written before a barrier and are not written before the next one. `k` is a multiple of a step,
            // and the warp is converged. All are the caller's contract. `first` is a multiple of 16: `position`.
            rows[i] = unsafe { T::read_a(stages, stage, first, k) };
            i += 1;
        }
        rows
    }

    /// The fragments of B for columns `j` and `j + 1` of products.
    ///
    /// # Safety
    /// 1. As for [`WarpOutputs::read`].
    #[inline(always)]
    unsafe fn read_columns<B: StageLayout<Element = T>>(
        position: &WarpPosition,
        stages: Stages<'_, B>,
        stage: usize,
        j: usize,
        k: usize,
    ) -> [T::B; 2] {
        let first = position.column + j * COLUMNS_OF_PRODUCT;
        // SAFETY: as in `read_rows`, for the 16 columns of two products.
        unsafe { T::read_b(stages, stage, first, k) }
    }

    /// Replaces each sum by `with` of it and the sum of `other`.
    #[inline(always)]
    pub fn combine(&mut self, other: &Self, with: impl Fn(T::Sum, T::Sum) -> T::Sum) {
        let mut i = 0;
        while i < DOWN {
            let mut j = 0;
            while j < ALONG {
                let (own, other) = (self.sums[i][j], other.sums[i][j]);
                self.sums[i][j] = own.zip(other, &with);
                j += 1;
            }
            i += 1;
        }
    }
}

/// The first row and column of a warp's outputs in its block.
pub struct WarpPosition {
    pub row: usize,
    pub column: usize,
}

impl<
    T: MmaElement,
    const DOWN: usize,
    const ALONG: usize,
    const WARPS: usize,
    const WARPS_ALONG: usize,
> WarpOutputs for WarpTile<T, DOWN, ALONG, WARPS, WARPS_ALONG>
{
    type Element = T;
    type Fragments = Fragments<T, DOWN, ALONG>;
    const DOWN: usize = DOWN;
    const ALONG: usize = ALONG;
    const WARPS: usize = WARPS;
    const BLOCK: (usize, usize) = (
        WARPS / WARPS_ALONG * DOWN * ROWS_OF_PRODUCT,
        WARPS_ALONG * ALONG * COLUMNS_OF_PRODUCT,
    );

    #[inline(always)]
    fn zero() -> Self {
        Self {
            sums: [[Sums::<T>::zero(); ALONG]; DOWN],
        }
    }

    #[inline(always)]
    fn no_fragments() -> Self::Fragments {
        let (a, b) = T::zero();
        Fragments {
            a: [a; DOWN],
            b: [b; ALONG],
        }
    }

    #[inline(always)]
    fn position(thread: u32) -> WarpPosition {
        let warp = thread as usize / LANES;
        WarpPosition {
            row: warp / WARPS_ALONG * (ROWS_OF_PRODUCT * DOWN),
            column: warp % WARPS_ALONG * (COLUMNS_OF_PRODUCT * ALONG),
        }
    }

    #[inline(always)]
    unsafe fn read<A: StageLayout<Element = T>, B: StageLayout<Element = T>>(
        position: &WarpPosition,
        (a_stages, b_stages): (Stages<'_, A>, Stages<'_, B>),
        stage: usize,
        k: usize,
    ) -> Self::Fragments {
        const {
            assert!(
                ALONG.is_multiple_of(2),
                "the columns of two products are read at once"
            )
        };
        let mut fragments = Self::no_fragments();
        // SAFETY: the caller's contract.
        fragments.a = unsafe { Self::read_rows(position, a_stages, stage, k) };
        let mut j = 0;
        while j < ALONG {
            // SAFETY: the caller's contract. The warp is converged: the loop's bound is a constant.
            let [left, right] = unsafe { Self::read_columns(position, b_stages, stage, j, k) };
            (fragments.b[j], fragments.b[j + 1]) = (left, right);
            j += 2;
        }
        fragments
    }

    #[inline(always)]
    unsafe fn add_products_and_read<A: StageLayout<Element = T>, B: StageLayout<Element = T>>(
        &mut self,
        fragments: &mut Self::Fragments,
        position: &WarpPosition,
        (a_stages, b_stages): (Stages<'_, A>, Stages<'_, B>),
        stage: usize,
        k: usize,
    ) {
        // SAFETY: the caller's contract.
        let rows = unsafe { Self::read_rows(position, a_stages, stage, k) };
        let mut j = 0;
        while j < ALONG {
            // SAFETY: the caller's contract. The warp is converged: the loop's bound is a constant.
            let [left, right] = unsafe {
                self.add_column(fragments, j);
                self.add_column(fragments, j + 1);
                Self::read_columns(position, b_stages, stage, j, k)
            };
            (fragments.b[j], fragments.b[j + 1]) = (left, right);
            j += 2;
        }
        fragments.a = rows;
    }

    #[inline(always)]
    unsafe fn add_products(&mut self, fragments: &Self::Fragments) {
        let mut j = 0;
        while j < ALONG {
            // SAFETY: the warp is converged: the caller's contract, and the loop's bound is a constant.
            unsafe { self.add_column(fragments, j) };
            j += 1;
        }
    }

    #[inline(always)]
    fn sum(&self, down: usize, i: usize) -> T::Sum {
        self.sums[down][i / OF_LANE].get(i % OF_LANE)
    }
}

impl<
    T: MmaElement<Sum: FmaElement>,
    const DOWN: usize,
    const ALONG: usize,
    const WARPS: usize,
    const WARPS_ALONG: usize,
> Accumulators for WarpTile<T, DOWN, ALONG, WARPS, WARPS_ALONG>
{
    type Element = T::Sum;
    type Position = WarpPosition;
    const ROWS: usize = OF_LANE * DOWN;
    const COLUMNS: usize = ALONG;
    const THREADS: usize = WARPS * LANES;

    #[inline(always)]
    fn zero() -> Self {
        WarpOutputs::zero()
    }

    #[inline(always)]
    fn position() -> WarpPosition {
        <Self as WarpOutputs>::position(thread::thread_idx_x())
    }

    #[inline(always)]
    fn place(position: &WarpPosition, i: usize, j: usize) -> (usize, usize) {
        let (row, column) = Sums::<T>::place(i % OF_LANE);
        (
            position.row + i / OF_LANE * ROWS_OF_PRODUCT + row,
            position.column + j * COLUMNS_OF_PRODUCT + column,
        )
    }

    #[inline(always)]
    fn output(&self, i: usize, j: usize) -> T::Sum {
        self.sums[i / OF_LANE][j].get(i % OF_LANE)
    }
}
