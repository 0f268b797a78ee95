//! Views of global memory: what a kernel gets as its parameters.
//!
//! On a GPU a view is a pointer and a length, and an access is one instruction. In the simulator
//! each access is checked against the view's bounds and reported with its source line.
//!
//! A view ends with its launch and stays with its thread: its lifetime is the launch's, and it is
//! neither `Send` nor `Sync`. A kernel's parameter leaves the lifetime out. What would keep a view
//! for a later launch, or hand it to a host thread, does not compile:
//!
//! ```compile_fail,E0521
//! use cuda_std::prelude::*;
//! use std::cell::Cell;
//!
//! thread_local! {
//!     static KEPT: Cell<Option<GlobalMut<'static, f32>>> = const { Cell::new(None) };
//! }
//!
//! #[kernel]
//! pub fn keep(x: GlobalMut<f32>) {
//!     KEPT.set(Some(x));
//! }
//! ```

mod atomic;
mod kind;
mod matrix;
mod own_element;
mod width;

pub use atomic::GlobalAtomic;
pub use kind::{View, ViewKind};
pub use matrix::{GlobalMatrix, GlobalMatrixMut};
pub use own_element::OwnElement;
pub(crate) use width::assert_vector;

use crate::machine::{self, Cache, Space};
use bytemuck::Pod;
use core::marker::PhantomData;
use width::assert_cached;

/// Elements of global memory that no thread writes during the launch.
///
/// Reads go through the read-only cache (`ld.global.nc`).
#[derive(Debug)]
pub struct Global<'launch, T> {
    /// A raw pointer is neither `Send` nor `Sync`: the view stays with its thread.
    base: *const T,
    len: usize,
    launch: PhantomData<&'launch [T]>,
}

/// Elements of global memory that this launch may write; no other view of it overlaps them.
#[derive(Debug)]
pub struct GlobalMut<'launch, T> {
    /// A raw pointer is neither `Send` nor `Sync`: the view stays with its thread.
    base: *mut T,
    len: usize,
    launch: PhantomData<&'launch mut [T]>,
}

macro_rules! view_basics {
    ($view:ident, $base:ty) => {
        impl<T> Clone for $view<'_, T> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T> Copy for $view<'_, T> {}

        impl<T> $view<'_, T> {
            /// Elements of the view.
            #[inline(always)]
            #[must_use]
            pub const fn len(self) -> usize {
                self.len
            }

            /// Whether the view has no element.
            #[inline(always)]
            #[must_use]
            pub const fn is_empty(self) -> bool {
                self.len == 0
            }

            /// What a launch passes: the places of the address and of the length.
            #[cfg(not(target_arch = "nvptx64"))]
            pub(crate) fn parts(&self) -> (&$base, &usize) {
                (&self.base, &self.len)
            }
        }
    };
}
use view_basics;
view_basics!(Global, *const T);
view_basics!(GlobalMut, *mut T);

/// Where the elements from number `first` on are, and how many: none where the view ends before it.
macro_rules! part_from {
    ($view:expr, $first:expr) => {{
        let first = if $first < $view.len {
            $first
        } else {
            $view.len
        };
        Self {
            base: $view.base.wrapping_add(first),
            len: $view.len - first,
            launch: PhantomData,
        }
    }};
}
use part_from;

impl<T> Global<'_, T> {
    /// The elements from `first` on: none where the view ends before it.
    #[inline(always)]
    #[must_use]
    pub const fn skip(self, first: usize) -> Self {
        part_from!(self, first)
    }
}

impl<T> GlobalMut<'_, T> {
    /// The elements from `first` on: none where the view ends before it.
    ///
    /// Its first element is number 0 of the result. If one thread skips an element and another none, both have that
    /// element for their own:
    ///
    /// ```compile_fail,E0133
    /// use cuda_std::prelude::*;
    ///
    /// #[kernel]
    /// pub fn clash(x: GlobalMut<f32>) {
    ///     let i = thread::unique_index();
    ///     if let Some(x) = x.skip(usize::from(i.get() == 0)).own(i) {
    ///         x.set(0.0);
    ///     }
    /// }
    /// ```
    ///
    /// # Safety
    /// 1. Elements of the result are [own](Self::own) ones of a thread only if all threads of the launch skip as many.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn skip(self, first: usize) -> Self {
        part_from!(self, first)
    }
}

/// Loads of `index..index + N` in one access of 4, 8 or 16 bytes that say which caches they use.
macro_rules! cached_loads {
    ($($(#[$meta:meta])* $name:ident = $cache:ident;)*) => {$(
        $(#[$meta])*
        #[inline(always)]
        #[track_caller]
        #[must_use]
        pub unsafe fn $name<const N: usize>(self, index: usize) -> [T; N] {
            const { assert_cached::<T, N>() };
            // SAFETY: (1), (2) are the caller's; no thread writes what a `Global` shows, and what a
            // `GlobalMut` shows is (3) of the caller.
            unsafe { machine::load_cached::<T, N>(Cache::$cache, self.base, self.len, index) }
        }
    )*};
}

impl<T: Pod> Global<'_, T> {
    /// The `len` elements from `base` on.
    ///
    /// # Safety
    /// 1. `base` is aligned for `T` and the elements are allocated in device memory (the
    ///    simulator's: host memory) for the lifetime `'launch`.
    /// 2. No thread writes meanwhile what is read through the view. Elements that are not read, such
    ///    as those between the rows of a matrix, may be written through another view.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn from_raw_parts(base: *const T, len: usize) -> Self {
        Self {
            base,
            len,
            launch: PhantomData,
        }
    }

    /// The address of the first element.
    #[inline(always)]
    #[must_use]
    pub const fn as_ptr(self) -> *const T {
        self.base
    }

    /// Element `index`, or `None` where the view ends before it.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn get(self, index: usize) -> Option<T> {
        // No closure: it would be the place that the simulator reports.
        if index < self.len {
            // SAFETY: (1) is the comparison.
            Some(unsafe { self.load(index) })
        } else {
            None
        }
    }

    /// Element `index`.
    ///
    /// # Safety
    /// 1. `index < self.len()`.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load(self, index: usize) -> T {
        // SAFETY: (1) is the caller's; no thread writes what a `Global` shows.
        let [value] = unsafe { machine::load_read_only::<T, 1>(self.base, self.len, index) };
        value
    }

    /// Elements `index..index + N` in one access of 4, 8 or 16 bytes. Other widths do not compile:
    ///
    /// ```compile_fail,E0080
    /// fn three(x: cuda_std::global::Global<f32>) -> [f32; 3] {
    ///     unsafe { x.load_vector::<3>(0) }
    /// }
    /// let three = three as fn(_) -> _;
    /// ```
    ///
    /// # Safety
    /// 1. `index + N <= self.len()`.
    /// 2. The address of element `index` is a multiple of `N * size_of::<T>()`. A whole buffer of the
    ///    host library starts at a multiple of 256, a part of one at any element: a safe kernel has
    ///    to look at [`as_ptr`](Self::as_ptr).
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load_vector<const N: usize>(self, index: usize) -> [T; N] {
        const { assert_vector::<T, N>() };
        // SAFETY: (1), (2) are the caller's; no thread writes what a `Global` shows.
        unsafe { machine::load_read_only::<T, N>(self.base, self.len, index) }
    }

    cached_loads! {
        /// Elements `index..index + N` in one access of 4, 8 or 16 bytes by way of L1 and L2
        /// (`ld.global.ca`), a cached load. L1 keeps lines of 128 bytes.
        ///
        /// # Safety
        /// 1. `index + N <= self.len()`.
        /// 2. The address of element `index` is a multiple of `N * size_of::<T>()`.
        load_cached_all = All;

        /// Elements `index..index + N` in one access of 4, 8 or 16 bytes by way of L2 alone
        /// (`ld.global.cg`), a non-cached load. L2 transfers sectors of 32
        /// bytes.
        ///
        /// # Safety
        /// 1. `index + N <= self.len()`.
        /// 2. The address of element `index` is a multiple of `N * size_of::<T>()`.
        load_cached_l2 = L2;

        /// Elements `index..index + N` in one access of 4, 8 or 16 bytes, for data that is read
        /// once: the cache lines are the first to be evicted (`ld.global.cs`).
        ///
        /// # Safety
        /// 1. `index + N <= self.len()`.
        /// 2. The address of element `index` is a multiple of `N * size_of::<T>()`.
        load_streaming = Streaming;
    }

    /// Prefetches the cache line of element `index` into L2. An index past the end is
    /// ignored.
    #[inline(always)]
    #[track_caller]
    pub fn prefetch_l2(self, index: usize) {
        if index < self.len {
            // SAFETY: (1) is the comparison.
            unsafe { machine::prefetch_l2(self.base, self.len, index) }
        }
    }
}

impl<'launch, T: Pod> GlobalMut<'launch, T> {
    /// The `len` elements from `base` on.
    ///
    /// # Safety
    /// 1. `base` is aligned for `T` and the elements are allocated in device memory (the
    ///    simulator's: host memory) for the lifetime `'launch`.
    /// 2. What is read or written through the view is touched meanwhile neither from outside of the
    ///    launch nor through another of its views.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn from_raw_parts(base: *mut T, len: usize) -> Self {
        Self {
            base,
            len,
            launch: PhantomData,
        }
    }

    /// The address of the first element.
    #[inline(always)]
    #[must_use]
    pub const fn as_mut_ptr(self) -> *mut T {
        self.base
    }

    /// Element `index`.
    ///
    /// # Safety
    /// 1. `index < self.len()`.
    /// 2. No other thread writes it, unless a barrier or a fence with an atomic orders the two.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load(self, index: usize) -> T {
        // SAFETY: (1), (2) are the caller's.
        let [value] = unsafe { machine::load::<T, 1>(Space::Global, self.base, self.len, index) };
        value
    }

    /// Elements `index..index + N` in one access of 4, 8 or 16 bytes.
    ///
    /// # Safety
    /// 1. `index + N <= self.len()`.
    /// 2. The address of element `index` is a multiple of `N * size_of::<T>()`.
    /// 3. No other thread writes them, unless a barrier or a fence with an atomic orders the two.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load_vector<const N: usize>(self, index: usize) -> [T; N] {
        const { assert_vector::<T, N>() };
        // SAFETY: (1), (2), (3) are the caller's.
        unsafe { machine::load::<T, N>(Space::Global, self.base, self.len, index) }
    }

    cached_loads! {
        /// Elements `index..index + N` in one access of 4, 8 or 16 bytes by way of L1 and L2
        /// (`ld.global.ca`), a cached load. L1 keeps lines of 128 bytes, and
        /// does not see what other multiprocessors have written to them since.
        ///
        /// # Safety
        /// 1. `index + N <= self.len()`.
        /// 2. The address of element `index` is a multiple of `N * size_of::<T>()`.
        /// 3. No other thread writes them, unless a barrier of its block orders the two.
        load_cached_all = All;

        /// Elements `index..index + N` in one access of 4, 8 or 16 bytes by way of L2 alone
        /// (`ld.global.cg`), a non-cached load. L2 transfers sectors of 32
        /// bytes.
        ///
        /// # Safety
        /// 1. `index + N <= self.len()`.
        /// 2. The address of element `index` is a multiple of `N * size_of::<T>()`.
        /// 3. No other thread writes them, unless a barrier or a fence with an atomic orders the
        ///    two.
        load_cached_l2 = L2;
    }

    /// Writes element `index`.
    ///
    /// # Safety
    /// 1. `index < self.len()`.
    /// 2. No other thread touches it, unless a barrier or a fence with an atomic orders the two.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store(self, index: usize, value: T) {
        // SAFETY: (1), (2) are the caller's.
        unsafe { machine::store::<T, 1>(Space::Global, self.base, self.len, index, [value]) }
    }

    /// Writes elements `index..index + N` in one access of 4, 8 or 16 bytes.
    ///
    /// # Safety
    /// 1. `index + N <= self.len()`.
    /// 2. The address of element `index` is a multiple of `N * size_of::<T>()`.
    /// 3. No other thread touches them, unless a barrier or a fence with an atomic orders the two.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store_vector<const N: usize>(self, index: usize, values: [T; N]) {
        const { assert_vector::<T, N>() };
        // SAFETY: (1), (2), (3) are the caller's.
        unsafe { machine::store::<T, N>(Space::Global, self.base, self.len, index, values) }
    }
}
