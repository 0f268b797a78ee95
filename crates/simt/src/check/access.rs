//! Checks one access against the shadow.

use crate::basics::{Access, AccessKind, CallSite, Finding, Position, Space};
use crate::check::accessor::Accessor;
use crate::check::block::BlockCheck;
use crate::check::cells::cell::Conflict;
use crate::check::cells::event::Event;
use crate::check::cells::global_cells::REGION_BYTES;
use crate::check::cells::reader_sets::ReaderSets;
use crate::check::cells::region::Region;
use crate::check::cells::shared_shadow::{PAGE_BYTES, Page, pages};
use crate::check::cells::site::Site;
use crate::check::fast_paths::recent_regions::Nearby;
use crate::check::global::LaunchCheck;
use crate::memory::{Allocation, is_inside_one, is_replaced};
use crate::state::SharedMemory;

impl BlockCheck {
    /// Checks and records an access that the thread at `position` is about to make at the line `site`.
    ///
    /// # Errors
    ///
    /// The access's conflict, if it ends the launch.
    pub fn record(
        &self,
        position: &Position,
        shared: &SharedMemory,
        access: &Access,
        site: CallSite,
    ) -> Result<(), Box<Finding>> {
        self.record_access(position, shared, access, site)
            .or_else(|conflict| self.list(position, shared, access, &conflict, site))
    }

    #[inline]
    pub(super) fn record_access(
        &self,
        position: &Position,
        shared: &SharedMemory,
        access: &Access,
        site: CallSite,
    ) -> Result<(), Conflict> {
        let address = access.address();
        self.with_accessor(position, |accessor| {
            let thread = (self.block, accessor.thread);
            let (kind, site) = (access.kind.into(), Site::of(site));
            let event = Event::new(kind, thread, self.now(), access.bytes, site);
            let event = event.of_scope(access.order.scope);
            if event.kind.is_atomic() {
                self.announce(accessor.thread, access);
            }
            match access.space {
                Space::Constant => Ok(()),
                Space::Global => self.record_global(access, &event, accessor),
                Space::Shared => match shared.offset_of(address) {
                    Some(offset) => {
                        self.record_shared((offset, access.bytes), address, &event, accessor)
                    }
                    None => Ok(()),
                },
            }
        })
    }

    /// Records an access of these bytes of shared memory, from `offset` on. Their address is `address`.
    #[inline]
    pub(super) fn record_shared(
        &self,
        (offset, bytes): (usize, usize),
        address: usize,
        event: &Event,
        accessor: &Accessor<'_>,
    ) -> Result<(), Conflict> {
        let mut ends_release = false;
        for (number, offset, bytes) in pages::<PAGE_BYTES>(offset, bytes) {
            let record = |mut page: Page<'_>, sets: &mut ReaderSets| {
                page.record(offset, bytes, event, accessor, sets)
            };
            ends_release |= self.with_shared_page(number, record)??;
        }
        if ends_release {
            self.published.end(address, bytes);
        }
        Ok(())
    }

    #[inline]
    pub(super) fn record_global(
        &self,
        access: &Access,
        event: &Event,
        accessor: &Accessor<'_>,
    ) -> Result<(), Conflict> {
        let (address, bytes) = (access.address(), access.bytes);
        if bytes == 0 {
            return Ok(());
        }
        let offset = address % REGION_BYTES;
        let mut nearby = self.nearby.borrow_mut();
        let place = nearby.find(&self.launch, address)?;
        if !(place.holds(access) && place.is_valid(access, event.kind.reads()))
            && let Some(conflict) =
                conflict_with(place.allocation.as_deref(), access, event, &self.launch)
        {
            return Err(conflict);
        }
        if offset + bytes > REGION_BYTES {
            return self.record_parts(&mut nearby, access, event, accessor);
        }
        self.record_part(&place.region, (offset, bytes), access, event, accessor)?;
        if event.kind.writes() {
            place.note_written(address, bytes);
        }
        nearby.look_for_cells(address);
        Ok(())
    }

    /// Records an access that is in several regions.
    #[cold]
    fn record_parts(
        &self,
        nearby: &mut Nearby,
        access: &Access,
        event: &Event,
        accessor: &Accessor<'_>,
    ) -> Result<(), Conflict> {
        let (address, bytes) = (access.address(), access.bytes);
        for (number, offset, bytes) in pages::<REGION_BYTES>(address, bytes) {
            let place = nearby.find(&self.launch, number * REGION_BYTES + offset)?;
            self.record_part(&place.region, (offset, bytes), access, event, accessor)?;
        }
        let place = nearby.find(&self.launch, address)?;
        if event.kind.writes() {
            place.note_written(address, bytes);
        }
        Ok(())
    }

    /// Records the part of an access that is in one region.
    #[inline]
    fn record_part(
        &self,
        region: &Region,
        (offset, bytes): (usize, usize),
        access: &Access,
        event: &Event,
        accessor: &Accessor<'_>,
    ) -> Result<(), Conflict> {
        match access.kind {
            AccessKind::ReadOnly => region.record_read_only(offset, bytes, event.site),
            _ => self.record_bytes(
                region,
                (offset, bytes),
                (access.address(), access.bytes),
                event,
                accessor,
            ),
        }
    }

    /// Records the part of an access of `whole` (address, bytes) that is in one region.
    #[inline]
    pub(super) fn record_bytes(
        &self,
        region: &Region,
        (offset, bytes): (usize, usize),
        whole: (usize, usize),
        event: &Event,
        accessor: &Accessor<'_>,
    ) -> Result<(), Conflict> {
        if region.record(offset, bytes, event, accessor)? {
            self.launch.published.end(whole.0, whole.1);
        }
        match region.read_only.reader(offset, bytes) {
            Some(site) if event.kind.writes() => Err(Conflict::ReadOnly(site)),
            _ => Ok(()),
        }
    }
}

/// The conflict of an access, without regard to other accesses: it is not in the allocation that its view begins in, or
/// that allocation is freed or not written. `allocation` holds the first byte.
#[cold]
fn conflict_with(
    allocation: Option<&Allocation>,
    access: &Access,
    event: &Event,
    launch: &LaunchCheck,
) -> Option<Conflict> {
    let (address, bytes) = (access.address(), access.bytes);
    let conflict = match allocation {
        None if launch.allocations.find(access.view_base).is_none() => {
            let is_valid = launch.may_access(None) || is_allocated(access);
            return (!is_valid).then_some(Conflict::Unregistered);
        }
        Some(allocation) if allocation.is_freed() => Conflict::Freed,
        Some(allocation)
            if allocation.contains(access.view_base) && bytes <= allocation.end() - address =>
        {
            match event.kind.reads() && !allocation.is_written(address, bytes) {
                true => Conflict::Unwritten,
                false => return None,
            }
        }
        _ => return (!is_allocated(access)).then_some(Conflict::PastEnd),
    };
    let is_replaced = allocation.is_some_and(|known| is_replaced(known, address, bytes));
    (!is_replaced).then_some(conflict)
}

/// Whether one current allocation holds the start of the view and the bytes of the access.
#[cold]
fn is_allocated(access: &Access) -> bool {
    is_inside_one(access.view_base, access.address(), access.bytes)
}
