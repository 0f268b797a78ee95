//! f16 and bf16: products of halves in f32, rounded once, to halves or not at all.

use super::HALF_DEPTH;
use super::finish::staging_len;
use super::operand::{AcrossK, AlongK};
use super::outputs::{BulkOutputs, DirectOutputs};
use super::product::{Work, cluster_tile, product};
use super::schedule::ClusterTile;
use super::shape::TensorShape;
use crate::epilogue::{Epilogue, EpilogueNumbers};
use crate::finish::CMatrices;
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::{OperandLayout, ProductDescriptor, ProductKernel};
use ::half::{bf16, f16};
use cuda_std::prelude::*;
use cuda_std::tma::{TensorMap, TensorMapMut};

/// What a launch has that computes `rows` x `columns` outputs for each block.
const fn half_tile(rows: usize, columns: usize, stages: usize, resident: usize) -> ClusterTile {
    let output_bytes = rows * columns * size_of::<f16>();
    cluster_tile((rows, columns), size_of::<f16>(), stages, output_bytes, resident)
}

/// The tile of large products.
pub const HALF_LARGE: ClusterTile = half_tile(128, 256, 3, 1);

/// The tile of products that have too few large ones for the device.
pub const HALF_SMALL: ClusterTile = half_tile(64, 128, 4, 2);

macro_rules! half_kernels {
    ($tile:ident: $rows:literal x $columns:literal, part = $part:literal, count = $count:literal,
        stages = $stages:literal, threads = $threads:literal, resident = $resident:literal,
        consumers = $consumers:literal;
        $($element:ident: [$nn:ident, $nt:ident, $tn:ident, $tt:ident],
            f32: [$nn_f32:ident, $nt_f32:ident, $tn_f32:ident, $tt_f32:ident];)*) => {$(
        half_kernels!(@layouts [$tile $rows $columns $part $count $stages $threads $resident $consumers] $element,
            halves [$nn, $nt, $tn, $tt]);
        half_kernels!(@layouts [$tile $rows $columns $part $count $stages $threads $resident $consumers] $element,
            singles [$nn_f32, $nt_f32, $tn_f32, $tt_f32]);
    )*};
    (@layouts [$tile:ident $rows:literal $columns:literal $part:literal $($rest:tt)*] $element:ident,
        $output:ident [$nn:ident, $nt:ident, $tn:ident, $tt:ident]) => {
        half_kernels!(@$output $nn [$tile $rows $columns $part $($rest)*] $element,
            AlongK $rows, AcrossK 64, RowMajor RowMajor, "A and B are row-major.");
        half_kernels!(@$output $nt [$tile $rows $columns $part $($rest)*] $element,
            AlongK $rows, AlongK $part, RowMajor ColumnMajor, "A is row-major, B is column-major.");
        half_kernels!(@$output $tn [$tile $rows $columns $part $($rest)*] $element,
            AcrossK 64, AcrossK 64, ColumnMajor RowMajor, "A is column-major, B is row-major.");
        half_kernels!(@$output $tt [$tile $rows $columns $part $($rest)*] $element,
            AcrossK 64, AlongK $part, ColumnMajor ColumnMajor, "A and B are column-major.");
    };
    (@halves $name:ident [$tile:ident $rows:literal $columns:literal $part:literal $count:literal
        $stages:literal $threads:literal $resident:literal $consumers:literal] $element:ident,
        $a:ident $a_rows:tt, $b:ident $b_rows:tt, $a_layout:ident $b_layout:ident, $layout:literal) => {
        #[doc = concat!("C = A B in ", stringify!($element), ". ", $layout)]
        ///
        /// # Safety
        /// 1. `a`, `b` and `c` are maps of the m x k, k x n and m x n matrices of `shape`, or of the
        ///    transposes of those that are column-major. C is written through `c` where the epilogue is plain,
        ///    and accessed through `c_elements`, which has the matrices, otherwise; the launch accesses no
        ///    other elements of it.
        #[doc = concat!("2. The grid has whole clusters along x, and blocks as [`", stringify!($tile), "`] says.")]
        #[allow(clippy::too_many_arguments)]
        #[kernel(arch = "sm_90a", max_threads = $threads, min_blocks = $resident, cluster = (2, 1, 1))]
        pub unsafe fn $name(
            a: GridConstant<TensorMap<$element, $a_rows, 64, 3>>,
            b: GridConstant<TensorMap<$element, $b_rows, 64, 3>>,
            c: GridConstant<TensorMapMut<$element, 64, 64, 3>>,
            c_elements: GlobalMut<$element>,
            shape: GridConstant<TensorShape>,
            numbers: GridConstant<EpilogueNumbers<f32>>,
            row_scale: Global<f32>,
            column_scale: Global<f32>,
            row_bias: Global<f32>,
            column_bias: Global<f32>,
        ) {
            let epilogue = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
            let outputs = BulkOutputs::<_, $columns, $consumers, { staging_len($consumers) }> {
                map: c,
                c: CMatrices::of_shape(c_elements, &shape),
                epilogue,
            };
            // SAFETY: (1) is (1) and (2).
            unsafe {
                product::<$element, _, _, _, $rows, $columns, $part, $count, $stages, HALF_DEPTH, false>(
                    $a(a), $b(b), outputs, Work::new(shape, $tile));
            }
        }

        half_kernels!(@descriptor $name $tile $element $a_layout $b_layout);
    };
    (@singles $name:ident [$tile:ident $rows:literal $columns:literal $part:literal $count:literal
        $stages:literal $threads:literal $resident:literal $consumers:literal] $element:ident,
        $a:ident $a_rows:tt, $b:ident $b_rows:tt, $a_layout:ident $b_layout:ident, $layout:literal) => {
        #[doc = concat!("C = A B, A and B in ", stringify!($element), ", C in f32. ", $layout)]
        ///
        /// # Safety
        /// 1. `a` and `b` are maps of the m x k and k x n matrices of `shape`, or of the transposes of those
        ///    that are column-major. `c` has the m x n matrices, and the launch accesses no other elements
        ///    of it.
        #[doc = concat!("2. The grid has whole clusters along x, and blocks as [`", stringify!($tile), "`] says.")]
        #[allow(clippy::too_many_arguments)]
        #[kernel(arch = "sm_90a", max_threads = $threads, min_blocks = $resident, cluster = (2, 1, 1))]
        pub unsafe fn $name(
            a: GridConstant<TensorMap<$element, $a_rows, 64, 3>>,
            b: GridConstant<TensorMap<$element, $b_rows, 64, 3>>,
            c: GlobalMut<f32>,
            shape: GridConstant<TensorShape>,
            numbers: GridConstant<EpilogueNumbers<f32>>,
            row_scale: Global<f32>,
            column_scale: Global<f32>,
            row_bias: Global<f32>,
            column_bias: Global<f32>,
        ) {
            let epilogue = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
            let outputs = DirectOutputs::<_, { staging_len($consumers) }> { c: CMatrices::of_shape(c, &shape), epilogue };
            // SAFETY: (1) is (1) and (2).
            unsafe {
                product::<$element, _, _, _, $rows, $columns, $part, $count, $stages, HALF_DEPTH, false>(
                    $a(a), $b(b), outputs, Work::new(shape, $tile));
            }
        }

        half_kernels!(@descriptor $name $tile $element $a_layout $b_layout);
    };
    (@descriptor $name:ident $tile:ident $element:ident $a_layout:ident $b_layout:ident) => {
        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            type Element = $element;
            const DESCRIPTOR: ProductDescriptor = ProductDescriptor {
                tile: $tile.block_tile(),
                a: OperandLayout::$a_layout,
                b: OperandLayout::$b_layout,
                b_row_alignment: size_of::<$element>(),
                dynamic_shared_bytes: $tile.shared_bytes,
            };
        }
    };
}
half_kernels! {
    HALF_LARGE: 128 x 256, part = 128, count = 128, stages = 3, threads = 384,
        resident = 1, consumers = 2;
    f16: [matmul_wgmma_f16_nn, matmul_wgmma_f16_nt, matmul_wgmma_f16_tn, matmul_wgmma_f16_tt],
        f32: [matmul_wgmma_f16_f32_nn, matmul_wgmma_f16_f32_nt, matmul_wgmma_f16_f32_tn,
            matmul_wgmma_f16_f32_tt];
    bf16: [matmul_wgmma_bf16_nn, matmul_wgmma_bf16_nt, matmul_wgmma_bf16_tn, matmul_wgmma_bf16_tt],
        f32: [matmul_wgmma_bf16_f32_nn, matmul_wgmma_bf16_f32_nt, matmul_wgmma_bf16_f32_tn,
            matmul_wgmma_bf16_f32_tt];
}
half_kernels! {
    HALF_SMALL: 64 x 128, part = 64, count = 64, stages = 4, threads = 256,
        resident = 2, consumers = 1;
    f16: [matmul_wgmma_small_f16_nn, matmul_wgmma_small_f16_nt, matmul_wgmma_small_f16_tn,
            matmul_wgmma_small_f16_tt],
        f32: [matmul_wgmma_small_f16_f32_nn, matmul_wgmma_small_f16_f32_nt,
            matmul_wgmma_small_f16_f32_tn, matmul_wgmma_small_f16_f32_tt];
    bf16: [matmul_wgmma_small_bf16_nn, matmul_wgmma_small_bf16_nt, matmul_wgmma_small_bf16_tn,
            matmul_wgmma_small_bf16_tt],
        f32: [matmul_wgmma_small_bf16_f32_nn, matmul_wgmma_small_bf16_f32_nt,
            matmul_wgmma_small_bf16_f32_tn, matmul_wgmma_small_bf16_f32_tt];
}
