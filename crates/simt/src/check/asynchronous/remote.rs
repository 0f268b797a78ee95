//! Accesses of a block's shared memory by the other blocks of its cluster.

use crate::basics::{Access, CallSite, DefectKind, Finding, Position, Related};
use crate::check::block::BlockCheck;
use crate::check::cells::event::{Event, EventKind};
use crate::check::cells::site::Site;
use crate::check::reports::place::Place;
use crate::state::SharedMemory;

impl BlockCheck {
    /// Checks and records an access of this block's shared memory by the thread at `position` of
    /// the block of `accessing`.
    ///
    /// # Errors
    ///
    /// The access's conflict.
    pub fn record_remote(
        &self,
        accessing: &Self,
        position: &Position,
        shared: &SharedMemory,
        access: &Access,
        site: CallSite,
    ) -> Result<(), Box<Finding>> {
        let Some(offset) = shared.offset_of(access.address()) else {
            return Ok(());
        };
        let kind = access.kind.into();
        let result = accessing.with_accessor(position, |accessor| {
            let thread = (accessing.block, accessor.thread);
            let event = Event::new(kind, thread, accessing.now(), access.bytes, Site::of(site));
            let event = event.of_scope(access.order.scope);
            if event.kind.is_atomic() {
                accessing.announce(accessor.thread, access);
            }
            self.record_shared((offset, access.bytes), access.address(), &event, accessor)
        });
        self.note_remote(accessing, position, kind, site);
        result.map_err(|conflict| {
            let place = Place::of(access, shared, &self.launch.allocations);
            Box::new(accessing.describe(position, access.kind, &place, &conflict, site))
        })
    }

    /// A thread of another block has arrived at an mbarrier of this one.
    pub fn note_arrival(&self, accessing: &Self, position: &Position, site: CallSite) {
        self.note_remote(accessing, position, EventKind::Atomic, site);
    }

    /// Remembers the last access by each thread of other blocks. The block may end only after accesses that are ordered
    /// before the end of one of its threads.
    fn note_remote(&self, accessing: &Self, position: &Position, kind: EventKind, site: CallSite) {
        let thread = (accessing.block, position.thread() as u16);
        let event = Event::new(kind, thread, accessing.now(), 1, Site::of(site));
        self.remote.borrow_mut().insert(thread, event);
    }

    /// The finding if other blocks may still access the block, whose last thread, at `position`, has exited.
    pub fn accessed_at_end(
        &self,
        position: &Position,
        positions: impl Iterator<Item = Position> + Clone,
    ) -> Option<Finding> {
        let remote = self.remote.borrow();
        let is_over = |event: &Event| {
            let mut positions = positions.clone();
            positions.any(|it| self.with_accessor(&it, |accessor| accessor.is_after(event)))
        };
        let event = remote.values().find(|event| !is_over(event))?;
        let message = "the block ends while threads of another block may still access its shared \
                       memory";
        let missing = Related::new(
            "missing: a barrier of the cluster before the end of the kernel".to_owned(),
            None,
        );
        let related = vec![self.other_access(position, event), missing];
        let finding = Finding::of(position, DefectKind::BlockEnded, message.to_owned());
        Some(finding.at(event.site.location()).with_related(related))
    }
}
