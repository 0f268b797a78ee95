//! Split-K reduction: adds the parts of a product.
//!
//! ```text
//! each thread, of one output:
//!     load the sums of 8 parts at once; add them in order; and so on
//!     store what the epilogue makes of the total
//! ```
//!
//! Each part's sums are a dense M x N matrix, and the parts follow one another. The sums of an output are added in
//! the order of the parts, then the epilogue is applied. i32 sums may be converted to f32 for it.

use crate::epilogue::{Epilogue, EpilogueElement, EpilogueNumbers};
use crate::finish::{FromSum, Output, store_output};
use bytemuck::{Pod, Zeroable};
use cuda_std::array;
#[cfg(any(not(target_arch = "nvptx64"), cuda_arch_at_least = "90a"))]
use cuda_std::dependent_launch;
use cuda_std::prelude::*;
use half::{bf16, f16};

/// Rows of outputs per block. Each thread has one output.
pub const ADD_ROWS: usize = 8;

/// Columns of outputs per block. A warp has neighbouring ones.
pub const ADD_COLUMNS: usize = 32;

/// Threads per block.
pub const ADD_THREADS: usize = ADD_ROWS * ADD_COLUMNS;

/// Sums that a thread loads before it adds them.
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

/// Adds `count` elements from `index`, `apart` elements apart, in order.
///
/// # Safety
/// 1. `sums` has the elements.
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
                // SAFETY: `sums` has the elements: the caller's contract, and the part was compared
                // with their number.
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

/// Computes the output of the calling thread, if it has one.
///
/// # Safety
/// 1. The launch meets the kernels' requirements, with their `sums`, `c` and `shape`.
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
    // SAFETY: each part has a sum for each output, and there is at least one part: the caller's
    // contract.
    let sum = unsafe {
        add_in_order(
            sums,
            row * shape.n + column,
            (shape.parts, shape.m * shape.n),
        )
    };
    let at = row * shape.ldc + column;
    // SAFETY: C has the output: compared above. No other thread has it: the caller's contract.
    unsafe { store_output(c, at, (row, column), sum, epilogue) };
}

macro_rules! add_kernels {
    ($($family:ident $name:ident {$sum:ident to $output:ident in $finish:ident};)*) => {$(
        add_kernels!(@$family $name: $sum to $output in $finish);
    )*};
    (@alone $($kernel:tt)*) => {
        add_kernels!(@entry $($kernel)*, [], {});
    };
    // A variant that starts while the kernel before it still runs.
    (@after $($kernel:tt)*) => {
        add_kernels!(@entry $($kernel)*, [arch = "sm_90a", dependent_launch], {
            dependent_launch::wait();
            dependent_launch::trigger();
        });
    };
    (@entry $name:ident: $sum:ident to $output:ident in $finish:ident, [$($bound:tt)*], {$($before:tt)*}) => {
        #[doc = concat!("Adds the `", stringify!($sum), "` sums of a product's parts, to outputs of type `",
            stringify!($output), "`.")]
        ///
        /// # Safety
        /// 1. The launch has blocks of [`ADD_THREADS`] threads along x, one for each [`ADD_COLUMNS`] columns
        ///    along x, and one for each [`ADD_ROWS`] rows along y.
        /// 2. `sums` has as many elements as `shape` has parts, rows and columns, one part at least. `c` begins with
        ///    the first output and ends with the last; only outputs are accessed.
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
            // SAFETY: the caller's contract.
            unsafe { add_parts(sums, c, &shape, epilogue) }
        }
    };
}
crate::sums_of_parts!(add_kernels of alone, after);
