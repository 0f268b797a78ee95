//! The order that mbarriers establish: an arrival releases, a wait acquires, and a complete phase orders its bulk
//! copies.

use crate::basics::{AccessKind, CallSite, Finding, MemoryScope, Position};
use crate::check::asynchronous::agents::{Agent, asynchronous};
use crate::check::block::BlockCheck;
use crate::check::cells::event::{Event, EventKind, Time};
use crate::check::cells::reader_sets::ReaderSets;
use crate::check::cells::shared_shadow::{PAGE_BYTES, Page};
use crate::check::cells::site::Site;
use crate::check::clocks::barrier_order::{BarrierOrder, Phases};
use crate::check::clocks::block_clock::BlockClock;
use crate::check::clocks::clock::{VectorClock, add};
use crate::check::clocks::order::index_of;
use crate::check::reports::place::Place;
use crate::memory::OutOfMemory;
use crate::state::{MBARRIER_BYTES, SharedMemory};
use std::ops::Range;
use std::sync::Arc;

impl BlockCheck {
    /// The accesses ordered before the thread at `position`, including its own.
    pub fn release(&self, position: &Position) -> BarrierOrder {
        let clock = self.own_clock(position);
        let clocks = self.clocks.of(position.thread() as usize);
        let mut handed = BarrierOrder {
            ordered: clocks.ordered.clone(),
            fenced: clocks.fenced.clone(),
            proxied: clocks.proxied.clone(),
        };
        let ordered = handed.ordered.get_or_insert_default();
        Arc::make_mut(ordered).add_block(self.block, Arc::new(clock));
        handed
    }

    /// The accesses that the fences of the thread at `position` have released, to the threads of `scope` at least.
    pub fn released(&self, position: &Position, scope: MemoryScope) -> BarrierOrder {
        let clocks = self.clocks.of(position.thread() as usize);
        let mut handed = BarrierOrder {
            proxied: clocks.proxied.clone(),
            ..BarrierOrder::default()
        };
        for released in &clocks.released[index_of(scope)..] {
            add(&mut handed.ordered, &released.ordered);
            add(&mut handed.fenced, &released.fenced);
        }
        handed
    }

    /// Orders `handed` before thread number `thread`.
    pub fn acquire(&self, thread: u32, handed: &BarrierOrder) {
        let mut clocks = self.clocks.change(thread as usize);
        clocks.acquire(handed, &mut self.joins.borrow_mut());
        self.note_clocks();
    }

    /// The thread at `position` has executed a fence for the asynchronous proxy.
    pub fn fence_proxy(&self, position: &Position) {
        let released = self.release(position);
        let fenced = BarrierOrder {
            proxied: released.ordered,
            ..BarrierOrder::default()
        };
        self.acquire(position.thread(), &fenced);
    }

    /// Orders the accesses of the block's agents, up to these times, before these threads.
    pub fn acquire_agents(
        &self,
        threads: Range<u32>,
        agents: impl IntoIterator<Item = (Agent, Time)>,
    ) {
        let runs = agents.into_iter().map(|(agent, time)| {
            let number = u32::from(agent.number());
            (number..number + 1, time)
        });
        let mut clock = VectorClock::default();
        let of_agents = Arc::new(BlockClock::new(0, runs));
        clock.add_block(asynchronous(self.block), of_agents);
        let handed = BarrierOrder {
            ordered: Some(Arc::new(clock)),
            ..BarrierOrder::default()
        };
        threads.for_each(|thread| self.acquire(thread, &handed));
    }

    /// The thread at `position` initialises the mbarrier of this number.
    ///
    /// # Errors
    ///
    /// A conflict with another use of the word.
    pub fn init_mbarrier(
        &self,
        position: &Position,
        shared: &SharedMemory,
        (offset, number): (usize, u16),
        site: CallSite,
    ) -> Result<(), Box<Finding>> {
        let number = usize::from(number);
        let mut phases = self.phases.borrow_mut();
        let count = phases.len().max(number + 1);
        phases.resize(count, Phases::default());
        phases[number] = Phases::default();
        drop(phases);
        let result = self.with_accessor(position, |accessor| {
            let thread = (self.block, accessor.thread);
            let site = Site::of(site);
            let event = Event::new(
                EventKind::Mbarrier,
                thread,
                self.now(),
                MBARRIER_BYTES,
                site,
            );
            self.record_cells(offset, MBARRIER_BYTES, &event, accessor)
        });
        result.map_err(|conflict| {
            let place = Place::of_shared(shared, (offset, MBARRIER_BYTES), AccessKind::Write);
            Box::new(self.describe(position, AccessKind::Write, &place, &conflict, site))
        })
    }

    /// The thread at `position` ends the mbarrier at `offset`. For later accesses of its bytes, it has written them.
    pub fn forget_mbarrier(
        &self,
        position: &Position,
        offset: usize,
        site: CallSite,
    ) -> Result<(), Box<Finding>> {
        let thread = (self.block, position.thread() as u16);
        let site = Site::of(site);
        let event = Event::new(EventKind::Write, thread, self.now(), MBARRIER_BYTES, site);
        let overwrite = |mut page: Page<'_>, sets: &mut ReaderSets| {
            page.overwrite(offset % PAGE_BYTES, MBARRIER_BYTES, &event, sets)
        };
        let written = self.with_shared_page(offset / PAGE_BYTES, overwrite);
        let no_memory = |error: OutOfMemory| Finding::out_of_memory(&error.to_string());
        written.flatten().map_err(no_memory)
    }

    /// Whether the thread at `position`, of the block of `accessing`, comes after the initialisation
    /// of the mbarrier at `offset`.
    pub fn sees_mbarrier(
        &self,
        accessing: &Self,
        position: &Position,
        offset: usize,
    ) -> Result<bool, Box<Finding>> {
        accessing.with_accessor(position, |accessor| {
            let initialised = self.last_write(offset)?;
            Ok(initialised.is_none_or(|event| accessor.is_after(&event)))
        })
    }

    /// The thread at `position` has arrived at barrier `id` of the block without waiting.
    pub fn pass_barrier(&self, position: &Position, id: u32) {
        let handed = self.release(position);
        self.passed.borrow_mut().entry(id).or_default().add(&handed);
    }

    /// These threads have waited at barrier `id`, at which others have arrived without waiting.
    pub fn acquire_passed(&self, id: u32, threads: impl Iterator<Item = u32>) {
        if let Some(handed) = self.passed.borrow_mut().remove(&id) {
            threads.for_each(|thread| self.acquire(thread, &handed));
        }
    }

    /// A thread has arrived at the mbarrier of this number.
    pub fn gather(&self, number: u16, handed: &BarrierOrder) {
        if let Some(phases) = self.phases.borrow_mut().get_mut(usize::from(number)) {
            phases.gathering.add(handed);
        }
    }

    /// A phase of the mbarrier of this number is complete.
    pub fn complete_phase(&self, number: u16) {
        let mut phases = self.phases.borrow_mut();
        let Some(phases) = phases.get_mut(usize::from(number)) else {
            return;
        };
        let agent = u32::from(Agent::Barrier(number).number());
        let now = self.tick();
        let landed = BlockClock::new(0, [(agent..agent + 1, now)]);
        let ordered = phases.gathering.ordered.get_or_insert_default();
        Arc::make_mut(ordered).add_block(asynchronous(self.block), Arc::new(landed));
        phases.complete = phases.gathering.clone();
    }

    /// Thread number `thread` comes after the complete phases of the mbarrier of this number.
    pub fn acquire_phase(&self, thread: u32, number: u16) {
        let phases = self.phases.borrow();
        if let Some(phases) = phases.get(usize::from(number)) {
            self.acquire(thread, &phases.complete);
        }
    }
}
