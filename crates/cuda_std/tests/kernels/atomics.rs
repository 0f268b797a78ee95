//! Atomic operations: all threads of the launch work on the same few elements.

use crate::put;
use cuda_std::atomic::AtomicInteger;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// The words of an integer kernel: one for each operation.
pub const WORDS: usize = 8;

/// Applies every operation with `value`, each to a word of its own, by the functions of `$memory`,
/// and returns the results of addition and exchange. The last word counts by compare-and-exchange.
macro_rules! apply_all {
    ($memory:ident, $value:ident, $one:expr) => {{
        let old = $memory.atomic_add(0, $value);
        $memory.atomic_min(1, $value);
        $memory.atomic_max(2, $value);
        $memory.atomic_and(3, $value);
        $memory.atomic_or(4, $value);
        $memory.atomic_xor(5, $value);
        let exchanged = $memory.atomic_exchange(6, $value);
        let mut current = $memory.atomic_load(7);
        loop {
            let found = $memory.atomic_compare_exchange(7, current, current + $one);
            if found == current {
                break;
            }
            current = found;
            thread::yield_now();
        }
        (old, exchanged)
    }};
}

/// # Safety
/// 1. `words` has [`WORDS`] elements, `x` one for each thread and `out` 2.
#[inline(always)]
unsafe fn in_global<T: AtomicInteger + core::ops::Add<Output = T> + PartialEq>(
    one: T,
    x: Global<T>,
    words: GlobalMut<T>,
    out: GlobalMut<T>,
) {
    let index = thread::unique_index().get();
    // SAFETY: the lengths are the caller's contract. Only atomic operations access the words, and
    // the other elements belong to this thread's unique index.
    unsafe {
        let value = x.load(index);
        let (added, exchanged) = apply_all!(words, value, one);
        put(out, index * 2, added);
        put(out, index * 2 + 1, exchanged);
    }
}

/// # Safety
/// 1. The launch has one block. `words` has [`WORDS`] elements, `x` one for each thread and `out`
///    2; `shared` has [`WORDS`], and belongs to the block.
#[inline(always)]
unsafe fn in_shared<T: AtomicInteger + core::ops::Add<Output = T> + PartialEq>(
    one: T,
    x: Global<T>,
    words: GlobalMut<T>,
    out: GlobalMut<T>,
    shared: SharedSlice<T>,
) {
    let index = thread::unique_index().get();
    // SAFETY: the lengths are the caller's contract. Between the barriers only atomic operations
    // access the words; before and after, only the thread with the word's index does.
    unsafe {
        if index < WORDS {
            shared.atomic_store(index, words.load(index));
        }
        thread::sync_threads();
        let value = x.load(index);
        let (added, exchanged) = apply_all!(shared, value, one);
        put(out, index * 2, added);
        put(out, index * 2 + 1, exchanged);
        thread::sync_threads();
        if index < WORDS {
            put(words, index, shared.load(index));
        }
    }
}

macro_rules! integer_kernels {
    ($($global:ident, $shared:ident, $array:ident: $element:ty;)*) => {$(
        #[doc = concat!("Every atomic operation on ", stringify!($element), " in global memory.")]
        ///
        /// # Safety
        /// 1. `words` has [`WORDS`] elements, `x` one for each thread and `out` 2.
        #[kernel]
        pub unsafe fn $global(x: Global<$element>, words: GlobalMut<$element>, out: GlobalMut<$element>) {
            // SAFETY: the callee's contract is this function's.
            unsafe { in_global(1, x, words, out) }
        }

        #[doc = concat!("Every atomic operation on ", stringify!($element), " in dynamic shared memory.")]
        ///
        /// # Safety
        /// 1. The launch has one block of at least [`WORDS`] threads, and dynamic shared memory
        ///    for as many elements. `words` has [`WORDS`] elements, `x` one for each thread and
        ///    `out` 2.
        #[kernel]
        pub unsafe fn $shared(x: Global<$element>, words: GlobalMut<$element>, out: GlobalMut<$element>) {
            // SAFETY: the callee's contract is this function's.
            unsafe { in_shared(1, x, words, out, dynamic_shared![$element]) }
        }

        #[doc = concat!("Every atomic operation on ", stringify!($element), " in a static array.")]
        ///
        /// # Safety
        /// 1. The launch has one block of at least [`WORDS`] threads. `words` has [`WORDS`]
        ///    elements, `x` one for each thread and `out` 2.
        #[kernel]
        pub unsafe fn $array(x: Global<$element>, words: GlobalMut<$element>, out: GlobalMut<$element>) {
            let array = shared_array![$element; WORDS];
            let index = thread::unique_index().get();
            // SAFETY: the lengths are the caller's contract. Between the barriers only atomic
            // operations access the words; before and after, only the thread with the word's index
            // does.
            unsafe {
                if index < WORDS {
                    array.atomic_store(index, words.load(index));
                }
                thread::sync_threads();
                let value = x.load(index);
                let (added, exchanged) = apply_all!(array, value, 1);
                put(out, index * 2, added);
                put(out, index * 2 + 1, exchanged);
                thread::sync_threads();
                if index < WORDS {
                    put(words, index, array.load(index));
                }
            }
        }
    )*};
}
integer_kernels! {
    atomics_u32, shared_atomics_u32, array_atomics_u32: u32;
    atomics_i32, shared_atomics_i32, array_atomics_i32: i32;
    atomics_u64, shared_atomics_u64, array_atomics_u64: u64;
    atomics_i64, shared_atomics_i64, array_atomics_i64: i64;
}

macro_rules! float_kernels {
    ($($name:ident: $element:ty;)*) => {$(
        #[doc = concat!("Adds ", stringify!($element), " to `sums[0]`, and to `sums[1]` through shared memory.")]
        ///
        /// # Safety
        /// 1. The launch has one-dimensional blocks; `x` has an element for each thread, `sums` 2.
        #[kernel]
        pub unsafe fn $name(x: Global<$element>, sums: GlobalMut<$element>) {
            let of_block = shared_array![$element; 1];
            // SAFETY: the lengths are the caller's contract. Barriers separate the plain accesses
            // of thread 0 from the atomic ones.
            unsafe {
                if thread::thread_idx_x() == 0 {
                    of_block.store(0, 0.0);
                }
                thread::sync_threads();
                let value = x.load(thread::unique_index().get());
                let _ = sums.atomic_add(0, value);
                let _ = of_block.atomic_add(0, value);
                thread::sync_threads();
                if thread::thread_idx_x() == 0 {
                    let _ = sums.atomic_add(1, of_block.load(0));
                }
            }
        }
    )*};
}
float_kernels! {
    atomics_f32: f32;
    atomics_f64: f64;
}
