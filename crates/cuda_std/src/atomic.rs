//! Atomic operations on global memory and on shared memory, including that of other blocks of the cluster.
//!
//! The views' operations are relaxed and device-scoped: they order nothing else. To publish data, a thread writes it,
//! calls [`fence_device`](crate::thread::fence_device), then changes the atomic; a thread that sees the change calls
//! the fence, then reads. [`AtomicRef`] has acquire and release operations, which need no fences, and other scopes.
//! [`fence`] has weaker fences, for every scope.
//!
//! The order in which threads of a launch add is not fixed. Integer sums do not depend on it; a floating-point sum
//! may differ from run to run.
//!
//! [`GlobalAtomic`](crate::global::GlobalAtomic), a view of atomics, needs no `unsafe`. In shared memory:
//!
//! ```
//! use cuda_std::prelude::*;
//!
//! /// Adds the number of negative elements of `x` to `counts[0]`.
//! #[kernel]
//! pub fn count_negative(x: Global<f32>, counts: GlobalAtomic<u32>) {
//!     let count = shared_array![u32; 1];
//!     if thread::rank_in_block() == 0 {
//!         // SAFETY: the array has one element, and only the first thread writes it.
//!         unsafe { count.store(0, 0) };
//!     }
//!     thread::sync_threads();
//!     if x.get(thread::unique_index().get()).is_some_and(|x| x < 0.0) {
//!         // SAFETY: the array has one element. Between the barriers all accesses are atomic.
//!         unsafe { count.atomic_add(0, 1) };
//!     }
//!     thread::sync_threads();
//!     if thread::rank_in_block() == 0 {
//!         // SAFETY: the element was written, and the barrier orders this load after the atomics.
//!         counts.fetch_add(0, unsafe { count.load(0) });
//!     }
//! }
//! ```

mod order;
mod reference;

pub use order::{
    AcqRel, Acquire, BlockScope, ClusterScope, DeviceScope, FenceOrder, LoadOrder, Relaxed,
    Release, Scope, SeqCst, StoreOrder, SystemScope, UpdateOrder,
};
pub use reference::AtomicRef;

use crate::global::GlobalMut;
use crate::machine::{self, AtomicSpace};
use crate::shared::{RemoteSlice, SharedArray, SharedSlice};
use bytemuck::Pod;

/// A word with an atomic addition: u32, i32, u64, i64, f32, f64.
pub trait AtomicAdd: Pod + machine::AtomicWord {}
impl<T: machine::AtomicWord> AtomicAdd for T {}

/// A word with all atomic operations: u32, i32, u64, i64.
pub trait AtomicInteger: AtomicAdd + machine::AtomicInteger {}
impl<T: machine::AtomicInteger> AtomicInteger for T {}

/// A fence with an order and a scope: CUDA C++'s `cuda::atomic_thread_fence`.
///
/// [`AcqRel`] orders two threads through a word. The first fences, then writes the word atomically. The second reads
/// that value atomically, then fences. Everything the first did before its fence happens before everything the second
/// does after its own. (`fence.acq_rel`)
///
/// [`SeqCst`] also puts these fences in one order. If two threads each write a word atomically, fence, and read the
/// other's word, at least one reads the other's write. The fences of [`thread`](crate::thread) have this order.
/// (`fence.sc`)
///
/// The scope of each fence must include the other thread. [`ClusterScope`] is for kernels for compute capability
/// 9.0 and later.
///
/// ```
/// use cuda_std::atomic::{AcqRel, DeviceScope, fence};
/// use cuda_std::prelude::*;
///
/// /// The first block hands an element to the second.
/// ///
/// /// # Safety
/// /// 1. `x`, `letter`, `flag` and `out` have one element, and the flag is 0. The launch has two blocks of one
/// ///    thread.
/// #[kernel]
/// pub unsafe fn hand_over(x: Global<u32>, letter: GlobalMut<u32>, flag: GlobalAtomic<u32>, out: GlobalMut<u32>) {
///     // SAFETY: the views have the elements: the caller's contract. The fences and the flag order the two threads.
///     unsafe {
///         if thread::block_idx_x() == 0 {
///             letter.store(0, x.load(0));
///             fence(AcqRel, DeviceScope);
///             flag.store(0, 1);
///         } else {
///             while flag.load(0) != Some(1) {
///                 thread::yield_now();
///             }
///             fence(AcqRel, DeviceScope);
///             out.store(0, letter.load(0));
///         }
///     }
/// }
/// ```
#[inline(always)]
pub fn fence<O: FenceOrder, S: Scope>(_order: O, _scope: S) {
    O::fence(S::SCOPE);
}

/// A view's memory space, address and length.
type Words<T> = (AtomicSpace, *mut T, usize);

macro_rules! words_of {
    ($($view:ty $(, const $len:ident)?: $space:expr;)*) => {$(
        impl<T: Pod $(, const $len: usize)?> $view {
            #[inline(always)]
            const fn words(self) -> Words<T> {
                ($space, self.as_mut_ptr(), self.len())
            }
        }
    )*};
}
words_of! {
    GlobalMut<'_, T>: AtomicSpace::Global;
    SharedSlice<'_, T>: AtomicSpace::Shared;
    SharedArray<'_, T, LEN>, const LEN: AtomicSpace::Shared;
}

macro_rules! operations {
    ($others:literal: $($(#[$meta:meta])* $name:ident => $operation:ident;)*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// 1. `index` lies within the memory.
        #[doc = $others]
        #[inline(always)]
        #[track_caller]
        pub unsafe fn $name(self, index: usize, value: T) -> T {
            let (space, base, len) = self.words();
            // SAFETY: the index, conflicting accesses and, for remote memory, the block's lifetime:
            // the caller's contract.
            unsafe { T::$operation(None, space, base, len, index, value) }
        }
    )*};
}

/// The atomic operations of a view. `$others` lists their requirements beyond (1).
macro_rules! atomics_of {
    ($view:ty $(, const $len:ident)?: $others:literal) => {
        impl<T: AtomicAdd $(, const $len: usize)?> $view {
            operations! {
                $others:
                /// Adds `value` to element `index` and returns what it was. Integers wrap.
                atomic_add => fetch_add;
            }
        }

        impl<T: AtomicInteger $(, const $len: usize)?> $view {
            operations! {
                $others:
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
            #[doc = $others]
            #[inline(always)]
            #[track_caller]
            pub unsafe fn atomic_compare_exchange(self, index: usize, current: T, new: T) -> T {
                let (space, base, len) = self.words();
                // SAFETY: the index, conflicting accesses and, for remote memory, the block's
                // lifetime: the caller's contract.
                unsafe { T::compare_exchange(None, space, base, len, index, [current, new]) }
            }

            /// Loads element `index`, without the read-only cache and never torn.
            ///
            /// # Safety
            /// 1. `index` lies within the memory.
            #[doc = $others]
            #[inline(always)]
            #[track_caller]
            pub unsafe fn atomic_load(self, index: usize) -> T {
                let (space, base, len) = self.words();
                // SAFETY: the index, conflicting accesses and, for remote memory, the block's
                // lifetime: the caller's contract.
                unsafe { <T as machine::AtomicInteger>::load(None, space, base, len, index) }
            }

            /// Writes element `index`, never torn.
            ///
            /// # Safety
            /// 1. `index` lies within the memory.
            #[doc = $others]
            #[inline(always)]
            #[track_caller]
            pub unsafe fn atomic_store(self, index: usize, value: T) {
                let (space, base, len) = self.words();
                // SAFETY: the index, conflicting accesses and, for remote memory, the block's
                // lifetime: the caller's contract.
                unsafe { <T as machine::AtomicInteger>::store(None, space, base, len, index, value) }
            }
        }
    };
}
atomics_of!(
    GlobalMut<'_, T>:
    "2. Other threads touch the element with atomic operations only, unless a barrier orders them."
);
atomics_of!(
    SharedSlice<'_, T>:
    "2. Other threads touch the element with atomic operations only, unless a barrier orders them."
);
atomics_of!(
    SharedArray<'_, T, LEN>, const LEN:
    "2. Other threads touch the element with atomic operations only, unless a barrier orders them."
);
atomics_of!(
    RemoteSlice<'_, T>:
    "2. Other threads touch the element with atomic operations only, unless a barrier of the cluster orders \
     them.
3. The block has started before the operation, and does not end until after it."
);
