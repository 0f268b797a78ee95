//! The accessing thread, as it stands to other accesses.

use super::clock::VectorClock;
use super::event::{Event, Others, Time};
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
    /// What fences and other barriers order before it.
    pub clock: Option<&'a VectorClock>,
}

impl Accessor<'_> {
    /// Whether `event` happened before whatever the thread does now.
    #[inline]
    pub fn is_after(&self, event: &Event) -> bool {
        self.is_after_thread(event) && (event.others == Others::None || self.is_after_others(event))
    }

    /// Whether that holds for the earlier ones too. The shadow does not
    /// know which they were: a thread that has a clock of more than barriers of the grid is
    /// trusted to come after them.
    fn is_after_others(&self, event: &Event) -> bool {
        let by_barrier = match event.others {
            Others::OfOtherBlocks => false,
            Others::OfBlock => event.time <= self.block_barrier,
            _ => event.time <= self.block_barrier.max(self.warp_barrier),
        };
        by_barrier
            || self.clock.is_some_and(|clock| {
                clock.has_clocks() || event.time <= clock.last_grid_barrier(event.block)
            })
    }

    /// What the thread has in common with that of `event`.
    pub fn relation(&self, event: &Event) -> Others {
        if event.block != self.block {
            Others::OfOtherBlocks
        } else if !self.warp.contains(&event.thread) {
            Others::OfBlock
        } else if event.thread != self.thread {
            Others::OfWarp
        } else {
            Others::None
        }
    }

    /// Whether `event` is of another warp or another block.
    pub fn is_elsewhere(&self, event: &Event) -> bool {
        event.block != self.block || !self.warp.contains(&event.thread)
    }

    #[inline]
    fn is_after_thread(&self, event: &Event) -> bool {
        if event.block == self.block {
            let by_barrier = event.time <= self.block_barrier || event.thread == self.thread;
            let by_warp = || event.time <= self.warp_barrier && self.warp.contains(&event.thread);
            if by_barrier || by_warp() {
                return true;
            }
        }
        self.clock
            .is_some_and(|clock| event.time <= clock.at(event.block, u32::from(event.thread)))
    }
}
