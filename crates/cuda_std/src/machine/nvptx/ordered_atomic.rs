//! Atomic operations with an order and a scope (PTX ISA, 9.7.8.8: `ld`; 9.7.8.11: `st`; 9.7.12.4:
//! `atom`; 8.5: scope).

use super::atomic::{AtomicInteger, AtomicWord};
use super::memory::{Space, global_address, shared_address};
use core::arch::asm;

/// What an operation orders besides its own word.
#[derive(Clone, Copy)]
pub enum MemoryOrder {
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
}

/// The threads that an operation is for.
#[derive(Clone, Copy)]
pub enum MemoryScope {
    Block,
    Cluster,
    Device,
    System,
}

/// A word with an atomic addition that has an order and a scope.
pub trait OrderedWord: AtomicWord {
    /// Adds `value`, wrapping where integer, and returns what the element was.
    ///
    /// # Safety
    /// 1. `index` lies within the `len` elements at `base`, which lie in `space`.
    /// 2. Meanwhile the element is accessed by atomic operations alone, whose scopes include each other's
    ///    threads.
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
    unsafe fn compare_exchange_ordered(
        ordering: (MemoryOrder, MemoryScope),
        space: Space,
        base: *mut Self,
        len: usize,
        index: usize,
        values: [Self; 2],
    ) -> Self;
    /// It acquires, unless the order is relaxed.
    unsafe fn load_ordered(
        ordering: (MemoryOrder, MemoryScope),
        space: Space,
        base: *mut Self,
        len: usize,
        index: usize,
    ) -> Self;
    /// It releases, unless the order is relaxed.
    unsafe fn store_ordered(
        ordering: (MemoryOrder, MemoryScope),
        space: Space,
        base: *mut Self,
        len: usize,
        index: usize,
        value: Self,
    );
}

/// Expands `$instruction` for the qualifiers of a scope, behind those of an order.
macro_rules! with_scope {
    ($instruction:ident, $order:literal, $scope:expr, $arguments:tt) => {
        match $scope {
            MemoryScope::Block => $instruction!(concat!($order, ".cta"), $arguments),
            MemoryScope::Cluster => $instruction!(concat!($order, ".cluster"), $arguments),
            MemoryScope::Device => $instruction!(concat!($order, ".gpu"), $arguments),
            MemoryScope::System => $instruction!(concat!($order, ".sys"), $arguments),
        }
    };
}

/// `atom.ORDER.SCOPE.SPACE.INSTRUCTION old, [address], operands`.
macro_rules! atom {
    ($qualifiers:expr, ($instruction:expr, $operands:literal, $space:ident, $pointer:ident, $old:ident: $class:ident, [$($value:ident),*])) => {
        if let Space::Shared = $space {
            asm!(
                concat!("atom.", $qualifiers, ".shared.", $instruction, " {0}, [{1}], ", $operands, ";"),
                out($class) $old,
                in(reg32) shared_address($pointer),
                $(in($class) $value,)*
                options(nostack),
            );
        } else {
            asm!(
                concat!("atom.", $qualifiers, ".global.", $instruction, " {0}, [{1}], ", $operands, ";"),
                out($class) $old,
                in(reg64) global_address($pointer),
                $(in($class) $value,)*
                options(nostack),
            );
        }
    };
}

/// `ld.ORDER.SCOPE.SPACE.BITS value, [address]`.
macro_rules! ld {
    ($qualifiers:expr, ($bits:expr, $space:ident, $pointer:ident, $value:ident: $class:ident)) => {
        if let Space::Shared = $space {
            asm!(
                concat!("ld.", $qualifiers, ".shared.", $bits, " {0}, [{1}];"),
                out($class) $value,
                in(reg32) shared_address($pointer),
                options(nostack),
            );
        } else {
            asm!(
                concat!("ld.", $qualifiers, ".global.", $bits, " {0}, [{1}];"),
                out($class) $value,
                in(reg64) global_address($pointer),
                options(nostack),
            );
        }
    };
}

/// `st.ORDER.SCOPE.SPACE.BITS [address], value`.
macro_rules! st {
    ($qualifiers:expr, ($bits:expr, $space:ident, $pointer:ident, $value:ident: $class:ident)) => {
        if let Space::Shared = $space {
            asm!(
                concat!("st.", $qualifiers, ".shared.", $bits, " [{0}], {1};"),
                in(reg32) shared_address($pointer),
                in($class) $value,
                options(nostack),
            );
        } else {
            asm!(
                concat!("st.", $qualifiers, ".global.", $bits, " [{0}], {1};"),
                in(reg64) global_address($pointer),
                in($class) $value,
                options(nostack),
            );
        }
    };
}

/// One read-modify-write instruction, by its order and scope.
macro_rules! update {
    ($order:expr, $scope:expr, $arguments:tt) => {
        match $order {
            MemoryOrder::Relaxed => with_scope!(atom, "relaxed", $scope, $arguments),
            MemoryOrder::Acquire => with_scope!(atom, "acquire", $scope, $arguments),
            MemoryOrder::Release => with_scope!(atom, "release", $scope, $arguments),
            MemoryOrder::AcquireRelease => with_scope!(atom, "acq_rel", $scope, $arguments),
        }
    };
}

macro_rules! updates {
    ($($function:ident: $class:ident, $instruction:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $function(
            (order, scope): (MemoryOrder, MemoryScope),
            space: Space,
            base: *mut Self,
            _len: usize,
            index: usize,
            value: Self,
        ) -> Self {
            let old: Self;
            // SAFETY: (1), (2) of `add_ordered` are the caller's.
            unsafe {
                let pointer = base.add(index);
                update!(order, scope, ($instruction, "{2}", space, pointer, old: $class, [value]));
            }
            old
        }
    )*};
}

macro_rules! integers {
    ($($word:ty: $class:ident, $bits:literal, $ordered:literal, $unsigned:literal;)*) => {$(
        impl OrderedWord for $word {
            // Two's complement: one addition serves signed and unsigned integers.
            updates! { add_ordered: $class, concat!("add.", $unsigned); }
        }

        impl OrderedInteger for $word {
            updates! {
                min_ordered: $class, concat!("min.", $ordered);
                max_ordered: $class, concat!("max.", $ordered);
                and_ordered: $class, concat!("and.", $bits);
                or_ordered: $class, concat!("or.", $bits);
                xor_ordered: $class, concat!("xor.", $bits);
                swap_ordered: $class, concat!("exch.", $bits);
            }

            #[inline(always)]
            unsafe fn compare_exchange_ordered(
                (order, scope): (MemoryOrder, MemoryScope),
                space: Space,
                base: *mut Self,
                _len: usize,
                index: usize,
                [current, new]: [Self; 2],
            ) -> Self {
                let old: Self;
                // SAFETY: (1), (2) of `add_ordered` are the caller's.
                unsafe {
                    let pointer = base.add(index);
                    update!(order, scope, (
                        concat!("cas.", $bits), "{2}, {3}", space, pointer, old: $class, [current, new]
                    ));
                }
                old
            }

            #[inline(always)]
            unsafe fn load_ordered(
                (order, scope): (MemoryOrder, MemoryScope),
                space: Space,
                base: *mut Self,
                _len: usize,
                index: usize,
            ) -> Self {
                let value: Self;
                // SAFETY: (1), (2) of `add_ordered` are the caller's.
                unsafe {
                    let pointer = base.add(index);
                    match order {
                        MemoryOrder::Relaxed => {
                            with_scope!(ld, "relaxed", scope, ($bits, space, pointer, value: $class));
                        }
                        _ => with_scope!(ld, "acquire", scope, ($bits, space, pointer, value: $class)),
                    }
                }
                value
            }

            #[inline(always)]
            unsafe fn store_ordered(
                (order, scope): (MemoryOrder, MemoryScope),
                space: Space,
                base: *mut Self,
                _len: usize,
                index: usize,
                value: Self,
            ) {
                // SAFETY: (1), (2) of `add_ordered` are the caller's.
                unsafe {
                    let pointer = base.add(index);
                    match order {
                        MemoryOrder::Relaxed => {
                            with_scope!(st, "relaxed", scope, ($bits, space, pointer, value: $class));
                        }
                        _ => with_scope!(st, "release", scope, ($bits, space, pointer, value: $class)),
                    }
                }
            }
        }
    )*};
}

integers! {
    u32: reg32, "b32", "u32", "u32";
    i32: reg32, "b32", "s32", "u32";
    u64: reg64, "b64", "u64", "u64";
    i64: reg64, "b64", "s64", "u64";
}

impl OrderedWord for f32 {
    updates! { add_ordered: reg32, "add.f32"; }
}

impl OrderedWord for f64 {
    updates! { add_ordered: reg64, "add.f64"; }
}
