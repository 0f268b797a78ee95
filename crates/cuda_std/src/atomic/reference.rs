//! Atomic operations on one word, with an order and a scope.

use super::order::{DeviceScope, LoadOrder, Scope, StoreOrder, UpdateOrder};
use super::{AtomicAdd, AtomicInteger};
use crate::global::GlobalMut;
use crate::machine::{self, AtomicSpace, MemoryOrder, Ordering};
use crate::shared::{RemoteSlice, SharedArray, SharedSlice};
use core::marker::PhantomData;

/// A word accessed only by atomic operations, each with an order: CUDA C++'s `cuda::atomic_ref`. The scope is the
/// device, unless [`with_scope`](Self::with_scope) says otherwise.
///
/// If a load with [`Acquire`](super::Acquire) returns the value of a store with [`Release`](super::Release),
/// everything the storing thread did before happens before everything the loading thread does afterwards. No fence is
/// needed, but each scope must include the other thread. Updates between the two keep the order. (PTX ISA, "Memory
/// Consistency Model")
///
/// ```
/// use cuda_std::atomic::{Acquire, BlockScope, Release};
/// use cuda_std::prelude::*;
///
/// /// The first thread of each block hands an element to the first thread of the next warp.
/// ///
/// /// # Safety
/// /// 1. The launch has blocks of one dimension and two warps.
/// #[kernel]
/// pub unsafe fn hand_over(x: Global<u32>, out: GlobalMut<u32>) {
///     let (letter, flag) = (shared_array![u32; 1], shared_array![u32; 1]);
///     let element = x.get(thread::block_idx_x() as usize).unwrap_or_default();
///     // SAFETY: the array has one element, accessed only by atomic operations. Only threads of the block access it:
///     // the scope includes them.
///     let flag = unsafe { flag.atomic_ref(0).with_scope::<BlockScope>() };
///     let is_first = thread::thread_idx_x() == 0;
///     if is_first {
///         flag.store(0, Release);
///     }
///     thread::sync_threads();
///     if is_first {
///         // SAFETY: the array has one element, and the flag orders the two threads.
///         unsafe { letter.store(0, element) };
///         flag.store(1, Release);
///     } else if thread::thread_idx_x() == warp::width() {
///         while flag.load(Acquire) == 0 {
///             thread::yield_now();
///         }
///         // SAFETY: the other thread wrote the element, and the flag orders the two threads.
///         let element = unsafe { letter.load(0) };
///         if let Some(place) = out.own(thread::unique_index()) {
///             place.set(element);
///         }
///     }
/// }
/// ```
#[derive(Debug)]
pub struct AtomicRef<'a, T, S = DeviceScope> {
    space: AtomicSpace,
    /// A raw pointer is neither `Send` nor `Sync`: the reference stays with its thread.
    base: *mut T,
    len: usize,
    index: usize,
    scope: PhantomData<(&'a mut [T], S)>,
}

impl<T, S> Clone for AtomicRef<'_, T, S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, S> Copy for AtomicRef<'_, T, S> {}

impl<'a, T, S> AtomicRef<'a, T, S> {
    /// Element `index` of the `len` elements at `base`.
    ///
    /// # Safety
    /// 1. `index` lies within the elements, which are allocated in `space` for the lifetime `'a`.
    /// 2. While one of the references to it is used, other threads touch the element with atomic operations
    ///    only, unless a barrier orders them.
    /// 3. If `space` is the memory of another block, that block is in the cluster, and does not end while one of the
    ///    references is used.
    #[inline(always)]
    pub(crate) const unsafe fn new(
        space: AtomicSpace,
        base: *mut T,
        len: usize,
        index: usize,
    ) -> Self {
        Self {
            space,
            base,
            len,
            index,
            scope: PhantomData,
        }
    }

    /// The same word, with another scope.
    ///
    /// # Safety
    /// 1. Any two threads that access the word are in the scope of each other's operation, unless something else
    ///    orders them.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn with_scope<To: Scope>(self) -> AtomicRef<'a, T, To> {
        AtomicRef {
            space: self.space,
            base: self.base,
            len: self.len,
            index: self.index,
            scope: PhantomData,
        }
    }
}

impl<T, S: Scope> AtomicRef<'_, T, S> {
    const fn ordering(order: MemoryOrder) -> Ordering {
        Some((order, S::SCOPE))
    }
}

macro_rules! updates {
    ($($(#[$meta:meta])* $name:ident => $operation:ident;)*) => {$(
        $(#[$meta])*
        #[inline(always)]
        #[track_caller]
        pub fn $name<O: UpdateOrder>(self, value: T, _order: O) -> T {
            let Self { space, base, len, index, .. } = self;
            // SAFETY: the index, conflicting accesses and the block's lifetime: the contracts of
            // `new` and `with_scope`.
            unsafe { T::$operation(Self::ordering(O::ORDER), space, base, len, index, value) }
        }
    )*};
}

impl<T: AtomicAdd, S: Scope> AtomicRef<'_, T, S> {
    updates! {
        /// Adds `value` and returns what the word was. Integers wrap; the order in which threads add floats
        /// is not fixed, nor are the bits of their sum.
        fetch_add => fetch_add;
    }
}

impl<T: AtomicInteger, S: Scope> AtomicRef<'_, T, S> {
    updates! {
        /// Makes the word the smaller of itself and `value`; returns what it was.
        fetch_min => fetch_min;
        /// Makes the word the larger of itself and `value`; returns what it was.
        fetch_max => fetch_max;
        /// The word and `value`, bit by bit; returns what it was.
        fetch_and => fetch_and;
        /// The word or `value`, bit by bit; returns what it was.
        fetch_or => fetch_or;
        /// The word xor `value`, bit by bit; returns what it was.
        fetch_xor => fetch_xor;
        /// Writes `value` and returns what the word was.
        swap => swap;
    }

    /// Writes `new` if the word is `current`; returns what it was. The order holds in both cases.
    #[inline(always)]
    #[track_caller]
    pub fn compare_exchange<O: UpdateOrder>(self, current: T, new: T, _order: O) -> T {
        let Self {
            space,
            base,
            len,
            index,
            ..
        } = self;
        let ordering = Self::ordering(O::ORDER);
        // SAFETY: the index, conflicting accesses and the block's lifetime: the contracts of `new`
        // and `with_scope`.
        unsafe { T::compare_exchange(ordering, space, base, len, index, [current, new]) }
    }

    /// The word.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn load<O: LoadOrder>(self, _order: O) -> T {
        let Self {
            space,
            base,
            len,
            index,
            ..
        } = self;
        // SAFETY: the index, conflicting accesses and the block's lifetime: the contracts of `new`
        // and `with_scope`.
        unsafe {
            <T as machine::AtomicInteger>::load(Self::ordering(O::ORDER), space, base, len, index)
        }
    }

    /// Writes the word.
    #[inline(always)]
    #[track_caller]
    pub fn store<O: StoreOrder>(self, value: T, _order: O) {
        let Self {
            space,
            base,
            len,
            index,
            ..
        } = self;
        // SAFETY: the index, conflicting accesses and the block's lifetime: the contracts of `new`
        // and `with_scope`.
        unsafe {
            <T as machine::AtomicInteger>::store(
                Self::ordering(O::ORDER),
                space,
                base,
                len,
                index,
                value,
            )
        };
    }
}

macro_rules! references_of {
    ($view:ty $(, const $len:ident)?: $others:literal) => {
        impl<'a, T: AtomicAdd $(, const $len: usize)?> $view {
            /// Element `index`, for atomic operations with an order.
            ///
            /// # Safety
            /// 1. `index` lies within the memory.
            #[doc = $others]
            #[inline(always)]
            #[must_use]
            pub unsafe fn atomic_ref(self, index: usize) -> AtomicRef<'a, T> {
                let (space, base, len) = self.words();
                // SAFETY: the index, conflicting accesses and, for remote memory, the block's
                // lifetime: the caller's contract.
                unsafe { AtomicRef::new(space, base, len, index) }
            }
        }
    };
}
references_of!(
    GlobalMut<'a, T>:
    "2. While one of the references to it is used, other threads touch the element with atomic operations only, \
     unless a barrier orders them."
);
references_of!(
    SharedSlice<'a, T>:
    "2. While one of the references to it is used, other threads touch the element with atomic operations only, \
     unless a barrier orders them."
);
references_of!(
    SharedArray<'a, T, LEN>, const LEN:
    "2. While one of the references to it is used, other threads touch the element with atomic operations only, \
     unless a barrier orders them."
);
references_of!(
    RemoteSlice<'a, T>:
    "2. While one of the references to it is used, other threads touch the element with atomic operations only, \
     unless a barrier of the cluster orders them.
3. The block is there while one of the references is used."
);
