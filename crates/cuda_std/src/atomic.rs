//! Atomic operations on elements of global and shared memory.
//!
//! Those of the views are relaxed, with the scope of the device: they order nothing else. A thread that
//! publishes data writes it, calls [`fence_device`](crate::thread::fence_device), then changes
//! the atomic; a thread that sees the change calls the fence, then reads. An [`AtomicRef`] has operations
//! that acquire and release, which do without fences, and narrower scopes.
//!
//! The order in which threads of one launch add is not fixed. Integer sums do not mind; a
//! floating-point sum may differ from run to run.
//!
//! Views of atomics, [`GlobalAtomic`](crate::global::GlobalAtomic), need no `unsafe`. In shared memory:
//!
//! ```
//! use cuda_std::prelude::*;
//!
//! /// How many elements of each block's part of `x` are negative, added to `counts`.
//! #[kernel]
//! pub fn count_negative(x: Global<f32>, counts: GlobalAtomic<u32>) {
//!     let count = shared_array![u32; 1];
//!     if thread::rank_in_block() == 0 {
//!         // SAFETY: (1) there is one element. (2) The first thread alone writes it.
//!         unsafe { count.store(0, 0) };
//!     }
//!     thread::sync_threads();
//!     if x.get(thread::own_index().get()).is_some_and(|x| x < 0.0) {
//!         // SAFETY: (1) there is one element. (2) Between the barriers there are atomics alone.
//!         unsafe { count.atomic_add(0, 1) };
//!     }
//!     thread::sync_threads();
//!     if thread::rank_in_block() == 0 {
//!         // SAFETY: (1) the element was written. (2) The barrier is after the atomics.
//!         counts.fetch_add(0, unsafe { count.load(0) });
//!     }
//! }
//! ```

mod order;
mod reference;

pub use order::{
    AcqRel, Acquire, BlockScope, ClusterScope, DeviceScope, LoadOrder, Relaxed, Release, Scope,
    StoreOrder, SystemScope, UpdateOrder,
};
pub use reference::AtomicRef;

use crate::global::GlobalMut;
use crate::machine::{self, Space};
use crate::shared::{SharedArray, SharedSlice};
use bytemuck::Pod;

/// A word with an atomic addition: u32, i32, u64, i64, f32, f64.
pub trait AtomicAdd: Pod + machine::AtomicWord {}
impl<T: machine::AtomicWord> AtomicAdd for T {}

/// A word with all atomic operations: u32, i32, u64, i64.
pub trait AtomicInteger: AtomicAdd + machine::AtomicInteger {}
impl<T: machine::AtomicInteger> AtomicInteger for T {}

macro_rules! operations {
    ($($(#[$meta:meta])* $name:ident => $operation:ident;)*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// 1. `index` lies within the memory.
        /// 2. Other threads touch the element with atomic operations only, unless a barrier
        ///    orders them.
        #[inline(always)]
        #[track_caller]
        pub unsafe fn $name(self, index: usize, value: T) -> T {
            // SAFETY: (1), (2) are the caller's.
            unsafe { T::$operation(None, Self::SPACE, self.as_mut_ptr(), self.len(), index, value) }
        }
    )*};
}

macro_rules! atomics_of {
    ($view:ty, $space:expr $(, const $len:ident)?) => {
        impl<T: AtomicAdd $(, const $len: usize)?> $view {
            const SPACE: Space = $space;

            operations! {
                /// Adds `value` to element `index` and returns what it was. Integers wrap.
                atomic_add => fetch_add;
            }
        }

        impl<T: AtomicInteger $(, const $len: usize)?> $view {
            operations! {
                /// Makes element `index` the smaller of itself and `value`; returns what it was.
                atomic_min => fetch_min;
                /// Makes element `index` the larger of itself and `value`; returns what it was.
                atomic_max => fetch_max;
                /// Element `index` and `value`, bit by bit; returns what it was.
                atomic_and => fetch_and;
                /// Element `index` or `value`, bit by bit; returns what it was.
                atomic_or => fetch_or;
                /// Element `index` xor `value`, bit by bit; returns what it was.
                atomic_xor => fetch_xor;
                /// Writes `value` to element `index` and returns what it was.
                atomic_exchange => swap;
            }

            /// Writes `new` to element `index` if it is `current`; returns what it was.
            ///
            /// # Safety
            /// 1. `index` lies within the memory.
            /// 2. Other threads touch the element with atomic operations only, unless a barrier
            ///    orders them.
            #[inline(always)]
            #[track_caller]
            pub unsafe fn atomic_compare_exchange(self, index: usize, current: T, new: T) -> T {
                // SAFETY: (1), (2) are the caller's.
                unsafe { T::compare_exchange(None, Self::SPACE, self.as_mut_ptr(), self.len(), index, [current, new]) }
            }

            /// Element `index`, read past the read-only cache and never torn.
            ///
            /// # Safety
            /// 1. `index` lies within the memory.
            /// 2. Other threads touch the element with atomic operations only, unless a barrier
            ///    orders them.
            #[inline(always)]
            #[track_caller]
            pub unsafe fn atomic_load(self, index: usize) -> T {
                // SAFETY: (1), (2) are the caller's.
                unsafe { <T as machine::AtomicInteger>::load(None, Self::SPACE, self.as_mut_ptr(), self.len(), index) }
            }

            /// Writes element `index`, never torn.
            ///
            /// # Safety
            /// 1. `index` lies within the memory.
            /// 2. Other threads touch the element with atomic operations only, unless a barrier
            ///    orders them.
            #[inline(always)]
            #[track_caller]
            pub unsafe fn atomic_store(self, index: usize, value: T) {
                // SAFETY: (1), (2) are the caller's.
                unsafe { <T as machine::AtomicInteger>::store(None, Self::SPACE, self.as_mut_ptr(), self.len(), index, value) }
            }
        }
    };
}
atomics_of!(GlobalMut<'_, T>, Space::Global);
atomics_of!(SharedSlice<'_, T>, Space::Shared);
atomics_of!(SharedArray<'_, T, LEN>, Space::Shared, const LEN);
