//! Products of unequal shapes in one launch, on the CUDA cores.
//!
//! ```text
//! find the block's product in the table (`group.rs`), by bisection
//! load, wait, multiply, store: the main loop of the coarsened kernels, on that product's matrices
//! ```
//!
//! Each product has the bits of the coarsened kernels.

use super::coarsened_loop::multiply;
use super::config::{MediumF32, PanelF32, SmallF64, TileConfig, pitch};
#[cfg(not(target_arch = "nvptx64"))]
use super::descriptor::{OperandLayout, ProductDescriptor, ProductKernel};
use super::direct_load::DirectLoadOfAnyAlignment;
use super::group::{ProductGroup, epilogue_of_numbers};
use super::sink::{StoreFinished, StoreOutput};
use super::transposed_load::TransposedLoad;
use crate::epilogue::EpilogueNumbers;
use cuda_std::prelude::*;

macro_rules! grouped_kernels {
    ($($family:ident $name:ident {$method:ident($tiles:path) $config:ident at $blocks:literal blocks}
        {$element:ident in $added:ident to $output:ident in $sum:ident $written:ident} {$layouts:ident};)*) => {$(
        grouped_kernels!(@$layouts $config [$name $element $blocks]);
    )*};
    (@nn $config:ident $kernel:tt) => {
        grouped_kernels!(@entry $config $kernel RowMajor (m, k) RowMajor (k, n),
            TransposedLoad<true>, DirectLoadOfAnyAlignment<{ <$config>::VECTOR }, false>,
            "A and B are row-major.");
    };
    (@tn $config:ident $kernel:tt) => {
        grouped_kernels!(@entry $config $kernel ColumnMajor (k, m) RowMajor (k, n),
            DirectLoadOfAnyAlignment<{ <$config>::VECTOR }, false>,
            DirectLoadOfAnyAlignment<{ <$config>::VECTOR }, false>,
            "A is column-major, B is row-major.");
    };
    (@nt $config:ident $kernel:tt) => {
        grouped_kernels!(@entry $config $kernel RowMajor (m, k) ColumnMajor (n, k),
            TransposedLoad<true>, TransposedLoad<false>,
            "A is row-major, B is column-major.");
    };
    (@tt $config:ident $kernel:tt) => {
        grouped_kernels!(@entry $config $kernel ColumnMajor (k, m) ColumnMajor (n, k),
            DirectLoadOfAnyAlignment<{ <$config>::VECTOR }, false>, TransposedLoad<false>,
            "A and B are column-major.");
    };
    (@entry $config:ident [$name:ident $element:ident $blocks:literal]
        $a_layout:ident ($a_rows:ident, $a_columns:ident) $b_layout:ident ($b_rows:ident, $b_columns:ident),
        $a_loader:ty, $b_loader:ty, $layout:literal) => {
        #[doc = concat!("C = A B of each product of a group, in ", stringify!($element), ", with the tiles of `",
            stringify!($config), "`. ", $layout)]
        ///
        /// # Safety
        /// 1. The launch meets the [requirements of grouped kernels](crate::matmul#requirements-of-grouped-kernels).
        #[doc = concat!("2. ", $layout)]
        #[kernel(max_threads = <$config>::BLOCK_TILE.threads, min_blocks = $blocks)]
        pub unsafe fn $name(
            operands: Global<$element>,
            results: GlobalMut<$element>,
            group: GridConstant<ProductGroup>,
            numbers: GridConstant<EpilogueNumbers<$element>>,
        ) {
            let product = group.of_block();
            let block = thread::block_idx_x() - product.first_block as u32;
            let a_tile = shared_tile![$element; <$config>::STAGES * <$config>::DEPTH, <$config>::ROWS;
                pitch = pitch::<$config, $a_loader>(<$config>::ROWS)];
            let b_tile = shared_tile![$element; <$config>::STAGES * <$config>::DEPTH, <$config>::COLUMNS;
                pitch = pitch::<$config, $b_loader>(<$config>::COLUMNS)];
            let epilogue = epilogue_of_numbers(numbers);
            // SAFETY: the matrices, which the launch accesses only through these views, their layouts, the views at
            // address 0, the block and the grid: the caller's contract. `block` counts the product's blocks, and all
            // threads of the block make the call. The tiles are declared here.
            unsafe {
                let a_rows = (product.$a_rows, product.$a_columns);
                let b_rows = (product.$b_rows, product.$b_columns);
                let operands = product.operands(operands, a_rows, b_rows);
                let to = StoreOutput::new(product.result(results), product.ldc as usize);
                multiply::<$config, $a_loader, $b_loader, _, _, { <$config>::STAGES }>(
                    block, operands, a_tile, b_tile, StoreFinished { to, epilogue });
            }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            const DESCRIPTOR: ProductDescriptor = ProductDescriptor {
                tile: <$config>::BLOCK_TILE,
                a: OperandLayout::$a_layout,
                b: OperandLayout::$b_layout,
                b_row_alignment: size_of::<$element>(),
                dynamic_shared_bytes: 0,
            };
        }
    };
}
crate::products!(grouped_kernels of grouped);
