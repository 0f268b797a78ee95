//! The largest elements of each row, in order.
//!
//! ```text
//! each block:  a chunk of a row; the key of an element is its rank, then its index, lower ones first
//!     up to 256 wanted: collect the elements that reach the threads' largest element of that number, and sort them
//!     otherwise, or if these do not fit, for each digit of 8 bits, the highest first, until the keys of a digit are as many as are still wanted:
//!         count the digits of the keys whose higher digits are those of the threshold
//!         the threshold's digit: the one that the wanted number falls into
//!     collect the keys from the threshold on, and sort them
//! ```
//!
//! The first form reads the chunk twice, and takes what random elements have: few beyond the wanted ones. The second
//! is a radix selection (Alabi et al., Fast k-Selection Algorithms for Graphics Processing Units, 2012). Keys are
//! unique, so the selected ones are, whatever the order in which threads collect them. A row of several chunks takes
//! further launches, whose elements are the chunks' largest.
//!
//! `plan.rs` has the shape and the memory of a block, `key.rs` the keys, `select.rs` the selection, and `sort.rs` the sort.

mod key;
mod plan;
mod select;
mod sort;

pub use plan::{MOST_OF_CHUNK, MOST_SELECTED, TOP_K_THREADS, TopKShape};

use crate::reduce::Ordered;
use cuda_std::prelude::*;
use half::{bf16, f16};
use plan::{DIGITS, Shared, WARPS};
use select::select;

/// Calls the macro `$with` with the kernels that select the largest elements of each type.
#[macro_export]
macro_rules! for_each_top_k {
    ($with:ident) => {
        $with! {
            f32: top_k_f32;
            f64: top_k_f64;
            f16: top_k_f16;
            bf16: top_k_bf16;
            i32: top_k_i32;
            u32: top_k_u32;
            i64: top_k_i64;
            u64: top_k_u64;
        }
    };
}

macro_rules! top_k_kernels {
    ($($element:ident: $name:ident;)*) => {$(
        #[doc = concat!("Selects the largest elements of each chunk of rows of ", stringify!($element), ", in order.")]
        ///
        /// Of equal elements, those with lower indices come first; NaN comes before all numbers. `origins` has the
        /// index that is written for each element, or nothing: then it is the element's in its row.
        ///
        /// # Safety
        /// 1. The launch has blocks of [`TOP_K_THREADS`] threads along x, one for each chunk of each row of `shape`,
        ///    which has elements.
        /// 2. `x` has the rows, and `origins` as many elements, or none.
        /// 3. `values` and `indices` have the shape's `selected_of_row()` elements for each row.
        #[kernel(max_threads = 256)]
        pub unsafe fn $name(
            x: Global<$element>,
            origins: Global<u64>,
            values: GlobalMut<$element>,
            indices: GlobalMut<u64>,
            shape: GridConstant<TopKShape>,
        ) {
            let shared = Shared {
                counts: shared_array![u32; DIGITS],
                of_warps: shared_array![u32; WARPS],
                state: shared_array![u32; 4],
                ranks: shared_array![<$element as Ordered>::Rank; MOST_SELECTED],
                places: shared_array![u32; MOST_SELECTED],
            };
            // SAFETY: the caller's contract. Shared memory is declared here.
            unsafe { select::<$element>((x, origins), (values, indices), &shape, shared) }
        }
    )*};
}
for_each_top_k!(top_k_kernels);
