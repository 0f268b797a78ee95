//! Atomic operations (PTX ISA, 9.7.12.4: `atom`), relaxed, with the scope of the device.

use super::memory::{Space, global_address, shared_address};
use bytemuck::Pod;
use core::arch::asm;

/// A word with an atomic addition. Each function works on element `index` of the `len` at `base`.
pub trait AtomicWord: Pod {
    /// Adds `value`, wrapping where integer, and returns what the element was.
    ///
    /// # Safety
    /// 1. `index` lies within the `len` elements at `base`, which lie in `space`.
    /// 2. Meanwhile the element is accessed by atomic operations alone.
    unsafe fn fetch_add(
        space: Space,
        base: *mut Self,
        len: usize,
        index: usize,
        value: Self,
    ) -> Self;
}

/// A word with all atomic operations.
///
/// # Safety of each function
/// As for [`AtomicWord::fetch_add`].
#[allow(clippy::missing_safety_doc, reason = "it stands above, once for all")]
pub trait AtomicInteger: AtomicWord {
    unsafe fn fetch_min(
        space: Space,
        base: *mut Self,
        len: usize,
        index: usize,
        value: Self,
    ) -> Self;
    unsafe fn fetch_max(
        space: Space,
        base: *mut Self,
        len: usize,
        index: usize,
        value: Self,
    ) -> Self;
    unsafe fn fetch_and(
        space: Space,
        base: *mut Self,
        len: usize,
        index: usize,
        value: Self,
    ) -> Self;
    unsafe fn fetch_or(
        space: Space,
        base: *mut Self,
        len: usize,
        index: usize,
        value: Self,
    ) -> Self;
    unsafe fn fetch_xor(
        space: Space,
        base: *mut Self,
        len: usize,
        index: usize,
        value: Self,
    ) -> Self;
    unsafe fn swap(space: Space, base: *mut Self, len: usize, index: usize, value: Self) -> Self;
    unsafe fn compare_exchange(
        space: Space,
        base: *mut Self,
        len: usize,
        index: usize,
        current: Self,
        new: Self,
    ) -> Self;
    unsafe fn load(space: Space, base: *mut Self, len: usize, index: usize) -> Self;
    unsafe fn store(space: Space, base: *mut Self, len: usize, index: usize, value: Self);
}

/// One read-modify-write instruction: `atom.SPACE.INSTRUCTION old, [address], value`.
macro_rules! read_modify_write {
    ($($function:ident: $word:ty, $class:ident, $instruction:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $function(space: Space, base: *mut Self, _len: usize, index: usize, value: Self) -> Self {
            let old: $word;
            // SAFETY: (1), (2) of `fetch_add` are the caller's.
            unsafe {
                let pointer = base.add(index);
                if let Space::Shared = space {
                    asm!(
                        concat!("atom.shared.", $instruction, " {0}, [{1}], {2};"),
                        out($class) old,
                        in(reg32) shared_address(pointer),
                        in($class) value,
                        options(nostack),
                    );
                } else {
                    asm!(
                        concat!("atom.global.", $instruction, " {0}, [{1}], {2};"),
                        out($class) old,
                        in(reg64) global_address(pointer),
                        in($class) value,
                        options(nostack),
                    );
                }
            }
            old
        }
    )*};
}

macro_rules! compare_exchange {
    ($word:ty, $class:ident, $bits:expr) => {
        #[inline(always)]
        unsafe fn compare_exchange(
            space: Space,
            base: *mut Self,
            _len: usize,
            index: usize,
            current: Self,
            new: Self,
        ) -> Self {
            let old: $word;
            // SAFETY: (1), (2) of `fetch_add` are the caller's.
            unsafe {
                let pointer = base.add(index);
                if let Space::Shared = space {
                    asm!(
                        concat!("atom.shared.cas.", $bits, " {0}, [{1}], {2}, {3};"),
                        out($class) old,
                        in(reg32) shared_address(pointer),
                        in($class) current,
                        in($class) new,
                        options(nostack),
                    );
                } else {
                    asm!(
                        concat!("atom.global.cas.", $bits, " {0}, [{1}], {2}, {3};"),
                        out($class) old,
                        in(reg64) global_address(pointer),
                        in($class) current,
                        in($class) new,
                        options(nostack),
                    );
                }
            }
            old
        }
    };
}

/// A load and a store that are never torn, nor taken from the read-only cache
/// (PTX ISA, 8.2: strong operations).
macro_rules! load_and_store {
    ($word:ty, $class:ident, $bits:expr) => {
        #[inline(always)]
        unsafe fn load(space: Space, base: *mut Self, _len: usize, index: usize) -> Self {
            let value: $word;
            // SAFETY: (1), (2) of `fetch_add` are the caller's.
            unsafe {
                let pointer = base.add(index);
                if let Space::Shared = space {
                    asm!(
                        concat!("ld.relaxed.gpu.shared.", $bits, " {0}, [{1}];"),
                        out($class) value,
                        in(reg32) shared_address(pointer),
                        options(nostack),
                    );
                } else {
                    asm!(
                        concat!("ld.relaxed.gpu.global.", $bits, " {0}, [{1}];"),
                        out($class) value,
                        in(reg64) global_address(pointer),
                        options(nostack),
                    );
                }
            }
            value
        }

        #[inline(always)]
        unsafe fn store(space: Space, base: *mut Self, _len: usize, index: usize, value: Self) {
            // SAFETY: (1), (2) of `fetch_add` are the caller's.
            unsafe {
                let pointer = base.add(index);
                if let Space::Shared = space {
                    asm!(
                        concat!("st.relaxed.gpu.shared.", $bits, " [{0}], {1};"),
                        in(reg32) shared_address(pointer),
                        in($class) value,
                        options(nostack),
                    );
                } else {
                    asm!(
                        concat!("st.relaxed.gpu.global.", $bits, " [{0}], {1};"),
                        in(reg64) global_address(pointer),
                        in($class) value,
                        options(nostack),
                    );
                }
            }
        }
    };
}

macro_rules! integers {
    ($($word:ty: $class:ident, $bits:literal, $ordered:literal, $unsigned:literal;)*) => {$(
        impl AtomicWord for $word {
            // Two's complement: one addition serves signed and unsigned integers.
            read_modify_write! { fetch_add: $word, $class, concat!("add.", $unsigned); }
        }

        impl AtomicInteger for $word {
            read_modify_write! {
                fetch_min: $word, $class, concat!("min.", $ordered);
                fetch_max: $word, $class, concat!("max.", $ordered);
                fetch_and: $word, $class, concat!("and.", $bits);
                fetch_or: $word, $class, concat!("or.", $bits);
                fetch_xor: $word, $class, concat!("xor.", $bits);
                swap: $word, $class, concat!("exch.", $bits);
            }
            compare_exchange!($word, $class, $bits);
            load_and_store!($word, $class, $bits);
        }
    )*};
}

integers! {
    u32: reg32, "b32", "u32", "u32";
    i32: reg32, "b32", "s32", "u32";
    u64: reg64, "b64", "u64", "u64";
    i64: reg64, "b64", "s64", "u64";
}

impl AtomicWord for f32 {
    read_modify_write! { fetch_add: f32, reg32, "add.f32"; }
}

impl AtomicWord for f64 {
    read_modify_write! { fetch_add: f64, reg64, "add.f64"; }
}
