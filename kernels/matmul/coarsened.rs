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
//! 2. A's tile is transposed while it is copied, element by element, so that for each k a thread
//!    reads its rows of A, like its columns of B, as 16-byte vectors: the lanes of a warp read 4
//!    neighbouring vectors of A's tile and 8 of B's, without bank conflicts.
//! 3. B's copies are 16 bytes wide, too, where the rows of B start at multiples of 16 bytes; the
//!    `_unaligned` kernels copy single elements.
//! 4. Rows and columns outside the matrices are zero-filled by the copy itself, so the inner loop
//!    has no conditions. Tiles that lie within the matrices take a shorter path without zeros.
//! 5. For a result that would not fill the GPU with blocks of the usual size there are `_small`
//!    kernels: fewer outputs for each thread, more threads (the host chooses; the bits are the same).
//! 6. Outputs are written one by one. A vector store would bind each thread's sums to registers of
//!    the same banks as B's fragments, and the multiply-adds would wait for their operands: 12 %
//!    of the time at 4096 on an H200 (docs/ladders/product.md).

use super::{Product, Tiling, block_position};
use cuda_std::hint::{recompute, recompute_size};
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Tiles in flight and in use.
const STAGES: usize = 2;

/// Threads of a block: 8 warps, 4 down and 2 along.
const THREADS: usize = 256;
const WARPS_ALONG: usize = 2;

/// A warp's lanes: 4 down and 8 along.
const LANES: usize = 32;
const LANES_DOWN: usize = 4;
const LANES_ALONG: usize = 8;

/// Threads of a block down its outputs, and along.
const THREADS_DOWN: usize = THREADS / LANES / WARPS_ALONG * LANES_DOWN;
const THREADS_ALONG: usize = WARPS_ALONG * LANES_ALONG;

/// Neighbouring elements of a row of A that neighbouring threads copy. A warp copies 4 rows of 8:
/// in A's tile, whose rows are 128 + 4 words apart, these are 32 different banks.
const COPIES_ALONG_A: usize = 8;

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

/// A matrix in global memory, row-major.
#[derive(Clone, Copy)]
struct Source<T> {
    matrix: Global<T>,
    rows: usize,
    columns: usize,
}

/// A tile of a [`Source`]: what a block copies at once.
#[derive(Clone, Copy)]
struct Window {
    /// The position of the tile's corner in the matrix.
    corner: usize,
    /// Rows and columns of the tile that lie within the matrix.
    rows: u32,
    columns: u32,
}

impl<T: Float> Source<T> {
    /// The tile of `rows` x `columns` whose corner is element (`row`, `column`), which lies within
    /// the matrix.
    #[inline(always)]
    fn window(&self, (row, column): (usize, usize), rows: usize, columns: usize) -> Window {
        Window {
            corner: row * self.columns + column,
            rows: (self.rows - row).min(rows) as u32,
            columns: (self.columns - column).min(columns) as u32,
        }
    }
}

impl Window {
    /// How many elements of the window stand from (`down`, `along`) to the end of the row.
    #[inline(always)]
    fn present(&self, down: usize, along: usize) -> usize {
        let in_row = self.columns.saturating_sub(along as u32);
        (if (down as u32) < self.rows { in_row } else { 0 }) as usize
    }

    /// Starts to copy `COPY` elements that stand at `from` in `matrix` and at `place` (down, along)
    /// in the window to `to` in `tile`, with zeros for what lies outside the window. `WHOLE`
    /// promises that nothing does.
    ///
    /// # Safety
    /// 1. The destination lies within the tile, and the source, as far as it lies within the
    ///    window, within the matrix.
    /// 2. `COPY` elements are 4, 8 or 16 bytes and divide both addresses.
    /// 3. Nobody touches the destination until the copy is waited for and a barrier is passed.
    #[inline(always)]
    unsafe fn copy<T: Float, const COPY: usize, const WHOLE: bool>(
        &self,
        pipeline: &mut Pipeline<STAGES>,
        (tile, to): (SharedSlice<T>, usize),
        (matrix, from): (Global<T>, usize),
        place: (usize, usize),
    ) {
        // SAFETY: (1), (2), (3) are the caller's.
        unsafe {
            if WHOLE {
                pipeline.copy::<T, COPY>(tile, to, matrix, from);
            } else {
                let present = self.present(place.0, place.1);
                pipeline.copy_or_zero::<T, COPY>(tile, to, matrix, from, present);
            }
        }
    }
}

/// The thread's index and the matrix from which the addresses of copies are computed. Those of
/// whole tiles are prepared before the loop over K; those at the edges, which are longer and rare,
/// are computed anew for each tile, so that they hold no registers while the block multiplies.
#[inline(always)]
fn addresses_from<T: Float, const WHOLE: bool>(source: &Source<T>) -> (usize, Source<T>) {
    let thread = thread::thread_idx_x();
    if WHOLE {
        return (thread as usize, *source);
    }
    let source = Source {
        rows: recompute_size(source.rows),
        columns: recompute_size(source.columns),
        ..*source
    };
    (recompute(thread) as usize, source)
}

/// Starts to copy the `BM` x `BK` tile of A whose corner is element `corner` to columns of
/// `tile`, `BK` rows from `tile_row` on: transposed, with zeros for what lies outside A.
///
/// # Safety
/// 1. The `BK` rows lie within the tile, and `BM` is its width.
/// 2. Nobody touches them until the copies are waited for and a barrier is passed.
/// 3. `WHOLE` only where the tile lies within A.
#[inline(always)]
unsafe fn fetch_a<
    T: Float,
    const BM: usize,
    const BK: usize,
    const PITCH: usize,
    const WHOLE: bool,
>(
    pipeline: &mut Pipeline<STAGES>,
    tile: SharedSlice<T>,
    tile_row: usize,
    source: &Source<T>,
    corner: (usize, usize),
) {
    const ROWS_APART: usize = THREADS / COPIES_ALONG_A;
    let (thread, source) = addresses_from::<T, WHOLE>(source);
    let (first_down, first_along) = (thread / COPIES_ALONG_A, thread % COPIES_ALONG_A);
    let window = source.window(corner, BM, BK);
    let first = first_down * source.columns + first_along;
    for i in 0..BM / ROWS_APART {
        let down = first_down + i * ROWS_APART;
        let row = window.corner + i * ROWS_APART * source.columns;
        for j in 0..BK / COPIES_ALONG_A {
            let along = first_along + j * COPIES_ALONG_A;
            let to = (tile, (tile_row + along) * PITCH + down);
            let from = (source.matrix, first + (row + j * COPIES_ALONG_A));
            // SAFETY: (1) is (1). (2) One element is aligned to itself. (3) is (2).
            unsafe { window.copy::<T, 1, WHOLE>(pipeline, to, from, (down, along)) };
        }
    }
}

/// Starts to copy the `BK` x `BN` tile of B whose corner is element `corner` to the rows of `tile`
/// from `tile_row` on, in vectors of `VECTOR` elements that are copied `COPY` elements at a time,
/// with zeros for what lies outside B.
///
/// # Safety
/// 1. The `BK` rows lie within the tile, and `BN` is its width and pitch.
/// 2. `COPY` elements are 4, 8 or 16 bytes and divide the corner's column and B's columns; B
///    starts at a multiple of 16 bytes.
/// 3. Nobody touches the rows until the copies are waited for and a barrier is passed.
/// 4. `WHOLE` only where the tile lies within B.
#[inline(always)]
unsafe fn fetch_b<
    T: Float,
    const VECTOR: usize,
    const COPY: usize,
    const BK: usize,
    const BN: usize,
    const WHOLE: bool,
>(
    pipeline: &mut Pipeline<STAGES>,
    tile: SharedSlice<T>,
    tile_row: usize,
    source: &Source<T>,
    corner: (usize, usize),
) {
    let vectors_along = BN / VECTOR;
    let rows_apart = THREADS / vectors_along;
    let (thread, source) = addresses_from::<T, WHOLE>(source);
    let (first_down, along) = (thread / vectors_along, thread % vectors_along * VECTOR);
    let window = source.window(corner, BK, BN);
    let first = first_down * source.columns + along;
    for i in 0..BK / rows_apart {
        let down = first_down + i * rows_apart;
        let row = window.corner + i * rows_apart * source.columns;
        for v in (0..VECTOR).step_by(COPY) {
            let to = (tile, (tile_row + down) * BN + along + v);
            let from = (source.matrix, first + (row + v));
            // SAFETY: (1) is (1). (2) is (2). (3) is (3).
            unsafe { window.copy::<T, COPY, WHOLE>(pipeline, to, from, (down, along + v)) };
        }
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
>(
    sums: &mut [[T; TN]; TM],
    place: &Place,
    a_tile: SharedTile<T, ROWS, BM, A_PITCH>,
    b_tile: SharedTile<T, ROWS, BN, BN>,
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
                fragment::<T, VECTOR, TN, ROWS, BN, BN>(
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
                unsafe { c.store(row * n + column, *sum) };
            }
        }
    }
}

/// # Safety
/// 1. The launch has blocks of 256 threads along x, one for each `THREADS_DOWN * TM` rows and
///    `THREADS_ALONG * TN` columns of C.
/// 2. The matrices have m * k, k * n and m * n elements and start at multiples of 16 bytes.
/// 3. COPY is 1, or VECTOR where VECTOR divides n. VECTOR elements are 16 bytes.
/// 4. The tiles are the block's own.
#[inline(always)]
unsafe fn multiply<
    T: Float,
    const VECTOR: usize,
    const COPY: usize,
    const TM: usize,
    const TN: usize,
    const BK: usize,
    const ROWS: usize,
    const BM: usize,
    const A_PITCH: usize,
    const BN: usize,
>(
    product: Product<T>,
    a_tile: SharedTile<T, ROWS, BM, A_PITCH>,
    b_tile: SharedTile<T, ROWS, BN, BN>,
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
            (BM * BK).is_multiple_of(THREADS),
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
    let a_source = Source {
        matrix: a,
        rows: m,
        columns: k,
    };
    let b_source = Source {
        matrix: b,
        rows: k,
        columns: n,
    };
    let place = Place::of_thread::<VECTOR, TM, TN>();
    let tiles = k.div_ceil(BK) as u32;

    // Most blocks lie within C wholly, and most tiles of K within K: their copies need no zeros.
    let within_c = row + BM <= m && column + BN <= n;
    let whole_tiles = if within_c { (k / BK) as u32 } else { 0 };

    let mut pipeline = Pipeline::<STAGES>::new();
    let fetch_tile = |pipeline: &mut Pipeline<STAGES>, tile: u32| {
        let (tile_row, k) = (pipeline.free_stage() * BK, tile as usize * BK);
        let (a_slice, b_slice) = (a_tile.as_slice(), b_tile.as_slice());
        // SAFETY: (1) a stage's rows. (2) of B is (3). Then: the stage is free, since its last
        // readers have passed a barrier. The last: `whole_tiles`.
        unsafe {
            if tile < whole_tiles {
                fetch_a::<T, BM, BK, A_PITCH, true>(
                    pipeline,
                    a_slice,
                    tile_row,
                    &a_source,
                    (row, k),
                );
                fetch_b::<T, VECTOR, COPY, BK, BN, true>(
                    pipeline,
                    b_slice,
                    tile_row,
                    &b_source,
                    (k, column),
                );
            } else {
                fetch_a::<T, BM, BK, A_PITCH, false>(
                    pipeline,
                    a_slice,
                    tile_row,
                    &a_source,
                    (row, k),
                );
                fetch_b::<T, VECTOR, COPY, BK, BN, false>(
                    pipeline,
                    b_slice,
                    tile_row,
                    &b_source,
                    (k, column),
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
            accumulate::<T, VECTOR, TM, TN, ROWS, BM, A_PITCH, BN>(
                &mut sums, &place, a_tile, b_tile, stage,
            )
        };
    }
    // SAFETY: (1) is (2). (2) `block_position` gives each block its own.
    unsafe { write_outputs::<T, VECTOR, TM, TN>(&product, &sums, &place, (row, column)) };
}

macro_rules! coarsened_kernels {
    ($($tiling:ident, $name:ident, $unaligned:ident: $element:ty, vector = $vector:literal,
        outputs = $tm:literal x $tn:literal, tile = $bm:literal x $bn:literal x $bk:literal, blocks = $blocks:literal;)*) => {$(
        #[doc = concat!("How the coarsened kernels of ", stringify!($element), " are launched.")]
        pub const $tiling: Tiling = Tiling { block_rows: $bm, block_columns: $bn, threads: THREADS as u32 };

        coarsened_kernels!(@kernel $tiling, $name, $vector, "multiples of 16 bytes", $element, $vector, $tm, $tn, $bm, $bn, $bk, $blocks);
        coarsened_kernels!(@kernel $tiling, $unaligned, 1, "any length", $element, $vector, $tm, $tn, $bm, $bn, $bk, $blocks);
    )*};
    (@kernel $tiling:ident, $name:ident, $copy:literal, $rows:literal, $element:ty, $vector:literal,
        $tm:literal, $tn:literal, $bm:literal, $bn:literal, $bk:literal, $blocks:literal) => {
        #[doc = concat!("C = A B in ", stringify!($element), ", ", stringify!($tm), " x ", stringify!($tn),
            " outputs for each thread. The rows of B and C may have ", $rows, ".")]
        ///
        /// # Safety
        #[doc = concat!("1. The launch has [`", stringify!($tiling), "`]'s block along x and its blocks for `m` x `n`.")]
        /// 2. `a`, `b`, `c` have m * k, k * n and m * n elements and start at multiples of 16 bytes.
        #[doc = concat!("3. The rows of `b` and `c` have ", $rows, ".")]
        #[kernel(max_threads = 256, min_blocks = $blocks)]
        pub unsafe fn $name(
            a: Global<$element>,
            b: Global<$element>,
            c: GlobalMut<$element>,
            m: usize,
            n: usize,
            k: usize,
        ) {
            let a_tile = shared_tile![$element; STAGES * $bk, $bm; pitch = $bm + $vector];
            let b_tile = shared_tile![$element; STAGES * $bk, $bn];
            // SAFETY: (1), (2), (3) are the launch's. (4) Declared here.
            unsafe {
                multiply::<$element, $vector, $copy, $tm, $tn, $bk, { STAGES * $bk }, $bm, { $bm + $vector }, $bn>(
                    Product { a, b, c, m, n, k }, a_tile, b_tile);
            }
        }
    };
}
coarsened_kernels! {
    COARSENED_F32, matmul_coarsened_f32, matmul_coarsened_f32_unaligned:
        f32, vector = 4, outputs = 8 x 8, tile = 128 x 128 x 16, blocks = 2;
    COARSENED_SMALL_F32, matmul_coarsened_small_f32, matmul_coarsened_small_f32_unaligned:
        f32, vector = 4, outputs = 4 x 4, tile = 64 x 64 x 16, blocks = 3;
    COARSENED_F64, matmul_coarsened_f64, matmul_coarsened_f64_unaligned:
        f64, vector = 2, outputs = 8 x 4, tile = 128 x 64 x 8, blocks = 2;
    COARSENED_SMALL_F64, matmul_coarsened_small_f64, matmul_coarsened_small_f64_unaligned:
        f64, vector = 2, outputs = 4 x 4, tile = 64 x 64 x 8, blocks = 3;
}
