//! One access against the shadow.

use super::event::{Event, Others, Site};
use super::report::Place;
use super::shadow::{Conflict, Observer, Page, pages};
use super::{BlockCheck, with_check};
use crate::allocation::{Allocation, is_replaced};
use crate::block::{Block, Thread};
use crate::memory::{Access, Space};
use std::panic::Location;

/// Checks and records an access of the running thread that is about to happen.
///
/// A conflict ends the launch at `site`.
#[inline]
pub(crate) fn record(access: &Access, site: &'static Location<'static>) {
    with_check(Some(site), |thread, block, check| {
        if let Err(conflict) = check.record(thread, block, access, site) {
            let place = Place::of(access, block, check);
            let finding = check.describe(thread, block, access.kind, &place, &conflict, site);
            block.fail_with(thread, finding);
        }
    });
}

impl BlockCheck {
    #[inline]
    fn record(
        &self,
        thread: &Thread,
        block: &Block,
        access: &Access,
        site: &'static Location<'static>,
    ) -> Result<(), Conflict> {
        let address = access.view_base.wrapping_add(access.offset);
        self.observe(thread, |observer| {
            let event = Event {
                time: self.now.get(),
                block: self.block,
                site: Site::of(site),
                thread: observer.thread,
                kind: access.kind.into(),
                others: Others::Nobody,
            };
            match access.space {
                Space::Constant => Ok(()),
                Space::Global => self.record_global(address, access.bytes, &event, observer),
                Space::Shared => match block.shared.offset_of(address) {
                    Some(offset) => self.record_shared(offset, access.bytes, &event, observer),
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
        observer: &Observer<'_>,
    ) -> Result<(), Conflict> {
        pages(offset, bytes).try_for_each(|(number, offset, bytes)| {
            self.with_shared_page(number, |page| {
                page.record(offset, bytes, event, observer, true)
            })?
        })
    }

    #[inline]
    fn record_global(
        &self,
        address: usize,
        bytes: usize,
        event: &Event,
        observer: &Observer<'_>,
    ) -> Result<(), Conflict> {
        let allocation = self.launch.allocations.find(address);
        if let Some(conflict) = allocation.and_then(|it| conflict_with(it, address, bytes, event)) {
            return Err(conflict);
        }
        pages(address, bytes).try_for_each(|(number, offset, bytes)| {
            let record = |page: &mut Page| page.record(offset, bytes, event, observer, false);
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

/// Why an access of an allocation is wrong, whoever else accesses it.
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
