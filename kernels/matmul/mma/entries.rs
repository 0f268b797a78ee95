//! The kernels, for each tile, layout and type.

use super::product::{RowStaging, product_by_rows, product_one_by_one};
use super::stage::{AcrossK, AlongK, StageLayout, Stages};
use super::tile::{F64_LARGE, F64_MEDIUM, F64_SMALL, NARROW_LARGE, NARROW_SMALL};
use super::warp_tile::WarpTile;
use crate::epilogue::{Epilogue, EpilogueNumbers};
use crate::exact::Line;
use crate::finish::CMatrices;
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::descriptor::{OperandLayout, ProductDescriptor, ProductKernel};
use crate::matmul::grid::is_left_out;
use crate::matmul::left::{all, are_in_range, left, never};
use crate::matmul::operand::{operands_of_block, result_of_block};
use crate::matmul::shape::ProductShape;
use crate::matmul::sink::StoreFinished;
#[cfg(any(not(target_arch = "nvptx64"), cuda_arch_at_least = "90a"))]
use cuda_std::dependent_launch;
use cuda_std::hint::opaque;
use cuda_std::prelude::*;
use half::{bf16, f16};

/// Whether f64 blocks of `rows` rows can multiply a part of K. Larger ones have no registers left for it, so the host
/// selects other kernels.
const fn divides_k(rows: usize) -> bool {
    rows <= 64
}

/// Kernels that need an architecture. `$store` is how sums are stored: one by one from registers, or by rows.
macro_rules! mma_kernels {
    ($($family:ident $name:ident {$method:ident $(($tiles:path))? $tile:ident}
        {$element:ident in $added:ident to $output:ident in $sum:ident $written:ident} {$layouts:ident};)*) => {$(
        mma_kernels!(@$family $layouts $tile $element [$name $element $output $sum]);
    )*};
    (@mma_f64 $layouts:ident $tile:ident $element:ident $kernel:tt) => {
        mma_kernels!(@$layouts $tile $element $kernel ["sm_90a" one_by_one "" [] never all]);
    };
    // Kernels that start while the kernel before them still runs. In larger tiles, whose blocks fill the device more
    // than once or unevenly, the next product's first blocks would crowd on a few multiprocessors: 1024 x 1024 with K =
    // 1024 in medium tiles took 62 us on an H200 instead of 48.
    (@mma_f64_after $layouts:ident $tile:ident $element:ident $kernel:tt) => {
        mma_kernels!(@$layouts $tile $element $kernel
            ["sm_90a" one_by_one "" [] never all dependent_launch]);
    };
    // The outputs that products of residues leave out.
    (@left_mma $layouts:ident $tile:ident $element:ident $kernel:tt) => {
        mma_kernels!(@$layouts $tile $element $kernel ["sm_90a" one_by_one
            " `a_lines` and `b_lines` have what is known of A's rows and B's columns."
            [a_lines: Global<Line>, b_lines: Global<Line>] are_in_range left]);
    };
    (@mma $layouts:ident $tile:ident $element:ident $kernel:tt) => {
        mma_kernels!(@$layouts $tile $element $kernel ["sm_80" by_rows
            " Their rows (columns, if column-major) are aligned to 16 bytes." [] never all]);
    };
    (@nn $($kernel:tt)*) => {
        mma_kernels!(@operands $($kernel)* RowMajor RowMajor, AlongK AcrossK, "A and B are row-major.");
    };
    (@tn $($kernel:tt)*) => {
        mma_kernels!(@operands $($kernel)* ColumnMajor RowMajor, AcrossK AcrossK,
            "A is column-major, B is row-major.");
    };
    (@nt $($kernel:tt)*) => {
        mma_kernels!(@operands $($kernel)* RowMajor ColumnMajor, AlongK AlongK,
            "A is row-major, B is column-major.");
    };
    (@tt $($kernel:tt)*) => {
        mma_kernels!(@operands $($kernel)* ColumnMajor ColumnMajor, AcrossK AlongK,
            "A and B are column-major.");
    };
    // Another kernel rearranges operands of other layouts.
    (@either $($kernel:tt)*) => {
        mma_kernels!(@operands $($kernel)* Either Either, AlongK AlongK,
            "A is row-major, B is column-major.");
    };
    (@operands $tile:ident $element:ident $kernel:tt $asked:tt $a_layout:ident $b_layout:ident,
        $a:ident $b:ident, $layout:literal) => {
        mma_kernels!(@entry $tile $kernel $asked $a_layout $b_layout,
            $a<$element, { $tile.rows() }, { $tile.threads() }>,
            $b<$element, { $tile.columns() }, { $tile.threads() }>, $layout);
    };
    (@entry $tile:ident [$name:ident $element:ident $output:ident $sum:ident]
        [$arch:literal $store:ident $alignment:literal [$($extra:ident: Global<$extra_element:ty>),*]
            $is_skipped:ident $sink:ident $($dependent:ident)?]
        $a_layout:ident $b_layout:ident, $a:ty, $b:ty, $layout:literal) => {
        #[doc = concat!("C = A B on tensor cores, A and B in ", stringify!($element), ", C in ",
            stringify!($output), ", with the tiles of `", stringify!($tile), "`. ", $layout)]
        ///
        /// # Safety
        /// 1. The launch meets the [requirements of product kernels](crate::matmul#requirements-of-product-kernels).
        #[doc = concat!("2. ", $layout, $alignment)]
        #[allow(clippy::too_many_arguments)]
        #[kernel(max_threads = $tile.threads() as u32, min_blocks = $tile.resident, arch = $arch $(, $dependent)?)]
        pub unsafe fn $name(
            a: Global<$element>,
            b: Global<$element>,
            c: GlobalMut<$output>,
            shape: GridConstant<ProductShape>,
            numbers: GridConstant<EpilogueNumbers<$sum>>,
            row_scale: Global<$sum>,
            column_scale: Global<$sum>,
            row_bias: Global<$sum>,
            column_bias: Global<$sum>,
            $($extra: Global<$extra_element>,)*
        ) {
            $(
                $dependent::wait();
                $dependent::trigger();
            )?
            // SAFETY: the lines, and the blocks, with an output of the tile each: the caller's contract. All threads of
            // the block make the call.
            if unsafe { $is_skipped::<{ $tile.rows() }, { $tile.columns() }>(&shape, ($($extra,)*)) } {
                return;
            }
            if is_left_out(&shape, $tile.rows(), $tile.columns()) {
                return;
            }
            let mut shared = dynamic_shared_allotment!();
            let mut staging_memory = shared.alternative();
            let a_stages = shared.array::<$element, { $tile.stages * <$a as StageLayout>::ELEMENTS }>();
            let b_stages = shared.array::<$element, { $tile.stages * <$b as StageLayout>::ELEMENTS }>();
            let stages = (Stages::<$a>::new(a_stages.as_slice()), Stages::<$b>::new(b_stages.as_slice()));
            let epilogue = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
            type Warp = WarpTile<
                $element,
                { $tile.down },
                { $tile.along },
                { $tile.warps },
                { $tile.warps_along },
            >;
            mma_kernels!(@$store [$a, $b, Warp, { $tile.stages }, { $tile.by_elements }] [$sink ($($extra,)*)],
                a, b, c, shape, stages, staging_memory, epilogue);
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            const DESCRIPTOR: ProductDescriptor = ProductDescriptor {
                tile: $tile.block_tile(),
                a: OperandLayout::$a_layout,
                b: OperandLayout::$b_layout,
                b_row_alignment: size_of::<$element>(),
                dynamic_shared_bytes: $tile.stages
                    * (<$a as StageLayout>::ELEMENTS + <$b as StageLayout>::ELEMENTS)
                    * size_of::<$element>(),
            };
        }
    };
    (@one_by_one [$a:ty, $b:ty, $warp:ty, $count:expr, $by_elements:expr] [$sink:ident $extra:tt],
        $of_a:ident, $of_b:ident, $c:ident, $shape:ident, $stages:ident, $staging_memory:ident, $epilogue:ident) => {
        let _ = &mut $staging_memory;
        // SAFETY: the block, the grid, the matrices and their layouts: the caller's contract. All threads of the block
        // make the call: a block has returned as a whole or not at all. The stages are taken here, `$count` of each
        // operand, and only the product uses them. The launch accesses C only through `store`.
        unsafe {
            let operands = operands_of_block(const { divides_k(<$a as StageLayout>::OUTPUTS) }, $of_a, $of_b, &$shape);
            // Computed after the sums, so that C holds no registers before.
            let store = || {
                let to = result_of_block($c, &$shape, opaque(thread::block_idx_y()));
                $sink(StoreFinished { to, epilogue: $epilogue }, $extra)
            };
            product_one_by_one::<$a, $b, $warp, _, $count, $by_elements>(operands, $stages, store);
        }
    };
    (@by_rows [$a:ty, $b:ty, $warp:ty, $count:expr, $by_elements:expr] [$sink:ident $extra:tt],
        $of_a:ident, $of_b:ident, $c:ident, $shape:ident, $stages:ident, $staging_memory:ident, $epilogue:ident) => {
        let staging: RowStaging<'_, _> = $staging_memory.array();
        let operands = operands_of_block(true, $of_a, $of_b, &$shape);
        let extents = ($shape.m, $shape.n);
        let c = CMatrices::new($c, extents, $shape.ldc, $shape.c_stride);
        // SAFETY: the block, the grid, the matrices, their layouts and alignment: the caller's contract. All threads of
        // the block make the call: a block has returned as a whole or not at all. The stages are taken here, `$count`
        // of each operand; only the product uses them, and `staging`, which lies in their memory. The launch accesses
        // C, which has the batch's matrices, only through `c`.
        unsafe {
            let place = (thread::block_idx_x(), thread::block_idx_y() as usize);
            product_by_rows::<$a, $b, $warp, _, $count>(place, operands, $stages, staging, c, $epilogue);
        }
    };
}
crate::products!(mma_kernels of mma_f64, mma_f64_after, left_mma, mma);
