//! Warp-wide operations.

use crate::put;
use cuda_std::prelude::*;
use cuda_std::warp::LaneValue;
use half::{bf16, f16};

/// Shuffles of each kind within segments. Each thread writes its four values; lanes outside of the
/// mask write nothing.
///
/// # Safety
/// 1. `x` has an element for each thread, `out` 4.
#[inline(always)]
unsafe fn shuffles<T: LaneValue>(
    mask: u64,
    lane: u32,
    width: u32,
    x: Global<T>,
    out: GlobalMut<T>,
) {
    let mask = LaneMask::from_bits(mask);
    if !mask.contains(warp::lane()) {
        return;
    }
    let index = thread::unique_index().get();
    // SAFETY: the length is the caller's contract.
    let value = unsafe { x.load(index) };
    let values = [
        warp::shuffle_width(mask, value, lane, width),
        warp::shuffle_down_in(mask, value, lane, width),
        warp::shuffle_up_in(mask, value, lane, width),
        warp::shuffle_xor_in(mask, value, lane, width),
    ];
    for (i, value) in values.into_iter().enumerate() {
        // SAFETY: the elements belong to this thread's unique index.
        unsafe { put(out, index * 4 + i, value) };
    }
}

/// The same shuffles over a whole warp.
///
/// # Safety
/// 1. `x` has an element for each thread, `out` 4.
#[inline(always)]
unsafe fn whole_shuffles<T: LaneValue>(lane: u32, x: Global<T>, out: GlobalMut<T>) {
    let mask = LaneMask::all();
    let index = thread::unique_index().get();
    // SAFETY: the length is the caller's contract.
    let value = unsafe { x.load(index) };
    let values = [
        warp::shuffle(mask, value, lane),
        warp::shuffle_down(mask, value, lane),
        warp::shuffle_up(mask, value, lane),
        warp::shuffle_xor(mask, value, lane),
    ];
    for (i, value) in values.into_iter().enumerate() {
        // SAFETY: the elements belong to this thread's unique index.
        unsafe { put(out, index * 4 + i, value) };
    }
}

macro_rules! shuffle_kernels {
    ($($segments:ident, $whole:ident: $element:ty;)*) => {$(
        #[doc = concat!("Shuffles of ", stringify!($element), " by the lanes of `mask` in segments of `width` lanes.")]
        ///
        /// # Safety
        /// 1. `x` has an element for each thread, `out` 4.
        #[kernel]
        pub unsafe fn $segments(mask: u64, lane: u32, width: u32, x: Global<$element>, out: GlobalMut<$element>) {
            // SAFETY: the callee's contract is this function's.
            unsafe { shuffles(mask, lane, width, x, out) }
        }

        #[doc = concat!("Shuffles of ", stringify!($element), " by all lanes.")]
        ///
        /// # Safety
        /// 1. `x` has an element for each thread, `out` 4.
        #[kernel]
        pub unsafe fn $whole(lane: u32, x: Global<$element>, out: GlobalMut<$element>) {
            // SAFETY: the callee's contract is this function's.
            unsafe { whole_shuffles(lane, x, out) }
        }
    )*};
}
shuffle_kernels! {
    shuffles_u8, whole_shuffles_u8: u8;
    shuffles_i16, whole_shuffles_i16: i16;
    shuffles_f16, whole_shuffles_f16: f16;
    shuffles_bf16, whole_shuffles_bf16: bf16;
    shuffles_i32, whole_shuffles_i32: i32;
    shuffles_f32, whole_shuffles_f32: f32;
    shuffles_u64, whole_shuffles_u64: u64;
    shuffles_f64, whole_shuffles_f64: f64;
}

/// Numbers that [`votes`] writes for each thread.
pub const VOTES: usize = 6;

/// Votes of the lanes of `mask` on whether `x` is not 0, and the lanes with the same `x`: as 32
/// bits, 64 bits with the upper half not 0, and one byte.
///
/// # Safety
/// 1. `x` has an element for each thread, `out` has [`VOTES`].
#[kernel]
pub unsafe fn votes(mask: u64, x: Global<u32>, out: GlobalMut<u64>) {
    let mask = LaneMask::from_bits(mask);
    if !mask.contains(warp::lane()) {
        return;
    }
    let index = thread::unique_index().get();
    // SAFETY: the length is the caller's contract.
    let value = unsafe { x.load(index) };
    let numbers = [
        warp::ballot(mask, value != 0).bits(),
        u64::from(warp::any(mask, value != 0)),
        u64::from(warp::all(mask, value != 0)),
        warp::match_any(mask, value).bits(),
        warp::match_any(mask, u64::from(value) << 32 | 7).bits(),
        warp::match_any(mask, value as u8).bits(),
    ];
    warp::sync(mask);
    for (i, number) in numbers.into_iter().enumerate() {
        // SAFETY: the elements belong to this thread's unique index.
        unsafe { put(out, index * VOTES + i, number) };
    }
}

/// Numbers that [`masks`] writes.
pub const MASKS: usize = 6;

/// Masks of all lanes, the first 5 and the first 64, the number of lanes in 0b1011, whether the
/// calling lane is active, and the warp's width.
///
/// # Safety
/// 1. `out` has [`MASKS`] elements for each thread.
#[kernel]
pub unsafe fn masks(out: GlobalMut<u64>) {
    let numbers = [
        LaneMask::all().bits(),
        LaneMask::first(5).bits(),
        LaneMask::first(64).bits(),
        u64::from(LaneMask::from_bits(0b1011).count()),
        u64::from(warp::active_lanes().contains(warp::lane())),
        u64::from(warp::width()),
    ];
    let first = thread::unique_index().get() * MASKS;
    for (i, number) in numbers.into_iter().enumerate() {
        // SAFETY: the elements belong to this thread's unique index.
        unsafe { put(out, first + i, number) };
    }
}

macro_rules! reduce_kernels {
    ($($name:ident: $element:ty;)*) => {$(
        #[doc = concat!("The sum and the largest of each warp's ", stringify!($element), ", in every lane.")]
        ///
        /// # Safety
        /// 1. Blocks are whole warps; `x` has an element for each thread, `out` 2.
        #[kernel]
        pub unsafe fn $name(x: Global<$element>, out: GlobalMut<$element>) {
            let index = thread::unique_index().get();
            // SAFETY: the length is the caller's contract.
            let value = unsafe { x.load(index) };
            let sum = warp::reduce_sum(value);
            let largest = warp::reduce(value, |a, b| if a > b { a } else { b });
            // SAFETY: the elements belong to this thread's unique index.
            unsafe {
                put(out, index * 2, sum);
                put(out, index * 2 + 1, largest);
            }
        }
    )*};
}
reduce_kernels! {
    warp_reduce_i32: i32;
    warp_reduce_f32: f32;
    warp_reduce_i64: i64;
    warp_reduce_f64: f64;
}

/// Over the lanes of `mask`: the wrapping sum by one instruction, and, one member at a time, the
/// sum and the polynomial `((x0 * 31 + x1) * 31 + x2) ...`, whose order shows, one member at a
/// time.
///
/// # Safety
/// 1. `x` has an element for each thread, `out` 3.
#[kernel]
pub unsafe fn member_reductions(mask: u64, x: Global<u32>, out: GlobalMut<u32>) {
    let mask = LaneMask::from_bits(mask);
    if !mask.contains(warp::lane()) {
        return;
    }
    let index = thread::unique_index().get();
    // SAFETY: the length is the caller's contract.
    let value = unsafe { x.load(index) };
    let numbers = [
        warp::reduce_sum_u32(mask, value),
        warp::reduce_members(mask, value, u32::wrapping_add),
        warp::reduce_members(mask, value, |a, b| a.wrapping_mul(31).wrapping_add(b)),
    ];
    for (i, number) in numbers.into_iter().enumerate() {
        // SAFETY: the elements belong to this thread's unique index.
        unsafe { put(out, index * 3 + i, number) };
    }
}

/// Each lane writes to shared memory and reads its neighbour's word, with the warp's own barrier
/// in between.
///
/// # Safety
/// 1. Blocks are whole warps; `out` has an element for each thread.
#[kernel]
pub unsafe fn warp_exchange(out: GlobalMut<u32>) {
    let array = shared_array![u32; 1024];
    let own = thread::rank_in_block() as usize;
    let width = warp::width() as usize;
    let neighbour = own / width * width + (own + 1) % width;
    // SAFETY: a block has at most 1024 threads. The warp's barrier separates the write from the
    // read.
    unsafe { array.store(own, own as u32 * 3) };
    warp::sync(LaneMask::all());
    // SAFETY: as above.
    let value = unsafe { array.load(neighbour) };
    // SAFETY: the element belongs to this thread's unique index.
    unsafe { put(out, thread::unique_index().get(), value) };
}
