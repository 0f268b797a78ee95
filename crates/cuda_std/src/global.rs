//! Views of global memory, the parameters of kernels.
//!
//! On a GPU a view is a pointer and a length, and an access is one instruction. In the simulator
//! each access is checked against the view's bounds and reported with its source line.
//!
//! A view ends with its launch and stays with its thread: its lifetime is the launch's, and it is
//! neither `Send` nor `Sync`. Kernel parameters omit the lifetime. Code that keeps a view for a
//! later launch, or passes it to a host thread, does not compile:
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
            /// The number of elements.
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

            /// The parameters of a launch: references to the address and the length.
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

/// Address and number of the elements from `first` on; none if the view ends before it.
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
    /// The elements from `first` on; none if the view ends before it.
    #[inline(always)]
    #[must_use]
    pub const fn skip(self, first: usize) -> Self {
        part_from!(self, first)
    }
}

impl<T> GlobalMut<'_, T> {
    /// The elements from `first` on; none if the view ends before it.
    ///
    /// Element `first` becomes element 0. If one thread skips an element and another does not, both own the same
    /// element:
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
    /// 1. Threads [own](Self::own) elements of the result only if all threads of the launch skip the same number.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn skip(self, first: usize) -> Self {
        part_from!(self, first)
    }
}

/// Loads of `index..index + N` in one access of 4, 8 or 16 bytes, with a cache operator.
macro_rules! cached_loads {
    ($($(#[$meta:meta])* $name:ident = $cache:ident;)*) => {$(
        $(#[$meta])*
        #[inline(always)]
        #[track_caller]
        #[must_use]
        pub unsafe fn $name<const N: usize>(self, index: usize) -> [T; N] {
            const { assert_cached::<T, N>() };
            // SAFETY: the range and the alignment: the caller's contract. No thread writes the
            // elements of a `Global`; for a `GlobalMut` that is the caller's contract.
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
    /// 2. Meanwhile no thread writes elements that are read through the view. Elements that are not read, such as
    ///    those between the rows of a matrix, may be written through another view.
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

    /// Element `index`, or `None` if it is past the end.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn get(self, index: usize) -> Option<T> {
        // No closure: it would be the place that the simulator reports.
        if index < self.len {
            // SAFETY: `index < len`: compared above.
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
        // SAFETY: the caller's contract. No thread writes the elements of a `Global`.
        let [value] = unsafe { machine::load_read_only::<T, 1>(self.base, self.len, index) };
        value
    }

    /// Elements `index..index + N` in one access of 2, 4, 8 or 16 bytes. Other widths do not compile:
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
    /// 2. The address of element `index` is a multiple of `N * size_of::<T>()`. A whole buffer of the host library is
    ///    aligned to 256 bytes, a slice of one only to its element: a safe kernel has to check
    ///    [`as_ptr`](Self::as_ptr).
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load_vector<const N: usize>(self, index: usize) -> [T; N] {
        const { assert_vector::<T, N>() };
        // SAFETY: the caller's contract. No thread writes the elements of a `Global`.
        unsafe { machine::load_read_only::<T, N>(self.base, self.len, index) }
    }

    cached_loads! {
        /// Elements `index..index + N` in one access of 4, 8 or 16 bytes through L1 and L2
        /// (`ld.global.ca`). L1 keeps lines of 128 bytes.
        ///
        /// # Safety
        /// 1. `index + N <= self.len()`.
        /// 2. The address of element `index` is a multiple of `N * size_of::<T>()`.
        load_cached_all = All;

        /// Elements `index..index + N` in one access of 4, 8 or 16 bytes through L2 alone
        /// (`ld.global.cg`). L2 transfers sectors of 32 bytes.
        ///
        /// # Safety
        /// 1. `index + N <= self.len()`.
        /// 2. The address of element `index` is a multiple of `N * size_of::<T>()`.
        load_cached_l2 = L2;

        /// Elements `index..index + N` in one access of 4, 8 or 16 bytes, for data that is read
        /// once: its cache lines are evicted first (`ld.global.cs`).
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
            // SAFETY: `index < len`: compared above.
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
    /// 2. Meanwhile nothing outside the launch, and no other view of the launch, touches elements
    ///    that are accessed through the view.
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
        // SAFETY: the caller's contract.
        let [value] = unsafe { machine::load::<T, 1>(Space::Global, self.base, self.len, index) };
        value
    }

    /// Elements `index..index + N` in one access of 2, 4, 8 or 16 bytes.
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
        // SAFETY: the caller's contract.
        unsafe { machine::load::<T, N>(Space::Global, self.base, self.len, index) }
    }

    cached_loads! {
        /// Elements `index..index + N` in one access of 4, 8 or 16 bytes through L1 and L2
        /// (`ld.global.ca`). L1 keeps lines of 128 bytes, and does not see later writes of other
        /// multiprocessors.
        ///
        /// # Safety
        /// 1. `index + N <= self.len()`.
        /// 2. The address of element `index` is a multiple of `N * size_of::<T>()`.
        /// 3. No other thread writes them, unless a barrier of its block orders the two.
        load_cached_all = All;

        /// Elements `index..index + N` in one access of 4, 8 or 16 bytes through L2 alone
        /// (`ld.global.cg`). L2 transfers sectors of 32 bytes.
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
        // SAFETY: the caller's contract.
        unsafe { machine::store::<T, 1>(Space::Global, self.base, self.len, index, [value]) }
    }

    /// Writes elements `index..index + N` in one access of 2, 4, 8 or 16 bytes.
    ///
    /// # Safety
    /// 1. `index + N <= self.len()`.
    /// 2. The address of element `index` is a multiple of `N * size_of::<T>()`.
    /// 3. No other thread touches them, unless a barrier or a fence with an atomic orders the two.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store_vector<const N: usize>(self, index: usize, values: [T; N]) {
        const { assert_vector::<T, N>() };
        // SAFETY: the caller's contract.
        unsafe { machine::store::<T, N>(Space::Global, self.base, self.len, index, values) }
    }
}
