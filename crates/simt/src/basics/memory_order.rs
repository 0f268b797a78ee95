//! Memory order and scope of atomic operations and fences.

use super::named::named;

named! {
    /// The threads that a fence or an atomic operation synchronises with (PTX ISA, "Memory Consistency Model: Scope").
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    #[non_exhaustive]
    pub enum MemoryScope {
        /// The threads of the block.
        Block = "the block",
        /// The threads of the cluster, which is one block where the launch has none.
        Cluster = "the cluster",
        /// All threads of the device.
        Device = "the device",
        /// All threads of all devices, and the host.
        System = "the system",
    }
}

/// Memory order of an atomic operation (the qualifiers of `ld`, `st` and `atom` of the PTX ISA).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum MemoryOrder {
    /// Orders nothing besides its own word.
    Relaxed,
    /// Its read comes before all later accesses of the thread.
    Acquire,
    /// All earlier accesses of the thread come before its write.
    Release,
    /// Acquires and releases.
    AcquireRelease,
}

/// Memory order of a fence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FenceOrder {
    /// Orders earlier reads before later accesses, and earlier accesses before later writes.
    AcquireRelease,
    /// Orders earlier reads before later accesses.
    Acquire,
    /// Orders earlier accesses before later writes.
    Release,
    /// Also orders the fences of this order among each other.
    SequentiallyConsistent,
}

/// The order and the scope of an atomic operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AtomicOrder {
    pub order: MemoryOrder,
    pub scope: MemoryScope,
}

impl AtomicOrder {
    /// Orders only the operation's word, for the device.
    pub const RELAXED: Self = Self {
        order: MemoryOrder::Relaxed,
        scope: MemoryScope::Device,
    };

    #[inline]
    pub fn acquires(self) -> bool {
        matches!(
            self.order,
            MemoryOrder::Acquire | MemoryOrder::AcquireRelease
        )
    }

    #[inline]
    pub fn releases(self) -> bool {
        matches!(
            self.order,
            MemoryOrder::Release | MemoryOrder::AcquireRelease
        )
    }
}
