//! Atomic operations.

use super::memory::Space;
use bytemuck::Pod;
use simt::AccessKind;

pub use simt::{MemoryOrder, MemoryScope};

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
        space: Space,
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
            space: Space,
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
        space: Space,
        base: *mut Self,
        len: usize,
        index: usize,
        values: [Self; 2],
    ) -> Self;
    #[track_caller]
    unsafe fn load(
        ordering: Ordering,
        space: Space,
        base: *mut Self,
        len: usize,
        index: usize,
    ) -> Self;
    #[track_caller]
    unsafe fn store(
        ordering: Ordering,
        space: Space,
        base: *mut Self,
        len: usize,
        index: usize,
        value: Self,
    );
}

/// Checks the atomic access of element `index` that is about to happen.
#[track_caller]
fn announce<T>(
    (space, kind): (Space, AccessKind),
    ordering: Ordering,
    base: *const T,
    len: usize,
    index: usize,
) {
    let bytes = size_of::<T>();
    let offset = index.saturating_mul(bytes);
    simt::atomic_access(
        space,
        kind,
        ordering.unwrap_or((MemoryOrder::Relaxed, MemoryScope::Device)),
        base.addr(),
        len * bytes,
        offset,
        bytes,
    );
}

/// One atomic step: replaces the element by `$new`, a function of `$old` and `value`.
macro_rules! updates {
    ($($function:ident: $bits:ty, $update:ident, |$old:ident, $value:ident| $new:expr;)*) => {$(
        #[track_caller]
        unsafe fn $function(
            ordering: Ordering,
            space: Space,
            base: *mut Self,
            len: usize,
            index: usize,
            $value: Self,
        ) -> Self {
            let step = |bits| {
                let $old: Self = bytemuck::cast::<$bits, Self>(bits);
                bytemuck::cast::<Self, $bits>($new)
            };
            announce((space, AccessKind::Atomic), ordering, base, len, index);
            // SAFETY: (1), (2) of `fetch_add` and the check just made.
            bytemuck::cast(unsafe { simt::$update(base.add(index).cast(), step) })
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
                space: Space,
                base: *mut Self,
                len: usize,
                index: usize,
                values: [Self; 2],
            ) -> Self {
                let [current, new] = values.map(bytemuck::cast::<Self, $bits>);
                announce((space, AccessKind::Atomic), ordering, base, len, index);
                // SAFETY: (1), (2) of `fetch_add` and the check just made.
                let old = unsafe {
                    simt::$update(base.add(index).cast(), |old| if old == current { new } else { old })
                };
                bytemuck::cast(old)
            }

            #[track_caller]
            unsafe fn load(
                ordering: Ordering,
                space: Space,
                base: *mut Self,
                len: usize,
                index: usize,
            ) -> Self {
                announce((space, AccessKind::AtomicRead), ordering, base, len, index);
                // SAFETY: (1), (2) of `fetch_add` and the check just made.
                bytemuck::cast(unsafe { simt::$update(base.add(index).cast(), |old| old) })
            }

            #[track_caller]
            unsafe fn store(
                ordering: Ordering,
                space: Space,
                base: *mut Self,
                len: usize,
                index: usize,
                value: Self,
            ) {
                let value = bytemuck::cast::<Self, $bits>(value);
                announce((space, AccessKind::AtomicWrite), ordering, base, len, index);
                // SAFETY: (1), (2) of `fetch_add` and the check just made.
                unsafe { simt::$update(base.add(index).cast(), |_| value) };
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
