//! The coarsened product: a block of outputs for each thread.
//!
//! ```text
//! for each tile of K:
//!     the block copies a tile of A and of B to shared memory
//!     each thread, for each k of the tile:
//!         reads TM elements of A and TN of B into registers
//!         adds their TM x TN products to its outputs
//! ```
//!
//! Thread coarsening (seed 000, figures 6.12 and 6.13) in two dimensions: an element that a thread
//! reads from shared memory serves TM or TN outputs instead of one.
//!
//! Departures from the plain version, for speed:
//! 1. The tiles are double-buffered: while the block computes on one, `cp.async` brings the next
//!    straight to shared memory, past the registers.
//! 2. For each k a thread reads its rows of A, like its columns of B, as 16-byte vectors: the lanes
//!    of a warp read 4 neighbouring vectors of A's tile and 8 of B's, without bank conflicts. An
//!    operand whose elements do not lie that way, a row-major A or a column-major B, is transposed
//!    while it is copied, element by element (`fetch.rs`).
//! 3. Copies of a row-major B are 16 bytes wide where its rows start at multiples of 16 bytes; the
//!    `_unaligned` kernels copy single elements. The kernels of other layouts find out themselves.
//! 4. Tiles at the edges have zeros outside the matrices, so the inner loop has no conditions.
//!    Tiles that lie within the matrices take a shorter path without zeros.
//! 5. For a result that would not fill the GPU with blocks of the usual size there are `_small`
//!    kernels: fewer outputs for each thread, more threads (the host chooses; the bits are the same).
//! 6. Outputs are written one by one. A vector store would bind each thread's sums to registers of
//!    the same banks as B's fragments, and the multiply-adds would wait for their operands: 12 %
//!    of the time at 4096 on an H200 (ladder/pages/product.md).

use super::fetch::{Corner, Fetch, Straight, StraightOfAnyLength, Turned};
use super::{Product, Tiling, block_position};
use cuda_std::prelude::*;

/// Tiles in flight and in use.
pub(super) const STAGES: usize = 2;

/// Threads of a block: 8 warps, 4 down and 2 along.
pub(super) const THREADS: usize = 256;
const WARPS_ALONG: usize = 2;

/// A warp's lanes: 4 down and 8 along.
const LANES: usize = 32;
const LANES_DOWN: usize = 4;
const LANES_ALONG: usize = 8;

/// Threads of a block down its outputs, and along.
const THREADS_DOWN: usize = THREADS / LANES / WARPS_ALONG * LANES_DOWN;
const THREADS_ALONG: usize = WARPS_ALONG * LANES_ALONG;

/// Where the calling thread's outputs lie in its block's.
struct Place {
    /// The first row; further vectors of rows follow `LANES_DOWN` vectors apart.
    row: usize,
    /// The first column; further vectors of columns follow `LANES_ALONG` vectors apart.
    column: usize,
}

impl Place {
    #[inline(always)]
    fn of_thread<const VECTOR: usize, const TM: usize, const TN: usize>() -> Self {
        let thread = thread::thread_idx_x() as usize;
        let (warp, lane) = (thread / LANES, thread % LANES);
        // Neighbours share a column, so that each half of the warp reads only 2 vectors of A and 8
        // of B: a 16-byte read then takes 2 passes of shared memory instead of 4. The lane order
        // is that of the SGEMM notes of the maxas assembler.
        let (lane_down, lane_along) = (lane / 16 * 2 + lane % 2, lane / 2 % LANES_ALONG);
        Self {
            row: warp / WARPS_ALONG * (LANES_DOWN * TM) + lane_down * VECTOR,
            column: warp % WARPS_ALONG * (LANES_ALONG * TN) + lane_along * VECTOR,
        }
    }

    /// The row of the thread's output row `i`, from 0 to TM - 1.
    #[inline(always)]
    fn row_of<const VECTOR: usize>(&self, i: usize) -> usize {
        self.row + i / VECTOR * (LANES_DOWN * VECTOR) + i % VECTOR
    }

    /// The column of the thread's output column `j`, from 0 to TN - 1.
    #[inline(always)]
    fn column_of<const VECTOR: usize>(&self, j: usize) -> usize {
        self.column + j / VECTOR * (LANES_ALONG * VECTOR) + j % VECTOR
    }
}

/// `COUNT` elements of row `row` of a tile, as vectors of `VECTOR` that lie `stride` apart.
///
/// # Safety
/// 1. The vectors lie within the tile and have been written, before a barrier.
/// 2. `VECTOR` elements are 16 bytes and divide `column`, `stride` and the pitch.
#[inline(always)]
unsafe fn fragment<
    T: Float,
    const VECTOR: usize,
    const COUNT: usize,
    const ROWS: usize,
    const COLUMNS: usize,
    const PITCH: usize,
>(
    tile: SharedTile<T, ROWS, COLUMNS, PITCH>,
    row: usize,
    column: usize,
    stride: usize,
) -> [T; COUNT] {
    let mut elements = [T::ZERO; COUNT];
    for vector in 0..COUNT / VECTOR {
        // SAFETY: (1), (2) are (1). (3) is (2).
        let loaded: [T; VECTOR] = unsafe { tile.load_vector(row, column + vector * stride) };
        for v in 0..VECTOR {
            elements[vector * VECTOR + v] = loaded[v];
        }
    }
    elements
}

/// The products of one tile, added to the thread's outputs.
///
/// # Safety
/// 1. The stage's rows of both tiles have been written, before a barrier.
/// 2. `VECTOR` elements are 16 bytes and divide the tiles' pitches.
#[inline(always)]
unsafe fn accumulate<
    T: Float,
    const VECTOR: usize,
    const TM: usize,
    const TN: usize,
    const ROWS: usize,
    const BM: usize,
    const A_PITCH: usize,
    const BN: usize,
    const B_PITCH: usize,
>(
    sums: &mut [[T; TN]; TM],
    place: &Place,
    a_tile: SharedTile<T, ROWS, BM, A_PITCH>,
    b_tile: SharedTile<T, ROWS, BN, B_PITCH>,
    stage: usize,
) {
    let depth = ROWS / STAGES;
    for k in 0..depth {
        let row = stage * depth + k;
        // SAFETY: (1) by (1) and `Place`. (2) by (2).
        let (a, b): ([T; TM], [T; TN]) = unsafe {
            (
                fragment::<T, VECTOR, TM, ROWS, BM, A_PITCH>(
                    a_tile,
                    row,
                    place.row,
                    LANES_DOWN * VECTOR,
                ),
                fragment::<T, VECTOR, TN, ROWS, BN, B_PITCH>(
                    b_tile,
                    row,
                    place.column,
                    LANES_ALONG * VECTOR,
                ),
            )
        };
        for i in 0..TM {
            for step in 0..TN {
                // There and back again: neighbouring products share an operand at the turns, too.
                let j = if i % 2 == 0 { step } else { TN - 1 - step };
                sums[i][j] = a[i].mul_add(b[j], sums[i][j]);
            }
        }
    }
}

/// Writes the thread's outputs, as far as they lie within C.
///
/// # Safety
/// 1. C has m * n elements.
/// 2. `corner` is the row and column of the calling block's first output; no other block has its
///    outputs.
#[inline(always)]
unsafe fn write_outputs<T: Float, const VECTOR: usize, const TM: usize, const TN: usize>(
    product: &Product<T>,
    sums: &[[T; TN]; TM],
    place: &Place,
    corner: (usize, usize),
) {
    let Product { c, m, n, .. } = *product;
    for (i, sums) in sums.iter().enumerate() {
        let row = corner.0 + place.row_of::<VECTOR>(i);
        for (j, sum) in sums.iter().enumerate() {
            let column = corner.1 + place.column_of::<VECTOR>(j);
            if row < m && column < n {
                // SAFETY: (1) row < m and column < n. (2) The output is this thread's alone, by
                // (2) and `Place`.
                unsafe { c.store(row * n + column, sum.canonical_nan()) };
            }
        }
    }
}

/// # Safety
/// 1. The launch has blocks of 256 threads along x, one for each `THREADS_DOWN * TM` rows and
///    `THREADS_ALONG * TN` columns of C.
/// 2. The matrices have m * k, k * n and m * n elements and start at multiples of 16 bytes.
/// 3. `A` and `B` are how the operands lie in memory. VECTOR elements are 16 bytes.
/// 4. The tiles are the block's own.
#[inline(always)]
unsafe fn multiply<
    T: Float,
    A: Fetch,
    B: Fetch,
    const VECTOR: usize,
    const TM: usize,
    const TN: usize,
    const BK: usize,
    const ROWS: usize,
    const BM: usize,
    const A_PITCH: usize,
    const BN: usize,
    const B_PITCH: usize,
>(
    product: Product<T>,
    a_tile: SharedTile<T, ROWS, BM, A_PITCH>,
    b_tile: SharedTile<T, ROWS, BN, B_PITCH>,
) {
    const {
        assert!(ROWS == STAGES * BK, "the tiles have room for each stage");
        assert!(
            BM == THREADS_DOWN * TM,
            "A's tile has the rows of the threads' outputs"
        );
        assert!(
            BN == THREADS_ALONG * TN,
            "B's tile has the columns of the threads' outputs"
        );
        assert!(
            (BM * BK).is_multiple_of(VECTOR * THREADS),
            "the threads share A's copies evenly"
        );
        assert!(
            (BK * BN).is_multiple_of(VECTOR * THREADS),
            "the threads share B's copies evenly"
        );
    }
    let Product { a, b, m, n, k, .. } = product;
    let (block_row, block_column) = block_position(m.div_ceil(BM), n.div_ceil(BN));
    let (row, column) = (block_row * BM, block_column * BN);
    // Past the end of K a product is 0 times -0: -0, which changes no sum, not even one of -0.
    let a_source = A::source(a, m, k, T::ZERO);
    let b_source = B::source(b, n, k, T::NEGATIVE_ZERO);
    let place = Place::of_thread::<VECTOR, TM, TN>();
    let tiles = k.div_ceil(BK) as u32;

    // Most blocks lie within C wholly, and most tiles of K within K: their copies need no zeros.
    let within_c = row + BM <= m && column + BN <= n;
    let whole_tiles = if within_c { (k / BK) as u32 } else { 0 };

    let mut pipeline = Pipeline::<STAGES>::new();
    let fetch_tile = |pipeline: &mut Pipeline<STAGES>, tile: u32| {
        let (tile_row, k) = (pipeline.free_stage() * BK, tile as usize * BK);
        let (a_slice, b_slice) = (a_tile.as_slice(), b_tile.as_slice());
        let a_corner = Corner { k, output: row };
        let b_corner = Corner { k, output: column };
        // SAFETY: (1) a stage's rows. (2) is (2) and (3). (3) The stage is free, since its last
        // readers have passed a barrier. (4) `whole_tiles`.
        unsafe {
            if tile < whole_tiles {
                A::fetch::<T, VECTOR, BK, BM, A_PITCH, true>(
                    pipeline, a_slice, tile_row, &a_source, a_corner,
                );
                B::fetch::<T, VECTOR, BK, BN, B_PITCH, true>(
                    pipeline, b_slice, tile_row, &b_source, b_corner,
                );
            } else {
                A::fetch::<T, VECTOR, BK, BM, A_PITCH, false>(
                    pipeline, a_slice, tile_row, &a_source, a_corner,
                );
                B::fetch::<T, VECTOR, BK, BN, B_PITCH, false>(
                    pipeline, b_slice, tile_row, &b_source, b_corner,
                );
            }
        }
    };
    if tiles > 0 {
        fetch_tile(&mut pipeline, 0);
    }
    pipeline.commit();

    let mut sums = [[T::ZERO; TN]; TM];
    for tile in 0..tiles {
        let stage = pipeline.wait_oldest();
        thread::sync_threads();
        if tile + 1 < tiles {
            fetch_tile(&mut pipeline, tile + 1);
        }
        pipeline.commit();
        // SAFETY: (1) every thread has waited for its copies before the barrier. (2) is (3).
        unsafe {
            accumulate::<T, VECTOR, TM, TN, ROWS, BM, A_PITCH, BN, B_PITCH>(
                &mut sums, &place, a_tile, b_tile, stage,
            )
        };
    }
    // SAFETY: (1) is (2). (2) `block_position` gives each block its own.
    unsafe { write_outputs::<T, VECTOR, TM, TN>(&product, &sums, &place, (row, column)) };
}

// `prepared`: whether there are registers to prepare the addresses of a column-major operand, too.
macro_rules! coarsened_kernels {
    ($($tiling:ident: $element:ty, vector = $vector:literal, outputs = $tm:literal x $tn:literal,
        tile = $bm:literal x $bn:literal x $bk:literal, blocks = $blocks:literal,
        prepared = $prepared:literal, kernels = $row_major:ident, $unaligned:ident, $a_t:ident, $b_t:ident, $a_t_b_t:ident;)*) => {$(
        #[doc = concat!("How the coarsened kernels of ", stringify!($element), " are launched.")]
        pub const $tiling: Tiling = Tiling { block_rows: $bm, block_columns: $bn, threads: THREADS as u32 };

        coarsened_kernels!(@kernel $tiling, $row_major: $element, $vector, $tm x $tn, $bm x $bn x $bk, $blocks,
            Turned<true>, $bm + $vector, Straight<$vector>, $bn,
            "A and B are row-major, and the rows of B are multiples of 16 bytes.");
        coarsened_kernels!(@kernel $tiling, $unaligned: $element, $vector, $tm x $tn, $bm x $bn x $bk, $blocks,
            Turned<true>, $bm + $vector, Straight<1>, $bn,
            "A and B are row-major.");
        coarsened_kernels!(@kernel $tiling, $a_t: $element, $vector, $tm x $tn, $bm x $bn x $bk, $blocks,
            StraightOfAnyLength<$prepared>, $bm, StraightOfAnyLength<true>, $bn,
            "A is column-major, B is row-major.");
        coarsened_kernels!(@kernel $tiling, $b_t: $element, $vector, $tm x $tn, $bm x $bn x $bk, $blocks,
            Turned<true>, $bm + $vector, Turned<$prepared>, $bn + $vector,
            "A is row-major, B is column-major.");
        coarsened_kernels!(@kernel $tiling, $a_t_b_t: $element, $vector, $tm x $tn, $bm x $bn x $bk, $blocks,
            StraightOfAnyLength<false>, $bm, Turned<true>, $bn + $vector,
            "A and B are column-major.");
    )*};
    (@kernel $tiling:ident, $name:ident: $element:ty, $vector:literal, $tm:literal x $tn:literal,
        $bm:literal x $bn:literal x $bk:literal, $blocks:literal,
        $a_fetch:ty, $a_pitch:expr, $b_fetch:ty, $b_pitch:expr, $layout:literal) => {
        #[doc = concat!("C = A B in ", stringify!($element), ", ", stringify!($tm), " x ", stringify!($tn),
            " outputs for each thread. ", $layout)]
        ///
        /// # Safety
        #[doc = concat!("1. The launch has [`", stringify!($tiling), "`]'s block along x and its blocks for `m` x `n`.")]
        /// 2. `a`, `b`, `c` have m * k, k * n and m * n elements and start at multiples of 16 bytes.
        #[doc = concat!("3. ", $layout)]
        #[kernel(max_threads = 256, min_blocks = $blocks)]
        pub unsafe fn $name(
            a: Global<$element>,
            b: Global<$element>,
            c: GlobalMut<$element>,
            m: usize,
            n: usize,
            k: usize,
        ) {
            let a_tile = shared_tile![$element; STAGES * $bk, $bm; pitch = $a_pitch];
            let b_tile = shared_tile![$element; STAGES * $bk, $bn; pitch = $b_pitch];
            // SAFETY: (1), (2), (3) are the launch's. (4) Declared here.
            unsafe {
                multiply::<$element, $a_fetch, $b_fetch, $vector, $tm, $tn, $bk,
                    { STAGES * $bk }, $bm, { $a_pitch }, $bn, { $b_pitch }>(
                    Product { a, b, c, m, n, k }, a_tile, b_tile);
            }
        }
    };
}
coarsened_kernels! {
    COARSENED_F32: f32, vector = 4, outputs = 8 x 8, tile = 128 x 128 x 16, blocks = 2,
        prepared = true, kernels = matmul_coarsened_f32, matmul_coarsened_f32_unaligned, matmul_coarsened_f32_a_t,
            matmul_coarsened_f32_b_t, matmul_coarsened_f32_a_t_b_t;
    COARSENED_SMALL_F32: f32, vector = 4, outputs = 4 x 4, tile = 64 x 64 x 16, blocks = 3,
        prepared = true, kernels = matmul_coarsened_small_f32, matmul_coarsened_small_f32_unaligned,
            matmul_coarsened_small_f32_a_t, matmul_coarsened_small_f32_b_t,
            matmul_coarsened_small_f32_a_t_b_t;
    COARSENED_F64: f64, vector = 2, outputs = 8 x 4, tile = 128 x 64 x 8, blocks = 2,
        prepared = false, kernels = matmul_coarsened_f64, matmul_coarsened_f64_unaligned, matmul_coarsened_f64_a_t,
            matmul_coarsened_f64_b_t, matmul_coarsened_f64_a_t_b_t;
    COARSENED_SMALL_F64: f64, vector = 2, outputs = 4 x 4, tile = 64 x 64 x 8, blocks = 3,
        prepared = false, kernels = matmul_coarsened_small_f64, matmul_coarsened_small_f64_unaligned,
            matmul_coarsened_small_f64_a_t, matmul_coarsened_small_f64_b_t,
            matmul_coarsened_small_f64_a_t_b_t;
}
