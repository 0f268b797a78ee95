//! Products of matrices and vectors, y = X v: each element of y is the sum of the products of a line of X
//! with v.
//!
//! The lines are the rows of the left operand of a product whose right one has one column, or the columns
//! of the right one where the left one has one row. Their elements lie one after another (`along.rs`), or
//! those of neighbouring lines do (`across.rs`). The order of a sum is that of [`VectorPlan`] for both:
//! so the bits depend on K and the type alone, and |y' - y| <= gamma_K |X||v|.
//!
//! Without a v the elements of lines are added: so the sums of a product whose K was divided become its
//! outputs.
//!
//! `parts.rs` adds the parts of contiguous lines, `product.rs` reads X and v, `element.rs` has the types,
//! and `outputs.rs` what becomes of the sums. Lines of elements of 8 bits have a loop of their own,
//! `bytes.rs`, over words of four, `words.rs`.

mod across;
mod along;
mod bytes;
mod element;
mod outputs;
mod parts;
mod plan;
mod product;
mod words;

use crate::epilogue::{Epilogue, EpilogueNumbers};
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::{BlockTile, OperandLayout, ProductDescriptor, ProductKernel};
use across::{multiply_across, threads_of_line};
use along::multiply_along;
use bytes::multiply_bytes;
use cuda_std::fp8::{F8E4M3, F8E5M2};
use cuda_std::prelude::*;
use half::{bf16, f16};
use outputs::Outputs;
use product::{Product, Workspace};

pub use across::lines_of_block;
pub use plan::{
    LINES_OF_BYTES, LINES_OF_GROUP, SHORT_LINES, STRAND_BYTES, VECTOR_STRANDS, VECTOR_THREADS,
    VectorPlan, VectorShape,
};

// Two blocks are as many as a multiprocessor has registers for at once without spills: left alone, ptxas
// takes fewer for f64 and compute capability 7.5, and spills.
macro_rules! vector_kernels {
    ($($family:ident $name:ident {$method:ident(VectorLines::$lines:ident)}
        {$element:ident in $added:ident to $output:ident in $sum:ident $written:ident} $layouts:tt;)*) => {$(
        vector_kernels!(@$lines $name $element in $added to $output in $sum);
    )*};
    (@Along $name:ident $element:ident in $added:ident to $output:ident in $sum:ident) => {
        vector_kernels!(@entry $name [max_threads = 256, min_blocks = 2], $element,
            [$element, $output in $sum, $added],
            "A line's elements lie one after another: `x_apart` is from one line to the next.",
            "1. The launch has blocks of [`VECTOR_THREADS`] threads along x: [`SHORT_LINES`] lines for each `lanes` \
             threads where `lanes` is not 0, otherwise 32 threads for each `parts_of_group` parts of each \
             `lines_of_group` lines of its [`VectorPlan`], all parts of several lines; and so many along y as \
             the batch has products.",
            "3. `lanes` is 0, or a power of two up to 32 that is not less than the vectors of 16 bytes of a \
             line. If `lanes` is 0 and `parts_of_group` less than the parts of a line, `partials` has an \
             element for each part of each line of each product, and `tickets` one for each line, which is 0.",
            |product, workspace, outputs| multiply_along::<
                $element, $output, { STRAND_BYTES / size_of::<$element>() }
            >(product, workspace, outputs),
            |lines| lines);
    };
    (@Across $name:ident $element:ident in $added:ident to $output:ident in $sum:ident) => {
        vector_kernels!(@entry $name [max_threads = 256, min_blocks = 2], $element,
            [$element, $output in $sum, $added],
            "The elements of neighbouring lines lie one after another: `x_apart` is from one element of a \
             line to the next.",
            "1. The launch has blocks of [`VECTOR_THREADS`] threads along x: one for each [`lines_of_block`] \
             lines for each part of their [`VectorPlan`]; and so many along y as the batch has products.",
            "3. If lines have several parts, `partials` has an element for each part of each line of each \
             product, and `tickets` one for each [`lines_of_block`] lines, which is 0.",
            |product, workspace, outputs| {
                const VECTOR: usize = STRAND_BYTES / size_of::<$element>();
                let scratch = shared_array![$added; VECTOR * VECTOR_THREADS as usize];
                let flag = shared_array![u32; 1];
                const ROWS: usize = threads_of_line(size_of::<$element>());
                multiply_across::<$element, $output, VECTOR, ROWS, { VECTOR_STRANDS / ROWS }>(
                    product, workspace, outputs, scratch.as_slice(), flag)
            },
            |lines| lines.div_ceil(lines_of_block(size_of::<$element>())));
    };
    // Elements of 8 bits, four in a word: for the devices that have tensor cores for some of them.
    (@Either $name:ident $element:ident in $added:ident to $output:ident in $sum:ident) => {
        vector_kernels!(@entry $name [max_threads = 256, min_blocks = 2, arch = "sm_80"], $element,
            [i32, $output in $sum, $added],
            "Words of four elements; those of a line lie one after another: `x_apart` is from one line to the \
             next.",
            "1. The launch has blocks of [`VECTOR_THREADS`] threads along x: 32 threads for each \
             `parts_of_group` parts of each [`LINES_OF_BYTES`] lines of their [`VectorPlan`]; and so many along y \
             as the batch has products.",
            "3. The words of a line are whole vectors of 16 bytes, zeros at the end, which start at multiples of \
             that, as do those of v, which lie one after another. If `parts_of_group` is less than the parts of a \
             line, `partials` has an element for each part of each line of each product, and `tickets` one for \
             each line, which is 0.",
            |product, workspace, outputs| multiply_bytes::<$element, $output>(product, workspace, outputs),
            |lines| lines);
    };
    (@entry $name:ident [$($bounds:tt)*], $of:ident, [$element:ident, $output:ident in $finish:ident, $sum:ident],
        $layout:literal, $grid:literal, $room:literal, |$product:ident, $workspace:ident, $outputs:ident| $multiply:expr,
        |$lines:ident| $tickets:expr) => {
        #[doc = concat!("y = X v of ", stringify!($of), " in ", stringify!($output), ". ", $layout)]
        ///
        /// # Safety
        #[doc = $grid]
        /// 2. `x`, `v`, `y` start with the first elements of those of the first product and reach to the last
        ///    of the batch's; elements, lines and products are as far apart as `shape` says, and no two
        ///    products have an element of y in common. The launch touches no other elements of the views.
        ///    `v` is empty if there is none; `v_apart` is 0 then.
        #[doc = $room]
        ///    The launch has both for itself, and leaves the tickets at 0.
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
            let plan = VectorPlan::new(shape.k, STRAND_BYTES / size_of::<$element>());
            let matrix = thread::block_idx_y() as usize;
            let $lines = shape.lines;
            // SAFETY: (1) no element is an own one.
            let (partials, tickets, y) = unsafe {
                (
                    partials.skip(matrix * shape.lines * plan.parts),
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
            // SAFETY: the launch's (1) to (3); shared memory is declared here.
            unsafe { $multiply }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            const DESCRIPTOR: ProductDescriptor = ProductDescriptor {
                tile: BlockTile {
                    rows: lines_of_block(size_of::<$element>()),
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
