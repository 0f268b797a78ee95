//! Double-buffered: asynchronous copies (`cp.async`) of the next tiles while the block multiplies.
//!
//! ```text
//! start to copy tile 0
//! for each 8 of K:
//!     wait for the copies; barrier
//!     start to copy the next tiles to the other half of shared memory
//!     for each k of the 8: read 2 + 2 vectors, add 64 products
//! ```
//!
//! The copies go from global to shared memory past the registers, and run in the background. One
//! barrier for each tile is enough: the half that is filled is not the one that is read.
//!
//! Prediction: before, every warp of a block waits for global memory at the same barrier, and only
//! the other block of the multiprocessor has work meanwhile. Now no warp waits: a fifth faster.
//! A's elements are copied one by one, because a copy cannot transpose.

use super::register_tile::{
    BLOCK, DEPTH, OUTPUTS, SIDE, VECTOR, add_products, fragment, store_vectors,
};
use super::{block_corner, place_in_block};
use cuda_std::hint::{opaque, opaque_size};
use cuda_std::prelude::*;

/// Tiles in flight and in use.
const STAGES: usize = 2;

type ATile<'block> = SharedTile<'block, f32, { STAGES * DEPTH }, BLOCK, { BLOCK + VECTOR }>;
type BTile<'block> = SharedTile<'block, f32, { STAGES * DEPTH }, BLOCK, BLOCK>;

/// A row-major matrix.
#[derive(Clone, Copy)]
struct Operand<'launch> {
    matrix: Global<'launch, f32>,
    rows: usize,
    columns: usize,
}

impl Operand<'_> {
    /// Elements from (`row`, `column`) to the end of the row; none outside the matrix.
    #[inline(always)]
    fn present(&self, row: usize, column: usize) -> usize {
        if row < self.rows {
            self.columns.saturating_sub(column)
        } else {
            0
        }
    }

    /// Starts to copy `COUNT` neighbours of a row to position `to` of a tile, with zeros for what
    /// lies outside the matrix.
    ///
    /// # Safety
    /// 1. The destination lies within the tile.
    /// 2. `COUNT` divides `to`, `column` and the matrix's columns.
    /// 3. No thread accesses the destination until the copy is waited for and a barrier is passed.
    #[inline(always)]
    #[track_caller]
    unsafe fn copy<const COUNT: usize>(
        &self,
        pipeline: &mut Pipeline<STAGES>,
        (tile, to): (cuda_std::shared::SharedSlice<f32>, usize),
        (row, column): (usize, usize),
    ) {
        let from = row * self.columns + column;
        let present = self.present(row, column);
        // SAFETY: (1) is (1), and `present` ends with the matrix. (2) is (2). (3) is (3).
        unsafe { pipeline.copy_or_zero::<f32, COUNT>(tile, to, self.matrix, from, present) };
    }
}

/// Starts to copy the thread's elements of A's tile: 4 rows of one k, 8 neighbouring threads along
/// a row.
///
/// # Safety
/// 1. `thread` is the thread's number in the block, and the stage from `tile_row` on is free.
#[inline(always)]
unsafe fn fetch_a(
    pipeline: &mut Pipeline<STAGES>,
    tile: ATile,
    tile_row: usize,
    a: Operand,
    corner: (usize, usize),
    thread: usize,
) {
    for i in 0..BLOCK * DEPTH / (SIDE * SIDE) {
        let (down, k) = (thread / DEPTH + i * (SIDE * SIDE / DEPTH), thread % DEPTH);
        let to = ATile::position(tile_row + k, down);
        // SAFETY: (1) 256 threads and 4 rounds are the stage's 1024 elements. (2) One. (3) is (1).
        unsafe {
            a.copy::<1>(
                pipeline,
                (tile.as_slice(), to),
                (corner.0 + down, corner.1 + k),
            )
        };
    }
}

/// Starts to copy the thread's vector of B's tile, in one piece where the rows of B are multiples
/// of 16 bytes.
///
/// # Safety
/// 1. As for [`fetch_a`].
#[inline(always)]
unsafe fn fetch_b(
    pipeline: &mut Pipeline<STAGES>,
    tile: BTile,
    tile_row: usize,
    b: Operand,
    corner: (usize, usize),
    thread: usize,
) {
    let (down, along) = (thread / 32, thread % 32 * VECTOR);
    let to = BTile::position(tile_row + down, along);
    let from = (corner.0 + down, corner.1 + along);
    if b.columns.is_multiple_of(VECTOR) {
        // SAFETY: (1) 256 threads are 8 rows of 32 vectors. (2) All are multiples of 4. (3) is (1).
        unsafe { b.copy::<VECTOR>(pipeline, (tile.as_slice(), to), from) };
    } else {
        for v in 0..VECTOR {
            // SAFETY: (1), (3) as above. (2) One.
            unsafe { b.copy::<1>(pipeline, (tile.as_slice(), to + v), (from.0, from.1 + v)) };
        }
    }
}

/// C = A B, 8 x 8 outputs for each thread, with the next tiles on their way.
///
/// # Safety
/// 1. The launch has blocks of 16 x 16 threads and a grid of ceil(n / 128) x ceil(m / 128) blocks.
/// 2. `a`, `b`, `c` have m * k, k * n and m * n elements and start at multiples of 16 bytes.
#[kernel(max_threads = 256, min_blocks = 2)]
pub unsafe fn product_double_buffered(
    a: Global<f32>,
    b: Global<f32>,
    c: GlobalMut<f32>,
    m: usize,
    n: usize,
    k: usize,
) {
    let a_tile: ATile = shared_tile![f32; STAGES * DEPTH, BLOCK; pitch = BLOCK + VECTOR];
    let b_tile: BTile = shared_tile![f32; STAGES * DEPTH, BLOCK];
    let (corner, (down, along)) = (block_corner(BLOCK, BLOCK), place_in_block());
    let mut pipeline = Pipeline::<STAGES>::new();
    let fetch = |pipeline: &mut Pipeline<STAGES>, start: usize| {
        let tile_row = pipeline.producer_stage() * DEPTH;
        // Computed anew for each tile: the sums need the registers.
        let thread = opaque((down * SIDE + along) as u32) as usize;
        let (rows, columns, inner) = (opaque_size(m), opaque_size(n), opaque_size(k));
        let a = Operand {
            matrix: a,
            rows,
            columns: inner,
        };
        let b = Operand {
            matrix: b,
            rows: inner,
            columns,
        };
        // SAFETY: (1) the stage's last readers have passed a barrier.
        unsafe {
            fetch_a(pipeline, a_tile, tile_row, a, (corner.0, start), thread);
            fetch_b(pipeline, b_tile, tile_row, b, (start, corner.1), thread);
        }
    };
    if k > 0 {
        fetch(&mut pipeline, 0);
    }
    pipeline.commit();

    let mut sums = [[0.0; OUTPUTS]; OUTPUTS];
    for start in (0..k).step_by(DEPTH) {
        let tile_row = pipeline.consumer_wait() * DEPTH;
        thread::sync_threads();
        if start + DEPTH < k {
            fetch(&mut pipeline, start + DEPTH);
        }
        pipeline.commit();
        for i in 0..DEPTH {
            // SAFETY: (1) a row of the stage; `down`, `along` < 16; everybody has waited for its
            // copies before the barrier.
            let (left, right) = unsafe {
                (
                    fragment(a_tile, tile_row + i, down),
                    fragment(b_tile, tile_row + i, along),
                )
            };
            add_products(&mut sums, &left, &right);
        }
    }
    // SAFETY: (1) is (2). (2) is (1).
    unsafe { store_vectors(c, (m, n), corner, (down, along), &sums) };
}
