//! The fastest path of a load or a store of shared memory: its bytes are exactly those of one cell, and a few words at
//! hand show that it is allowed.
//!
//! Code that only some accesses need is in separate functions, so that not every access saves its registers.

use crate::basics::{CallSite, Position};
use crate::check::accessor::Accessor;
use crate::check::block::BlockCheck;
use crate::check::cells::event::{Event, EventKind};
use crate::check::cells::reader_sets::PlainRead;
use crate::check::cells::shared_shadow::SharedShadow;
use crate::check::cells::site::Site;
use crate::check::fast_paths::recent_steps::Line;

impl BlockCheck {
    /// Records a load of `bytes` bytes from `offset` on of the block's shared memory by the running thread, at the line
    /// `site`, if the last barrier orders the write before it and the thread made the same step recently.
    #[inline(always)]
    pub fn load_shared_at_once(&self, (offset, bytes): (usize, usize), site: CallSite) -> bool {
        let line = Line::of(site, bytes.trailing_zeros());
        if !self.recent.has(line) {
            return false;
        }
        let Some((cell, _)) = self.shadow_now().cell_of(offset, bytes) else {
            return false;
        };
        let before = (self.writes.get(), self.block_barrier.get());
        cell.load_again(line, before, &self.recent)
    }

    /// Records a store of `bytes` bytes from `offset` on of the block's shared memory by thread number `number`, at the
    /// line `site`, if a barrier or the thread itself orders all earlier accesses before it.
    #[inline(always)]
    pub fn store_shared_at_once(
        &self,
        number: u32,
        (offset, bytes): (usize, usize),
        site: CallSite,
    ) -> bool {
        let shadow = self.shadow_now();
        let Some((cell, shift)) = shadow.cell_of(offset, bytes) else {
            return false;
        };
        let plain = || self.plain::<true>(number, shift, Site::near(site)?);
        plain().is_some_and(|access| cell.store(&access, self.block, shadow.sets()))
    }

    /// Records a load or a store of shared memory, of `bytes` bytes from `offset` on, which are at `address`, that is
    /// not recorded at once. If it returns false, the slower paths look the bytes up again.
    pub fn record_in_page<const WRITES: bool>(
        &self,
        position: &Position,
        (offset, bytes): (usize, usize),
        address: usize,
        site: CallSite,
    ) -> bool {
        if self.is_abandoned.get() {
            return false;
        }
        let (number, shift) = (position.thread(), bytes.trailing_zeros());
        let is_replaced = || {
            let access = self.plain::<true>(number, shift, Site::of(site))?;
            let mut shadow = self.shared.try_borrow_mut().ok()?;
            let (cell, sets) = shadow.cell_and_sets((offset, bytes))?;
            Some(cell.store_after_own(&access, self.block, sets))
        };
        let is_recorded = match WRITES {
            true => is_replaced() == Some(true),
            false => self.load_in_page(position, (offset, bytes), site) == Some(true),
        };
        let is_allowed = || {
            let event = self.plain_event::<WRITES>(number, shift, site);
            let record = |accessor: &Accessor<'_>| {
                self.record_shared((offset, bytes), address, &event, accessor)
            };
            self.with_accessor(position, record).is_ok()
        };
        is_recorded || is_allowed()
    }

    /// Records a load of shared memory, if its bytes are exactly those of one cell and the write is before it.
    fn load_in_page(
        &self,
        position: &Position,
        range: (usize, usize),
        site: CallSite,
    ) -> Option<bool> {
        let (number, shift) = (position.thread(), range.1.trailing_zeros());
        let has_clock = self.has_clock(number);
        let access = self.plain::<false>(number, shift, Site::of(site))?;
        let mut shadow = self.shared_with_room().ok()?;
        let (cell, sets) = shadow.cell_and_sets(range)?;
        let from = cell.reads();
        let width = self.warp_width as u16;
        let read = || PlainRead {
            event: access.event,
            block_barrier: access.barrier,
            warp_barrier: self.warp_barriers[position.warp as usize].get(),
            warp_width: width,
        };
        let is_known = match has_clock {
            true => cell.load(&access, true, sets),
            false => cell.load_commonly(&access, read, sets).ok()?,
        };
        let is_recorded = is_known
            || cell.load_of_own(&access, width, sets)
            || self
                .with_accessor(position, |it| cell.load_newly(&access, it, sets))
                .ok()?;
        let to = cell.reads();
        // Other cells may make the step as well.
        let is_common = to != from && !to.is_own() && !self.has_clocks.get();
        if is_recorded && is_common {
            let line = Line::of(site, shift);
            let cells = shadow.reads_of_width(range.1);
            self.recent.note(line, (from, to), cells);
        }
        Some(is_recorded)
    }

    #[inline(always)]
    fn shadow_now(&self) -> &SharedShadow {
        // SAFETY: the shadow is borrowed mutably only in functions that call neither the fastest path nor kernel code.
        // The fastest path itself changes only the contents of `Cell`s.
        unsafe { &*self.shared.as_ptr() }
    }

    /// A load or a store of exactly one of the cells.
    #[inline(always)]
    fn plain_event<const WRITES: bool>(&self, number: u32, shift: u32, site: CallSite) -> Event {
        let thread = (self.block, number as u16);
        Event::of_width(
            kind_of::<WRITES>(),
            thread,
            self.now(),
            shift,
            Site::of(site),
        )
    }
}

/// The kind of a load or a store.
const fn kind_of<const WRITES: bool>() -> EventKind {
    match WRITES {
        true => EventKind::Write,
        false => EventKind::Read,
    }
}
