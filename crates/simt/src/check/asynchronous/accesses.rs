//! Accesses of asynchronous operations: those of bulk copies and of products.
//!
//! The destination of a bulk copy is in flight from its issue until it lands; then threads that wait for its mbarrier
//! may use it. The source of a bulk store or the operands of a product count as read from the issue on.

use crate::basics::{Access, AccessKind, AtomicOrder, CallSite, Finding, Position, Space};
use crate::check::accessor::Accessor;
use crate::check::asynchronous::agents::{Agent, NO_AGENT, asynchronous};
use crate::check::asynchronous::clusters::Clusters;
use crate::check::block::BlockCheck;
use crate::check::cells::cell::Conflict;
use crate::check::cells::event::{Event, EventKind, Time};
use crate::check::cells::reader_sets::ReaderSets;
use crate::check::cells::shared_shadow::{PAGE_BYTES, Page, pages};
use crate::check::cells::site::Site;
use crate::check::clocks::barrier_order::BarrierOrder;
use crate::check::clocks::known_clock::KnownClock;
use crate::check::reports::place::Place;
use crate::memory::OutOfMemory;
use crate::state::SharedMemory;

/// An asynchronous operation at the moment of its issue.
pub(crate) struct Issue<'a> {
    /// The thread that issues it.
    pub position: Position,
    pub site: CallSite,
    /// The accesses ordered before it.
    pub before: BarrierOrder,
    /// The checks of the thread's block.
    pub check: &'a BlockCheck,
}

/// The bytes that an operation accesses.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    pub start: usize,
    pub bytes: usize,
}

/// Bytes of a chunk. Cells are no narrower.
const CHUNK: usize = 16;

impl BlockCheck {
    /// The thread at `position` issues an operation.
    pub fn issue(&self, position: &Position, site: CallSite) -> Issue<'_> {
        Issue {
            position: *position,
            site,
            before: self.release(position),
            check: self,
        }
    }

    /// This moment of the block's time.
    pub fn moment(&self) -> Time {
        self.tick()
    }

    /// A bulk copy to shared memory of this block is issued.
    ///
    /// # Errors
    ///
    /// A conflict with an earlier use of the memory.
    pub fn begin_write(
        &self,
        issue: &Issue<'_>,
        shared: &SharedMemory,
        extent: Extent,
        agent: Agent,
    ) -> Result<(), Box<Finding>> {
        let event = self.event(issue, EventKind::InFlight, agent, self.now());
        let result = self.record_cells(
            extent.start,
            extent.bytes,
            &event,
            &accessor(issue, NO_AGENT),
        );
        result.map_err(|conflict| {
            issue.describe_shared(shared, extent, AccessKind::AsyncWrite, &conflict)
        })
    }

    /// The copy has landed.
    pub fn end_write(&self, extent: Extent, agent: Agent) -> Result<(), OutOfMemory> {
        let (now, writer) = (self.tick(), (asynchronous(self.block), agent.number()));
        for (page, offset, bytes) in pages::<PAGE_BYTES>(extent.start, extent.bytes) {
            self.with_shared_page(page, |mut page, _| page.land(offset, bytes, writer, now))??;
        }
        Ok(())
    }

    /// An operation that reads shared memory of the block is issued, at this moment.
    ///
    /// # Errors
    ///
    /// A conflict with an earlier write of the memory.
    pub fn begin_read(
        &self,
        issue: &Issue<'_>,
        shared: &SharedMemory,
        extent: Extent,
        (agent, moment): (Agent, Time),
    ) -> Result<(), Box<Finding>> {
        let event = self.event(issue, EventKind::AsyncRead, agent, moment);
        let accessor = accessor(issue, agent.number());
        let result = self
            .record_cells(extent.start, extent.bytes, &event, &accessor)
            .and_then(|()| self.check_proxy(issue, extent));
        result.map_err(|conflict| {
            issue.describe_shared(shared, extent, AccessKind::AsyncRead, &conflict)
        })
    }

    /// An operation that reads or writes global memory is issued; its other side is in the shared
    /// memory of this block.
    ///
    /// # Errors
    ///
    /// The conflict of the operation.
    pub fn begin_global(
        &self,
        issue: &Issue<'_>,
        (view, extent): (Extent, Extent),
        (agent, moment): (Agent, Time),
        shared: &SharedMemory,
    ) -> Result<(), Box<Finding>> {
        let kind = match agent {
            Agent::StoreWrites(_) => AccessKind::AsyncWrite,
            _ => AccessKind::AsyncRead,
        };
        let of_event = match kind {
            AccessKind::AsyncWrite => EventKind::AsyncWrite,
            _ => EventKind::AsyncRead,
        };
        let access = Access {
            space: Space::Global,
            kind,
            view_base: view.start,
            view_bytes: view.bytes,
            offset: extent.start.wrapping_sub(view.start),
            bytes: extent.bytes,
            align: 1,
            order: AtomicOrder::RELAXED,
            value: std::ptr::null(),
        };
        let event = self.event(issue, of_event, agent, moment);
        let number = match kind {
            AccessKind::AsyncWrite => NO_AGENT,
            _ => agent.number(),
        };
        let result = issue
            .check
            .record_global(&access, &event, &accessor(issue, number));
        result.map_err(|conflict| {
            let place = Place::of(&access, shared, &self.launch.allocations);
            let place = place.of_parameter(&access, &self.launch);
            let check = issue.check;
            Box::new(check.describe(&issue.position, kind, &place, &conflict, issue.site))
        })
    }

    fn event(&self, issue: &Issue<'_>, kind: EventKind, agent: Agent, time: Time) -> Event {
        let writer = (asynchronous(self.block), agent.number());
        Event::new(kind, writer, time, CHUNK, Site::of(issue.site))
    }

    /// Records an access in the cells of shared memory.
    pub(in crate::check) fn record_cells(
        &self,
        offset: usize,
        bytes: usize,
        event: &Event,
        accessor: &Accessor<'_>,
    ) -> Result<(), Conflict> {
        for (number, offset, bytes) in pages::<PAGE_BYTES>(offset, bytes) {
            let record = |mut page: Page<'_>, sets: &mut ReaderSets| {
                page.record(offset, bytes, event, accessor, sets)
            };
            self.with_shared_page(number, record)??;
        }
        Ok(())
    }

    /// Whether what the threads have written is visible to the asynchronous proxy.
    fn check_proxy(&self, issue: &Issue<'_>, extent: Extent) -> Result<(), Conflict> {
        let proxied = KnownClock::new(issue.before.proxied.as_deref());
        let is_visible = |write: &Event| {
            let thread = (write.block, u32::from(write.thread()));
            write.is_nothing() || write.is_asynchronous() || proxied.is_after(thread, write.time)
        };
        for (number, offset, bytes) in pages::<PAGE_BYTES>(extent.start, extent.bytes) {
            let find = |mut page: Page<'_>, _: &mut ReaderSets| {
                page.find_write(offset, bytes, |it| !is_visible(it))
            };
            if let Some(write) = self.with_shared_page(number, find)? {
                return Err(Conflict::Unproxied(write));
            }
        }
        Ok(())
    }

    /// The last write of the cell at `offset`.
    pub(in crate::check) fn last_write(
        &self,
        offset: usize,
    ) -> Result<Option<Event>, Box<Finding>> {
        let find = |mut page: Page<'_>, _: &mut ReaderSets| {
            page.find_write(offset % PAGE_BYTES, 1, |_| true)
        };
        let found = self.with_shared_page(offset / PAGE_BYTES, find);
        let no_memory = |error: OutOfMemory| Finding::out_of_memory(&error.to_string());
        found.map_err(no_memory)
    }
}

/// The accessor of an operation: a separate thread with this number.
fn accessor<'a>(issue: &'a Issue<'_>, number: u16) -> Accessor<'a> {
    let width = issue.position.warp_width as u16;
    let first = number - number % width;
    Accessor {
        block: asynchronous(issue.check.block),
        thread: number,
        warp: first..first + width,
        block_barrier: 0,
        warp_barrier: 0,
        clock: KnownClock::new(issue.before.ordered.as_deref()),
        clusters: &Clusters::NONE,
    }
}

impl Issue<'_> {
    #[cold]
    fn describe_shared(
        &self,
        shared: &SharedMemory,
        extent: Extent,
        kind: AccessKind,
        conflict: &Conflict,
    ) -> Box<Finding> {
        let place = Place::of_shared(shared, (extent.start, extent.bytes), kind);
        let finding = self
            .check
            .describe(&self.position, kind, &place, conflict, self.site);
        Box::new(finding)
    }
}
