//! The short way of most accesses: what is known of their bytes says at once that they are allowed,
//! and what is known afterwards.
//!
//! The thread itself made the last access, or a barrier of the block orders it, which is so whatever else
//! a clock orders; or several blocks have read the bytes. All other accesses are left to the rules of
//! `cell`.

use super::accessor::Accessor;
use super::block::BlockCheck;
use super::cells::{Cells, REGION_BYTES};
use super::event::{Event, EventKind};
use super::plain::Plain;
use super::region::Region;
use super::site::Site;
use crate::basics::{Access, AccessKind, Position, Space};
use crate::state::SharedMemory;
use std::panic::Location;

impl BlockCheck {
    /// Records a load of global memory, or a store, of `bytes` bytes at `address` by a view that begins at
    /// `view_base`, by the thread at `position`, whose number is `number`, at the line `site`: if the bytes
    /// are those of one cell, and most of what [`record_quickly`](Self::record_quickly) asks is known.
    #[inline(always)]
    pub fn record_at_once<const WRITES: bool>(
        &self,
        (position, number): (&Position, u32),
        view_base: usize,
        (address, bytes): (usize, usize),
        site: &'static Location<'static>,
    ) -> bool {
        if self.is_abandoned.get() {
            return false;
        }
        // SAFETY: the places are borrowed to change them only in functions that do not call this one.
        let nearby = unsafe { &*self.nearby.as_ptr() };
        let Some((window, cells, cell)) = nearby.cell_of(view_base, address, bytes) else {
            return false;
        };
        let is_known = WRITES || window.is_all_written;
        if !WRITES && is_known && cells.is_read(cell) && !self.has_clocks.get() {
            return true;
        }
        let plain = || self.plain::<WRITES>(number, cells.shift(), Site::of(site));
        let is_replaced = || plain().is_some_and(|it| cells.replace_one(cell, &it));
        if !(is_known && cells.are_exclusive() && is_replaced()) {
            return self.record_in_region::<WRITES>(position, view_base, (address, bytes), site);
        }
        if WRITES && !window.is_all_written {
            self.note_written(address, bytes);
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn note_written(&self, address: usize, bytes: usize) {
        if let Some(place) = self.nearby.borrow().place_of_cell(address) {
            place.note_written(address, bytes);
        }
    }

    /// Records an access of a cell that [`record_at_once`](Self::record_at_once) has found: not all of the
    /// memory was written, or it changes cells that other host threads use, or the rules have to say whether
    /// it is allowed. If they do not, that has to be found once more.
    #[inline(never)]
    fn record_in_region<const WRITES: bool>(
        &self,
        position: &Position,
        view_base: usize,
        (address, bytes): (usize, usize),
        site: &'static Location<'static>,
    ) -> bool {
        let nearby = self.nearby.borrow();
        let cell = nearby.cell_of(view_base, address, bytes);
        let Some(((_, cells, cell), place)) = cell.zip(nearby.place_of_cell(address)) else {
            return false;
        };
        let (number, region) = (position.thread(), &place.region);
        if !WRITES && !place.is_written(address, bytes) {
            return false;
        }
        if !WRITES && cells.is_read(cell) && !self.has_clock(number) {
            return true;
        }
        let plain = || self.plain::<WRITES>(number, cells.shift(), Site::of(site));
        let is_replaced = || {
            // Another host thread may have narrowed them meanwhile.
            !cells.are_outdated() && plain().is_some_and(|it| cells.replace_one(cell, &it))
        };
        let event = || self.plain_event::<WRITES>(number, cells, site);
        let is_allowed = || {
            let (part, whole) = ((address % REGION_BYTES, bytes), (address, bytes));
            let record = |accessor: &Accessor<'_>| {
                self.record_bytes(region, part, whole, &event(), accessor)
            };
            self.with_accessor(position, record).is_ok()
        };
        let is_recorded = region.change(is_replaced) || is_allowed();
        if WRITES && is_recorded {
            place.note_written(address, bytes);
        }
        is_recorded
    }

    /// A load or a store of two to the power of `shift` bytes, if its event fits in a cell.
    #[inline(always)]
    fn plain<const WRITES: bool>(
        &self,
        number: u32,
        shift: u32,
        site: Site,
    ) -> Option<Plain<WRITES>> {
        let barrier = self.block_barrier.get();
        let of_stamp = |stamp| Plain::new(stamp, number as u16, shift, site, barrier);
        self.stamp.get().map(of_stamp)
    }

    /// A load or a store of all bytes of one of the cells.
    #[inline(always)]
    fn plain_event<const WRITES: bool>(
        &self,
        number: u32,
        cells: &Cells,
        site: &'static Location<'static>,
    ) -> Event {
        let kind = match WRITES {
            true => EventKind::Write,
            false => EventKind::Read,
        };
        let thread = (self.block, number as u16);
        Event::of_width(kind, thread, self.now(), cells.shift(), Site::of(site))
    }

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
        let (has_clock, site) = (self.has_clock(number), Site::of(site));
        let event = || {
            let thread = (self.block, number as u16);
            Event::new(access.kind.into(), thread, self.now(), access.bytes, site)
        };
        match (access.space, access.kind) {
            (Space::Global, kind) if !kind.is_atomic() => {
                self.record_global_quickly(number, access, has_clock, site)
            }
            (Space::Shared, AccessKind::Read | AccessKind::Write) => {
                self.record_shared_quickly(shared, access, has_clock, event)
            }
            _ => false,
        }
    }

    /// Whether more than barriers of its block and its warp order what a thread does.
    #[inline]
    fn has_clock(&self, thread: u32) -> bool {
        self.has_clocks.get() && self.has_own_clock(thread)
    }

    #[cold]
    fn has_own_clock(&self, thread: u32) -> bool {
        self.threads[thread as usize].borrow().ordered.is_some()
    }

    #[inline]
    fn record_global_quickly(
        &self,
        number: u32,
        access: &Access,
        has_clock: bool,
        site: Site,
    ) -> bool {
        let Ok(nearby) = self.nearby.try_borrow() else {
            return false;
        };
        let Some((place, offset)) = nearby.place_of(access) else {
            return false;
        };
        let (region, bytes) = (&place.region, access.bytes);
        if access.kind == AccessKind::ReadOnly {
            return place.is_valid(access, true)
                && region.record_read_only(offset, bytes, site).is_ok();
        }
        let Some(cells) = nearby.cells_at(access.address()) else {
            return false;
        };
        let range = (offset, bytes);
        match access.kind {
            AccessKind::Read => {
                place.is_valid(access, true)
                    && (!has_clock && cells.are_read(offset, bytes)
                        || self.replaces::<false>(number, (region, cells), range, site))
            }
            AccessKind::AsyncRead => {
                !has_clock && cells.are_read(offset, bytes) && place.is_valid(access, true)
            }
            AccessKind::Write => {
                let is_recorded = place.is_valid(access, false)
                    && self.replaces::<true>(number, (region, cells), range, site);
                if is_recorded {
                    place.note_written(access.address(), bytes);
                }
                is_recorded
            }
            _ => false,
        }
    }

    /// Whether a load or a store of the bytes of `range` (offset, bytes) replaces all that is known of them.
    #[inline]
    fn replaces<const WRITES: bool>(
        &self,
        number: u32,
        (region, cells): (&Region, &Cells),
        range: (usize, usize),
        site: Site,
    ) -> bool {
        let access = self.plain::<WRITES>(number, range.1.trailing_zeros(), site);
        access.is_some_and(|access| {
            // Another host thread may have narrowed them meanwhile.
            region.change(|| !cells.are_outdated() && cells.replace(range, &access))
        })
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
