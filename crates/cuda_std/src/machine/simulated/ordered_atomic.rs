//! Atomic operations with an order and a scope.

use super::atomic::{AtomicInteger, AtomicWord};
use super::memory::Space;
use simt::AccessKind;

pub use simt::{MemoryOrder, MemoryScope};

/// A word with an atomic addition that has an order and a scope.
pub trait OrderedWord: AtomicWord {
    /// Adds `value`, wrapping where integer, and returns what the element was.
    ///
    /// # Safety
    /// 1. The `len` elements at `base` are allocated; that the index lies within is checked.
    /// 2. No host thread but the simulator's workers touches them meanwhile.
    #[track_caller]
    unsafe fn add_ordered(
        ordering: (MemoryOrder, MemoryScope),
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
            ordering: (MemoryOrder, MemoryScope),
            space: Space,
            base: *mut Self,
            len: usize,
            index: usize,
            value: Self,
        ) -> Self;
    )*};
}

/// A word with all atomic operations that have an order and a scope.
///
/// # Safety of each function
/// As for [`OrderedWord::add_ordered`].
#[allow(clippy::missing_safety_doc, reason = "it stands above, once for all")]
pub trait OrderedInteger: AtomicInteger + OrderedWord {
    declare_updates! {
        min_ordered;
        max_ordered;
        and_ordered;
        or_ordered;
        xor_ordered;
        swap_ordered;
    }
    #[track_caller]
    unsafe fn compare_exchange_ordered(
        ordering: (MemoryOrder, MemoryScope),
        space: Space,
        base: *mut Self,
        len: usize,
        index: usize,
        values: [Self; 2],
    ) -> Self;
    #[track_caller]
    unsafe fn load_ordered(
        ordering: (MemoryOrder, MemoryScope),
        space: Space,
        base: *mut Self,
        len: usize,
        index: usize,
    ) -> Self;
    #[track_caller]
    unsafe fn store_ordered(
        ordering: (MemoryOrder, MemoryScope),
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
    ordering: (MemoryOrder, MemoryScope),
    base: *const T,
    len: usize,
    index: usize,
) {
    let bytes = size_of::<T>();
    let offset = index.saturating_mul(bytes);
    simt::atomic_access(
        space,
        kind,
        ordering,
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
            ordering: (MemoryOrder, MemoryScope),
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
            // SAFETY: (1), (2) of `add_ordered` and the check just made.
            bytemuck::cast(unsafe { simt::$update(base.add(index).cast(), step) })
        }
    )*};
}

macro_rules! integers {
    ($($word:ty: $bits:ty, $update:ident;)*) => {$(
        impl OrderedWord for $word {
            updates! { add_ordered: $bits, $update, |old, value| old.wrapping_add(value); }
        }

        impl OrderedInteger for $word {
            updates! {
                min_ordered: $bits, $update, |old, value| old.min(value);
                max_ordered: $bits, $update, |old, value| old.max(value);
                and_ordered: $bits, $update, |old, value| old & value;
                or_ordered: $bits, $update, |old, value| old | value;
                xor_ordered: $bits, $update, |old, value| old ^ value;
                swap_ordered: $bits, $update, |_old, value| value;
            }

            #[track_caller]
            unsafe fn compare_exchange_ordered(
                ordering: (MemoryOrder, MemoryScope),
                space: Space,
                base: *mut Self,
                len: usize,
                index: usize,
                values: [Self; 2],
            ) -> Self {
                let [current, new] = values.map(bytemuck::cast::<Self, $bits>);
                announce((space, AccessKind::Atomic), ordering, base, len, index);
                // SAFETY: (1), (2) of `add_ordered` and the check just made.
                let old = unsafe {
                    simt::$update(base.add(index).cast(), |old| if old == current { new } else { old })
                };
                bytemuck::cast(old)
            }

            #[track_caller]
            unsafe fn load_ordered(
                ordering: (MemoryOrder, MemoryScope),
                space: Space,
                base: *mut Self,
                len: usize,
                index: usize,
            ) -> Self {
                announce((space, AccessKind::AtomicRead), ordering, base, len, index);
                // SAFETY: (1), (2) of `add_ordered` and the check just made.
                bytemuck::cast(unsafe { simt::$update(base.add(index).cast(), |old| old) })
            }

            #[track_caller]
            unsafe fn store_ordered(
                ordering: (MemoryOrder, MemoryScope),
                space: Space,
                base: *mut Self,
                len: usize,
                index: usize,
                value: Self,
            ) {
                let value = bytemuck::cast::<Self, $bits>(value);
                announce((space, AccessKind::AtomicWrite), ordering, base, len, index);
                // SAFETY: (1), (2) of `add_ordered` and the check just made.
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

impl OrderedWord for f32 {
    updates! { add_ordered: u32, atomic_update_u32, |old, value| old + value; }
}

impl OrderedWord for f64 {
    updates! { add_ordered: u64, atomic_update_u64, |old, value| old + value; }
}
