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
//! The copies go from global to shared memory without registers, in the background. One barrier per
//! tile is enough: the half being filled is not the one being read.
//!
//! Prediction: in the previous step, every warp of a block waits for global memory at the same
//! barrier, while only the multiprocessor's other block has work. Now no warp waits: a fifth
//! faster. A's elements are copied one by one, because a copy cannot transpose.

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

/// A row-major matrix of `rows` x `columns` elements.
#[derive(Clone, Copy)]
struct Operand<'launch> {
    matrix: Global<'launch, f32>,
    rows: usize,
    columns: usize,
}

impl Operand<'_> {
    /// The number of elements from (`row`, `column`) to the end of the row; 0 outside the matrix.
    #[inline(always)]
    fn present(&self, row: usize, column: usize) -> usize {
        if row < self.rows {
            self.columns.saturating_sub(column)
        } else {
            0
        }
    }

    /// Starts to copy `COUNT` neighbours of a row to position `to` of a tile, with zeros outside
    /// the matrix.
    ///
    /// # Safety
    /// 1. The destination lies within the tile.
    /// 2. `COUNT` divides `to`, `column` and the matrix's columns.
    /// 3. No thread accesses the destination until the copy has been waited for and a barrier has
    ///    been passed.
    /// 4. The matrix has its elements, and starts at a multiple of 16 bytes.
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
        // SAFETY: destination, alignment, accesses and the matrix's elements: the caller's contract.
        // `present` ends with the row.
        unsafe { pipeline.copy_or_zero::<f32, COUNT>(tile, to, self.matrix, from, present) };
    }
}

/// Starts to copy the thread's elements of A's tile: 4 rows of one k, with 8 neighbouring threads
/// along a row.
///
/// # Safety
/// 1. `thread` is the thread's number in the block, and the stage at `tile_row` is free: until the
///    copies have been waited for and a barrier has been passed, no thread accesses it.
/// 2. The matrix has its elements, and starts at a multiple of 16 bytes.
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
        // SAFETY: 256 threads in 4 rounds cover the stage's 1024 elements. One element is aligned.
        // The stage is free, and the matrix has its elements: the caller's contract.
        unsafe {
            a.copy::<1>(
                pipeline,
                (tile.as_slice(), to),
                (corner.0 + down, corner.1 + k),
            )
        };
    }
}

/// Starts to copy the thread's vector of B's tile, in one piece if B's rows are multiples of 16
/// bytes.
///
/// # Safety
/// 1. and 2. as for [`fetch_a`].
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
        // SAFETY: 256 threads cover 8 rows of 32 vectors. All indices are multiples of 4. The stage
        // is free, and the matrix has its elements and is aligned: the caller's contract.
        unsafe { b.copy::<VECTOR>(pipeline, (tile.as_slice(), to), from) };
    } else {
        for v in 0..VECTOR {
            // SAFETY: as above; one element is aligned.
            unsafe { b.copy::<1>(pipeline, (tile.as_slice(), to + v), (from.0, from.1 + v)) };
        }
    }
}

/// C = A B, 8 x 8 outputs per thread, with the next tiles in flight.
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
        // Recomputed for each tile, because the sums need the registers.
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
        // SAFETY: the stage's last readers have passed a barrier, and it is read again only after a
        // wait and a barrier. The matrices have their elements and are aligned: the caller's
        // contract.
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
            // SAFETY: the row is in the stage, and `down` and `along` are below 16. All threads
            // waited for their copies before the barrier.
            let (left, right) = unsafe {
                (
                    fragment(a_tile, tile_row + i, down),
                    fragment(b_tile, tile_row + i, along),
                )
            };
            add_products(&mut sums, &left, &right);
        }
    }
    // SAFETY: C has m * n elements and is aligned to 16 bytes, and each block has its own outputs:
    // the caller's contract.
    unsafe { store_vectors(c, (m, n), corner, (down, along), &sums) };
}
