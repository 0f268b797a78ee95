//! Atomic operations.

use bytemuck::Pod;
use simt::{AccessKind, Space};

pub use simt::{MemoryOrder, MemoryScope};

/// The memory of a word.
#[derive(Clone, Copy, Debug)]
pub enum AtomicSpace {
    Global,
    /// The shared memory of the block.
    Shared,
    /// The shared memory of the cluster's block of this rank. The pointer is the address of the same offset in the
    /// calling block.
    SharedOf(u32),
}

/// An operation's order and scope. `None` is relaxed and device-scoped.
pub type Ordering = Option<(MemoryOrder, MemoryScope)>;

/// A word with an atomic addition. Each function accesses element `index` of the `len` at `base`.
pub trait AtomicWord: Pod {
    /// Adds `value`, wrapping where integer, and returns what the element was.
    ///
    /// # Safety
    /// 1. The `len` elements at `base` are allocated. (The index is checked.)
    /// 2. Meanwhile no host thread except the simulator's workers touches them.
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

/// Checks an atomic access of element `index` before it happens, and returns the element's address.
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
            // The blocks of a cluster have parts of one memory.
            (Space::Shared, std::ptr::with_exposed_provenance_mut(mapped))
        }
    };
    let bytes = size_of::<T>();
    let offset = index.saturating_mul(bytes);
    let ordering = ordering.unwrap_or((MemoryOrder::Relaxed, MemoryScope::Device));
    // SAFETY: the elements are allocated, and only the workers touch them: the caller's contract.
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
    ($($function:ident: $bits:ty, $update:ident, |$space:ident, $old:ident, $value:ident| $new:expr;)*) => {$(
        #[track_caller]
        unsafe fn $function(
            ordering: Ordering,
            $space: AtomicSpace,
            base: *mut Self,
            len: usize,
            index: usize,
            $value: Self,
        ) -> Self {
            let step = |bits| {
                let $old: Self = bytemuck::cast::<$bits, Self>(bits);
                bytemuck::cast::<Self, $bits>($new)
            };
            // SAFETY: the caller's contract.
            let word = unsafe { announce(($space, AccessKind::Atomic), ordering, base, len, index) };
            // SAFETY: the caller's contract, and the check above.
            bytemuck::cast(unsafe { simt::$update(word.cast(), step) })
        }
    )*};
}

macro_rules! integers {
    ($($word:ty: $bits:ty, $update:ident;)*) => {$(
        impl AtomicWord for $word {
            updates! { fetch_add: $bits, $update, |space, old, value| old.wrapping_add(value); }
        }

        impl AtomicInteger for $word {
            updates! {
                fetch_min: $bits, $update, |space, old, value| old.min(value);
                fetch_max: $bits, $update, |space, old, value| old.max(value);
                fetch_and: $bits, $update, |space, old, value| old & value;
                fetch_or: $bits, $update, |space, old, value| old | value;
                fetch_xor: $bits, $update, |space, old, value| old ^ value;
                swap: $bits, $update, |space, _old, value| value;
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
                // SAFETY: the caller's contract.
                let word = unsafe { announce((space, AccessKind::Atomic), ordering, base, len, index) };
                // SAFETY: the caller's contract, and the check above.
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
                // SAFETY: the caller's contract.
                let word = unsafe { announce((space, AccessKind::AtomicRead), ordering, base, len, index) };
                // SAFETY: the caller's contract, and the check above.
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
                // SAFETY: the caller's contract.
                let word = unsafe { announce((space, AccessKind::AtomicWrite), ordering, base, len, index) };
                // SAFETY: the caller's contract, and the check above.
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

/// A zero of the same sign for subnormals, as PTX adds f32 in global memory, and there alone.
fn flushed(value: f32) -> f32 {
    if value.is_subnormal() {
        0.0_f32.copysign(value)
    } else {
        value
    }
}

impl AtomicWord for f32 {
    updates! {
        fetch_add: u32, atomic_update_u32, |space, old, value| match space {
            AtomicSpace::Global => flushed(flushed(old) + flushed(value)),
            AtomicSpace::Shared | AtomicSpace::SharedOf(_) => old + value,
        };
    }
}

impl AtomicWord for f64 {
    updates! { fetch_add: u64, atomic_update_u64, |space, old, value| old + value; }
}
