//! Sums of the parts of a product whose K was divided, added to its outputs.
//!
//! ```text
//! each thread, of one output:
//!     load the sums of 8 parts at once; add them in order; and so on
//!     store what the epilogue makes of the total
//! ```
//!
//! The sums of each part are an M x N matrix without gaps, those of the first part first. An output is what
//! the epilogue makes of the sum of its place in all parts, added in order. Sums of i32 may become f32 for it.

use crate::epilogue::{Epilogue, EpilogueElement, EpilogueNumbers};
use crate::finish::{FromSum, Output, store_output};
use bytemuck::{Pod, Zeroable};
use cuda_std::array;
#[cfg(any(not(target_arch = "nvptx64"), cuda_arch_at_least = "90a"))]
use cuda_std::dependent_launch;
use cuda_std::prelude::*;
use half::{bf16, f16};

/// Rows of outputs of a block, of which each thread has one.
pub const ADD_ROWS: usize = 8;

/// Columns of outputs of a block: a warp has neighbours.
pub const ADD_COLUMNS: usize = 32;

/// Threads of a block.
pub const ADD_THREADS: usize = ADD_ROWS * ADD_COLUMNS;

/// Sums that a thread loads before it adds.
const IN_FLIGHT: usize = 8;

/// The sizes of a product and the number of its parts, as a kernel's parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PartsShape {
    /// Rows of C.
    pub m: usize,
    /// Columns of C.
    pub n: usize,
    /// Elements from one row of C to the next.
    pub ldc: usize,
    /// Parts of K.
    pub parts: usize,
}

/// The sum of `count` elements from `index` on, which are `apart` elements apart, in order.
///
/// # Safety
/// 1. `sums` has them.
#[inline(always)]
unsafe fn add_in_order<S: EpilogueElement>(
    sums: Global<'_, S>,
    index: usize,
    (count, apart): (usize, usize),
) -> S {
    let mut sum = S::NOTHING;
    let mut first = 0;
    while first < count {
        let loaded: [S; IN_FLIGHT] = array::from_fn(|number| {
            let part = first + number;
            match part < count {
                // SAFETY: (1) is (1) and the comparison.
                true => unsafe { sums.load(index + part * apart) },
                false => S::NOTHING,
            }
        });
        let mut number = 0;
        while number < IN_FLIGHT {
            sum = sum.plus(loaded[number]);
            number += 1;
        }
        first += IN_FLIGHT;
    }
    sum
}

/// The output of the calling thread, if it has one.
///
/// # Safety
/// 1. The launch is as the kernels ask, with their `sums`, `c` and `shape`.
#[inline(always)]
unsafe fn add_parts<S: EpilogueElement, O: Output<Sum: FromSum<S>>>(
    sums: Global<'_, S>,
    c: GlobalMut<'_, O>,
    shape: &PartsShape,
    epilogue: Epilogue<'_, O::Sum>,
) {
    let thread = thread::thread_idx_x() as usize;
    let column = thread::block_idx_x() as usize * ADD_COLUMNS + thread % ADD_COLUMNS;
    let row = thread::block_idx_y() as usize * ADD_ROWS + thread / ADD_COLUMNS;
    if row >= shape.m || column >= shape.n {
        return;
    }
    // SAFETY: (1) each part has a sum for each output, and there is one part at least, by (1).
    let sum = unsafe {
        add_in_order(
            sums,
            row * shape.n + column,
            (shape.parts, shape.m * shape.n),
        )
    };
    let at = row * shape.ldc + column;
    // SAFETY: (1) C has the output, by (1). (2) No other thread has it.
    unsafe { store_output(c, at, (row, column), sum, epilogue) };
}

macro_rules! add_kernels {
    ($($family:ident $name:ident {$sum:ident to $output:ident in $finish:ident};)*) => {$(
        add_kernels!(@$family $name: $sum to $output in $finish);
    )*};
    (@alone $($kernel:tt)*) => {
        add_kernels!(@entry $($kernel)*, [], {});
    };
    // The same, which begins while the kernel before it still runs.
    (@after $($kernel:tt)*) => {
        add_kernels!(@entry $($kernel)*, [arch = "sm_90a", dependent_launch], {
            dependent_launch::wait();
            dependent_launch::trigger();
        });
    };
    (@entry $name:ident: $sum:ident to $output:ident in $finish:ident, [$($bound:tt)*], {$($before:tt)*}) => {
        #[doc = concat!("Adds sums of `", stringify!($sum), "` of the parts of a product, to outputs of `",
            stringify!($output), "`.")]
        ///
        /// # Safety
        /// 1. The launch has blocks of [`ADD_THREADS`] threads along x, one for each [`ADD_COLUMNS`] columns
        ///    along x, and one for each [`ADD_ROWS`] rows along y.
        /// 2. `sums` has as many elements as `shape` has parts, rows and columns, one part at least. `c` starts
        ///    with the first output and reaches to the last; the launch touches no other elements of it.
        #[allow(clippy::too_many_arguments)]
        #[kernel(max_threads = 256, $($bound)*)]
        pub unsafe fn $name(
            sums: Global<$sum>,
            c: GlobalMut<$output>,
            shape: GridConstant<PartsShape>,
            numbers: GridConstant<EpilogueNumbers<$finish>>,
            row_scale: Global<$finish>,
            column_scale: Global<$finish>,
            row_bias: Global<$finish>,
            column_bias: Global<$finish>,
        ) {
            $($before)*
            let epilogue = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
            // SAFETY: (1) is the launch's (1) and (2).
            unsafe { add_parts(sums, c, &shape, epilogue) }
        }
    };
}
crate::sums_of_parts!(add_kernels of alone, after);
