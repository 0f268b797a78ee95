//! One access of simulated memory.

use super::memory_order::AtomicOrder;
use super::named::named;

named! {
    /// A state space of the simulated machine, as PTX has them.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum Space {
        /// Memory of the device, seen by all blocks.
        Global = "global",
        /// Memory of one block.
        Shared = "shared",
        /// Memory that kernels only read.
        Constant = "constant",
    }
}

named! {
    /// The kind of an access: load, store, atomic operation, or side of a copy.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    #[non_exhaustive]
    pub enum AccessKind {
        /// A load.
        Read = "a read",
        /// A load through the read-only cache, from memory that the launch does not write.
        ReadOnly = "a read through the read-only cache",
        /// A load through the first-level cache, which does not see the writes of other blocks.
        CachedRead = "a read through the first-level cache",
        /// A store.
        Write = "a write",
        /// An atomic read-modify-write.
        Atomic = "an atomic update",
        /// An atomic load: it does not write.
        AtomicRead = "an atomic load",
        /// An atomic store: it does not read.
        AtomicWrite = "an atomic store",
        /// The source of an asynchronous copy.
        AsyncRead = "an asynchronous read",
        /// The destination of an asynchronous copy.
        AsyncWrite = "an asynchronous write",
    }
}

impl AccessKind {
    /// Whether an atomic operation makes the access.
    #[inline]
    pub(crate) fn is_atomic(self) -> bool {
        matches!(self, Self::Atomic | Self::AtomicRead | Self::AtomicWrite)
    }
}

/// One access: `bytes` bytes at byte `offset` of a view of `view_bytes` bytes.
#[derive(Clone, Copy)]
pub(crate) struct Access {
    pub space: Space,
    pub kind: AccessKind,
    pub view_base: usize,
    pub view_bytes: usize,
    pub offset: usize,
    pub bytes: usize,
    pub align: usize,
    /// The order and the scope of an atomic access.
    pub order: AtomicOrder,
    /// The bytes that a plain write stores, if they are known; otherwise null.
    pub value: *const u8,
}

impl Access {
    /// An access that is not atomic.
    #[inline(always)]
    pub fn plain(
        space: Space,
        kind: AccessKind,
        view_base: usize,
        view_bytes: usize,
        offset: usize,
        bytes: usize,
        align: usize,
    ) -> Self {
        Self {
            space,
            kind,
            view_base,
            view_bytes,
            offset,
            bytes,
            align,
            order: AtomicOrder::RELAXED,
            value: std::ptr::null(),
        }
    }

    /// The address of its first byte.
    #[inline]
    pub fn address(&self) -> usize {
        self.view_base.wrapping_add(self.offset)
    }

    /// Whether the view has all bytes of the access.
    #[inline]
    pub(crate) fn is_in_bounds(&self) -> bool {
        self.bytes <= self.view_bytes && self.offset <= self.view_bytes - self.bytes
    }
}

/// "byte 96 (element 6 of 16 bytes)", or the byte alone.
#[cold]
pub(crate) fn element_at(offset: usize, bytes: usize) -> String {
    if offset.is_multiple_of(bytes.max(1)) {
        format!(
            "byte {offset} (element {} of {bytes} bytes)",
            offset / bytes.max(1)
        )
    } else {
        format!("byte {offset}")
    }
}
