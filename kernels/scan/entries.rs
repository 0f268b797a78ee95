//! The library's kernels: of prefix sums of buffers, and of all operations on buffers and rows.

use super::body::scan;
use super::operations::{PrefixProduct, PrefixSum};
use super::plan::ScanPlan;
use super::views::Operands;
use crate::reduce::{Max, Min, Reduction, lanes_of};
use cuda_std::prelude::*;
use half::{bf16, f16};

/// Calls the macro `$with` with all scans of buffers by sums: the element type, and the entries of the inclusive and
/// the exclusive scan, as `f32: scan_inclusive_f32, scan_exclusive_f32;`. Signed integers are scanned as unsigned ones.
#[macro_export]
macro_rules! for_each_scan {
    ($with:ident) => {
        $with! {
            f32: scan_inclusive_f32, scan_exclusive_f32;
            f64: scan_inclusive_f64, scan_exclusive_f64;
            f16: scan_inclusive_f16, scan_exclusive_f16;
            bf16: scan_inclusive_bf16, scan_exclusive_bf16;
            u32: scan_inclusive_u32, scan_exclusive_u32;
            u64: scan_inclusive_u64, scan_exclusive_u64;
        }
    };
}

/// Calls the macro `$with` with all scans of rows, and of buffers with an initial value: the kernels' operation, the
/// operation of `ops`, the element type, and the entry with the blocks per multiprocessor that need few spills, as `Max,
/// Max of f32: scan_max_f32 at 6 blocks;`. Signed integers are added and multiplied as unsigned ones.
#[macro_export]
macro_rules! for_each_row_scan {
    ($with:ident) => {
        $with! {
            PrefixSum, Sum of f32: scan_sum_f32 at 5 blocks;
            PrefixSum, Sum of f64: scan_sum_f64 at 4 blocks;
            PrefixSum, Sum of f16: scan_sum_f16 at 4 blocks;
            PrefixSum, Sum of bf16: scan_sum_bf16 at 4 blocks;
            PrefixSum, Sum of u32: scan_sum_u32 at 5 blocks;
            PrefixSum, Sum of u64: scan_sum_u64 at 4 blocks;
            PrefixProduct, Product of f32: scan_product_f32 at 4 blocks;
            PrefixProduct, Product of f64: scan_product_f64 at 4 blocks;
            PrefixProduct, Product of f16: scan_product_f16 at 4 blocks;
            PrefixProduct, Product of bf16: scan_product_bf16 at 4 blocks;
            PrefixProduct, Product of u32: scan_product_u32 at 5 blocks;
            PrefixProduct, Product of u64: scan_product_u64 at 4 blocks;
            Min, Min of f32: scan_min_f32 at 5 blocks;
            Min, Min of f64: scan_min_f64 at 4 blocks;
            Min, Min of f16: scan_min_f16 at 4 blocks;
            Min, Min of bf16: scan_min_bf16 at 4 blocks;
            Min, Min of i32: scan_min_i32 at 5 blocks;
            Min, Min of u32: scan_min_u32 at 5 blocks;
            Min, Min of i64: scan_min_i64 at 4 blocks;
            Min, Min of u64: scan_min_u64 at 4 blocks;
            Max, Max of f32: scan_max_f32 at 5 blocks;
            Max, Max of f64: scan_max_f64 at 4 blocks;
            Max, Max of f16: scan_max_f16 at 4 blocks;
            Max, Max of bf16: scan_max_bf16 at 4 blocks;
            Max, Max of i32: scan_max_i32 at 5 blocks;
            Max, Max of u32: scan_max_u32 at 5 blocks;
            Max, Max of i64: scan_max_i64 at 4 blocks;
            Max, Max of u64: scan_max_u64 at 4 blocks;
        }
    };
}

macro_rules! scan_kernels {
    ($($element:ident: $inclusive:ident, $exclusive:ident;)*) => {$(
        scan_kernels!(@bounded $inclusive, $element, false, "up to and including");
        scan_kernels!(@bounded $exclusive, $element, true, "before");
    )*};
    // The tiles of six blocks fill the shared memory. With 64-bit elements, the sums before each of a thread's
    // vectors leave registers for five blocks, with f64 for four.
    (@bounded $name:ident, f64, $exclusive:literal, $which:literal) => {
        scan_kernels!(@kernel $name, f64, $exclusive, $which, 4);
    };
    (@bounded $name:ident, u64, $exclusive:literal, $which:literal) => {
        scan_kernels!(@kernel $name, u64, $exclusive, $which, 5);
    };
    (@bounded $name:ident, $element:ident, $exclusive:literal, $which:literal) => {
        scan_kernels!(@kernel $name, $element, $exclusive, $which, 6);
    };
    (@kernel $name:ident, $element:ident, $exclusive:literal, $which:literal, $blocks:literal) => {
        #[doc = concat!("Prefix sums of an array of ", stringify!($element),
            ": for each element, the sum of all ", $which, " it.")]
        ///
        /// # Safety
        /// 1. The launch has blocks of [`SCAN_THREADS`](super::SCAN_THREADS) threads along x, and one for each tile of the
        ///    [`ScanPlan`](super::ScanPlan) of `x`.
        /// 2. `sums` is as long as `x`.
        /// 3. `state` has the plan's words, all 0, and no other launch uses them meanwhile. The launch does not reset
        ///    them.
        #[kernel(max_threads = 128, min_blocks = $blocks)]
        pub unsafe fn $name(
            x: Global<$element>,
            sums: GlobalMut<$element>,
            state: GlobalMut<u64>,
        ) {
            const LANES: usize = lanes_of::<$element>();
            let operands = Operands { x, y: sums, state };
            let staged = shared_array![$element; ScanPlan::new(0, size_of::<$element>()).tile];
            let shared = scan_memory!(staged, <PrefixSum as Reduction<$element>>::Accumulator);
            // SAFETY: the launch, the lengths and the state: the caller's contract. Shared memory
            // is declared here, and `staged` holds a tile.
            unsafe { scan::<PrefixSum, $element, LANES, $exclusive>(operands, shared) }
        }
    };
}
for_each_scan!(scan_kernels);

macro_rules! row_scan_kernels {
    ($($operation:ident, $name:ident of $element:ident: $kernel:ident at $blocks:literal blocks;)*) => {$(
        row_scan_kernel! { [] $kernel at $blocks blocks: $operation of $element }
    )*};
}
for_each_row_scan!(row_scan_kernels);
