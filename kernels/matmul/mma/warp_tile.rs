//! The outputs of a warp: products of 16 x 8 outputs on tensor cores.

use super::super::accumulators::Accumulators;
use super::stage::{StageLayout, Stages};
use cuda_std::mma::{A, B, C};
use cuda_std::thread;

/// Rows, columns and k of one product.
const ROWS_OF_PRODUCT: usize = 16;
const COLUMNS_OF_PRODUCT: usize = 8;
pub const STEP: usize = 8;

type Sum = C<f64, ROWS_OF_PRODUCT, COLUMNS_OF_PRODUCT>;

/// Outputs that a lane has of one product, in as many rows of its own as there are.
const OF_LANE: usize = 4;

/// Threads of a warp.
const LANES: usize = 32;

/// The sums of a warp: `DOWN` products above one another, `ALONG` side by side. A block has `WARPS` of them,
/// `WARPS_ALONG` side by side.
pub struct WarpTile<
    const DOWN: usize,
    const ALONG: usize,
    const WARPS: usize,
    const WARPS_ALONG: usize,
> {
    sums: [[Sum; ALONG]; DOWN],
}

/// What a warp multiplies at a time: [`STEP`] k of its rows of A and of its columns of B.
pub struct Fragments<const DOWN: usize, const ALONG: usize> {
    a: [A<f64, ROWS_OF_PRODUCT, STEP>; DOWN],
    b: [B<f64, STEP, COLUMNS_OF_PRODUCT>; ALONG],
}

impl<const DOWN: usize, const ALONG: usize> Fragments<DOWN, ALONG> {
    #[inline(always)]
    pub fn zero() -> Self {
        Self {
            a: [A::zero(); DOWN],
            b: [B::zero(); ALONG],
        }
    }
}

/// Where a warp's outputs begin among its block's.
pub struct WarpPosition {
    row: usize,
    column: usize,
}

impl<const DOWN: usize, const ALONG: usize, const WARPS: usize, const WARPS_ALONG: usize>
    WarpTile<DOWN, ALONG, WARPS, WARPS_ALONG>
{
    /// Rows and columns of the block's outputs.
    pub const BLOCK: (usize, usize) = (
        WARPS / WARPS_ALONG * DOWN * ROWS_OF_PRODUCT,
        WARPS_ALONG * ALONG * COLUMNS_OF_PRODUCT,
    );

    /// The warp's fragments of [`STEP`] k, from `k` on, of one stage of both operands.
    ///
    /// # Safety
    /// 1. The stage has been written, before a barrier, and has so many k.
    /// 2. A's has the block's rows, B's the block's columns.
    #[inline(always)]
    pub unsafe fn read<L: StageLayout, R: StageLayout>(
        position: &WarpPosition,
        a_stages: Stages<'_, L>,
        b_stages: Stages<'_, R>,
        stage: usize,
        k: usize,
    ) -> Fragments<DOWN, ALONG> {
        let mut fragments = Fragments::zero();
        let mut i = 0;
        while i < DOWN {
            let first = position.row + i * ROWS_OF_PRODUCT;
            // SAFETY: (1) the stage has been written, by (1), and has the element, by (2).
            fragments.a[i] =
                A::from_fn(|row, of_k| unsafe { a_stages.element(stage, first + row, k + of_k) });
            i += 1;
        }
        let mut j = 0;
        while j < ALONG {
            let first = position.column + j * COLUMNS_OF_PRODUCT;
            // SAFETY: as for A.
            fragments.b[j] = B::from_fn(|of_k, column| unsafe {
                b_stages.element(stage, first + column, k + of_k)
            });
            j += 1;
        }
        fragments
    }

    /// Adds the products of the fragments.
    #[inline(always)]
    pub fn add_products(&mut self, fragments: &Fragments<DOWN, ALONG>) {
        let mut j = 0;
        while j < ALONG {
            let mut i = 0;
            while i < DOWN {
                self.sums[i][j] = self.sums[i][j].add_product(fragments.a[i], fragments.b[j]);
                i += 1;
            }
            j += 1;
        }
    }
}

impl<const DOWN: usize, const ALONG: usize, const WARPS: usize, const WARPS_ALONG: usize>
    Accumulators for WarpTile<DOWN, ALONG, WARPS, WARPS_ALONG>
{
    type Element = f64;
    type Position = WarpPosition;
    const ROWS: usize = OF_LANE * DOWN;
    const COLUMNS: usize = ALONG;
    const THREADS: usize = WARPS * LANES;

    #[inline(always)]
    fn zero() -> Self {
        Self {
            sums: [[Sum::zero(); ALONG]; DOWN],
        }
    }

    #[inline(always)]
    fn position() -> WarpPosition {
        let warp = thread::thread_idx_x() as usize / LANES;
        WarpPosition {
            row: warp / WARPS_ALONG * (ROWS_OF_PRODUCT * DOWN),
            column: warp % WARPS_ALONG * (COLUMNS_OF_PRODUCT * ALONG),
        }
    }

    #[inline(always)]
    fn place(position: &WarpPosition, i: usize, j: usize) -> (usize, usize) {
        let (row, column) = Sum::place(i % OF_LANE);
        (
            position.row + i / OF_LANE * ROWS_OF_PRODUCT + row,
            position.column + j * COLUMNS_OF_PRODUCT + column,
        )
    }

    #[inline(always)]
    fn output(&self, i: usize, j: usize) -> f64 {
        self.sums[i / OF_LANE][j].get(i % OF_LANE)
    }
}
