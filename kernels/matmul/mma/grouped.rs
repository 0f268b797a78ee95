//! Products of f16 and bf16 of unequal shapes in one launch: each block goes on with the main loop of its own, so
//! that each product has the bits that it has there.

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
        $a:ident $a_layout:ident ($a_lines:ident, $a_len:ident),
        $b:ident $b_layout:ident ($b_lines:ident, $b_len:ident), $layout:literal) => {
        #[doc = concat!("C = A B of each product of a group, in ", stringify!($element), ", on tensor cores. ", $layout)]
        ///
        /// # Safety
        /// 1. The launch has the block and the dynamic shared memory of the kernel's [`ProductDescriptor`], and the
        ///    blocks of all products of the group along x, one after the other: each has those for its m x n.
        /// 2. The addresses of a product are those of m x k, k x n and m x n matrices, whose rows (columns, if
        ///    column-major) start as far apart as it says. No matrix C has a common element with another
        ///    matrix of the group, and nothing else touches its elements; nothing writes those of A and B.
        #[doc = concat!("3. ", $layout, " Their rows (columns, if column-major) start at multiples of 16 bytes.")]
        /// 4. `operands` and `results` start at address 0 and have no elements: by way of them an address
        ///    is known to be one of global memory.
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
            let mut room = shared.alternative();
            let a_stages = shared.array::<$element, { $tile.stages * <Left as StageLayout>::ELEMENTS }>();
            let b_stages = shared.array::<$element, { $tile.stages * <Right as StageLayout>::ELEMENTS }>();
            let stages = (Stages::<Left>::new(a_stages.as_slice()), Stages::<Right>::new(b_stages.as_slice()));
            let staging: RowStaging<'_, f32> = room.array();
            let extents = (product.m as usize, product.n as usize);
            // SAFETY: of the views, (1) and (2) are (2) and (4). Of the product, (1): (1) is (1), and nothing before
            // branches, (2) and (4) are (2) and (3), (3) the stages are taken here. (2) `room` deals out the memory of
            // the stages. (3) is (2).
            unsafe {
                let operands = product.operands(
                    operands, (product.$a_lines, product.$a_len), (product.$b_lines, product.$b_len));
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
