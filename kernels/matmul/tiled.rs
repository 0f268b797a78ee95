//! The tiled product: each thread computes one output, with operands in shared memory.
//!
//! ```text
//! for each tile of K:
//!     load a TILE x TILE tile of A and of B to shared memory
//!     wait for the block's threads
//!     multiply: each thread adds TILE products to its output
//!     wait for the block's threads
//! store the output
//! ```
//!
//! An element of A or B is read from global memory once for TILE outputs, instead of once for each. Elements outside a
//! matrix read as zero, so every size works: +0 outside A and -0 outside B, because their product, -0, leaves even a
//! sum of -0 unchanged.
//!
//! A warp is one row of the tile. It reads one word of A's tile (a broadcast), and 32 neighbouring words of B's tile
//! and of global memory.
//!
//! Loads transpose a column-major operand ("corner turning"): a thread's row and column swap roles while the tile is
//! copied. So a warp still reads 32 neighbouring words, and writes them down a column of the tile, whose padding puts
//! them in different banks.

use super::descriptor::BlockTile;
#[cfg(not(target_arch = "nvptx64"))]
use super::descriptor::{OperandLayout, ProductDescriptor, ProductKernel};
use super::grid::block_position;
use super::operand::Operands;
use super::sink::{Sink, StoreOutput};
use cuda_std::prelude::*;

/// Rows and columns of a tile, and of the outputs that a block computes.
const TILE: usize = 32;

/// The tile and the block of the tiled kernels.
pub const TILED: BlockTile = BlockTile {
    rows: TILE,
    columns: TILE,
    threads: (TILE * TILE) as u32,
};

type Tile<'block, T, const PITCH: usize> = SharedTile<'block, T, TILE, TILE, PITCH>;

/// The main loop. An operand that is `TRANSPOSED` is column-major.
///
/// # Safety
/// 1. The launch has [`TILED`]'s block along x and its blocks for m x n, and `sink` takes an m x n result.
/// 2. Only this block accesses the tiles, and only in this call.
#[inline(always)]
unsafe fn multiply<
    T: Float,
    const A_TRANSPOSED: bool,
    const B_TRANSPOSED: bool,
    const A_PITCH: usize,
    const B_PITCH: usize,
>(
    operands: Operands<T>,
    a_tile: Tile<T, A_PITCH>,
    b_tile: Tile<T, B_PITCH>,
    sink: &impl Sink<T>,
) {
    let Operands {
        a,
        b,
        m,
        n,
        k,
        lda,
        ldb,
    } = operands;
    let (block_row, block_column) =
        block_position(thread::block_idx_x(), m.div_ceil(TILE), n.div_ceil(TILE));
    let thread = thread::thread_idx_x() as usize;
    let (tile_row, tile_column) = (thread / TILE, thread % TILE);
    let (row, column) = (
        block_row * TILE + tile_row,
        block_column * TILE + tile_column,
    );

    let mut sum = T::ZERO;
    for start in (0..k).step_by(TILE) {
        // SAFETY: the tiles have the elements: `tile_row` and `tile_column` are below TILE. Each thread writes an
        // element of its own, and barriers order the writes with the reads of this round and of the last.
        unsafe {
            if A_TRANSPOSED {
                let column = block_row * TILE + tile_column;
                let element = element_or(T::ZERO, a, (k, m, lda), start + tile_row, column);
                a_tile.store(tile_column, tile_row, element);
            } else {
                let element = element_or(T::ZERO, a, (m, k, lda), row, start + tile_column);
                a_tile.store(tile_row, tile_column, element);
            }
            if B_TRANSPOSED {
                let row = block_column * TILE + tile_row;
                let element =
                    element_or(T::NEGATIVE_ZERO, b, (n, k, ldb), row, start + tile_column);
                b_tile.store(tile_column, tile_row, element);
            } else {
                let element =
                    element_or(T::NEGATIVE_ZERO, b, (k, n, ldb), start + tile_row, column);
                b_tile.store(tile_row, tile_column, element);
            }
        }
        thread::sync_threads();
        for i in 0..TILE {
            // SAFETY: the tiles have the elements: `tile_row`, `tile_column` and `i` are below TILE. They were written
            // before the barrier, and are not written before the next one.
            let (left, right) = unsafe { (a_tile.load(tile_row, i), b_tile.load(i, tile_column)) };
            sum = left.mul_add(right, sum);
        }
        thread::sync_threads();
    }
    if row < m && column < n {
        // SAFETY: the result has the output: compared above. No other thread has it: `block_position` gives each block
        // its own outputs, and the block's threads have different ones.
        unsafe { sink.store(row, column, sum) };
    }
}

/// Element (`row`, `column`) of a matrix of `rows` x `columns` whose rows start `leading_dimension`
/// elements apart; `outside` elsewhere.
#[inline(always)]
fn element_or<T: Float>(
    outside: T,
    matrix: Global<T>,
    (rows, columns, leading_dimension): (usize, usize, usize),
    row: usize,
    column: usize,
) -> T {
    if row < rows && column < columns {
        matrix
            .get(row * leading_dimension + column)
            .unwrap_or(outside)
    } else {
        outside
    }
}

/// The pitch of a transposed tile of A: a multiple of 16 bytes, so that ptxas still reads four neighbours of a row at
/// once.
const fn transposed_a_pitch(element_bytes: usize) -> usize {
    TILE + 16 / element_bytes
}

/// The pitch of a transposed tile of B: a column's words lie in different banks.
const TRANSPOSED_B_PITCH: usize = TILE + 1;

macro_rules! tiled_kernels {
    ($($family:ident $name:ident {$method:ident}
        {$element:ident in $added:ident to $output:ident in $sum:ident $written:ident} {$layouts:ident};)*) => {$(
        tiled_kernels!(@$layouts $name $element);
    )*};
    (@nn $name:ident $element:ident) => {
        tiled_kernels!(@entry $name: $element, RowMajor RowMajor, false, TILE, false, TILE,
            "A and B are row-major.");
    };
    (@tn $name:ident $element:ident) => {
        tiled_kernels!(@entry $name: $element, ColumnMajor RowMajor,
            true, transposed_a_pitch(size_of::<$element>()), false, TILE,
            "A is column-major, B is row-major.");
    };
    (@nt $name:ident $element:ident) => {
        tiled_kernels!(@entry $name: $element, RowMajor ColumnMajor,
            false, TILE, true, TRANSPOSED_B_PITCH,
            "A is row-major, B is column-major.");
    };
    (@tt $name:ident $element:ident) => {
        tiled_kernels!(@entry $name: $element, ColumnMajor ColumnMajor,
            true, transposed_a_pitch(size_of::<$element>()), true, TRANSPOSED_B_PITCH,
            "A and B are column-major.");
    };
    (@entry $name:ident: $element:ident, $a_layout:ident $b_layout:ident, $a_transposed:literal,
        $a_pitch:expr, $b_transposed:literal, $b_pitch:expr, $layout:literal) => {
        #[doc = concat!("C = A B in ", stringify!($element), ", one output for each thread. ", $layout)]
        ///
        /// # Safety
        /// 1. The launch meets the [requirements of product kernels](crate::matmul#requirements-of-product-kernels) for
        ///    one product, whose sizes are parameters: rows (columns, if column-major) start `lda`, `ldb` and `ldc`
        ///    elements apart.
        #[doc = concat!("2. ", $layout)]
        #[allow(clippy::too_many_arguments)]
        #[kernel(max_threads = 1024)]
        pub unsafe fn $name(
            a: Global<$element>,
            b: Global<$element>,
            c: GlobalMut<$element>,
            m: usize,
            n: usize,
            k: usize,
            lda: usize,
            ldb: usize,
            ldc: usize,
        ) {
            let a_tile = shared_tile![$element; TILE, TILE; pitch = $a_pitch];
            let b_tile = shared_tile![$element; TILE, TILE; pitch = $b_pitch];
            // SAFETY: the block is that of `TILED`, the grid covers m x n, and C has the result's elements: the
            // caller's contract. The launch accesses C only through the sink. The tiles are declared here.
            unsafe {
                multiply::<$element, $a_transposed, $b_transposed, { $a_pitch }, { $b_pitch }>(
                    Operands { a, b, m, n, k, lda, ldb }, a_tile, b_tile, &StoreOutput::new(c, ldc));
            }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            const DESCRIPTOR: ProductDescriptor = ProductDescriptor {
                tile: TILED,
                a: OperandLayout::$a_layout,
                b: OperandLayout::$b_layout,
                b_row_alignment: size_of::<$element>(),
                dynamic_shared_bytes: 0,
            };
        }
    };
}
crate::products!(tiled_kernels of tiled);
