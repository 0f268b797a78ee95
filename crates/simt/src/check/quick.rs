//! The short way of most accesses: what is known of their bytes says at once that they are allowed,
//! and what is known afterwards.
//!
//! The thread itself made the last access, or a barrier of the block orders it, which is so whatever else
//! a clock orders; or several blocks have read the bytes. All other accesses are left to the rules of
//! `cell`.

use super::block::BlockCheck;
use super::event::Event;
use super::site::Site;
use crate::basics::{Access, AccessKind, Position, Space};
use crate::state::SharedMemory;
use std::panic::Location;

impl BlockCheck {
    /// Records an access by the thread at `position`, at the line `site`, if the short way does.
    /// Otherwise the access has to be recorded by the rules, whatever the short way has begun.
    #[inline]
    pub fn record_quickly(
        &self,
        position: &Position,
        shared: &SharedMemory,
        access: &Access,
        site: &'static Location<'static>,
    ) -> bool {
        let number = position.thread();
        let event = || {
            let thread = (self.block, number as u16);
            let site = Site::of(site);
            Event::new(access.kind.into(), thread, self.now(), access.bytes, site)
        };
        let has_clock = self.has_clocks.get() && self.has_clock(number);
        match (access.space, access.kind) {
            (Space::Global, kind) if !kind.is_atomic() => {
                self.record_global_quickly(access, has_clock, event)
            }
            (Space::Shared, AccessKind::Read | AccessKind::Write) => {
                self.record_shared_quickly(shared, access, has_clock, event)
            }
            _ => false,
        }
    }

    /// Whether more than barriers of its block and its warp order what a thread does.
    #[cold]
    fn has_clock(&self, thread: u32) -> bool {
        self.threads[thread as usize].borrow().ordered.is_some()
    }

    #[inline]
    fn record_global_quickly(
        &self,
        access: &Access,
        has_clock: bool,
        event: impl Fn() -> Event,
    ) -> bool {
        let Ok(nearby) = self.nearby.try_borrow() else {
            return false;
        };
        let Some((place, offset)) = nearby.place_of(access) else {
            return false;
        };
        let (region, bytes) = (&place.region, access.bytes);
        let replaces =
            |event: &Event| region.replace(offset, bytes, event, self.block_barrier.get());
        match access.kind {
            AccessKind::Read => {
                place.is_valid(access, true)
                    && (!has_clock && region.is_read(offset, bytes) || replaces(&event()))
            }
            AccessKind::ReadOnly => {
                place.is_valid(access, true)
                    && region.record_read_only(offset, bytes, event().site).is_ok()
            }
            AccessKind::AsyncRead => {
                !has_clock && region.is_read(offset, bytes) && place.is_valid(access, true)
            }
            AccessKind::Write => {
                let event = event();
                let is_recorded = place.is_valid(access, false) && replaces(&event);
                if is_recorded {
                    place.note_written(access, &event);
                }
                is_recorded
            }
            _ => false,
        }
    }

    #[inline]
    fn record_shared_quickly(
        &self,
        shared: &SharedMemory,
        access: &Access,
        has_clock: bool,
        event: impl Fn() -> Event,
    ) -> bool {
        let Some(offset) = shared.offset_of(access.address()) else {
            return false;
        };
        let Ok(mut shadow) = self.shared.try_borrow_mut() else {
            return false;
        };
        let (event, bytes, barrier) = (event(), access.bytes, self.block_barrier.get());
        match access.kind {
            AccessKind::Write => shadow.record_known_write(offset, bytes, &event, barrier),
            _ => {
                let by = (self.warp_width as u16, has_clock);
                shadow.record_known_read(offset, bytes, &event, by, barrier)
            }
        }
    }
}

#[cfg(test)]
mod tests;
