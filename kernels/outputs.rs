//! How kernels of custom operations store results whose size they do not choose: in vectors, or one by one.

use cuda_std::Pod;
use cuda_std::global::GlobalMut;

/// Results in a vector of a thread that stores those of 16 bytes of elements: at most 16 bytes, a power of two, or 1.
#[must_use]
pub const fn outputs_of<T, O>() -> usize {
    let (lanes, bytes) = (16 / size_of::<T>(), size_of::<O>());
    if !bytes.is_power_of_two() || bytes > 16 {
        return 1;
    }
    let fit = 16 / bytes;
    if fit < lanes { fit } else { lanes }
}

/// Whether those results are a vector.
#[must_use]
pub const fn are_vector<T, O>() -> bool {
    matches!(outputs_of::<T, O>() * size_of::<O>(), 2 | 4 | 8 | 16)
}

/// Whether results are stored in vectors.
#[derive(Clone, Copy, Debug)]
pub struct Way<const VECTORS: bool>;

/// A way to store results.
pub trait StoreWay {
    /// Whether results are stored in vectors.
    const IS_VECTOR: bool;

    /// Stores results from `at` on.
    ///
    /// # Safety
    /// 1. `y` has the elements, which no other thread touches. A vector is aligned.
    #[track_caller]
    unsafe fn store<O: Pod, const N: usize>(y: GlobalMut<O>, at: usize, results: [O; N]);
}

impl StoreWay for Way<true> {
    const IS_VECTOR: bool = true;

    #[inline(always)]
    #[track_caller]
    unsafe fn store<O: Pod, const N: usize>(y: GlobalMut<O>, at: usize, results: [O; N]) {
        // SAFETY: the caller's contract.
        unsafe { y.store_vector(at, results) };
    }
}

impl StoreWay for Way<false> {
    const IS_VECTOR: bool = false;

    #[inline(always)]
    #[track_caller]
    unsafe fn store<O: Pod, const N: usize>(y: GlobalMut<O>, at: usize, results: [O; N]) {
        let mut number = 0;
        while number < N {
            // SAFETY: the caller's contract.
            unsafe { y.store(at + number, results[number]) };
            number += 1;
        }
    }
}
