//! Thread coarsening (PMPP, figures 6.12 and 6.13): COARSE_FACTOR outputs per thread, in
//! neighbouring tiles of a row of C.
//!
//! ```text
//! for each tile of K:
//!     copy A's tile
//!     for c in 0..COARSE_FACTOR:
//!         copy the tile of B for the c-th tile of C
//!         barrier; sum[c] += a_tile[row][i] * b_tile[i][column] for the 32 i; barrier
//! ```
//!
//! Without it, the blocks of neighbouring tiles of C each copy the same tile of A. Now a block
//! copies it once and uses it COARSE_FACTOR times.
//!
//! Prediction: global loads fall from 2 to 1 + 1 / COARSE_FACTOR for each 32 multiply-adds. Shared
//! loads, which are the limit, remain two per multiply-add: a little faster at best, until there
//! are too few blocks for the device, or too many registers for two blocks per multiprocessor.
//!
//! Departure from PMPP: elements outside the matrices count as zero. As in the figure, the factor
//! is a constant of each kernel, because the sums must be in registers.

use super::tiled::Tile;
use super::{TILE, block_corner, element_or_zero, place_in_block, store_output};
use cuda_std::hint::opaque_size;
use cuda_std::prelude::*;

/// Maximum outputs per thread.
const MOST: usize = 16;

/// The operands and their sizes.
#[derive(Clone, Copy)]
struct Product<'launch> {
    a: Global<'launch, f32>,
    b: Global<'launch, f32>,
    c: GlobalMut<'launch, f32>,
    m: usize,
    n: usize,
    k: usize,
}

/// The calling thread and its block's tiles.
#[derive(Clone, Copy)]
struct Position<'block> {
    down: usize,
    along: usize,
    row: usize,
    first_column: usize,
    a_tile: Tile<'block, TILE>,
    b_tile: Tile<'block, TILE>,
}

/// Steps of K that LLVM unrolls. If it unrolled all 32, ptxas would overlap turns, which costs
/// registers: 44 instead of 32 with 4 outputs per thread.
const UNROLLED: usize = 8;

/// Adds the products of one tile to the output of thread (`down`, `along`).
///
/// # Safety
/// 1. `down` and `along` are below `TILE`; both tiles have been written, before a barrier.
#[inline(always)]
unsafe fn accumulate(
    mut sum: f32,
    a_tile: Tile<TILE>,
    b_tile: Tile<TILE>,
    (down, along): (usize, usize),
) -> f32 {
    let mut first = 0;
    while first < opaque_size(TILE) {
        for i in first..first + UNROLLED {
            // SAFETY: the indices are below `TILE`, and the tiles were written before a barrier:
            // the caller's contract.
            let (left, right) = unsafe { (a_tile.load(down, i), b_tile.load(i, along)) };
            sum = Float::mul_add(left, right, sum);
        }
        first += UNROLLED;
    }
    sum
}

/// One turn of the coarsening loop: copies the tile of B for tile `C` of C, and adds its products.
/// It is a function so that the sums have constant indices, and stay in registers.
///
/// # Safety
/// 1. All threads of the block call it. A's tile is written before the turn's barrier.
/// 2. The position is the calling thread's, and B has k * n elements.
#[inline(always)]
unsafe fn turn<const C: usize>(
    sums: &mut [f32; MOST],
    product: &Product,
    position: &Position,
    start: usize,
) {
    let Position {
        down,
        along,
        a_tile,
        b_tile,
        ..
    } = *position;
    // Recomputed, or the addresses of all turns would hold registers throughout.
    let column = opaque_size(position.first_column) + C * TILE;
    let shape = (product.k, product.n);
    // SAFETY: the matrix has its elements: the caller's contract.
    let right = unsafe { element_or_zero(product.b, shape, (start + down, column)) };
    // SAFETY: `down` and `along` are below `TILE`. Each thread writes its own element. Barriers
    // separate the writes from the reads of this turn and the last.
    unsafe { b_tile.store(down, along, right) };
    thread::sync_threads();
    // SAFETY: the position is within the tile: the caller's contract. Both tiles were written
    // before the barrier.
    sums[C] = unsafe { accumulate(sums[C], a_tile, b_tile, (down, along)) };
    thread::sync_threads();
}

/// Repeats `$body` with the constant `$c` from 0 up to 15, while it is below `$factor`.
macro_rules! coarsening_loop {
    ($factor:ident, $c:ident => $body:block) => {
        coarsening_loop!(@turns $factor, $c => $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@turns $factor:ident, $c:ident => $body:block, $($turn:literal)*) => {$(
        if $turn < $factor {
            const $c: usize = $turn;
            $body
        }
    )*};
}

/// # Safety
/// 1. The launch has blocks of 32 x 32 threads, one for each 32 x (32 `FACTOR`) outputs.
/// 2. The matrices have m * k, k * n and m * n elements.
/// 3. Only this block uses the tiles.
#[inline(always)]
unsafe fn multiply<const FACTOR: usize>(product: Product, a_tile: Tile<TILE>, b_tile: Tile<TILE>) {
    const { assert!(FACTOR <= MOST, "a thread has at most 16 outputs") };
    let (corner, (down, along)) = (block_corner(TILE, FACTOR * TILE), place_in_block());
    let position = Position {
        down,
        along,
        row: corner.0 + down,
        first_column: corner.1 + along,
        a_tile,
        b_tile,
    };
    let Product { a, c, m, n, k, .. } = product;
    let mut sums = [0.0; MOST];
    for start in (0..k).step_by(TILE) {
        // SAFETY: the matrix has its elements: the caller's contract.
        let left = unsafe { element_or_zero(a, (m, k), (position.row, start + along)) };
        // SAFETY: `down` and `along` are below `TILE`. Each thread writes its own element. Barriers
        // separate the writes from the reads of this round and the last.
        unsafe { a_tile.store(down, along, left) };
        coarsening_loop!(FACTOR, C => {
            // SAFETY: conditions are the same in all threads, and A's tile is written above. `position` is the
            // calling thread's. B has its elements: the caller's contract.
            unsafe { turn::<C>(&mut sums, &product, &position, start) };
        });
    }
    coarsening_loop!(FACTOR, C => {
        let column = position.first_column + C * TILE;
        // SAFETY: C has m * n elements, and each output belongs to one thread: the caller's
        // contract.
        unsafe { store_output(c, (m, n), (position.row, column), sums[C]) };
    });
}

macro_rules! coarsened_kernels {
    ($($name:ident: $factor:literal outputs, $blocks:literal $at_once:literal;)*) => {$(
        #[doc = concat!("C = A B, with a COARSE_FACTOR of ", stringify!($factor), ", ",
            stringify!($blocks), $at_once)]
        ///
        /// # Safety
        #[doc = concat!("1. The launch has blocks of 32 x 32 threads and a grid of ceil(n / (32 * ",
            stringify!($factor), ")) x ceil(m / 32) blocks.")]
        /// 2. `a`, `b`, `c` have m * k, k * n and m * n elements.
        #[kernel(max_threads = 1024, min_blocks = $blocks)]
        pub unsafe fn $name(
            a: Global<f32>,
            b: Global<f32>,
            c: GlobalMut<f32>,
            m: usize,
            n: usize,
            k: usize,
        ) {
            let a_tile = shared_tile![f32; TILE, TILE];
            let b_tile = shared_tile![f32; TILE, TILE];
            // SAFETY: the launch and the lengths: the caller's contract. The tiles are declared
            // here.
            unsafe { multiply::<$factor>(Product { a, b, c, m, n, k }, a_tile, b_tile) }
        }
    )*};
}
// With two blocks of 1024 threads, each thread has 32 registers, too few for 16 sums and the rest.
// With one block it has 64, and ptxas uses them.
coarsened_kernels! {
    product_coarsened_1: 1 outputs, 2 " blocks at once on a multiprocessor.";
    product_coarsened_2: 2 outputs, 2 " blocks at once on a multiprocessor.";
    product_coarsened_4: 4 outputs, 2 " blocks at once on a multiprocessor.";
    product_coarsened_8: 8 outputs, 2 " blocks at once on a multiprocessor.";
    product_coarsened_8_one_block: 8 outputs, 1 " block at once on a multiprocessor.";
    product_coarsened_16: 16 outputs, 1 " block at once on a multiprocessor.";
}
