//! The step before Hopper: warp-level products (`mma`), from compute capability 8.0. 16-byte copies (`cp.async`) fill
//! a ring of stages, from which each warp loads its operands with `ldmatrix`.
//!
//! ```text
//! start to fill all stages but one
//! for each 64 along k:
//!     wait for the oldest stage; barrier
//!     start to fill the stage that was read in the round before
//!     for each 16 along k:
//!         4 fragments of A and 8 of B: 8 ldmatrix
//!         sums[i][j] += a[i] b[j]: 32 mma
//! ```
//!
//! A block computes 128 x 128 outputs, and each of its four warps 64 x 64: 128 accumulators per thread. `lines.rs`
//! has the tiles and their fragments.
//!
//! Prediction: the ring hides memory latency, and shared memory has no bank conflicts, so `mma` itself is the limit:
//! on Hopper it reaches on average 63 % of the peak of `wgmma` (arXiv 2402.13499).

use crate::DEPTH;
use crate::lines::{ByColumns, ByRows, Lines, STEP, Second, pitch};
pub use crate::lines::{COLUMNS, STAGES, THREADS};
use cuda_std::float::HalfFloat;
use cuda_std::mma::{A, C};
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;
use half::bf16;

/// Rows of outputs per block.
pub const ROWS: usize = 128;

/// Dynamic shared memory in bytes.
pub const SHARED_BYTES: u32 = (STAGES * STAGE * size_of::<bf16>()) as u32;

/// Rows and columns of outputs per warp.
const WARP_OUTPUTS: usize = 64;

/// Products of a warp, down and along.
const DOWN: usize = WARP_OUTPUTS / 16;
const ALONG: usize = WARP_OUTPUTS / 8;

/// Elements in a stage of A.
const A_STAGE: usize = ROWS * pitch(DEPTH);

/// Elements in a stage: A, then B, which is largest if column-major.
const STAGE: usize = A_STAGE + COLUMNS * pitch(DEPTH);

/// A thread's accumulators.
type Sums = [[C<f32, 16, 8>; ALONG]; DOWN];

/// Adds the products of the stage at element `at`, for the warp whose outputs begin at (`row`, `column`) of the
/// block.
///
/// # Safety
/// 1. The stage is filled, and no thread writes it.
/// 2. All threads of the warp make the call together, converged.
#[inline(always)]
unsafe fn multiply<Order: Second>(
    mut sums: Sums,
    shared: SharedSlice<'_, bf16>,
    at: usize,
    (row, column): (usize, usize),
) -> Sums {
    let mut k = 0;
    while k < DEPTH {
        let mut a = [A::<bf16, 16, STEP>::zero(); DOWN];
        let mut i = 0;
        while i < DOWN {
            let index = |r, c| at + (row + 16 * i + r) * pitch(DEPTH) + k + c;
            // SAFETY: the stage was filled, no thread writes it, and all threads make the call: the caller's
            // contract. Lines begin at multiples of 8 elements.
            a[i] = unsafe { A::load(shared, index) };
            i += 1;
        }
        let mut j = 0;
        while j < ALONG {
            // SAFETY: the caller's contract.
            let b = unsafe { Order::load(shared, at + A_STAGE, (k, column + 8 * j)) };
            let mut i = 0;
            while i < DOWN {
                // SAFETY: all threads make the call: the caller's contract.
                unsafe {
                    sums[i][j] = sums[i][j].add_product(a[i], b[0]);
                    sums[i][j + 1] = sums[i][j + 1].add_product(a[i], b[1]);
                }
                i += 1;
            }
            j += 2;
        }
        k += STEP;
    }
    sums
}

/// Writes a warp's outputs to `c`, which has `columns` columns, from (`row`, `column`) on. Each lane writes its own,
/// two neighbours at a time, and skips outputs outside `c`.
///
/// # Safety
/// 1. `c` has a whole number of rows of `columns` elements, an even number, and starts at a multiple of 4 bytes.
/// 2. No other warp accesses these outputs.
#[inline(always)]
unsafe fn store(
    sums: &Sums,
    c: GlobalMut<'_, bf16>,
    (row, column): (usize, usize),
    columns: usize,
) {
    let mut i = 0;
    while i < DOWN * ALONG * 2 {
        let (product, pair) = (i / 2, i % 2 * 2);
        let (down, along) = (product / ALONG, product % ALONG);
        let sum = &sums[down][along];
        let (r, k) = C::<f32, 16, 8>::place(pair);
        let (r, k) = (row + 16 * down + r, column + 8 * along + k);
        let at = r * columns + k;
        if k < columns && at < c.len() {
            // SAFETY: row and column were compared with `c`. Pairs begin at even elements, so they are within a row and
            // aligned. No other warp accesses them. Even columns, the start of `c` and other warps: the caller's
            // contract.
            unsafe { c.store_vector(at, bf16::narrow_pair([sum.get(pair), sum.get(pair + 1)])) };
        }
        i += 1;
    }
}

/// The kernel, for either order of B.
///
/// # Safety
/// 1. As for the kernels.
#[inline(always)]
unsafe fn product<Order: Second>(
    a: Lines<'_>,
    b: Lines<'_>,
    c: GlobalMut<'_, bf16>,
    columns: usize,
) {
    let shared = dynamic_shared!(bf16);
    let row = thread::block_idx_y() as usize * ROWS;
    let column = thread::block_idx_x() as usize * COLUMNS;
    let warp = thread::rank_in_block() as usize / 32;
    let of_warp = (warp / 2 * WARP_OUTPUTS, warp % 2 * WARP_OUTPUTS);
    let depth = a.length;
    let mut pipeline = Pipeline::<STAGES>::new();
    let fill = |pipeline: &mut Pipeline<STAGES>, k: usize| {
        let to = pipeline.producer_stage() * STAGE;
        if k < depth {
            // SAFETY: the matrices have whole, aligned lines: the kernels' contract. A barrier follows the
            // products of the stage; it is read again after a wait and a barrier. Shared memory has all stages.
            unsafe {
                a.copy::<ROWS, DEPTH>(pipeline, shared, to, (row, k));
                Order::copy(b, pipeline, shared, to + A_STAGE, (k, column));
            }
        }
        pipeline.commit();
    };
    let mut round = 0;
    while round + 1 < STAGES {
        fill(&mut pipeline, round * DEPTH);
        round += 1;
    }

    let mut sums = [[C::zero(); ALONG]; DOWN];
    let mut k = 0;
    while k < depth {
        let stage = pipeline.consumer_wait();
        thread::sync_threads();
        fill(&mut pipeline, k + (STAGES - 1) * DEPTH);
        // SAFETY: the copies of all threads to this stage have been waited for, and those in flight are to other
        // stages. All threads execute the same number of rounds.
        sums = unsafe { multiply::<Order>(sums, shared, stage * STAGE, of_warp) };
        k += DEPTH;
    }
    // SAFETY: C has whole, even rows and is aligned: the kernels' contract. Each warp has its own outputs.
    unsafe { store(&sums, c, (row + of_warp.0, column + of_warp.1), columns) };
}

/// The kernel for a column-major B: one block for each 128 x 128 outputs.
///
/// # Safety
/// 1. `a` has rows of `depth` elements, and `b` columns of `depth` elements, a multiple of 8. `c` has A's rows and
///    B's columns, a multiple of 8. All three start at multiples of 16 bytes.
/// 2. The grid is (columns / 128, rows / 128), rounded up, with [`THREADS`] and [`SHARED_BYTES`].
#[kernel(arch = "sm_80", max_threads = 128, min_blocks = 2)]
pub unsafe fn tensor_warps_nt(
    a: Global<bf16>,
    b: Global<bf16>,
    c: GlobalMut<bf16>,
    columns: u32,
    depth: u32,
) {
    let lines = |elements| Lines {
        elements,
        length: depth as usize,
    };
    // SAFETY: the caller's contract.
    unsafe { product::<ByColumns>(lines(a), lines(b), c, columns as usize) };
}

/// The kernel for a row-major B.
///
/// # Safety
/// 1. `a` has rows of `depth` elements, a multiple of 8, and `b` has `depth` rows. `c` has A's rows and B's columns,
///    a multiple of 8. All three start at multiples of 16 bytes.
/// 2. The grid is (columns / 128, rows / 128), rounded up, with [`THREADS`] and [`SHARED_BYTES`].
#[kernel(arch = "sm_80", max_threads = 128, min_blocks = 2)]
pub unsafe fn tensor_warps_nn(
    a: Global<bf16>,
    b: Global<bf16>,
    c: GlobalMut<bf16>,
    columns: u32,
    depth: u32,
) {
    let lines = |elements, length: u32| Lines {
        elements,
        length: length as usize,
    };
    // SAFETY: the caller's contract.
    unsafe { product::<ByRows>(lines(a, depth), lines(b, columns), c, columns as usize) };
}
