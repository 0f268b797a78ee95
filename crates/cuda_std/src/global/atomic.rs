//! Views of elements that any thread may change, atomically.

use super::{part_from, view_basics};
use crate::atomic::{AtomicAdd, AtomicInteger, AtomicRef};
use crate::machine::{self, AtomicSpace};
use bytemuck::Pod;
use core::marker::PhantomData;

/// Elements of global memory that this launch accesses only atomically; no other view of it overlaps them. Any thread
/// may access any element, without `unsafe`.
///
/// The operations are those of [`atomic`](crate::atomic), relaxed and device-scoped; [`atomic_ref`](Self::atomic_ref)
/// has other orders. An operation returns the previous value, or `None` if the index is past the end.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// Adds the number of each `v` in `values` to `bins[v]`. Values without a bin are not counted.
/// #[kernel]
/// pub fn histogram(values: Global<u32>, bins: GlobalAtomic<u32>) {
///     for i in thread::unique_indices(values.len()) {
///         if let Some(value) = values.get(i.get()) {
///             bins.fetch_add(value as usize, 1);
///         }
///     }
/// }
/// ```
#[derive(Debug)]
pub struct GlobalAtomic<'launch, T> {
    /// A raw pointer is neither `Send` nor `Sync`: the view stays with its thread.
    base: *mut T,
    len: usize,
    launch: PhantomData<&'launch mut [T]>,
}
view_basics!(GlobalAtomic, *mut T);

macro_rules! operations {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[inline(always)]
        #[track_caller]
        pub fn $name(self, index: usize, value: T) -> Option<T> {
            if index >= self.len {
                return None;
            }
            // SAFETY: the index was compared with the length, and the view has only atomic
            // operations.
            Some(unsafe { T::$name(None, AtomicSpace::Global, self.base, self.len, index, value) })
        }
    )*};
}

impl<T: Pod> GlobalAtomic<'_, T> {
    /// The `len` elements from `base` on.
    ///
    /// # Safety
    /// 1. `base` is aligned for `T` and the elements are allocated in device memory (the
    ///    simulator's: host memory) for the lifetime `'launch`.
    /// 2. Meanwhile nothing outside the launch, and no other view of the launch, touches them.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn from_raw_parts(base: *mut T, len: usize) -> Self {
        Self {
            base,
            len,
            launch: PhantomData,
        }
    }
}

impl<T> GlobalAtomic<'_, T> {
    /// The elements from `first` on; none if the view ends before it.
    #[inline(always)]
    #[must_use]
    pub const fn skip(self, first: usize) -> Self {
        part_from!(self, first)
    }
}

impl<'launch, T: AtomicAdd> GlobalAtomic<'launch, T> {
    /// Element `index`, for operations that have an order and a scope.
    #[inline(always)]
    #[must_use]
    pub fn atomic_ref(self, index: usize) -> Option<AtomicRef<'launch, T>> {
        if index >= self.len {
            return None;
        }
        // SAFETY: the index was compared with the length, and the view has only atomic operations.
        Some(unsafe { AtomicRef::new(AtomicSpace::Global, self.base, self.len, index) })
    }

    operations! {
        /// Adds `value` to element `index`. Integers wrap; the order in which threads add floats is
        /// not fixed, nor are the bits of their sum.
        fetch_add;
    }
}

impl<T: AtomicInteger> GlobalAtomic<'_, T> {
    operations! {
        /// Makes element `index` the smaller of itself and `value`.
        fetch_min;
        /// Makes element `index` the larger of itself and `value`.
        fetch_max;
        /// Element `index` and `value`, bit by bit.
        fetch_and;
        /// Element `index` or `value`, bit by bit.
        fetch_or;
        /// Element `index` xor `value`, bit by bit.
        fetch_xor;
        /// Writes `value` to element `index`.
        swap;
    }

    /// Writes `new` to element `index` if it is `current`; returns what it was.
    #[inline(always)]
    #[track_caller]
    pub fn compare_exchange(self, index: usize, current: T, new: T) -> Option<T> {
        if index >= self.len {
            return None;
        }
        // SAFETY: the index was compared with the length, and the view has only atomic operations.
        Some(unsafe {
            T::compare_exchange(
                None,
                AtomicSpace::Global,
                self.base,
                self.len,
                index,
                [current, new],
            )
        })
    }

    /// Element `index`.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn load(self, index: usize) -> Option<T> {
        if index >= self.len {
            return None;
        }
        // SAFETY: the index was compared with the length, and the view has only atomic operations.
        Some(unsafe {
            <T as machine::AtomicInteger>::load(
                None,
                AtomicSpace::Global,
                self.base,
                self.len,
                index,
            )
        })
    }

    /// Writes element `index`; returns false if it is past the end.
    #[inline(always)]
    #[track_caller]
    pub fn store(self, index: usize, value: T) -> bool {
        if index >= self.len {
            return false;
        }
        // SAFETY: the index was compared with the length, and the view has only atomic operations.
        unsafe {
            <T as machine::AtomicInteger>::store(
                None,
                AtomicSpace::Global,
                self.base,
                self.len,
                index,
                value,
            );
        }
        true
    }
}
