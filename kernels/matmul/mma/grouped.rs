//! Products of f16 and bf16 matrices of unequal shapes in one launch.
//!
//! Each block runs the main loop of a single product, so each product has the bits that it has alone.

use super::product::{RowStaging, product_by_rows};
use super::stage::{AcrossK, AlongK, StageLayout, Stages};
use super::tile::NARROW_GROUPED;
use super::warp_tile::WarpTile;
use crate::epilogue::EpilogueNumbers;
use crate::finish::CMatrices;
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::descriptor::{OperandLayout, ProductDescriptor, ProductKernel};
use crate::matmul::group::{ProductGroup, epilogue_of_numbers};
use cuda_std::prelude::*;
use half::{bf16, f16};

macro_rules! grouped_kernels {
    ($($family:ident $name:ident {$method:ident $tile:ident}
        {$element:ident in $added:ident to $output:ident in $sum:ident $written:ident} {$layouts:ident};)*) => {$(
        grouped_kernels!(@$layouts $tile $name $element);
    )*};
    (@nn $($kernel:tt)*) => {
        grouped_kernels!(@entry $($kernel)*, AlongK RowMajor (m, k), AcrossK RowMajor (k, n),
            "A and B are row-major.");
    };
    (@tn $($kernel:tt)*) => {
        grouped_kernels!(@entry $($kernel)*, AcrossK ColumnMajor (k, m), AcrossK RowMajor (k, n),
            "A is column-major, B is row-major.");
    };
    (@nt $($kernel:tt)*) => {
        grouped_kernels!(@entry $($kernel)*, AlongK RowMajor (m, k), AlongK ColumnMajor (n, k),
            "A is row-major, B is column-major.");
    };
    (@tt $($kernel:tt)*) => {
        grouped_kernels!(@entry $($kernel)*, AcrossK ColumnMajor (k, m), AlongK ColumnMajor (n, k),
            "A and B are column-major.");
    };
    (@entry $tile:ident $name:ident $element:ident,
        $a:ident $a_layout:ident ($a_rows:ident, $a_columns:ident),
        $b:ident $b_layout:ident ($b_rows:ident, $b_columns:ident), $layout:literal) => {
        #[doc = concat!("C = A B of each product of a group, in ", stringify!($element), ", on tensor cores. ", $layout)]
        ///
        /// # Safety
        /// 1. The launch meets the [requirements of grouped kernels](crate::matmul#requirements-of-grouped-kernels).
        #[doc = concat!("2. ", $layout, " Their rows (columns, if column-major) are aligned to 16 bytes.")]
        #[kernel(max_threads = $tile.threads() as u32, min_blocks = $tile.resident, arch = "sm_80")]
        pub unsafe fn $name(
            operands: Global<$element>,
            results: GlobalMut<$element>,
            group: GridConstant<ProductGroup>,
            numbers: GridConstant<EpilogueNumbers<f32>>,
        ) {
            type Left = $a<$element, { $tile.rows() }, { $tile.threads() }>;
            type Right = $b<$element, { $tile.columns() }, { $tile.threads() }>;
            type Warp = WarpTile<
                $element,
                { $tile.down },
                { $tile.along },
                { $tile.warps },
                { $tile.warps_along },
            >;
            let product = group.of_block();
            let block = thread::block_idx_x() - product.first_block as u32;
            let mut shared = dynamic_shared_allotment!();
            let mut staging_memory = shared.alternative();
            let a_stages = shared.array::<$element, { $tile.stages * <Left as StageLayout>::ELEMENTS }>();
            let b_stages = shared.array::<$element, { $tile.stages * <Right as StageLayout>::ELEMENTS }>();
            let stages = (Stages::<Left>::new(a_stages.as_slice()), Stages::<Right>::new(b_stages.as_slice()));
            let staging: RowStaging<'_, f32> = staging_memory.array();
            let extents = (product.m as usize, product.n as usize);
            // SAFETY: the matrices, which the launch accesses only through these views, their layouts and alignment,
            // the views at address 0, the block and the grid: the caller's contract. `block` counts the product's
            // blocks, and no thread of the block has returned. The stages are taken here, as many as the tile states;
            // only the product uses them, and `staging`, which lies in their memory.
            unsafe {
                let operands = product.operands(
                    operands, (product.$a_rows, product.$a_columns), (product.$b_rows, product.$b_columns));
                let c = CMatrices::new(product.result(results), extents, product.ldc as usize, 0);
                product_by_rows::<Left, Right, Warp, _, { $tile.stages }>(
                    (block, 0), operands, stages, staging, c, epilogue_of_numbers(numbers));
            }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            const DESCRIPTOR: ProductDescriptor = ProductDescriptor {
                tile: $tile.block_tile(),
                a: OperandLayout::$a_layout,
                b: OperandLayout::$b_layout,
                b_row_alignment: size_of::<$element>(),
                dynamic_shared_bytes: $tile.stages
                    * (<$a<$element, { $tile.rows() }, { $tile.threads() }> as StageLayout>::ELEMENTS
                        + <$b<$element, { $tile.columns() }, { $tile.threads() }> as StageLayout>::ELEMENTS)
                    * size_of::<$element>(),
            };
        }
    };
}
crate::products!(grouped_kernels of grouped_mma);
