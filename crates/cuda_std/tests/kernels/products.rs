//! Products of a warp on tensor cores.
#![cfg_attr(
    target_arch = "nvptx64",
    allow(
        unused,
        reason = "an image for an older architecture has none of the kernels"
    )
)]

use crate::put;
use cuda_std::mma::{A, B, C, Tf32};
use cuda_std::prelude::*;
use half::{bf16, f16};

macro_rules! product_kernels {
    ($($name:ident $arch:literal: $a:ty as $a_wrap:expr, $b:ty as $b_wrap:expr => $c:ty, $m:literal x $n:literal x $k:literal;)*) => {$(
        #[doc = concat!(
            "`out = a * b + c` with 2 products of ", $m, " x ", $n, " x ", $k, ": `a` has ", $m,
            " rows of 2 * ", $k, " elements, `b` as many columns of those, `c` and `out` are by rows."
        )]
        ///
        /// # Safety
        /// 1. The launch is one warp, and the views have these sizes.
        #[kernel(arch = $arch)]
        pub unsafe fn $name(a: Global<$a>, b: Global<$b>, c: Global<$c>, out: GlobalMut<$c>) {
            // SAFETY: the index is within C: the caller's contract.
            let mut sums = C::<$c, $m, $n>::from_fn(|row, column| unsafe { c.load(row * $n + column) });
            for step in 0..2 {
                let first = step * $k;
                // SAFETY: the index is within A: the caller's contract.
                let a = A::<_, $m, $k>::from_fn(|row, k| $a_wrap(unsafe { a.load(row * 2 * $k + first + k) }));
                // SAFETY: the index is within B: the caller's contract.
                let b = B::<_, $k, $n>::from_fn(|k, column| $b_wrap(unsafe { b.load(column * 2 * $k + first + k) }));
                // SAFETY: the launch is one warp: the caller's contract. None of its threads has
                // branched away.
                sums = unsafe { sums.add_product(a, b) };
            }
            for i in 0..C::<$c, $m, $n>::LEN {
                let (row, column) = C::<$c, $m, $n>::place(i);
                // SAFETY: the element belongs to this lane.
                unsafe { put(out, row * $n + column, sums.get(i)) };
            }
        }
    )*};
}

/// Returns the element unchanged.
#[inline(always)]
fn plain<T>(element: T) -> T {
    element
}

product_kernels! {
    product_f16_k8 "sm_80": f16 as plain, f16 as plain => f32, 16 x 8 x 8;
    product_f16_k16 "sm_80": f16 as plain, f16 as plain => f32, 16 x 8 x 16;
    product_f16_to_f16_k8 "sm_80": f16 as plain, f16 as plain => f16, 16 x 8 x 8;
    product_f16_to_f16_k16 "sm_80": f16 as plain, f16 as plain => f16, 16 x 8 x 16;
    product_bf16_k8 "sm_80": bf16 as plain, bf16 as plain => f32, 16 x 8 x 8;
    product_bf16_k16 "sm_80": bf16 as plain, bf16 as plain => f32, 16 x 8 x 16;
    product_tf32_k4 "sm_80": f32 as Tf32, f32 as Tf32 => f32, 16 x 8 x 4;
    product_tf32_k8 "sm_80": f32 as Tf32, f32 as Tf32 => f32, 16 x 8 x 8;
    product_i8_m8 "sm_80": i8 as plain, i8 as plain => i32, 8 x 8 x 16;
    product_i8_k16 "sm_80": i8 as plain, i8 as plain => i32, 16 x 8 x 16;
    product_i8_k32 "sm_80": i8 as plain, i8 as plain => i32, 16 x 8 x 32;
    product_i8_u8_m8 "sm_80": i8 as plain, u8 as plain => i32, 8 x 8 x 16;
    product_i8_u8_k16 "sm_80": i8 as plain, u8 as plain => i32, 16 x 8 x 16;
    product_i8_u8_k32 "sm_80": i8 as plain, u8 as plain => i32, 16 x 8 x 32;
    product_u8_i8_m8 "sm_80": u8 as plain, i8 as plain => i32, 8 x 8 x 16;
    product_u8_i8_k16 "sm_80": u8 as plain, i8 as plain => i32, 16 x 8 x 16;
    product_u8_i8_k32 "sm_80": u8 as plain, i8 as plain => i32, 16 x 8 x 32;
    product_u8_m8 "sm_80": u8 as plain, u8 as plain => i32, 8 x 8 x 16;
    product_u8_k16 "sm_80": u8 as plain, u8 as plain => i32, 16 x 8 x 16;
    product_u8_k32 "sm_80": u8 as plain, u8 as plain => i32, 16 x 8 x 32;
    product_f64_m8 "sm_80": f64 as plain, f64 as plain => f64, 8 x 8 x 4;
    product_f64_k4 "sm_90": f64 as plain, f64 as plain => f64, 16 x 8 x 4;
    product_f64_k8 "sm_90": f64 as plain, f64 as plain => f64, 16 x 8 x 8;
    product_f64_k16 "sm_90": f64 as plain, f64 as plain => f64, 16 x 8 x 16;
}

/// The pitch of the tiles from which [`matrices_f16`] and the others load.
pub const PITCH: usize = 40;

/// The elements that a lane gets from all load instructions: A by rows and by columns, B by columns and
/// by rows, and pairs of B, with 16 x 16 and 16 x 8 elements.
pub const LOADED: usize = 2 * (8 + 4) + 2 * (4 + 2) + 2 * (8 + 4);

macro_rules! matrix_kernels {
    ($($load:ident $store:ident: $element:ty;)*) => {$(
        #[doc = concat!("Loads fragments of ", stringify!($element), " with every load instruction, from a tile of 16 rows of [`PITCH`] elements that has the 16 x 16 elements of `x`.")]
        ///
        /// # Safety
        /// 1. The launch is one warp; `x` has 256 elements, and `out` has [`LOADED`] for each lane.
        #[kernel(arch = "sm_80")]
        pub unsafe fn $load(x: Global<$element>, out: GlobalMut<$element>) {
            let tile = shared_array![$element; 16 * PITCH];
            let lane = warp::lane() as usize;
            for i in 0..8 {
                let number = i * 32 + lane;
                // SAFETY: the length of the view is the caller's contract, and the tile has as many
                // elements or more. Each element belongs to one lane.
                unsafe { tile.store(number / 16 * PITCH + number % 16, x.load(number)) };
            }
            warp::sync(LaneMask::all());
            let tile = tile.as_slice();
            let by_rows = |row: usize, column: usize| row * PITCH + column;
            let by_columns = |row: usize, column: usize| column * PITCH + row;
            let mut count = 0;
            let mut show = |value| {
                // SAFETY: the elements belong to this lane.
                unsafe { put(out, lane * LOADED + count, value) };
                count += 1;
            };
            // SAFETY: rows and columns are below 16, so the indices are within the tile. The warp's
            // barrier separates the writes from these reads. The pitch is a multiple of 8. The
            // launch is one warp, and none of its threads has branched away.
            unsafe {
                let wide = [
                    A::<$element, 16, 16>::load(tile, by_rows),
                    A::<$element, 16, 16>::load_transposed(tile, by_columns),
                ];
                let narrow = [
                    A::<$element, 16, 8>::load(tile, by_rows),
                    A::<$element, 16, 8>::load_transposed(tile, by_columns),
                ];
                for i in 0..8 {
                    show(wide[0].get(i));
                    show(wide[1].get(i));
                }
                for i in 0..4 {
                    show(narrow[0].get(i));
                    show(narrow[1].get(i));
                }
                let high = [
                    B::<$element, 16, 8>::load(tile, by_columns),
                    B::<$element, 16, 8>::load_transposed(tile, by_rows),
                ];
                let [first, second] = B::<$element, 16, 8>::load_pair(tile, by_columns);
                let [third, fourth] = B::<$element, 16, 8>::load_pair_transposed(tile, by_rows);
                for i in 0..4 {
                    show(high[0].get(i));
                    show(high[1].get(i));
                    show(first.get(i));
                    show(second.get(i));
                    show(third.get(i));
                    show(fourth.get(i));
                }
                let low = [
                    B::<$element, 8, 8>::load(tile, by_columns),
                    B::<$element, 8, 8>::load_transposed(tile, by_rows),
                ];
                let [first, second] = B::<$element, 8, 8>::load_pair(tile, by_columns);
                let [third, fourth] = B::<$element, 8, 8>::load_pair_transposed(tile, by_rows);
                for i in 0..2 {
                    show(low[0].get(i));
                    show(low[1].get(i));
                    show(first.get(i));
                    show(second.get(i));
                    show(third.get(i));
                    show(fourth.get(i));
                }
            }
        }

        #[doc = concat!("Rounds 16 x 8 accumulators, `x[row * 8 + column]`, to ", stringify!($element), " and stores them to shared memory by rows and by columns, which `out` has one after the other.")]
        ///
        /// # Safety
        /// 1. The launch is one warp; `x` has 128 elements, and `out` has 256.
        #[kernel(arch = "sm_90")]
        pub unsafe fn $store(x: Global<f32>, out: GlobalMut<$element>) {
            let tile = shared_array![$element; 256];
            let tile = tile.as_slice();
            let lane = warp::lane() as usize;
            // SAFETY: the index is within the view: the caller's contract.
            let sums = C::<f32, 16, 8>::from_fn(|row, column| unsafe { x.load(row * 8 + column) });
            let sums = sums.narrow::<$element>();
            // SAFETY: rows are below 16 and columns below 8, so the indices are within the tile.
            // The two halves do not overlap, and the barrier below precedes the reads. Lines have 8
            // or 16 elements. The launch is one warp, and none of its threads has branched away.
            unsafe {
                sums.store(tile, |row, column| row * 8 + column);
                sums.store_transposed(tile, |row, column| 128 + column * 16 + row);
            }
            warp::sync(LaneMask::all());
            for i in 0..8 {
                // SAFETY: the index is within the tile. The warp's barrier separates the writes
                // from this read.
                let value = unsafe { tile.load(i * 32 + lane) };
                // SAFETY: the element belongs to this lane.
                unsafe { put(out, i * 32 + lane, value) };
            }
        }
    )*};
}
matrix_kernels! {
    matrices_f16 stored_f16: f16;
    matrices_bf16 stored_bf16: bf16;
}

/// Loads A with 16 x 32 bytes and B with 32 x 8 bytes from a tile of 16 x 32 bytes, and multiplies
/// them.
///
/// # Safety
/// 1. The launch is one warp; `x` has 512 elements, and `out` has 128.
#[kernel(arch = "sm_80")]
pub unsafe fn product_of_loaded_i8(x: Global<i8>, out: GlobalMut<i32>) {
    let tile = shared_array![i8; 512];
    let lane = warp::lane() as usize;
    for i in 0..16 {
        // SAFETY: the length of the view is the caller's contract, and the tile has as many
        // elements or more. Each element belongs to one lane.
        unsafe { tile.store(i * 32 + lane, x.load(i * 32 + lane)) };
    }
    warp::sync(LaneMask::all());
    let tile = tile.as_slice();
    // SAFETY: rows of A and columns of B are below 16 and k below 32, so the indices are within the
    // tile. The warp's barrier separates the writes from these reads. Rows have 32 bytes. The
    // launch is one warp, and none of its threads has branched away.
    let (a, b) = unsafe {
        (
            A::<i8, 16, 32>::load(tile, |row, k| row * 32 + k),
            B::<i8, 32, 8>::load(tile, |k, column| column * 32 + k),
        )
    };
    // SAFETY: the launch is one warp: the caller's contract. None of its threads has branched away.
    let product = unsafe { C::<i32, 16, 8>::zero().add_product(a, b) };
    for i in 0..C::<i32, 16, 8>::LEN {
        let (row, column) = C::<i32, 16, 8>::place(i);
        // SAFETY: the element belongs to this lane.
        unsafe { put(out, row * 8 + column, product.get(i)) };
    }
}
