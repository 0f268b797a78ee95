//! The coarsened product: a block of outputs for each thread.
//!
//! ```text
//! load the first tiles of A and of B, to all stages but one
//! for each tile of K:
//!     wait for the tiles
//!     load later ones to the stage that was read last
//!     multiply: for each k of the tile,
//!         each thread reads its rows of A and its columns of B into registers
//!         and adds their products to its outputs
//! store what the epilogue makes of the sums
//! ```
//!
//! Thread coarsening in two dimensions (register tiling): an element that a thread reads from shared
//! memory serves a row or a column of its outputs instead of one.
//!
//! Departures from the plain version, for speed:
//! 1. The tiles have two stages or more: while the block computes on one, `cp.async` brings the next ones
//!    straight to shared memory, past the registers.
//! 2. Fragments are read as 16-byte vectors (`register_tile.rs`). An operand whose elements do not
//!    lie that way, a row-major A or a column-major B, is transposed while it is copied
//!    (`transposed_load.rs`).
//! 3. Copies of a row-major B are 16 bytes wide where its rows start at multiples of 16 bytes; the
//!    `_nn_unaligned` kernels copy single elements. The kernels of other layouts find out themselves
//!    (`direct_load.rs`).
//! 4. Tiles at the edges have zeros outside the matrices, so the inner loop has no conditions.
//!    Tiles that lie within the matrices take a shorter path without zeros.
//! 5. For a result that would not fill the GPU with blocks of the usual size there are `_medium` and `_small`
//!    kernels: fewer outputs for each thread, more blocks (the host selects; the bits are the same).
//! 6. Outputs are written one by one. A vector store would bind each thread's sums to registers of
//!    the same banks as B's fragments, and the multiply-adds would wait for their operands: 12 %
//!    of the time at 4096 on an H200.

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
use super::loader::TileLoader;
use super::operand::{Operands, TileOrigin, matrices_of_block};
use super::shape::ProductShape;
use super::sink::StoreFinished;
use super::tile::Tile;
use super::transposed_load::TransposedLoad;
use crate::epilogue::{Epilogue, EpilogueNumbers};
use crate::tensor::{LineWords, PANEL};
#[cfg(any(not(target_arch = "nvptx64"), cuda_arch_at_least = "90a"))]
use cuda_std::dependent_launch;
use cuda_std::prelude::*;

type Element<C> = <<C as TileConfig>::Accumulators as Accumulators>::Element;

/// The main loop of block number `block` of a product.
///
/// # Safety
/// 1. The launch has blocks of `C::Accumulators::THREADS` threads along x, one for each `C::ROWS` rows and
///    `C::COLUMNS` columns of the result, each with its number, and `store` writes that result.
/// 2. A and B have the elements of m x k and k x n matrices, `lda` and `ldb` elements from row to row
///    in memory, and their rows start where the loaders ask.
/// 3. The tiles are the block's own.
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
    store: StoreFinished<'_, Element<C>>,
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

    // Most blocks lie within C wholly, and most tiles of K within K: their copies need no zeros.
    let tiles_in_bounds = match is_within_c((row, column), (C::ROWS, C::COLUMNS), (m, n)) {
        true => (k / C::DEPTH) as u32,
        false => 0,
    };

    let mut pipeline = Pipeline::<STAGES>::new();
    // A closure that borrows what it needs: as a method of a struct that holds it, the same code
    // takes up to 8 registers more in f32 (ptxas of CUDA 13, sm_80).
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
        // SAFETY: (1) `tile_row` is the first of a stage's rows. (2) The rows start so, by (2),
        // and the tiles are padded by whole vectors. (3) The last readers of the stage have
        // passed a barrier. (4) The comparison.
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
        // SAFETY: (1) each thread has waited for its copies of the stage before the barrier. (2)
        // `assert_shapes`; pitches are padded by whole vectors.
        unsafe { sums.add_products::<S, U, STAGES>(&position, a_tile, b_tile, stage) };
    }
    // SAFETY: (1) `block_position` gives each block its own outputs. (2) The tile is the block's, and no
    // longer read.
    unsafe {
        if store.epilogue.is_plain() {
            sums.store(&position, (row, column), (m, n), &store.to);
        } else {
            // The last readers of the tile are done.
            thread::sync_threads();
            let way = a_tile.as_slice();
            sums.store_through(way, &position, (row, column), (m, n), &store);
        }
    };
}

/// Rejects, when compiled, tiles in shared memory that are not those of the configuration.
const fn assert_shapes<C: TileConfig, S: Tile, U: Tile, const STAGES: usize>() {
    assert!(
        STAGES == C::STAGES && S::ROWS == STAGES * C::DEPTH && U::ROWS == STAGES * C::DEPTH,
        "the tiles have room for each stage"
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
        (C::ROWS * C::DEPTH).is_multiple_of(C::VECTOR * threads),
        "the threads share A's copies evenly"
    );
    assert!(
        (C::DEPTH * C::COLUMNS).is_multiple_of(C::VECTOR * threads),
        "the threads share B's copies evenly"
    );
}

/// Every block computes its outputs.
#[inline(always)]
unsafe fn never(_shape: &ProductShape, (): ()) -> bool {
    false
}

/// Waits for the launches before, and is then [`is_narrow`].
///
/// # Safety
/// As for [`is_narrow`].
#[cfg(any(not(target_arch = "nvptx64"), cuda_arch_at_least = "90a"))]
#[inline(always)]
unsafe fn is_narrow_then(shape: &ProductShape, words: (Global<'_, u32>, Global<'_, u32>)) -> bool {
    dependent_launch::wait();
    // Without a trigger: the blocks that split the next operands start together, when multiprocessors are free.
    // SAFETY: (1) is (1).
    unsafe { is_narrow(shape, words) }
}

/// Whether the calling block's outputs were computed on tensor cores: all of its rows and columns
/// are in the split's range.
///
/// # Safety
/// 1. The words are those of m rows of A and n columns of B, of each of their matrices, as the splits left them,
///    and the blocks are those of m x n outputs, [`PANEL`] x [`PANEL`] each.
#[inline(always)]
unsafe fn is_narrow(shape: &ProductShape, (a, b): (Global<'_, u32>, Global<'_, u32>)) -> bool {
    let (m, n) = (shape.m, shape.n);
    let (of_a, of_b) = (LineWords { lines: m }, LineWords { lines: n });
    let of_product = |words: LineWords, stride: usize| match stride == 0 || shape.part != 0 {
        true => 0,
        false => thread::block_idx_y() as usize * words.len(),
    };
    let a = a.skip(of_product(of_a, shape.a_stride));
    let b = b.skip(of_product(of_b, shape.b_stride));
    let (row, column) = block_position(thread::block_idx_x(), m.div_ceil(PANEL), n.div_ceil(PANEL));
    // SAFETY: (1) is (1). (2) The block's threads make the call for one place.
    let (of_a, of_b) = unsafe {
        (
            of_a.is_panel_wide(a, row * PANEL),
            of_b.is_panel_wide(b, column * PANEL),
        )
    };
    // Both loads are on their way before one is looked at.
    !(of_a | of_b)
}

macro_rules! coarsened_kernels {
    ($($family:ident $name:ident {$method:ident $(($tiles:path))? $config:ident at $blocks:literal blocks}
        {$element:ident in $added:ident to $output:ident in $sum:ident $written:ident} {$copies:ident};)*) => {$(
        coarsened_kernels!(@$family $copies $config $blocks $name $element);
    )*};
    (@coarsened $copies:ident $config:ident $blocks:literal $name:ident $element:ident) => {
        coarsened_kernels!(@$copies $config [$name: $element, [min_blocks = $blocks], [], never]);
    };
    // i8 as words of four. The host brings the operands, in any order, into one that has such words.
    (@coarsened_words either $config:ident $blocks:literal $name:ident $element:ident) => {
        coarsened_kernels!(@entry $config [$name: i32, [min_blocks = $blocks], [], never] Either Either,
            TransposedLoad<true>, TransposedLoad<true>,
            "A is row-major, B is column-major. An element is four i8 of one row or column, the first \
                in the lowest byte: zeros past the end of K.");
    };
    // The outputs that products of split operands leave out: those of warpgroups, and those of warps.
    (@wide $copies:ident $config:ident $blocks:literal $name:ident $element:ident) => {
        coarsened_kernels!(@$copies $config [$name: $element,
            [min_blocks = $blocks, arch = "sm_90a", dependent_launch],
            [a_words: Global<u32>, b_words: Global<u32>], is_narrow_then
            "`a_words` and `b_words` are those of the operands' lines, as the splits left them."]);
    };
    (@wide_mma $copies:ident $config:ident $blocks:literal $name:ident $element:ident) => {
        coarsened_kernels!(@$copies $config [$name: $element, [min_blocks = $blocks, arch = "sm_80"],
            [a_words: Global<u32>, b_words: Global<u32>], is_narrow
            "`a_words` and `b_words` are those of the operands' lines, as the splits left them."]);
    };
    (@nn $config:ident $kernel:tt) => {
        coarsened_kernels!(@entry $config $kernel RowMajor RowMajor,
            TransposedLoad<true>, DirectLoad<{ <$config>::VECTOR }>,
            "A and B are row-major, and the rows of B start at multiples of 16 bytes.");
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
    // A kernel whose blocks compute nothing where `$is_skipped` of the extra parameters says so.
    (@entry $config:ident [$name:ident: $element:ident, [$($bound:tt)*],
        [$($extra:ident: Global<$extra_element:ty>),*], $is_skipped:ident $($requirement:literal)?]
        $a_layout:ident $b_layout:ident, $a_loader:ty, $b_loader:ty, $layout:literal) => {
        #[doc = concat!("C = A B in ", stringify!($element), ", with the tiles of `",
            stringify!($config), "`. ", $layout)]
        ///
        /// # Safety
        /// 1. The launch has the block of the kernel's [`ProductDescriptor`] along x, its blocks for
        ///    m x n of `shape`, and so many along y as the batch has products.
        /// 2. `a`, `b`, `c` start with the first elements of m x k, k x n and m x n matrices and reach to
        ///    the last of the batch's; rows (columns, if column-major), matrices, and parts where K is divided,
        ///    start as far apart as `shape` says, and no two matrices of C have a common element.
        ///    The launch touches no other elements of the views: those between the rows may be
        ///    elements of another of the matrices.
        #[doc = concat!("3. ", $layout)]
        $(#[doc = concat!("4. ", $requirement)])?
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
            // SAFETY: (1) is (1) and (4).
            if unsafe { $is_skipped(&shape, ($($extra,)*)) } {
                return;
            }
            if <$config>::LEAVES_OUT && is_left_out(&shape, <$config>::ROWS, <$config>::COLUMNS) {
                return;
            }
            let a_tile = shared_tile![$element; <$config>::STAGES * <$config>::DEPTH, <$config>::ROWS;
                pitch = pitch::<$config, $a_loader>(<$config>::ROWS)];
            let b_tile = shared_tile![$element; <$config>::STAGES * <$config>::DEPTH, <$config>::COLUMNS;
                pitch = pitch::<$config, $b_loader>(<$config>::COLUMNS)];
            // SAFETY: of `matrices_of_block`, (1) and (2) are (2). Of `multiply`, (1) is (1), (2) is (2) and
            // (3), and (3) the tiles are declared here.
            unsafe {
                let (operands, to) = matrices_of_block(<$config>::DIVIDES_K, a, b, c, &shape);
                let epilogue = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
                multiply::<$config, $a_loader, $b_loader, _, _, { <$config>::STAGES }>(
                    thread::block_idx_x(), operands, a_tile, b_tile, StoreFinished { to, epilogue });
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
crate::products!(coarsened_kernels of coarsened, coarsened_words, wide, wide_mma);
