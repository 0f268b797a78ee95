//! The outputs of a warp: products of 16 x 8 outputs on tensor cores.

use super::super::accumulators::Accumulators;
use super::super::element::FmaElement;
use super::element::{COLUMNS_OF_PRODUCT, MmaElement, ROWS_OF_PRODUCT, Sums};
use super::stage::{StageLayout, Stages};
use cuda_std::thread;

/// Outputs that a lane has of one product, in as many rows of its own as there are.
const OF_LANE: usize = 4;

/// Threads of a warp.
const LANES: usize = 32;

/// The outputs of a warp, and how many warps share the outputs of a block: what the main loop has to know of a
/// kernel's sizes.
pub trait WarpOutputs: Sized {
    /// The type of the operands' elements.
    type Element: MmaElement;

    /// What a warp multiplies at a time: [`MmaElement::STEP`] k of its rows of A and of its columns of B.
    type Fragments;

    /// Products of 16 x 8 outputs above one another.
    const DOWN: usize;

    /// Products of 16 x 8 outputs side by side.
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
    /// 1. The stage has been written, before a barrier, and has so many k.
    /// 2. A's has the block's rows, B's the block's columns, and `k` is a multiple of [`MmaElement::STEP`].
    /// 3. All threads of the warp make the call together: none has branched away.
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
    /// 1. All threads of the warp make the call together: none has branched away.
    unsafe fn add_products(&mut self, fragments: &Self::Fragments);

    /// Adds the products of the fragments, and reads others in their place: two columns of B after the products with
    /// the last two. f64 is fast in this order, in which reads stand between products. It saves no registers: ptxas
    /// reads them into other ones.
    ///
    /// # Safety
    /// As for `read`.
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

    /// The lane's sum number `i` of the products number `down` from above, in order from left to right.
    fn sum(&self, down: usize, i: usize) -> <Self::Element as MmaElement>::Sum;
}

/// The sums of a warp: `DOWN` products above one another, `ALONG` side by side. A block has `WARPS` of them,
/// `WARPS_ALONG` side by side.
pub struct WarpTile<
    T: MmaElement,
    const DOWN: usize,
    const ALONG: usize,
    const WARPS: usize,
    const WARPS_ALONG: usize,
> {
    sums: [[Sums<T>; ALONG]; DOWN],
}

/// What a warp multiplies at a time.
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
    /// Adds the products of the fragments of column number `j` of products.
    ///
    /// # Safety
    /// 1. All threads of the warp make the call together: none has branched away.
    #[inline(always)]
    unsafe fn add_column(&mut self, fragments: &Fragments<T, DOWN, ALONG>, j: usize) {
        let mut i = 0;
        while i < DOWN {
            // SAFETY: (1) is (1); the number of products is a constant.
            self.sums[i][j] =
                unsafe { T::add_product(self.sums[i][j], fragments.a[i], fragments.b[j]) };
            i += 1;
        }
    }

    /// The fragments of the warp's rows of A.
    ///
    /// # Safety
    /// As for [`WarpOutputs::read`].
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
            // SAFETY: (1) the stage has been written, by (1), and has the elements, by (2). (2) The warp's rows
            // begin at a multiple of 16; (2). (3) is (3).
            rows[i] = unsafe { T::read_a(stages, stage, first, k) };
            i += 1;
        }
        rows
    }

    /// The fragments of the warp's columns of B, of two columns of products from number `j` on.
    ///
    /// # Safety
    /// As for [`WarpOutputs::read`].
    #[inline(always)]
    unsafe fn read_columns<B: StageLayout<Element = T>>(
        position: &WarpPosition,
        stages: Stages<'_, B>,
        stage: usize,
        j: usize,
        k: usize,
    ) -> [T::B; 2] {
        let first = position.column + j * COLUMNS_OF_PRODUCT;
        // SAFETY: as in `read_rows`, of columns.
        unsafe { T::read_b(stages, stage, first, k) }
    }

    /// Replaces each sum by what `with` makes of it and of that of `other`.
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

/// Where a warp's outputs begin among its block's.
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
                "columns of two products are read at once"
            )
        };
        let mut fragments = Self::no_fragments();
        // SAFETY: (1), (2) and (3).
        fragments.a = unsafe { Self::read_rows(position, a_stages, stage, k) };
        let mut j = 0;
        while j < ALONG {
            // SAFETY: (1), (2) and (3).
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
        // SAFETY: (1), (2) and (3).
        let rows = unsafe { Self::read_rows(position, a_stages, stage, k) };
        let mut j = 0;
        while j < ALONG {
            // SAFETY: of the products, (1) is (3). Of the reads, (1), (2) and (3).
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
            // SAFETY: (1) is (1).
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
