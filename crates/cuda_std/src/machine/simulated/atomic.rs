//! Atomic operations.

use bytemuck::Pod;
use simt::{AccessKind, Space};

pub use simt::{MemoryOrder, MemoryScope};

/// Where a word lies.
#[derive(Clone, Copy, Debug)]
pub enum AtomicSpace {
    Global,
    /// The shared memory of the block.
    Shared,
    /// The shared memory of the block of this rank of the cluster; the pointer is that of the same place in the
    /// calling block.
    SharedOf(u32),
}

/// What an operation orders besides its own word, and for which threads; `None` is relaxed, for the device.
pub type Ordering = Option<(MemoryOrder, MemoryScope)>;

/// A word with an atomic addition. Each function works on element `index` of the `len` at `base`.
pub trait AtomicWord: Pod {
    /// Adds `value`, wrapping where integer, and returns what the element was.
    ///
    /// # Safety
    /// 1. The `len` elements at `base` are allocated; that the index lies within is checked.
    /// 2. No host thread but the simulator's workers touches them meanwhile.
    #[track_caller]
    unsafe fn fetch_add(
        ordering: Ordering,
        space: AtomicSpace,
        base: *mut Self,
        len: usize,
        index: usize,
        value: Self,
    ) -> Self;
}

macro_rules! declare_updates {
    ($($function:ident;)*) => {$(
        #[track_caller]
        unsafe fn $function(
            ordering: Ordering,
            space: AtomicSpace,
            base: *mut Self,
            len: usize,
            index: usize,
            value: Self,
        ) -> Self;
    )*};
}

/// A word with all atomic operations.
///
/// # Safety of each function
/// As for [`AtomicWord::fetch_add`].
#[allow(clippy::missing_safety_doc, reason = "it stands above, once for all")]
pub trait AtomicInteger: AtomicWord {
    declare_updates! {
        fetch_min;
        fetch_max;
        fetch_and;
        fetch_or;
        fetch_xor;
        swap;
    }
    #[track_caller]
    unsafe fn compare_exchange(
        ordering: Ordering,
        space: AtomicSpace,
        base: *mut Self,
        len: usize,
        index: usize,
        values: [Self; 2],
    ) -> Self;
    #[track_caller]
    unsafe fn load(
        ordering: Ordering,
        space: AtomicSpace,
        base: *mut Self,
        len: usize,
        index: usize,
    ) -> Self;
    #[track_caller]
    unsafe fn store(
        ordering: Ordering,
        space: AtomicSpace,
        base: *mut Self,
        len: usize,
        index: usize,
        value: Self,
    );
}

/// Checks the atomic access of element `index` that is about to happen; returns where the element is.
///
/// # Safety
/// 1., 2. As for [`AtomicWord::fetch_add`].
#[track_caller]
unsafe fn announce<T>(
    (space, kind): (AtomicSpace, AccessKind),
    ordering: Ordering,
    base: *mut T,
    len: usize,
    index: usize,
) -> *mut T {
    let (space, base) = match space {
        AtomicSpace::Global => (Space::Global, base),
        AtomicSpace::Shared => (Space::Shared, base),
        AtomicSpace::SharedOf(rank) => {
            let mapped = simt::map_shared(base.addr(), rank);
            // The blocks of a cluster have pieces of the same memory.
            (Space::Shared, std::ptr::with_exposed_provenance_mut(mapped))
        }
    };
    let bytes = size_of::<T>();
    let offset = index.saturating_mul(bytes);
    let ordering = ordering.unwrap_or((MemoryOrder::Relaxed, MemoryScope::Device));
    // SAFETY: (1) is (1), (2).
    unsafe {
        simt::atomic_access(
            space,
            kind,
            ordering,
            base.addr(),
            len * bytes,
            offset,
            bytes,
        )
    };
    base.wrapping_add(index)
}

/// One atomic step: replaces the element by `$new`, a function of `$old` and `value`.
macro_rules! updates {
    ($($function:ident: $bits:ty, $update:ident, |$old:ident, $value:ident| $new:expr;)*) => {$(
        #[track_caller]
        unsafe fn $function(
            ordering: Ordering,
            space: AtomicSpace,
            base: *mut Self,
            len: usize,
            index: usize,
            $value: Self,
        ) -> Self {
            let step = |bits| {
                let $old: Self = bytemuck::cast::<$bits, Self>(bits);
                bytemuck::cast::<Self, $bits>($new)
            };
            // SAFETY: (1), (2) are those of `fetch_add`.
            let word = unsafe { announce((space, AccessKind::Atomic), ordering, base, len, index) };
            // SAFETY: (1), (2) of `fetch_add` and the check just made.
            bytemuck::cast(unsafe { simt::$update(word.cast(), step) })
        }
    )*};
}

macro_rules! integers {
    ($($word:ty: $bits:ty, $update:ident;)*) => {$(
        impl AtomicWord for $word {
            updates! { fetch_add: $bits, $update, |old, value| old.wrapping_add(value); }
        }

        impl AtomicInteger for $word {
            updates! {
                fetch_min: $bits, $update, |old, value| old.min(value);
                fetch_max: $bits, $update, |old, value| old.max(value);
                fetch_and: $bits, $update, |old, value| old & value;
                fetch_or: $bits, $update, |old, value| old | value;
                fetch_xor: $bits, $update, |old, value| old ^ value;
                swap: $bits, $update, |_old, value| value;
            }

            #[track_caller]
            unsafe fn compare_exchange(
                ordering: Ordering,
                space: AtomicSpace,
                base: *mut Self,
                len: usize,
                index: usize,
                values: [Self; 2],
            ) -> Self {
                let [current, new] = values.map(bytemuck::cast::<Self, $bits>);
                // SAFETY: (1), (2) are those of `fetch_add`.
                let word = unsafe { announce((space, AccessKind::Atomic), ordering, base, len, index) };
                // SAFETY: (1), (2) of `fetch_add` and the check just made.
                let old = unsafe {
                    simt::$update(word.cast(), |old| if old == current { new } else { old })
                };
                bytemuck::cast(old)
            }

            #[track_caller]
            unsafe fn load(
                ordering: Ordering,
                space: AtomicSpace,
                base: *mut Self,
                len: usize,
                index: usize,
            ) -> Self {
                // SAFETY: (1), (2) are those of `fetch_add`.
                let word = unsafe { announce((space, AccessKind::AtomicRead), ordering, base, len, index) };
                // SAFETY: (1), (2) of `fetch_add` and the check just made.
                bytemuck::cast(unsafe { simt::$update(word.cast(), |old| old) })
            }

            #[track_caller]
            unsafe fn store(
                ordering: Ordering,
                space: AtomicSpace,
                base: *mut Self,
                len: usize,
                index: usize,
                value: Self,
            ) {
                let value = bytemuck::cast::<Self, $bits>(value);
                // SAFETY: (1), (2) are those of `fetch_add`.
                let word = unsafe { announce((space, AccessKind::AtomicWrite), ordering, base, len, index) };
                // SAFETY: (1), (2) of `fetch_add` and the check just made.
                unsafe { simt::$update(word.cast(), |_| value) };
            }
        }
    )*};
}

integers! {
    u32: u32, atomic_update_u32;
    i32: u32, atomic_update_u32;
    u64: u64, atomic_update_u64;
    i64: u64, atomic_update_u64;
}

impl AtomicWord for f32 {
    updates! { fetch_add: u32, atomic_update_u32, |old, value| old + value; }
}

impl AtomicWord for f64 {
    updates! { fetch_add: u64, atomic_update_u64, |old, value| old + value; }
}
