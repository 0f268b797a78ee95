//! One access against the shadow.

use super::accessor::Accessor;
use super::block::BlockCheck;
use super::cell::Conflict;
use super::event::{Event, Others, Site};
use super::report::Place;
use super::shadow::{Page, pages};
use crate::basics::{Access, Finding, Position, Space};
use crate::memory::{Allocation, is_replaced};
use crate::state::SharedMemory;
use std::panic::Location;

impl BlockCheck {
    /// Checks and records an access by the thread at `position`, which is about to happen at the
    /// line `site`.
    ///
    /// # Errors
    ///
    /// What the access is in conflict with, as the defect that ends the launch.
    #[inline]
    pub fn record(
        &self,
        position: &Position,
        shared: &SharedMemory,
        access: &Access,
        site: &'static Location<'static>,
    ) -> Result<(), Box<Finding>> {
        self.record_access(position, shared, access, site)
            .map_err(|conflict| {
                let place = Place::of(access, shared, &self.launch.allocations);
                Box::new(self.describe(position, access.kind, &place, &conflict, site))
            })
    }

    #[inline]
    fn record_access(
        &self,
        position: &Position,
        shared: &SharedMemory,
        access: &Access,
        site: &'static Location<'static>,
    ) -> Result<(), Conflict> {
        let address = access.address();
        self.with_accessor(position, |accessor| {
            let event = Event {
                time: self.now(),
                block: self.block,
                site: Site::of(site),
                thread: accessor.thread,
                kind: access.kind.into(),
                others: Others::None,
            };
            match access.space {
                Space::Constant => Ok(()),
                Space::Global => self.record_global(address, access.bytes, &event, accessor),
                Space::Shared => match shared.offset_of(address) {
                    Some(offset) => self.record_shared(offset, access.bytes, &event, accessor),
                    None => Ok(()),
                },
            }
        })
    }

    #[inline]
    fn record_shared(
        &self,
        offset: usize,
        bytes: usize,
        event: &Event,
        accessor: &Accessor<'_>,
    ) -> Result<(), Conflict> {
        pages(offset, bytes).try_for_each(|(number, offset, bytes)| {
            self.with_shared_page(number, |page| {
                page.record(offset, bytes, event, accessor, true)
            })?
        })
    }

    #[inline]
    fn record_global(
        &self,
        address: usize,
        bytes: usize,
        event: &Event,
        accessor: &Accessor<'_>,
    ) -> Result<(), Conflict> {
        let allocation = self.launch.allocations.find(address);
        if let Some(conflict) = allocation.and_then(|it| conflict_with(it, address, bytes, event)) {
            return Err(conflict);
        }
        pages(address, bytes).try_for_each(|(number, offset, bytes)| {
            let record = |page: &mut Page| page.record(offset, bytes, event, accessor, false);
            self.launch.with_page(number, record)?
        })?;
        if event.kind.writes()
            && let Some(allocation) = allocation
        {
            allocation.mark_written(address, bytes);
        }
        Ok(())
    }
}

/// Why an access of an allocation is wrong, whichever others access it.
#[inline]
fn conflict_with(
    allocation: &Allocation,
    address: usize,
    bytes: usize,
    event: &Event,
) -> Option<Conflict> {
    let conflict = if allocation.is_freed() {
        Conflict::Freed
    } else if event.kind.reads() && !allocation.is_written(address, bytes) {
        Conflict::Unwritten
    } else {
        return None;
    };
    (!is_replaced(allocation, address, bytes)).then_some(conflict)
}
