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

use super::coarsened_loop::multiply;
use super::config::{
    LargeF32, LargeF64, LargeI8, MediumF32, PanelF32, SmallF32, SmallF64, SmallI8, TileConfig,
    pitch,
};
#[cfg(not(target_arch = "nvptx64"))]
use super::descriptor::{OperandLayout, ProductDescriptor, ProductKernel};
use super::direct_load::{DirectLoad, DirectLoadOfAnyAlignment};
use super::grid::{block_position, is_left_out};
use super::left::{all, are_in_range, left, never};
use super::loader::TileLoader;
use super::operand::matrices_of_block;
use super::shape::ProductShape;
use super::sink::StoreFinished;
use super::transposed_load::TransposedLoad;
use crate::epilogue::{Epilogue, EpilogueNumbers};
use crate::exact::Line;
use crate::tensor::{PANEL, RangeWords};
#[cfg(any(not(target_arch = "nvptx64"), cuda_arch_at_least = "90a"))]
use cuda_std::dependent_launch;
use cuda_std::prelude::*;

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
