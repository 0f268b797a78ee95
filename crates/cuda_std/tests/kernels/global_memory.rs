//! Vector accesses, streaming loads, prefetches and constant memory.

use crate::put;
use cuda_std::prelude::*;
use half::f16;

/// Copies vectors of `N` elements, read-only, streaming, and in place.
///
/// # Safety
/// 1. The views have the same number of elements, a multiple of `N`, and start at a multiple of 16
///    bytes.
#[inline(always)]
unsafe fn copy<T: cuda_std::Pod, const N: usize>(
    x: Global<T>,
    plain: GlobalMut<T>,
    streamed: GlobalMut<T>,
    swapped: GlobalMut<T>,
) {
    let first = thread::unique_index().get() * N;
    if first >= x.len() {
        return;
    }
    x.prefetch_l2(first);
    // SAFETY: lengths and alignment are the caller's contract. The vectors belong to this thread's
    // unique index.
    unsafe {
        plain.store_vector::<N>(first, x.load_vector::<N>(first));
        streamed.store_vector::<N>(first, x.load_streaming::<N>(first));
        let mut values = swapped.load_vector::<N>(first);
        values.reverse();
        swapped.store_vector::<N>(first, values);
    }
}

macro_rules! copy_kernels {
    ($($name:ident: $element:ty, $lanes:literal;)*) => {$(
        #[doc = concat!("Vectors of ", $lanes, " ", stringify!($element), ": `x` to `plain` and `streamed`, and each of `swapped` reversed.")]
        ///
        /// # Safety
        /// 1. The views have the same number of elements, a multiple of a vector's, and start at multiples of 16
        ///    bytes.
        #[kernel]
        pub unsafe fn $name(x: Global<$element>, plain: GlobalMut<$element>, streamed: GlobalMut<$element>, swapped: GlobalMut<$element>) {
            // SAFETY: the callee's contract is this function's.
            unsafe { copy::<$element, $lanes>(x, plain, streamed, swapped) }
        }
    )*};
}
copy_kernels! {
    copy_f32x2: f32, 2;
    copy_f32x4: f32, 4;
    copy_f64x1: f64, 1;
    copy_f64x2: f64, 2;
    copy_f16x4: f16, 4;
    copy_f16x8: f16, 8;
    copy_i32x2: i32, 2;
    copy_i32x4: i32, 4;
    copy_u8x8: u8, 8;
    copy_u8x16: u8, 16;
}

/// Streaming loads of 4 bytes: one f32, and then two f16.
///
/// # Safety
/// 1. `x` and `out` have the same number of elements, `y` and `pairs` twice as many. `y` starts at
///    a multiple of 4 bytes.
#[kernel]
pub unsafe fn stream_words(
    x: Global<f32>,
    out: GlobalMut<f32>,
    y: Global<f16>,
    pairs: GlobalMut<f16>,
) {
    let index = thread::unique_index().get();
    // An index past the end has no effect.
    x.prefetch_l2(x.len() + index);
    if index >= x.len() {
        return;
    }
    // SAFETY: lengths and alignment are the caller's contract. The elements belong to this thread's
    // unique index.
    unsafe {
        let [value] = x.load_streaming::<1>(index);
        out.store(index, value);
        let [a, b] = y.load_streaming::<2>(index * 2);
        pairs.store(index * 2, b);
        pairs.store(index * 2 + 1, a);
    }
}

/// Copies vectors of `N` elements through L1 and L2, through L2 only, and in place through both.
///
/// # Safety
/// 1. The views have the same number of elements, a multiple of `N`, and start at a multiple of 16
///    bytes.
#[inline(always)]
unsafe fn copy_cached<T: cuda_std::Pod, const N: usize>(
    x: Global<T>,
    all: GlobalMut<T>,
    l2: GlobalMut<T>,
    swapped: GlobalMut<T>,
) {
    let first = thread::unique_index().get() * N;
    if first >= x.len() {
        return;
    }
    let put_all = |out: GlobalMut<T>, values: &[T; N]| {
        for (lane, value) in values.iter().enumerate() {
            // SAFETY: the elements belong to this thread's unique index.
            unsafe { put(out, first + lane, *value) };
        }
    };
    // SAFETY: lengths and alignment are the caller's contract. The vectors belong to this thread's
    // unique index.
    unsafe {
        put_all(all, &x.load_cached_all(first));
        put_all(l2, &x.load_cached_l2(first));
        let mut own: [T; N] = swapped.load_cached_all(first);
        own.reverse();
        put_all(swapped, &own);
        put_all(swapped, &swapped.load_cached_l2(first));
    }
}

macro_rules! cached_copy_kernels {
    ($($name:ident: $element:ty, $lanes:literal;)*) => {$(
        #[doc = concat!("Accesses of ", $lanes, " ", stringify!($element), ": `x` to `all` and `l2`, and each of `swapped` reversed.")]
        ///
        /// # Safety
        /// 1. The views have the same number of elements, a multiple of a vector's, and start at multiples of 16
        ///    bytes.
        #[kernel]
        pub unsafe fn $name(x: Global<$element>, all: GlobalMut<$element>, l2: GlobalMut<$element>, swapped: GlobalMut<$element>) {
            // SAFETY: the callee's contract is this function's.
            unsafe { copy_cached::<$element, $lanes>(x, all, l2, swapped) }
        }
    )*};
}
cached_copy_kernels! {
    cached_f32x1: f32, 1;
    cached_f32x2: f32, 2;
    cached_f64x2: f64, 2;
    cached_u8x4: u8, 4;
}

constant_array! {
    /// Coefficients, constant term first.
    pub static COEFFICIENTS: [f64; 5] = [1.0, -2.0, 0.5, 0.0, 3.0];
}

constant_array! {
    /// Primes, which each lane looks up by itself.
    pub static PRIMES: [u16; 8] = [2, 3, 5, 7, 11, 13, 17, 19];
}

/// The polynomial of [`COEFFICIENTS`] at each `x`, times a prime that the thread looks up. One
/// thread in nine looks past the end and gets 0.
#[kernel]
pub fn polynomial(x: Global<f64>, y: GlobalMut<f64>) {
    let index = thread::unique_index();
    let prime = PRIMES.get(index.get() % 9).map_or(0.0, f64::from);
    if let (Some(x), Some(y)) = (x.get(index.get()), y.own(index)) {
        let mut value = 0.0;
        for power in (0..COEFFICIENTS.len()).rev() {
            // SAFETY: `power` is below the number of elements.
            value = value * x + unsafe { COEFFICIENTS.load(power) };
        }
        y.set(value * prime);
    }
}
