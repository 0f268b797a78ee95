//! Atomic operations (PTX ISA, 9.7.8.8: `ld`; 9.7.8.11: `st`; 9.7.12.4: `atom`; 8.5: scope).

use super::cluster::map_shared;
use super::memory::{global_address, shared_address};
use bytemuck::Pod;
use core::arch::asm;

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

/// An operation's memory order.
#[derive(Clone, Copy)]
pub enum MemoryOrder {
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
}

/// The threads that an operation synchronises.
#[derive(Clone, Copy)]
pub enum MemoryScope {
    Block,
    Cluster,
    Device,
    System,
}

/// An operation's order and scope. `None` is relaxed and device-scoped: the instruction without qualifiers.
pub type Ordering = Option<(MemoryOrder, MemoryScope)>;

/// A word with an atomic addition. Each function accesses element `index` of the `len` at `base`.
pub trait AtomicWord: Pod {
    /// Adds `value`, wrapping where integer, and returns what the element was.
    ///
    /// # Safety
    /// 1. `index` lies within the `len` elements at `base`, which lie in `space`.
    /// 2. Meanwhile all accesses of the element are atomic, with scopes that include each other's threads.
    /// 3. If it is in the memory of another block, that block is in the cluster and running.
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
    unsafe fn compare_exchange(
        ordering: Ordering,
        space: AtomicSpace,
        base: *mut Self,
        len: usize,
        index: usize,
        values: [Self; 2],
    ) -> Self;
    /// Loads the element, with acquire order unless relaxed.
    unsafe fn load(
        ordering: Ordering,
        space: AtomicSpace,
        base: *mut Self,
        len: usize,
        index: usize,
    ) -> Self;
    /// Stores the element, with release order unless relaxed.
    unsafe fn store(
        ordering: Ordering,
        space: AtomicSpace,
        base: *mut Self,
        len: usize,
        index: usize,
        value: Self,
    );
}

/// Expands `$instruction` with the qualifiers of a scope after those of an order, each with its period.
macro_rules! with_scope {
    ($instruction:ident, $order:literal, $scope:expr, $arguments:tt) => {
        match $scope {
            MemoryScope::Block => $instruction!(concat!($order, ".cta."), $arguments),
            MemoryScope::Cluster => $instruction!(concat!($order, ".cluster."), $arguments),
            MemoryScope::Device => $instruction!(concat!($order, ".gpu."), $arguments),
            MemoryScope::System => $instruction!(concat!($order, ".sys."), $arguments),
        }
    };
}

/// `atom.ORDER.SCOPE.SPACE.INSTRUCTION old, [address], operands`.
macro_rules! atom {
    ($qualifiers:expr, ($instruction:expr, $operands:literal, $space:ident, $pointer:ident, $old:ident: $class:ident, [$($value:ident),*])) => {
        match $space {
            AtomicSpace::Global => asm!(
                concat!("atom.", $qualifiers, "global.", $instruction, " {0}, [{1}], ", $operands, ";"),
                out($class) $old,
                in(reg64) global_address($pointer),
                $(in($class) $value,)*
                options(nostack),
            ),
            AtomicSpace::Shared => asm!(
                concat!("atom.", $qualifiers, "shared.", $instruction, " {0}, [{1}], ", $operands, ";"),
                out($class) $old,
                in(reg32) shared_address($pointer),
                $(in($class) $value,)*
                options(nostack),
            ),
            AtomicSpace::SharedOf(rank) => asm!(
                concat!("atom.", $qualifiers, "shared::cluster.", $instruction, " {0}, [{1}], ", $operands, ";"),
                out($class) $old,
                in(reg32) map_shared(shared_address($pointer), rank),
                $(in($class) $value,)*
                options(nostack),
            ),
        }
    };
}

/// `ld.ORDER.SCOPE.SPACE.BITS value, [address]`.
macro_rules! ld {
    ($qualifiers:expr, ($bits:expr, $space:ident, $pointer:ident, $value:ident: $class:ident)) => {
        match $space {
            AtomicSpace::Global => asm!(
                concat!("ld.", $qualifiers, "global.", $bits, " {0}, [{1}];"),
                out($class) $value,
                in(reg64) global_address($pointer),
                options(nostack),
            ),
            AtomicSpace::Shared => asm!(
                concat!("ld.", $qualifiers, "shared.", $bits, " {0}, [{1}];"),
                out($class) $value,
                in(reg32) shared_address($pointer),
                options(nostack),
            ),
            AtomicSpace::SharedOf(rank) => asm!(
                concat!("ld.", $qualifiers, "shared::cluster.", $bits, " {0}, [{1}];"),
                out($class) $value,
                in(reg32) map_shared(shared_address($pointer), rank),
                options(nostack),
            ),
        }
    };
}

/// `st.ORDER.SCOPE.SPACE.BITS [address], value`.
macro_rules! st {
    ($qualifiers:expr, ($bits:expr, $space:ident, $pointer:ident, $value:ident: $class:ident)) => {
        match $space {
            AtomicSpace::Global => asm!(
                concat!("st.", $qualifiers, "global.", $bits, " [{0}], {1};"),
                in(reg64) global_address($pointer),
                in($class) $value,
                options(nostack),
            ),
            AtomicSpace::Shared => asm!(
                concat!("st.", $qualifiers, "shared.", $bits, " [{0}], {1};"),
                in(reg32) shared_address($pointer),
                in($class) $value,
                options(nostack),
            ),
            AtomicSpace::SharedOf(rank) => asm!(
                concat!("st.", $qualifiers, "shared::cluster.", $bits, " [{0}], {1};"),
                in(reg32) map_shared(shared_address($pointer), rank),
                in($class) $value,
                options(nostack),
            ),
        }
    };
}

/// One read-modify-write instruction with an order and a scope.
macro_rules! update {
    ($ordering:expr, $arguments:tt) => {
        match $ordering {
            None => atom!("", $arguments),
            Some((MemoryOrder::Relaxed, scope)) => with_scope!(atom, "relaxed", scope, $arguments),
            Some((MemoryOrder::Acquire, scope)) => with_scope!(atom, "acquire", scope, $arguments),
            Some((MemoryOrder::Release, scope)) => with_scope!(atom, "release", scope, $arguments),
            Some((MemoryOrder::AcquireRelease, scope)) => {
                with_scope!(atom, "acq_rel", scope, $arguments);
            }
        }
    };
}

/// One load or store, never torn and never from the read-only cache (PTX ISA, 8.2: strong
/// operations). It has the given scope and, unless relaxed, the order `$order`.
macro_rules! access {
    ($instruction:ident, $order:literal, $ordering:expr, $arguments:tt) => {
        match $ordering {
            None => $instruction!("relaxed.gpu.", $arguments),
            Some((MemoryOrder::Relaxed, scope)) => {
                with_scope!($instruction, "relaxed", scope, $arguments);
            }
            Some((_, scope)) => with_scope!($instruction, $order, scope, $arguments),
        }
    };
}

macro_rules! updates {
    ($($function:ident: $class:ident, $instruction:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $function(
            ordering: Ordering,
            space: AtomicSpace,
            base: *mut Self,
            _len: usize,
            index: usize,
            value: Self,
        ) -> Self {
            let old: Self;
            // SAFETY: the caller's contract.
            unsafe {
                let pointer = base.add(index);
                update!(ordering, ($instruction, "{2}", space, pointer, old: $class, [value]));
            }
            old
        }
    )*};
}

macro_rules! integers {
    ($($word:ty: $class:ident, $bits:literal, $ordered:literal, $unsigned:literal;)*) => {$(
        impl AtomicWord for $word {
            // Two's complement: one addition serves signed and unsigned integers.
            updates! { fetch_add: $class, concat!("add.", $unsigned); }
        }

        impl AtomicInteger for $word {
            updates! {
                fetch_min: $class, concat!("min.", $ordered);
                fetch_max: $class, concat!("max.", $ordered);
                fetch_and: $class, concat!("and.", $bits);
                fetch_or: $class, concat!("or.", $bits);
                fetch_xor: $class, concat!("xor.", $bits);
                swap: $class, concat!("exch.", $bits);
            }

            #[inline(always)]
            unsafe fn compare_exchange(
                ordering: Ordering,
                space: AtomicSpace,
                base: *mut Self,
                _len: usize,
                index: usize,
                [current, new]: [Self; 2],
            ) -> Self {
                let old: Self;
                // SAFETY: the caller's contract.
                unsafe {
                    let pointer = base.add(index);
                    update!(ordering, (
                        concat!("cas.", $bits), "{2}, {3}", space, pointer, old: $class, [current, new]
                    ));
                }
                old
            }

            #[inline(always)]
            unsafe fn load(
                ordering: Ordering,
                space: AtomicSpace,
                base: *mut Self,
                _len: usize,
                index: usize,
            ) -> Self {
                let value: Self;
                // SAFETY: the caller's contract.
                unsafe {
                    let pointer = base.add(index);
                    access!(ld, "acquire", ordering, ($bits, space, pointer, value: $class));
                }
                value
            }

            #[inline(always)]
            unsafe fn store(
                ordering: Ordering,
                space: AtomicSpace,
                base: *mut Self,
                _len: usize,
                index: usize,
                value: Self,
            ) {
                // SAFETY: the caller's contract.
                unsafe {
                    let pointer = base.add(index);
                    access!(st, "release", ordering, ($bits, space, pointer, value: $class));
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

impl AtomicWord for f32 {
    updates! { fetch_add: reg32, "add.f32"; }
}

impl AtomicWord for f64 {
    updates! { fetch_add: reg64, "add.f64"; }
}
