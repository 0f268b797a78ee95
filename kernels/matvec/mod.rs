//! Matrix-vector products y = X v: each element of y is the product of a row of X with v.
//!
//! If B has one column, X is A and v is B. If A has one row, X is the transpose of B, and v that of A. X is row-major
//! (`along.rs`) or column-major (`across.rs`); sums have the order of [`VectorPlan`] for both. So the bits depend on K
//! and the type alone, and |y' - y| <= gamma_K |X||v|.
//!
//! Without a v, the elements of rows are added: so the parts of a divided K become its outputs.
//!
//! | part | file |
//! |---|---|
//! | a row-major X, and the parts of its rows | `along.rs`, `parts.rs` |
//! | a row-major X of short rows | `short.rs` |
//! | a column-major X | `across.rs`, `columns.rs`, `shares.rs` |
//! | a row-major X of 8-bit elements, in words of four | `bytes.rs`, `words.rs` |
//! | the split of a row | `plan.rs` |
//! | how threads read X and v | `product.rs` |
//! | element types, and outputs | `element.rs`, `outputs.rs` |

mod across;
mod along;
mod bytes;
mod columns;
mod element;
mod outputs;
mod parts;
mod plan;
mod product;
mod shares;
mod short;
mod words;

use crate::epilogue::{Epilogue, EpilogueNumbers};
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::{BlockTile, OperandLayout, ProductDescriptor, ProductKernel};
use across::multiply_across;
use along::multiply_along;
use bytes::multiply_bytes;
use cuda_std::fp8::{F8E4M3, F8E5M2};
use cuda_std::prelude::*;
use half::{bf16, f16};
use outputs::Outputs;
use product::{Product, Workspace};
use shares::threads_of_row;
use short::multiply_short;

pub use plan::{
    BYTE_ROWS, LOAD_BYTES, ROWS_OF_GROUP, SHORT_ROWS, VECTOR_ACCUMULATORS, VECTOR_THREADS,
    VectorPlan, VectorShape,
};
pub use shares::rows_of_block;

// The blocks of a multiprocessor are those whose registers need no spills in a loop. Without the bound, ptxas takes fewer
// registers for f64 and compute capability 7.5, and spills.
macro_rules! vector_kernels {
    ($($family:ident $name:ident {$method:ident(VectorRows::$order:ident)}
        {$element:ident in $added:ident to $output:ident in $sum:ident $written:ident} $layouts:tt;)*) => {$(
        vector_kernels!(@$order $name $element in $added to $output in $sum);
    )*};
    (@Along $name:ident $element:ident in $added:ident to $output:ident in $sum:ident) => {
        vector_kernels!(@entry $name [max_threads = 256, min_blocks = 2], $element,
            [$element, $output in $sum, $added],
            "X is row-major.",
            "1. The launch has blocks of [`VECTOR_THREADS`] threads along x, enough for all rows: 32 for each \
             `parts_of_group` parts ([`VectorPlan`]) of each `rows_of_group` rows. `rows_of_group` is 1, or \
             [`ROWS_OF_GROUP`] with all of their parts. Along y, it has a block for each product of the batch.",
            "3. If `parts_of_group` is less than the parts of a row, `partials` has an element for each part of each \
             row of each product, and `tickets` one for each row, which is 0.",
            |product, workspace, outputs| multiply_along::<
                $element, $output, { LOAD_BYTES / size_of::<$element>() }
            >(product, workspace, outputs),
            |rows, _k| rows);
    };
    (@Short $name:ident $element:ident in $added:ident to $output:ident in $sum:ident) => {
        vector_kernels!(@entry $name [max_threads = 256, min_blocks = 4], $element,
            [$element, $output in $sum, $added],
            "X is row-major, with short rows.",
            "1. The launch has blocks of [`VECTOR_THREADS`] threads along x, enough for all rows: `lanes` threads for \
             each [`SHORT_ROWS`] rows. Along y, it has a block for each product of the batch.",
            "3. `lanes` is a power of two up to 32, and not less than the vectors of 16 bytes of a row. `partials` and \
             `tickets` may be empty.",
            |product, _workspace, outputs| multiply_short::<
                $element, $output, { LOAD_BYTES / size_of::<$element>() }
            >(product, outputs),
            |rows, _k| rows);
    };
    (@Across $name:ident $element:ident in $added:ident to $output:ident in $sum:ident) => {
        vector_kernels!(@columns $name [max_threads = 256, min_blocks = 4], $element in $added to $output in $sum,
            "X is column-major, and its columns are whole vectors of 16 bytes, aligned.",
            " `partials` starts at a multiple of 16 bytes, and so does each column; its elements are whole vectors.",
            true);
    };
    (@Unaligned $name:ident $element:ident in $added:ident to $output:ident in $sum:ident) => {
        vector_kernels!(@columns $name [max_threads = 256, min_blocks = 2], $element in $added to $output in $sum,
            "X is column-major.", "", false);
    };
    (@columns $name:ident [$($bounds:tt)*], $element:ident in $added:ident to $output:ident in $sum:ident,
        $layout:literal, $alignment:literal, $vectors:literal) => {
        vector_kernels!(@entry $name [$($bounds)*], $element,
            [$element, $output in $sum, $added],
            $layout,
            "1. The launch has blocks of [`VECTOR_THREADS`] threads along x: for each part ([`VectorPlan`]) one for \
             each [`rows_of_block`] rows. Along y, it has a block for each product of the batch.",
            concat!("3. If rows have several parts, `partials` has an element for each part of each row of each product, \
             and `tickets` one for each [`rows_of_block`] rows, which is 0.", $alignment),
            |product, workspace, outputs| {
                const VECTOR: usize = LOAD_BYTES / size_of::<$element>();
                let scratch = shared_array![$added; VECTOR * VECTOR_THREADS as usize];
                let flag = shared_array![u32; 1];
                const THREADS: usize = threads_of_row(size_of::<$element>());
                const OWN: usize = VECTOR_ACCUMULATORS / THREADS;
                multiply_across::<$element, $output, VECTOR, THREADS, OWN, $vectors>(
                    product, workspace, outputs, scratch.as_slice(), flag)
            },
            |rows, k| rows.div_ceil(rows_of_block(size_of::<$element>(), k)));
    };
    // 8-bit elements, four in a word, for devices whose tensor cores multiply some of them.
    (@Either $name:ident $element:ident in $added:ident to $output:ident in $sum:ident) => {
        vector_kernels!(@entry $name [max_threads = 256, min_blocks = 2, arch = "sm_80"], $element,
            [i32, $output in $sum, $added],
            "X is row-major, in words of four elements.",
            "1. The launch has blocks of [`VECTOR_THREADS`] threads along x: 32 threads for each `parts_of_group` \
             parts ([`VectorPlan`]) of each [`BYTE_ROWS`] rows. Along y, it has a block for each product of the batch.",
            "3. A row is whole vectors of 16 bytes, with zeros at the end. Rows are aligned to 16 bytes, as is v, \
             which is contiguous. If `parts_of_group` is less than the parts of a row, `partials` has an element for \
             each part of each row of each product, and `tickets` one for each row, which is 0.",
            |product, workspace, outputs| multiply_bytes::<$element, $output>(product, workspace, outputs),
            |rows, _k| rows);
    };
    (@entry $name:ident [$($bounds:tt)*], $of:ident, [$element:ident, $output:ident in $finish:ident, $sum:ident],
        $layout:literal, $grid:literal, $memory:expr, |$product:ident, $workspace:ident, $outputs:ident| $multiply:expr,
        |$rows:ident, $k:ident| $tickets:expr) => {
        #[doc = concat!("y = X v of ", stringify!($of), " in ", stringify!($output), ". ", $layout)]
        ///
        /// # Safety
        #[doc = $grid]
        /// 2. `x`, `v` and `y` start with the first element of the first X, v and y, and reach to the last element of
        ///    the batch's. Elements, rows (columns, if X is column-major) and products are as far apart as `shape`
        ///    says, and no two products share an element of y. Without a v, `v` is empty, and `v_apart` 0. The launch
        ///    accesses no other elements of these views.
        #[doc = $memory]
        ///    Only this launch accesses both. It leaves the tickets at 0.
        #[allow(clippy::too_many_arguments)]
        #[kernel($($bounds)*)]
        pub unsafe fn $name(
            x: Global<$element>,
            v: Global<$element>,
            y: GlobalMut<$output>,
            shape: GridConstant<VectorShape>,
            numbers: GridConstant<EpilogueNumbers<$finish>>,
            row_scale: Global<$finish>,
            column_scale: Global<$finish>,
            row_bias: Global<$finish>,
            column_bias: Global<$finish>,
            partials: GlobalMut<$sum>,
            tickets: GlobalMut<u32>,
        ) {
            let shape = *shape;
            let plan = VectorPlan::new(shape.k, LOAD_BYTES / size_of::<$element>());
            let matrix = thread::block_idx_y() as usize;
            let ($rows, $k) = (shape.rows, shape.k);
            // SAFETY: no thread owns elements of these views: they are accessed without unique indices.
            let (partials, tickets, y) = unsafe {
                (
                    partials.skip(matrix * shape.rows * plan.parts),
                    tickets.skip(matrix * $tickets),
                    y.skip(matrix * shape.y_stride),
                )
            };
            let $workspace = Workspace { partials, tickets };
            let $product = Product {
                x: x.skip(matrix * shape.x_stride),
                v: v.skip(matrix * shape.v_stride),
                shape,
                plan,
            };
            let epilogue = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
            let $outputs = Outputs::new(y, &shape, epilogue);
            // SAFETY: the launch, the operands, their alignment, the outputs and the workspace: the caller's contract,
            // for this block's product. Vectors are of 16 bytes: `LOAD_BYTES`. Shared memory is declared here.
            unsafe { $multiply }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            const DESCRIPTOR: ProductDescriptor = ProductDescriptor {
                tile: BlockTile {
                    rows: rows_of_block(size_of::<$element>(), usize::MAX),
                    columns: 1,
                    threads: VECTOR_THREADS,
                },
                a: OperandLayout::Either,
                b: OperandLayout::Either,
                b_row_alignment: size_of::<$element>(),
                dynamic_shared_bytes: 0,
            };
        }
    };
}
crate::products!(vector_kernels of vector, vector_bytes);
