//! The accessing thread, and its order relative to other accesses.

use crate::basics::MemoryScope;
use crate::check::asynchronous::clusters::Clusters;
use crate::check::cells::event::{Event, Others, Time};
use crate::check::clocks::known_clock::KnownClock;
use std::ops::Range;

/// The accessing thread, and what is ordered before it.
pub(super) struct Accessor<'a> {
    pub block: u32,
    pub thread: u16,
    /// The threads of its warp.
    pub warp: Range<u16>,
    /// The last barrier of its block.
    pub block_barrier: Time,
    /// The last barrier of its whole warp.
    pub warp_barrier: Time,
    /// The accesses that fences and other barriers order before it.
    pub clock: KnownClock<'a>,
    pub clusters: &'a Clusters,
}

impl Accessor<'_> {
    /// Whether two atomic accesses need no order between them: they have the same width, and each one's scope includes
    /// the other's thread (PTX ISA, "Morally strong operations").
    #[inline]
    pub fn are_strong(&self, one: &Event, other: &Event) -> bool {
        let includes = |event: &Event, block| match event.scope() {
            MemoryScope::Block => event.block == block,
            MemoryScope::Cluster => {
                self.clusters.number_of(event.block) == self.clusters.number_of(block)
            }
            MemoryScope::Device | MemoryScope::System => true,
        };
        one.is_as_wide_as(other) && includes(one, other.block) && includes(other, one.block)
    }

    /// Whether `event` happened before the thread's current access.
    #[inline]
    pub fn is_after(&self, event: &Event) -> bool {
        self.is_after_thread(event) && (event.others == Others::None || self.is_after_others(event))
    }

    /// Whether the same holds for the earlier accesses that the event represents. The shadow does not record them, so a
    /// thread whose clock has more than barriers of the grid is trusted to come after them.
    pub fn is_after_others(&self, event: &Event) -> bool {
        let by_barrier = match event.others {
            Others::None => true,
            Others::OfOtherBlocks => false,
            Others::OfBlock => self.is_after_block(event),
            Others::OfWarp => self.is_after_by_barrier(event),
        };
        by_barrier
            || self.clock.get().is_some_and(|clock| {
                clock.has_clocks() || event.time <= clock.last_grid_barrier(event.block)
            })
    }

    /// Whether a barrier of the block or of the whole warp orders `event` before the thread's current access. Such
    /// barriers order all threads of the event's warp alike.
    #[inline]
    pub fn is_after_by_barrier(&self, event: &Event) -> bool {
        self.is_after_block(event) || self.is_after_warp(event)
    }

    /// Whether an access by thread `thread` of the event's block, at the event's time, happened before the thread's
    /// current access.
    #[inline]
    pub fn is_after_access_of(&self, event: &Event, thread: u16) -> bool {
        self.is_self(event.block, thread)
            || self.is_after_by_barrier(event)
            || self.is_after_clock(event, thread)
    }

    /// Whether the thread itself made the access.
    #[inline]
    pub fn is_own(&self, event: &Event) -> bool {
        self.is_self(event.block, event.thread())
    }

    pub fn warp_width(&self) -> u16 {
        self.warp.end - self.warp.start
    }

    #[inline]
    pub fn is_after_thread(&self, event: &Event) -> bool {
        self.is_after_access_of(event, event.thread())
    }

    fn is_self(&self, block: u32, thread: u16) -> bool {
        block == self.block && thread == self.thread
    }

    /// By a barrier of the block.
    #[inline]
    fn is_after_block(&self, event: &Event) -> bool {
        event.block == self.block && event.time <= self.block_barrier
    }

    /// By a barrier of the whole warp.
    fn is_after_warp(&self, event: &Event) -> bool {
        event.block == self.block
            && event.time <= self.warp_barrier
            && self.warp.contains(&event.thread())
    }

    fn is_after_clock(&self, event: &Event, thread: u16) -> bool {
        let thread = (event.block, u32::from(thread));
        self.clock.is_after(thread, event.time)
    }
}

impl Event {
    /// The relation of its thread to the thread of `other`, with the warp width of `accessor`.
    pub fn relation(&self, other: &Self, accessor: &Accessor<'_>) -> Others {
        let warp = |event: &Self| event.thread() / accessor.warp_width();
        if other.block != self.block {
            Others::OfOtherBlocks
        } else if warp(other) != warp(self) {
            Others::OfBlock
        } else if other.thread() != self.thread() {
            Others::OfWarp
        } else {
            Others::None
        }
    }

    /// Whether `later`, the thread's current access, makes the event redundant.
    #[inline]
    pub fn is_replaced_by(&self, later: &Self, accessor: &Accessor<'_>) -> bool {
        self.is_like(later) && accessor.is_after(self)
    }
}
