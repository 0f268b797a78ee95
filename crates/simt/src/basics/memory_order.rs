//! What an atomic operation orders besides its own word, and for which threads.

use std::fmt;

/// Which threads a fence or an atomic operation is for (PTX ISA, "Memory Consistency Model: Scope").
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum MemoryScope {
    /// The threads of the block.
    Block,
    /// The threads of the cluster, which is one block where the launch has none.
    Cluster,
    /// All threads of the device.
    Device,
    /// All threads of all devices, and the host.
    System,
}

impl fmt::Display for MemoryScope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Block => "the block",
            Self::Cluster => "the cluster",
            Self::Device => "the device",
            Self::System => "the system",
        })
    }
}

/// What an atomic operation orders besides its own word (the qualifiers of `ld`, `st` and `atom` of the PTX
/// ISA).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum MemoryOrder {
    /// Nothing.
    Relaxed,
    /// What it reads comes before what the thread does afterwards.
    Acquire,
    /// What the thread has done comes before what it writes.
    Release,
    /// Both.
    AcquireRelease,
}

/// What a fence orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FenceOrder {
    /// What the thread has read before what it does afterwards, and what it has done before what it writes
    /// afterwards.
    AcquireRelease,
    /// That, and the fences of this order among each other.
    SequentiallyConsistent,
}

/// The order and the scope of an atomic operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AtomicOrder {
    pub order: MemoryOrder,
    pub scope: MemoryScope,
}

impl AtomicOrder {
    /// That of an operation that orders its own word alone, for the device.
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
