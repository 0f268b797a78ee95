//! The kernels: tiles, layouts and types.

use super::product::{RowStaging, product_by_rows, product_of_factors};
use super::stage::{AcrossK, AlongK, StageLayout, Stages};
use crate::epilogue::{Epilogue, EpilogueNumbers};
use crate::finish::CMatrices;
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::descriptor::{BlockTile, OperandLayout, ProductDescriptor, ProductKernel};
use crate::matmul::grid::is_left_out;
use crate::matmul::operand::{matrices_of_block, operands_of_block};
use crate::matmul::shape::ProductShape;
use crate::matmul::sink::StoreFinished;
use cuda_std::prelude::*;
use half::{bf16, f16};

/// Kernels of one type of operands, outputs and sums, which state an architecture. Sums go to C as `$way`
/// says: one by one from registers, or by rows.
macro_rules! mma_kernels {
    ($types:tt; $($rows:literal x $columns:literal, warps = [$down:literal x $along:literal; $warps:literal, $warps_along:literal],
        threads = $threads:literal, stages = $stages:literal, resident = $resident:literal,
        kernels = $nn:ident $tn:ident $nt:ident $tt:ident;)*) => {$(
        mma_kernels!(@layout $types $nn: RowMajor RowMajor, AlongK $rows, AcrossK $columns,
            [$rows $columns $down $along $warps $warps_along $threads $stages $resident],
            "A and B are row-major.");
        mma_kernels!(@layout $types $tn: ColumnMajor RowMajor, AcrossK $rows, AcrossK $columns,
            [$rows $columns $down $along $warps $warps_along $threads $stages $resident],
            "A is column-major, B is row-major.");
        mma_kernels!(@layout $types $nt: RowMajor ColumnMajor, AlongK $rows, AlongK $columns,
            [$rows $columns $down $along $warps $warps_along $threads $stages $resident],
            "A is row-major, B is column-major.");
        mma_kernels!(@layout $types $tt: ColumnMajor ColumnMajor, AcrossK $rows, AlongK $columns,
            [$rows $columns $down $along $warps $warps_along $threads $stages $resident],
            "A and B are column-major.");
    )*};
    // Elements of 8 bits, of which another kernel brings those that lie otherwise into this order.
    (@along $types:tt; $($rows:literal x $columns:literal, warps = [$down:literal x $along:literal; $warps:literal, $warps_along:literal],
        threads = $threads:literal, stages = $stages:literal, resident = $resident:literal,
        kernel = $name:ident;)*) => {$(
        mma_kernels!(@layout $types $name: Either Either, AlongK $rows, AlongK $columns,
            [$rows $columns $down $along $warps $warps_along $threads $stages $resident],
            "A is row-major, B is column-major.");
    )*};
    (@layout [$element:ident to $output:ident in $sum:ident, $arch:literal, $way:ident, $alignment:literal]
        $name:ident: $a_layout:ident $b_layout:ident, $a:ident $of_a:literal, $b:ident $of_b:literal,
        [$rows:literal $columns:literal $down:literal $along:literal $warps:literal $warps_along:literal
            $threads:literal $stages:literal $resident:literal], $layout:literal) => {
        mma_kernels!(@kernel [$element $output $sum $arch $way $alignment] $name: $a_layout $b_layout,
            $a<$element, $of_a, $threads>, $b<$element, $of_b, $threads>,
            [$rows $columns $down $along $warps $warps_along $threads $stages $resident], $layout);
    };
    (@kernel [$element:ident $output:ident $sum:ident $arch:literal $way:ident $alignment:literal]
        $name:ident: $a_layout:ident $b_layout:ident, $a:ty, $b:ty,
        [$rows:literal $columns:literal $down:literal $along:literal $warps:literal $warps_along:literal
            $threads:literal $stages:literal $resident:literal], $layout:literal) => {
        #[doc = concat!("C = A B on tensor cores, A and B in ", stringify!($element), ", C in ",
            stringify!($output), ", ", $rows, " x ", $columns, " outputs of a block. ", $layout)]
        ///
        /// # Safety
        /// 1. The launch has the block and the dynamic shared memory of the kernel's [`ProductDescriptor`],
        ///    its blocks for m x n of `shape` along x, and so many along y as the batch has products.
        /// 2. `a`, `b`, `c` start with the first elements of m x k, k x n and m x n matrices and reach to
        ///    the last of the batch's; rows (columns, if column-major) and matrices start as far apart as
        ///    `shape` says, and no two matrices of C have a common element.
        ///    The launch touches no other elements of the views: those between the rows may be
        ///    elements of another of the matrices.
        #[doc = concat!("3. ", $layout, $alignment)]
        #[allow(clippy::too_many_arguments)]
        #[kernel(max_threads = $threads, min_blocks = $resident, arch = $arch)]
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
        ) {
            if is_left_out(&shape, $rows, $columns) {
                return;
            }
            let mut shared = dynamic_shared_allotment!();
            let mut room = shared.alternative();
            let a_stages = shared.array::<$element, { $stages * <$a as StageLayout>::ELEMENTS }>();
            let b_stages = shared.array::<$element, { $stages * <$b as StageLayout>::ELEMENTS }>();
            let stages = (Stages::<$a>::new(a_stages.as_slice()), Stages::<$b>::new(b_stages.as_slice()));
            let epilogue = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
            mma_kernels!(@$way [$down $along $warps $warps_along $stages], $a, $b,
                a, b, c, shape, stages, room, epilogue);
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            type Element = $element;
            const DESCRIPTOR: ProductDescriptor = ProductDescriptor {
                tile: BlockTile { rows: $rows, columns: $columns, threads: $threads },
                a: OperandLayout::$a_layout,
                b: OperandLayout::$b_layout,
                b_row_alignment: size_of::<$element>(),
                dynamic_shared_bytes: $stages
                    * (<$a as StageLayout>::ELEMENTS + <$b as StageLayout>::ELEMENTS)
                    * size_of::<$element>(),
            };
        }
    };
    (@one_by_one [$($constant:literal)*], $a:ty, $b:ty,
        $of_a:ident, $of_b:ident, $c:ident, $shape:ident, $stages:ident, $room:ident, $epilogue:ident) => {
        let _ = &mut $room;
        // SAFETY: of `matrices_of_block`, (1) and (2) are (2). Of the product, (1): (1) is (1), (2) is (2)
        // and (3), (3) the stages are taken here, (4) elements have 8 bytes; (2) is (2).
        unsafe {
            let (operands, to) = matrices_of_block($of_a, $of_b, $c, &$shape);
            let store = StoreFinished { to, epilogue: $epilogue };
            product_of_factors::<$a, $b, $($constant),*>(operands, $stages, store);
        }
    };
    (@by_rows [$($constant:literal)*], $a:ty, $b:ty,
        $of_a:ident, $of_b:ident, $c:ident, $shape:ident, $stages:ident, $room:ident, $epilogue:ident) => {
        let staging: RowStaging<'_, _> = $room.array();
        let operands = operands_of_block($of_a, $of_b, &$shape);
        let extents = ($shape.m, $shape.n);
        let c = CMatrices::new($c, extents, $shape.ldc, $shape.c_stride);
        // SAFETY: (1): (1) is (1), (2) and (4) are (2) and (3), (3) the stages are taken here. (2) `room` deals
        // out the memory of the stages. (3) is (2).
        unsafe {
            let place = (thread::block_idx_x(), thread::block_idx_y() as usize);
            product_by_rows::<_, _, $a, $b, $($constant),*>(place, operands, $stages, staging, c, $epilogue);
        }
    };
}
mma_kernels! {
    [f64 to f64 in f64, "sm_90a", one_by_one, ""];
    128 x 128, warps = [2 x 8; 8, 2], threads = 256, stages = 4, resident = 1,
        kernels = matmul_mma_f64_nn matmul_mma_f64_tn matmul_mma_f64_nt matmul_mma_f64_tt;
    64 x 64, warps = [2 x 4; 4, 2], threads = 128, stages = 3, resident = 3,
        kernels = matmul_mma_small_f64_nn matmul_mma_small_f64_tn matmul_mma_small_f64_nt
            matmul_mma_small_f64_tt;
}

/// Kernels of narrow elements.
macro_rules! narrow_kernels {
    ($($types:tt: large = [$($large:ident)*], small = [$($small:ident)*];)*) => {$(
        narrow_kernels!(@narrow $types [128 x 128, warps = [4 x 8; 4, 2], threads = 128, stages = 4, resident = 2]
            $($large)*);
        narrow_kernels!(@narrow $types [64 x 64, warps = [1 x 8; 4, 1], threads = 128, stages = 3, resident = 3]
            $($small)*);
    )*};
    (@narrow [$element:ident to $output:ident in $sum:ident] [$($sizes:tt)*] $nn:ident $tn:ident $nt:ident $tt:ident) => {
        mma_kernels! {
            [$element to $output in $sum, "sm_80", by_rows,
                " Their rows (columns, if column-major) start at multiples of 16 bytes."];
            $($sizes)*, kernels = $nn $tn $nt $tt;
        }
    };
    (@narrow [$element:ident to $output:ident in $sum:ident] [$($sizes:tt)*] $name:ident) => {
        mma_kernels! {
            @along [$element to $output in $sum, "sm_80", by_rows,
                " Their rows and columns start at multiples of 16 bytes."];
            $($sizes)*, kernel = $name;
        }
    };
}
narrow_kernels! {
    [f16 to f16 in f32]:
        large = [matmul_mma_f16_nn matmul_mma_f16_tn matmul_mma_f16_nt matmul_mma_f16_tt],
        small = [matmul_mma_small_f16_nn matmul_mma_small_f16_tn matmul_mma_small_f16_nt matmul_mma_small_f16_tt];
    [f16 to f32 in f32]:
        large = [matmul_mma_f16_f32_nn matmul_mma_f16_f32_tn matmul_mma_f16_f32_nt matmul_mma_f16_f32_tt],
        small = [matmul_mma_small_f16_f32_nn matmul_mma_small_f16_f32_tn matmul_mma_small_f16_f32_nt
            matmul_mma_small_f16_f32_tt];
    [bf16 to bf16 in f32]:
        large = [matmul_mma_bf16_nn matmul_mma_bf16_tn matmul_mma_bf16_nt matmul_mma_bf16_tt],
        small = [matmul_mma_small_bf16_nn matmul_mma_small_bf16_tn matmul_mma_small_bf16_nt
            matmul_mma_small_bf16_tt];
    [bf16 to f32 in f32]:
        large = [matmul_mma_bf16_f32_nn matmul_mma_bf16_f32_tn matmul_mma_bf16_f32_nt matmul_mma_bf16_f32_tt],
        small = [matmul_mma_small_bf16_f32_nn matmul_mma_small_bf16_f32_tn matmul_mma_small_bf16_f32_nt
            matmul_mma_small_bf16_f32_tt];
    [i8 to i32 in i32]: large = [matmul_mma_i8], small = [matmul_mma_small_i8];
    [i8 to f32 in f32]: large = [matmul_mma_i8_f32], small = [matmul_mma_small_i8_f32];
    [i8 to bf16 in f32]: large = [matmul_mma_i8_bf16], small = [matmul_mma_small_i8_bf16];
}
