//! One access, as the shadow memory records it.

use crate::basics::{AccessKind, MemoryScope, named};
use crate::check::cells::site::Site;
use bytemuck::NoUninit;

pub(in crate::check) mod packed;

/// A moment of a block. It grows by one at each operation that can order two accesses. 0 is before everything.
pub(in crate::check) type Time = u32;

named! {
    /// The kind of an access.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, NoUninit)]
    #[repr(u8)]
    pub(in crate::check) enum EventKind {
        /// There was no access.
        Nothing = "nothing",
        Read = "a read",
        Write = "a write",
        /// A read through the first-level cache.
        CachedRead = "a cached read",
        Atomic = "an atomic update",
        AtomicRead = "an atomic load",
        AtomicWrite = "an atomic store",
        AsyncRead = "an asynchronous read",
        /// An asynchronous copy that has been issued.
        InFlight = "an asynchronous copy in flight",
        /// The initialisation of an mbarrier, whose bytes are then no longer ordinary memory.
        Mbarrier = "the initialisation of an mbarrier",
        /// An asynchronous copy that its thread has waited for. Its number differs from a write's only in the highest bit.
        AsyncWrite = "an asynchronous write",
    }
}

impl EventKind {
    #[inline]
    pub fn is_atomic(self) -> bool {
        matches!(self, Self::Atomic | Self::AtomicRead | Self::AtomicWrite)
    }

    #[inline]
    pub fn reads(self) -> bool {
        matches!(
            self,
            Self::Read | Self::CachedRead | Self::Atomic | Self::AtomicRead | Self::AsyncRead
        )
    }

    #[inline]
    pub fn writes(self) -> bool {
        !matches!(
            self,
            Self::Nothing | Self::Read | Self::CachedRead | Self::AtomicRead | Self::AsyncRead
        )
    }
}

impl From<AccessKind> for EventKind {
    fn from(kind: AccessKind) -> Self {
        match kind {
            AccessKind::Read | AccessKind::ReadOnly => Self::Read,
            AccessKind::CachedRead => Self::CachedRead,
            AccessKind::Write => Self::Write,
            AccessKind::Atomic => Self::Atomic,
            AccessKind::AtomicRead => Self::AtomicRead,
            AccessKind::AtomicWrite => Self::AtomicWrite,
            AccessKind::AsyncRead => Self::AsyncRead,
            AccessKind::AsyncWrite => Self::InFlight,
        }
    }
}

/// The threads that an event represents besides its own: others with reads or atomic updates that nothing orders with
/// it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, NoUninit)]
#[repr(u8)]
pub(in crate::check) enum Others {
    None,
    OfWarp,
    OfBlock,
    OfOtherBlocks,
}

/// By number.
const OTHERS: [Others; 4] = [
    Others::None,
    Others::OfWarp,
    Others::OfBlock,
    Others::OfOtherBlocks,
];

/// One access: 16 bytes, because the shadow holds millions of them.
#[derive(Clone, Copy, Debug, NoUninit)]
#[repr(C)]
pub(in crate::check) struct Event {
    pub time: Time,
    /// The number of the thread or agent, the width of the access, and the scope of an atomic one.
    thread_and_width: u16,
    pub kind: EventKind,
    pub others: Others,
    /// The low bits of the block's number: no launch that ends has more blocks.
    pub block: u32,
    pub site: Site,
}

impl PartialEq for Event {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.to_words() == other.to_words()
    }
}

impl Eq for Event {}

/// Bits of a thread's number in its block; above them is the width of an access.
const THREAD_BITS: u32 = 12;

/// Bits of the width of an atomic access, which is 4 or 8 bytes; above them is its scope.
const WIDTH_BITS: u32 = THREAD_BITS + 2;

impl Event {
    pub const NOTHING: Self = Self {
        time: 0,
        block: 0,
        site: Site::UNKNOWN,
        thread_and_width: 0,
        kind: EventKind::Nothing,
        others: Others::None,
    };

    /// An access of `bytes` bytes, at most 2^15, by a thread of `block`, which represents no other.
    #[inline]
    pub fn new(
        kind: EventKind,
        (block, thread): (u32, u16),
        time: Time,
        bytes: usize,
        site: Site,
    ) -> Self {
        Self::of_width(kind, (block, thread), time, bytes.trailing_zeros(), site)
    }

    /// [`new`](Self::new) for an access of two to the power of `shift` bytes.
    #[inline]
    pub fn of_width(
        kind: EventKind,
        (block, thread): (u32, u16),
        time: Time,
        shift: u32,
        site: Site,
    ) -> Self {
        Self {
            time,
            block,
            site,
            thread_and_width: thread | (shift as u16) << THREAD_BITS,
            kind,
            others: Others::None,
        }
    }

    /// The thread's number in its block.
    #[inline]
    pub fn thread(&self) -> u16 {
        self.thread_and_width & ((1 << THREAD_BITS) - 1)
    }

    /// The same access by another thread of the block.
    pub fn of_thread(self, thread: u16) -> Self {
        Self {
            thread_and_width: self.thread_and_width - self.thread() + thread,
            ..self
        }
    }

    /// The same access, which is atomic, with a scope.
    #[inline]
    pub fn of_scope(self, scope: MemoryScope) -> Self {
        let narrowness = match scope {
            MemoryScope::Device | MemoryScope::System => return self,
            MemoryScope::Cluster => 1,
            MemoryScope::Block => 2,
        };
        Self {
            thread_and_width: self.thread_and_width | narrowness << WIDTH_BITS,
            ..self
        }
    }

    /// The scope of an atomic access, as far as scopes differ within a launch.
    pub fn scope(&self) -> MemoryScope {
        match self.narrowness() {
            0 => MemoryScope::Device,
            1 => MemoryScope::Cluster,
            _ => MemoryScope::Block,
        }
    }

    /// A number that is higher for the narrower of two scopes of atomic accesses.
    fn narrowness(&self) -> u16 {
        self.thread_and_width >> WIDTH_BITS
    }

    /// The same access, representing others too.
    pub fn standing_for(self, others: Others) -> Self {
        Self { others, ..self }
    }

    /// Whether two atomic accesses have the same width: that of the whole access, even if a cell holds only a part.
    pub fn is_as_wide_as(&self, other: &Self) -> bool {
        let differing = self.thread_and_width ^ other.thread_and_width;
        differing >> THREAD_BITS << (u16::BITS - (WIDTH_BITS - THREAD_BITS)) == 0
    }

    /// Whether the access, an atomic one, has this width.
    pub fn has_width(&self, bytes: usize) -> bool {
        let place = (self.block, self.thread());
        self.is_as_wide_as(&Self::new(self.kind, place, self.time, bytes, self.site))
    }

    /// Whether every access that must come after this one must also come after `later`, an access after it. Atomic
    /// accesses of another width need not, nor those that a wider scope of `later` includes. The narrower scopes that
    /// atomic accesses of other blocks may have are not considered.
    #[inline]
    pub fn is_like(&self, later: &Self) -> bool {
        let (own, of_later) = (self.narrowness(), later.narrowness());
        let is_as_strong = own == 0 || own <= of_later && self.block == later.block;
        !self.kind.is_atomic() || self.is_as_wide_as(later) && is_as_strong
    }

    #[inline]
    pub fn is_nothing(&self) -> bool {
        self.kind == EventKind::Nothing
    }

    /// The event in two words.
    #[inline]
    pub fn to_words(self) -> [u64; 2] {
        bytemuck::cast(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::Location;

    #[test]
    fn atomic_events_have_width_and_scope() {
        let site = Site::of(Location::caller());
        let of =
            |bytes, scope| Event::new(EventKind::Atomic, (3, 1023), 7, bytes, site).of_scope(scope);
        use MemoryScope::{Block, Cluster, Device};
        for scope in [Block, Cluster, Device] {
            let (narrow, wide) = (of(4, scope), of(8, scope));
            assert_eq!((narrow.scope(), wide.scope()), (scope, scope));
            assert_eq!((narrow.thread(), wide.thread()), (1023, 1023));
            assert!(narrow.is_as_wide_as(&of(4, Block)) && !narrow.is_as_wide_as(&wide));
            assert!(narrow.is_like(&narrow) && !narrow.is_like(&wide));
        }
        // An access that must come after one with block scope need not come after a later one with device scope.
        assert!(!of(4, Block).is_like(&of(4, Device)) && of(4, Device).is_like(&of(4, Block)));
    }

    #[test]
    fn events_stay_small() {
        assert_eq!(size_of::<Event>(), 16);
    }
}
