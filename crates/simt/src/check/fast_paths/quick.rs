//! The fast path of most accesses: the state of their bytes shows that they are allowed, and determines the next state.
//!
//! It applies if the thread itself made the last access, if a barrier of the block orders it, or if several blocks have
//! read the bytes. The rules of `cell` check all other accesses.

use crate::basics::{Access, AccessKind, CallSite, Position, Space};
use crate::check::block::BlockCheck;
use crate::check::cells::global_cells::Cells;
use crate::check::cells::region::Region;
use crate::check::cells::site::Site;
use crate::check::fast_paths::single_event::Plain;
use crate::state::SharedMemory;

impl BlockCheck {
    /// Records an access by the thread at `position`, at the line `site`, if the fast path can. Otherwise the rules
    /// must record it, even if the fast path has recorded a part.
    #[inline]
    pub fn record_quickly(
        &self,
        position: &Position,
        shared: &SharedMemory,
        access: &Access,
        site: CallSite,
    ) -> bool {
        let number = position.thread();
        let (has_clock, site) = (self.has_clock(number), Site::of(site));
        match (access.space, access.kind) {
            (Space::Global, kind) if !kind.is_atomic() => {
                self.record_global_quickly(number, access, has_clock, site)
            }
            (Space::Shared, AccessKind::Read | AccessKind::Write) => {
                self.record_shared_quickly(shared, access, (number, has_clock), site)
            }
            _ => false,
        }
    }

    /// A load or a store of two to the power of `shift` bytes, if its event fits in a cell.
    #[inline(always)]
    pub(in crate::check) fn plain<const WRITES: bool>(
        &self,
        number: u32,
        shift: u32,
        site: Site,
    ) -> Option<Plain<WRITES>> {
        let barrier = self.block_barrier.get();
        let of_stamp = |stamp| Plain::new(stamp, number as u16, shift, site, barrier);
        self.stamp.get().map(of_stamp)
    }

    /// Whether a thread's accesses are ordered by more than barriers of its block and its warp.
    #[inline]
    pub(in crate::check) fn has_clock(&self, thread: u32) -> bool {
        self.has_clocks.get() && self.has_own_clock(thread)
    }

    #[cold]
    fn has_own_clock(&self, thread: u32) -> bool {
        self.clocks.of(thread as usize).ordered.is_some()
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

    /// Whether a load or a store of the bytes of `range` (offset, bytes) replaces their state.
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
            // Another host thread may have narrowed the cells meanwhile.
            region.change(|| !cells.are_outdated() && cells.replace(range, &access))
        })
    }

    #[inline]
    fn record_shared_quickly(
        &self,
        shared: &SharedMemory,
        access: &Access,
        (number, has_clock): (u32, bool),
        site: Site,
    ) -> bool {
        let Some(offset) = shared.offset_of(access.address()) else {
            return false;
        };
        let Ok(mut shadow) = self.shared.try_borrow_mut() else {
            return false;
        };
        let (bytes, shift) = (access.bytes, access.bytes.trailing_zeros());
        match access.kind {
            AccessKind::Write => {
                let access = self.plain::<true>(number, shift, site);
                access.is_some_and(|it| shadow.record_known_write(offset, bytes, &it, self.block))
            }
            _ => {
                let by = (self.warp_width as u16, has_clock);
                let access = self.plain::<false>(number, shift, site);
                access.is_some_and(|it| shadow.record_known_read(offset, bytes, &it, by))
            }
        }
    }
}

#[cfg(test)]
mod tests;
