//! The coarsened product: each thread computes a block of outputs.
//!
//! ```text
//! load the first tiles of A and of B, to all stages but one
//! for each tile of K:
//!     wait for the tiles
//!     load later tiles to the stage that was read last
//!     multiply: for each k of the tile,
//!         each thread reads its rows of A and its columns of B into registers
//!         and adds their products to its outputs
//! apply the epilogue to the sums, and store the outputs
//! ```
//!
//! This is thread coarsening in two dimensions (register tiling): an element that a thread reads from shared memory
//! serves a row or a column of its outputs, not one output.
//!
//! Departures from the plain version, for speed:
//! 1. The tiles have two stages or more: while the block computes on one, `cp.async` copies the next ones to shared
//!    memory, past the registers.
//! 2. Fragments are read as 16-byte vectors (`register_tile.rs`). A row-major A and a column-major B, whose elements
//!    lie the other way, are transposed while they are copied (`transposed_load.rs`).
//! 3. Copies of a row-major B are 16 bytes wide if its rows are aligned to 16 bytes; the `_nn_unaligned` kernels copy
//!    single elements. The kernels of other layouts check the alignment themselves (`direct_load.rs`).
//! 4. Tiles at the edges have zeros outside the matrices, so the inner loop has no conditions. Tiles within the
//!    matrices take a shorter path without zeros.
//! 5. For results too small to fill the GPU with the usual tiles there are `_medium` and `_small` kernels: fewer
//!    outputs per thread, more blocks. The host selects; the bits are the same.
//! 6. Outputs are written one by one. A vector store would bind each thread's sums to registers of the same banks as
//!    B's fragments, and the multiply-adds would wait for their operands: 12 % of the time at 4096 on an H200.

use super::accumulators::{Accumulators, AddProducts};
use super::config::{
    LargeF32, LargeF64, LargeI8, MediumF32, PanelF32, SmallF32, SmallF64, SmallI8, TileConfig,
    pitch,
};
#[cfg(not(target_arch = "nvptx64"))]
use super::descriptor::{OperandLayout, ProductDescriptor, ProductKernel};
use super::direct_load::{DirectLoad, DirectLoadOfAnyAlignment};
use super::element::OperandElement;
use super::grid::{block_position, is_left_out, is_within_c};
use super::left::{all, are_in_range, left, never};
use super::loader::TileLoader;
use super::operand::{Operands, TileOrigin, matrices_of_block};
use super::shape::ProductShape;
use super::sink::{OutputSink, StoreFinished};
use super::tile::Tile;
use super::transposed_load::TransposedLoad;
use crate::epilogue::{Epilogue, EpilogueNumbers};
use crate::exact::Line;
use crate::tensor::{PANEL, RangeWords};
#[cfg(any(not(target_arch = "nvptx64"), cuda_arch_at_least = "90a"))]
use cuda_std::dependent_launch;
use cuda_std::prelude::*;

type Element<C> = <<C as TileConfig>::Accumulators as Accumulators>::Element;

/// The main loop of block number `block` of a product.
///
/// # Safety
/// 1. The launch has blocks of `C::Accumulators::THREADS` threads along x, one of each number for the `C::ROWS` x
///    `C::COLUMNS` tiles of an m x n result, which `store` writes. All threads of a block make the call.
/// 2. A and B have the elements of m x k and k x n matrices in the loaders' orders, with rows `lda` and `ldb` elements
///    apart in memory, and aligned as the loaders require.
/// 3. Only this block accesses the tiles, and only in this call.
#[inline(always)]
pub(super) unsafe fn multiply<
    C: TileConfig,
    A: TileLoader,
    B: TileLoader,
    S,
    U,
    const STAGES: usize,
>(
    block: u32,
    operands: Operands<'_, Element<C>>,
    a_tile: S,
    b_tile: U,
    store: impl OutputSink<Element<C>>,
) where
    S: Tile<Element = Element<C>>,
    U: Tile<Element = Element<C>>,
{
    const { assert_shapes::<C, S, U, STAGES>() }
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
        block_position(block, m.div_ceil(C::ROWS), n.div_ceil(C::COLUMNS));
    let (row, column) = (block_row * C::ROWS, block_column * C::COLUMNS);
    let (a_outside, b_outside) = Element::<C>::OUTSIDE;
    let a = A::operand(a, m, k, lda, a_outside);
    let b = B::operand(b, n, k, ldb, b_outside);
    let position = C::Accumulators::position();
    let tiles = k.div_ceil(C::DEPTH) as u32;

    // Most blocks lie within C, and most tiles within K: their copies need no zeros.
    let tiles_in_bounds = match is_within_c((row, column), (C::ROWS, C::COLUMNS), (m, n)) {
        true => (k / C::DEPTH) as u32,
        false => 0,
    };

    let mut pipeline = Pipeline::<STAGES>::new();
    // A closure that borrows its variables: as a method of a struct that holds them, the same code takes up to 8
    // registers more in f32 (ptxas of CUDA 13, sm_80).
    let load = |pipeline: &mut Pipeline<STAGES>, tile: u32| {
        let (tile_row, k) = (
            pipeline.producer_stage() * C::DEPTH,
            tile as usize * C::DEPTH,
        );
        let (a_slice, b_slice) = (a_tile.as_slice(), b_tile.as_slice());
        let (of_a, of_b) = (
            TileOrigin { k, output: row },
            TileOrigin { k, output: column },
        );
        // SAFETY: the tiles have the stage: `assert_shapes`. All threads make the call, and the operands have their
        // rows, aligned as the loaders require: the caller's contract. Pitches are multiples of 16 bytes: rows of
        // whole vectors, padded by whole vectors. The stage's last readers have passed a barrier, and its next readers
        // wait for the copies and pass another one. The origin lies within the operands, at multiples of the tiles'
        // columns: `tile` is below `tiles`, and the block has an output; below `tiles_in_bounds`, all of the tile does.
        unsafe {
            if tile < tiles_in_bounds {
                A::load::<S, C::Accumulators, STAGES, true>(pipeline, a_slice, tile_row, &a, of_a);
                B::load::<U, C::Accumulators, STAGES, true>(pipeline, b_slice, tile_row, &b, of_b);
            } else {
                A::load::<S, C::Accumulators, STAGES, false>(pipeline, a_slice, tile_row, &a, of_a);
                B::load::<U, C::Accumulators, STAGES, false>(pipeline, b_slice, tile_row, &b, of_b);
            }
        }
    };
    let ahead = const { STAGES as u32 - 1 };
    if tiles > 0 {
        load(&mut pipeline, 0);
    }
    pipeline.commit();
    for tile in 1..ahead {
        if tile < tiles {
            load(&mut pipeline, tile);
        }
        pipeline.commit();
    }

    let mut sums = C::Accumulators::zero();
    for tile in 0..tiles {
        let stage = pipeline.consumer_wait();
        thread::sync_threads();
        if tile + ahead < tiles {
            load(&mut pipeline, tile + ahead);
        }
        pipeline.commit();
        // SAFETY: the tiles have the stage, and rows of the block's outputs: `assert_shapes`. Pitches are multiples of
        // vectors, as for the copies. Each thread waited for its copies of the stage before the barrier, and the stage
        // is written after the next one. The block has the threads: the caller's contract. `position` is this thread's.
        unsafe { sums.add_products::<S, U, STAGES>(&position, a_tile, b_tile, stage) };
    }
    // SAFETY: `store` takes an m x n result, and the block has the threads: the caller's contract. `block_position`
    // gives each block its own outputs, and `position` is this thread's. A's tile has a column of outputs for each
    // column of a thread: `assert_shapes`. Only this block accesses it: the caller's contract; its last readers have
    // passed a barrier, and no copy is under way.
    unsafe {
        if let Some(to) = store.plain() {
            sums.store(&position, (row, column), (m, n), &to);
        } else {
            // After the last reads of the tile.
            thread::sync_threads();
            let staging = a_tile.as_slice();
            sums.store_through(staging, &position, (row, column), (m, n), &store);
        }
    };
}

/// Rejects, at compile time, tiles in shared memory that do not fit the configuration.
const fn assert_shapes<C: TileConfig, S: Tile, U: Tile, const STAGES: usize>() {
    assert!(
        STAGES == C::STAGES && S::ROWS == STAGES * C::DEPTH && U::ROWS == STAGES * C::DEPTH,
        "the tiles have a place for each stage"
    );
    assert!(
        S::COLUMNS == C::ROWS,
        "A's tile has the rows of the block's outputs"
    );
    assert!(
        U::COLUMNS == C::COLUMNS,
        "B's tile has the columns of the block's outputs"
    );
    let threads = C::Accumulators::THREADS;
    assert!(
        S::ROWS * S::COLUMNS >= threads * <C::Accumulators as Accumulators>::COLUMNS,
        "A's tile can stage a row of each thread's outputs"
    );
    assert!(
        (C::ROWS * C::DEPTH).is_multiple_of(C::VECTOR * threads),
        "the threads share A's copies evenly"
    );
    assert!(
        (C::DEPTH * C::COLUMNS).is_multiple_of(C::VECTOR * threads),
        "the threads share B's copies evenly"
    );
}

/// Waits for earlier launches, then returns [`is_in_split_range`].
///
/// # Safety
/// 1. As for [`is_in_split_range`], once earlier launches are complete.
#[cfg(any(not(target_arch = "nvptx64"), cuda_arch_at_least = "90a"))]
#[inline(always)]
unsafe fn wait_for_split_range<const ROWS: usize, const COLUMNS: usize>(
    shape: &ProductShape,
    words: (Global<'_, u32>, Global<'_, u32>),
) -> bool {
    dependent_launch::wait();
    // No trigger: the blocks that split the next operands start together, when multiprocessors are free.
    // SAFETY: the words and the blocks: the caller's contract. Earlier launches are complete.
    unsafe { is_in_split_range::<ROWS, COLUMNS>(shape, words) }
}

/// Whether tensor cores have computed the calling block's outputs: all its rows and columns are in the split's range.
///
/// # Safety
/// 1. The words are those of the m rows of A and the n columns of B, for each of their matrices, as the splits left
///    them.
/// 2. The launch has a block for each [`PANEL`] x [`PANEL`] tile of m x n outputs, and all threads of a block make the
///    call.
#[inline(always)]
unsafe fn is_in_split_range<const ROWS: usize, const COLUMNS: usize>(
    shape: &ProductShape,
    (a, b): (Global<'_, u32>, Global<'_, u32>),
) -> bool {
    const { assert!(ROWS == PANEL && COLUMNS == PANEL) };
    let (m, n) = (shape.m, shape.n);
    let (of_a, of_b) = (RangeWords { lines: m }, RangeWords { lines: n });
    let of_product = |words: RangeWords, stride: usize| match stride == 0 || shape.part != 0 {
        true => 0,
        false => thread::block_idx_y() as usize * words.len(),
    };
    let a = a.skip(of_product(of_a, shape.a_stride));
    let b = b.skip(of_product(of_b, shape.b_stride));
    let (row, column) = block_position(thread::block_idx_x(), m.div_ceil(PANEL), n.div_ceil(PANEL));
    // SAFETY: the words are those of the rows and columns: the caller's contract. They have the panels: the block has
    // an output. All lanes of the warp make the call, for one panel.
    let (of_a, of_b) = unsafe {
        (
            of_a.is_panel_out_of_range(a, row * PANEL),
            of_b.is_panel_out_of_range(b, column * PANEL),
        )
    };
    // Both loads are issued before either result is used.
    !(of_a | of_b)
}

macro_rules! coarsened_kernels {
    ($($family:ident $name:ident {$method:ident $(($tiles:path))? $config:ident at $blocks:literal blocks}
        {$element:ident in $added:ident to $output:ident in $sum:ident $written:ident} {$copies:ident};)*) => {$(
        coarsened_kernels!(@$family $copies $config $blocks $name $element);
    )*};
    (@coarsened $copies:ident $config:ident $blocks:literal $name:ident $element:ident) => {
        coarsened_kernels!(@$copies $config [$name: $element, [min_blocks = $blocks], [], never all]);
    };
    // i8 as words of four. The host rearranges operands of any order into such words.
    (@coarsened_words either $config:ident $blocks:literal $name:ident $element:ident) => {
        coarsened_kernels!(@entry $config [$name: i32, [min_blocks = $blocks], [], never all] Either Either,
            TransposedLoad<true>, TransposedLoad<true>,
            "A is row-major, B is column-major. An element is four i8 with consecutive k, the first in the lowest \
                byte, with zeros past the end of K.");
    };
    // The outputs that split products leave out because rows or columns are outside the split's range: after the
    // warpgroup kernels, and after the warp-level ones.
    (@out_of_range $copies:ident $config:ident $blocks:literal $name:ident $element:ident) => {
        coarsened_kernels!(@$copies $config [$name: $element,
            [min_blocks = $blocks, arch = "sm_90a", dependent_launch],
            [a_words: Global<u32>, b_words: Global<u32>], wait_for_split_range all
            "`a_words` and `b_words` have the [`RangeWords`] of each A and each B, as the splits left them."]);
    };
    (@out_of_range_mma $copies:ident $config:ident $blocks:literal $name:ident $element:ident) => {
        coarsened_kernels!(@$copies $config [$name: $element, [min_blocks = $blocks, arch = "sm_80"],
            [a_words: Global<u32>, b_words: Global<u32>], is_in_split_range all
            "`a_words` and `b_words` have the [`RangeWords`] of each A and each B, as the splits left them."]);
    };
    // The outputs that products of residues leave out.
    (@left $copies:ident $config:ident $blocks:literal $name:ident $element:ident) => {
        coarsened_kernels!(@$copies $config [$name: $element, [min_blocks = $blocks],
            [a_lines: Global<Line>, b_lines: Global<Line>], are_in_range left
            "`a_lines` and `b_lines` have what is known of A's rows and B's columns."]);
    };
    (@nn $config:ident $kernel:tt) => {
        coarsened_kernels!(@entry $config $kernel RowMajor RowMajor,
            TransposedLoad<true>, DirectLoad<{ <$config>::VECTOR }>,
            "A and B are row-major, and B's rows are aligned to 16 bytes.");
    };
    (@nn_unaligned $config:ident $kernel:tt) => {
        coarsened_kernels!(@entry $config $kernel RowMajor RowMajor,
            TransposedLoad<true>, DirectLoad<1>,
            "A and B are row-major.");
    };
    (@tn $config:ident $kernel:tt) => {
        coarsened_kernels!(@entry $config $kernel ColumnMajor RowMajor,
            DirectLoadOfAnyAlignment<{ <$config>::VECTOR }, { <$config>::HOISTS }>,
            DirectLoadOfAnyAlignment<{ <$config>::VECTOR }, true>,
            "A is column-major, B is row-major.");
    };
    (@nt $config:ident $kernel:tt) => {
        coarsened_kernels!(@entry $config $kernel RowMajor ColumnMajor,
            TransposedLoad<true>, TransposedLoad<{ <$config>::HOISTS }>,
            "A is row-major, B is column-major.");
    };
    (@tt $config:ident $kernel:tt) => {
        coarsened_kernels!(@entry $config $kernel ColumnMajor ColumnMajor,
            DirectLoadOfAnyAlignment<{ <$config>::VECTOR }, false>, TransposedLoad<true>,
            "A and B are column-major.");
    };
    // A kernel whose blocks compute nothing if `$is_skipped` of the extra parameters.
    (@entry $config:ident [$name:ident: $element:ident, [$($bound:tt)*],
        [$($extra:ident: Global<$extra_element:ty>),*], $is_skipped:ident $sink:ident $($requirement:literal)?]
        $a_layout:ident $b_layout:ident, $a_loader:ty, $b_loader:ty, $layout:literal) => {
        #[doc = concat!("C = A B in ", stringify!($element), ", with the tiles of `",
            stringify!($config), "`. ", $layout)]
        ///
        /// # Safety
        /// 1. The launch meets the [requirements of product kernels](crate::matmul#requirements-of-product-kernels).
        #[doc = concat!("2. ", $layout)]
        $(#[doc = concat!("3. ", $requirement)])?
        #[allow(clippy::too_many_arguments)]
        #[kernel(max_threads = <$config>::BLOCK_TILE.threads, $($bound)*)]
        pub unsafe fn $name(
            a: Global<$element>,
            b: Global<$element>,
            c: GlobalMut<$element>,
            shape: GridConstant<ProductShape>,
            numbers: GridConstant<EpilogueNumbers<$element>>,
            row_scale: Global<$element>,
            column_scale: Global<$element>,
            row_bias: Global<$element>,
            column_bias: Global<$element>,
            $($extra: Global<$extra_element>,)*
        ) {
            // SAFETY: the words or lines, and the blocks, of `PANEL` x `PANEL` outputs with `PanelF32`: the caller's
            // contract. All threads of the block make the call.
            if unsafe { $is_skipped::<{ <$config>::ROWS }, { <$config>::COLUMNS }>(&shape, ($($extra,)*)) } {
                return;
            }
            if <$config>::LEAVES_OUT && is_left_out(&shape, <$config>::ROWS, <$config>::COLUMNS) {
                return;
            }
            let a_tile = shared_tile![$element; <$config>::STAGES * <$config>::DEPTH, <$config>::ROWS;
                pitch = pitch::<$config, $a_loader>(<$config>::ROWS)];
            let b_tile = shared_tile![$element; <$config>::STAGES * <$config>::DEPTH, <$config>::COLUMNS;
                pitch = pitch::<$config, $b_loader>(<$config>::COLUMNS)];
            // SAFETY: the matrices, their layouts, the block and the grid: the caller's contract. The launch accesses C
            // only through the sink, and a block has returned as a whole or not at all. The tiles are declared here.
            unsafe {
                let (operands, to) = matrices_of_block(<$config>::DIVIDES_K, a, b, c, &shape);
                let epilogue = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
                multiply::<$config, $a_loader, $b_loader, _, _, { <$config>::STAGES }>(
                    thread::block_idx_x(), operands, a_tile, b_tile,
                    $sink(StoreFinished { to, epilogue }, ($($extra,)*)));
            }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            const DESCRIPTOR: ProductDescriptor = ProductDescriptor {
                tile: <$config>::BLOCK_TILE,
                a: OperandLayout::$a_layout,
                b: OperandLayout::$b_layout,
                b_row_alignment: <$b_loader>::ROW_ALIGNMENT_ELEMENTS * size_of::<$element>(),
                dynamic_shared_bytes: 0,
            };
        }
    };
}
crate::products!(coarsened_kernels of coarsened, coarsened_words, out_of_range, out_of_range_mma, left);
