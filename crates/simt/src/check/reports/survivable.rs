//! Conflicts after which a launch continues, as if the access were allowed.

use crate::basics::{Access, CallSite, Finding, Position, Space};
use crate::check::block::BlockCheck;
use crate::check::cells::cell::Conflict;
use crate::check::cells::event::{Event, EventKind};
use crate::check::cells::global_cells::REGION_BYTES;
use crate::check::cells::shared_shadow::{PAGE_BYTES, pages};
use crate::check::cells::site::Site;
use crate::check::reports::findings::Key;
use crate::check::reports::place::Place;
use crate::memory::{OutOfMemory, load_relaxed, start_of};
use crate::state::SharedMemory;
use std::ptr::with_exposed_provenance;

/// Whether it is a conflict with a plain write at this line.
fn is_of_writes(conflict: &Conflict, site: Site) -> bool {
    match conflict {
        Conflict::Unordered(other) | Conflict::UnorderedOthers(other) => {
            other.kind == EventKind::Write && other.site == site
        }
        _ => false,
    }
}

/// Whether it writes the value that the memory already has.
fn repeats(access: &Access) -> bool {
    if access.value.is_null() {
        return false;
    }
    // SAFETY: it points to as many bytes, which the running thread holds during the access.
    let value = unsafe { std::slice::from_raw_parts(access.value, access.bytes) };
    value.iter().enumerate().all(|(place, byte)| {
        let present = with_exposed_provenance::<u8>(access.address() + place);
        // SAFETY: another write of these bytes was recorded: they are shared memory of a block of the cluster, or
        // registered global memory, which is written only through this crate.
        *byte == unsafe { load_relaxed(present) }
    })
}

impl BlockCheck {
    /// Lists a conflict after which the launch continues, and records the access as allowed.
    ///
    /// # Errors
    ///
    /// The conflict as a finding, if it ends the launch.
    #[cold]
    pub(in crate::check) fn list(
        &self,
        position: &Position,
        shared: &SharedMemory,
        access: &Access,
        conflict: &Conflict,
        site: CallSite,
    ) -> Result<(), Box<Finding>> {
        if is_of_writes(conflict, Site::of(site)) && repeats(access) {
            return self.allow(position, shared, access, site);
        }
        let describe = || {
            let place = Place::of(access, shared, &self.launch.allocations);
            let place = place.of_parameter(access, &self.launch);
            self.describe(position, access.kind, &place, conflict, site)
        };
        let address = access.address();
        let memory = match access.space {
            Space::Shared => shared.array_of(address),
            // Static arrays are registered at their first use, which may be during the launch.
            Space::Global | Space::Constant => start_of(address).unwrap_or(0),
        };
        let Some(key) = Key::of(access.kind, conflict, Site::of(site), memory) else {
            return Err(Box::new(describe()));
        };
        self.launch.findings.add(key, self.block, describe)?;
        self.allow(position, shared, access, site)
    }

    fn allow(
        &self,
        position: &Position,
        shared: &SharedMemory,
        access: &Access,
        site: CallSite,
    ) -> Result<(), Box<Finding>> {
        self.overwrite(position, shared, access, site)
            .map_err(|OutOfMemory| Finding::out_of_memory(&OutOfMemory.to_string()))
    }

    /// Records a write as the only access of its bytes. Drops a read.
    fn overwrite(
        &self,
        position: &Position,
        shared: &SharedMemory,
        access: &Access,
        site: CallSite,
    ) -> Result<(), OutOfMemory> {
        let kind = EventKind::from(access.kind);
        if !kind.writes() {
            return Ok(());
        }
        let thread = (self.block, position.thread() as u16);
        let event = Event::new(kind, thread, self.now(), access.bytes, Site::of(site));
        let event = event.of_scope(access.order.scope);
        let (address, bytes) = (access.address(), access.bytes);
        match (access.space, shared.offset_of(address)) {
            (Space::Shared, Some(offset)) => {
                for (number, offset, bytes) in pages::<PAGE_BYTES>(offset, bytes) {
                    self.with_shared_page(number, |mut page, sets| {
                        page.overwrite(offset, bytes, &event, sets)
                    })??;
                }
                if !kind.is_atomic() {
                    self.published.end(address, bytes);
                }
            }
            (Space::Global, _) => {
                let mut nearby = self.nearby.borrow_mut();
                for (number, offset, bytes) in pages::<REGION_BYTES>(address, bytes) {
                    let place = nearby.find(&self.launch, number * REGION_BYTES + offset)?;
                    place.region.overwrite(offset, bytes, &event)?;
                }
                if let Some(allocation) = &nearby.find(&self.launch, address)?.allocation {
                    allocation.mark_written(address, bytes);
                }
                if !kind.is_atomic() {
                    self.launch.published.end(address, bytes);
                }
            }
            _ => {}
        }
        Ok(())
    }
}
