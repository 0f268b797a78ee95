//! Products of a warpgroup on tensor cores.
#![cfg_attr(
    target_arch = "nvptx64",
    allow(
        unused,
        reason = "an image for an older architecture has none of the kernels"
    )
)]

use crate::put;
use cuda_std::fp8::{F8E4M3, F8E5M2};
use cuda_std::prelude::*;
use cuda_std::shared::SwizzledTile;
use cuda_std::tma::TensorMap;
use cuda_std::warpgroup;
use cuda_std::wgmma::{Accumulator, AccumulatorElement, Element, Multiply};
use half::{bf16, f16};

/// Rows of a product.
pub const ROWS: usize = 64;

/// Panels of each operand along k. A panel has 128 bytes of each row or column.
pub const PANELS: usize = 2;

/// Threads of a block.
pub const THREADS: u32 = warpgroup::THREADS;

/// Bytes of dynamic shared memory of a product with `columns` columns.
pub const fn shared_bytes(columns: usize) -> u32 {
    const BARRIERS: usize = 16;
    ((ROWS + columns) * PANELS * 128 + BARRIERS) as u32
}

/// `out = a * b`: `a` has [`ROWS`] rows and `b` `N` columns, each of [`PANELS`] panels.
///
/// # Safety
/// 1. The launch is one block of [`THREADS`], with [`shared_bytes`]; `out` has an element for each output.
#[inline(always)]
#[track_caller]
unsafe fn multiply<
    A,
    B,
    S,
    const N: usize,
    const COUNT: usize,
    const PANEL: usize,
    const K: usize,
>(
    a: GridConstant<'_, TensorMap<A, ROWS, PANEL>>,
    b: GridConstant<'_, TensorMap<B, N, PANEL>>,
    out: GlobalMut<'_, S>,
) where
    A: Element,
    B: Element,
    S: AccumulatorElement,
    [S; COUNT]: Multiply<A, B>,
{
    let mut shared = dynamic_shared_allotment!();
    let a_tile = shared.tiles::<A, ROWS, K, 1>().get(0);
    let b_tile = shared.tiles::<B, N, K, 1>().get(0);
    let ring = shared.ring::<1>();
    let is_first = warpgroup::thread_rank() == 0;
    if is_first {
        // SAFETY: one thread initialises the ring, and the block's barrier follows.
        unsafe { ring.init(1, 1) };
    }
    thread::sync_threads();
    if is_first {
        // SAFETY: the ring is initialised. The copies: the launch writes neither operand; the only
        // stage is filled once, and all threads wait for it.
        unsafe {
            let slot = ring.producer().acquire();
            slot.expect(SwizzledTile::<A, ROWS, K>::BYTES + SwizzledTile::<B, N, K>::BYTES);
            a.load(a_tile, &slot, (0, 0));
            b.load(b_tile, &slot, (0, 0));
        }
    }
    // SAFETY: the ring is initialised. The whole warpgroup is here and does not branch. The stage
    // is full, no thread writes its tiles, and the tiles are whole. `wait` follows.
    let sums = unsafe {
        let _stage = ring.consumer().wait();
        let mut products = Accumulator::<COUNT, S>::zero().accumulate().begin();
        products.multiply(a_tile.k_major(), b_tile.k_major());
        products.commit().wait()
    };
    let mut i = 0;
    while i < COUNT {
        let (row, column) = Accumulator::<COUNT, S>::place(i);
        // SAFETY: the output belongs to this thread.
        unsafe { put(out, row as usize * N + column as usize, sums.get(i)) };
        i += 1;
    }
}

macro_rules! product_kernels {
    ($($name:ident: $a:ty, $b:ty => $sum:ty, 64 x $n:literal, $panel:literal;)*) => {$(
        #[doc = concat!(
            "`out = a * b` with 64 x ", $n, " outputs: `a` has the rows of A and `b` the columns of B, each of ",
            $panel, " x [`PANELS`] elements."
        )]
        ///
        /// # Safety
        /// 1. The launch is one block of [`THREADS`], with [`shared_bytes`]; `out` has an element for each
        ///    output.
        #[kernel(arch = "sm_90a", max_threads = 128)]
        pub unsafe fn $name(
            a: GridConstant<TensorMap<$a, 64, $panel>>,
            b: GridConstant<TensorMap<$b, $n, $panel>>,
            out: GlobalMut<$sum>,
        ) {
            // SAFETY: the lengths are the caller's contract.
            unsafe {
                multiply::<_, _, _, $n, { $n / 2 }, $panel, { PANELS * $panel }>(a, b, out);
            }
        }
    )*};
}
product_kernels! {
    warpgroup_f16_n8: f16, f16 => f32, 64 x 8, 64;
    warpgroup_f16_n64: f16, f16 => f32, 64 x 64, 64;
    warpgroup_f16_n256: f16, f16 => f32, 64 x 256, 64;
    warpgroup_bf16_n64: bf16, bf16 => f32, 64 x 64, 64;
    warpgroup_bf16_n144: bf16, bf16 => f32, 64 x 144, 64;
    warpgroup_bf16_n256: bf16, bf16 => f32, 64 x 256, 64;
    warpgroup_tf32_n40: f32, f32 => f32, 64 x 40, 32;
    warpgroup_tf32_n64: f32, f32 => f32, 64 x 64, 32;
    warpgroup_tf32_n128: f32, f32 => f32, 64 x 128, 32;
    warpgroup_tf32_n192: f32, f32 => f32, 64 x 192, 32;
    warpgroup_tf32_n256: f32, f32 => f32, 64 x 256, 32;
    warpgroup_e4m3_n64: F8E4M3, F8E4M3 => f32, 64 x 64, 128;
    warpgroup_e4m3_n128: F8E4M3, F8E4M3 => f32, 64 x 128, 128;
    warpgroup_e4m3_n192: F8E4M3, F8E4M3 => f32, 64 x 192, 128;
    warpgroup_e4m3_n248: F8E4M3, F8E4M3 => f32, 64 x 248, 128;
    warpgroup_e4m3_n256: F8E4M3, F8E4M3 => f32, 64 x 256, 128;
    warpgroup_e5m2_n64: F8E5M2, F8E5M2 => f32, 64 x 64, 128;
    warpgroup_e5m2_n128: F8E5M2, F8E5M2 => f32, 64 x 128, 128;
    warpgroup_e5m2_n192: F8E5M2, F8E5M2 => f32, 64 x 192, 128;
    warpgroup_e5m2_n256: F8E5M2, F8E5M2 => f32, 64 x 256, 128;
    warpgroup_e4m3_e5m2_n64: F8E4M3, F8E5M2 => f32, 64 x 64, 128;
    warpgroup_e4m3_e5m2_n256: F8E4M3, F8E5M2 => f32, 64 x 256, 128;
    warpgroup_e5m2_e4m3_n64: F8E5M2, F8E4M3 => f32, 64 x 64, 128;
    warpgroup_e5m2_e4m3_n256: F8E5M2, F8E4M3 => f32, 64 x 256, 128;
    warpgroup_i8_n24: i8, i8 => i32, 64 x 24, 128;
    warpgroup_i8_n64: i8, i8 => i32, 64 x 64, 128;
    warpgroup_i8_n128: i8, i8 => i32, 64 x 128, 128;
    warpgroup_i8_n192: i8, i8 => i32, 64 x 192, 128;
    warpgroup_i8_n240: i8, i8 => i32, 64 x 240, 128;
    warpgroup_i8_n256: i8, i8 => i32, 64 x 256, 128;
    warpgroup_u8_n64: u8, u8 => i32, 64 x 64, 128;
    warpgroup_u8_n256: u8, u8 => i32, 64 x 256, 128;
}
