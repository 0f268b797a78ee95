//! Bulk copies from their issue on: their sources and destinations, and the checks of them.

use crate::basics::{CallSite, DefectKind, Finding};
use crate::block::{Block, Thread};
use crate::check::{Agent, Extent, Issue};
use crate::state::{ATOMIC_WEIGHT, IssuedStore, Job, Load, Piece, Store, Swizzle, TensorMapFields};
use std::rc::Rc;

/// The source and destination of a bulk copy, in pieces.
pub(super) struct BulkCopy {
    pub pieces: Vec<Piece>,
    /// Its side in shared memory.
    pub shared: Extent,
    /// The view of its side in global memory.
    view: Extent,
    /// None for a copy that keeps the order of bytes, so that both sides may have any swizzle.
    swizzle: Option<Swizzle>,
}

impl BulkCopy {
    /// A copy of `bytes` bytes.
    pub fn whole(shared: usize, global: usize, bytes: usize) -> Self {
        let extent = |start| Extent { start, bytes };
        Self {
            pieces: Piece::whole(shared, global, bytes),
            shared: extent(shared),
            view: extent(global),
            swizzle: None,
        }
    }

    /// A copy of the box at `coordinates`.
    pub fn of_box(map: &TensorMapFields, shared: usize, coordinates: &[i32]) -> Self {
        Self {
            pieces: Piece::of_box(map, shared, coordinates),
            shared: Extent {
                start: shared,
                bytes: map.box_bytes(),
            },
            view: Extent {
                start: map.view_start as usize,
                bytes: map.view_bytes as usize,
            },
            swizzle: Some(map.swizzle),
        }
    }
}

impl Load {
    /// Its side in shared memory.
    pub(super) fn extent(&self) -> Extent {
        Extent {
            start: self.start,
            bytes: self.bytes,
        }
    }
}

impl Block {
    /// Issues a copy to shared memory, which counts its bytes on the mbarrier at address `barrier`.
    pub(super) fn issue_load(
        &self,
        thread: &Thread,
        copy: BulkCopy,
        barrier: usize,
        blocks: Option<u16>,
        site: CallSite,
    ) {
        self.check_has_waited(thread, "bulk copy", site);
        self.before_visible_step(thread, ATOMIC_WEIGHT);
        let (owner, offset) = self.word_of(thread, barrier, site);
        if blocks.is_none() && !std::ptr::eq(owner, self) {
            let message = "a bulk copy to one block counts on the mbarrier of another".to_owned();
            self.fail(thread, DefectKind::InvalidArgument, message, site);
        }
        let targets = self.targets(thread, blocks, site);
        if let Some(check) = self.active_check() {
            let issue = check.issue(&thread.position, site);
            for (place, target) in targets.iter().enumerate() {
                let agent = self.check_barrier(thread, target, offset, site);
                self.end_on(thread, target.note_load(&issue, &copy, agent, place == 0));
            }
        } else {
            for target in &targets {
                self.mbarrier_of(thread, (target, offset), site);
            }
        }
        self.count_load(thread, &copy, targets.len() as u64, site);
        let pieces: Rc<[Piece]> = copy.pieces.into();
        for target in targets {
            target.uses_machine.set(true);
            self.engine.issue(Job::Load(Load {
                pieces: Rc::clone(&pieces),
                start: copy.shared.start,
                bytes: copy.shared.bytes,
                target: target.rank.get(),
                barrier: offset,
                position: thread.position,
                site,
            }));
        }
        self.note_in_flight();
    }

    /// Notes that something is in flight.
    pub(super) fn note_in_flight(&self) {
        self.uses_machine.set(true);
        self.may_be_in_flight.set(true);
    }

    /// Ends the launch if another block of the cluster has ended.
    pub(super) fn check_running(&self, thread: &Thread, peer: &Self, what: &str, site: CallSite) {
        if peer.has_ended() {
            self.fail_with(thread, peer.ended_before(&thread.position, what, site));
        }
    }

    /// The destination blocks of a copy.
    fn targets(&self, thread: &Thread, blocks: Option<u16>, site: CallSite) -> Vec<&Block> {
        let Some(mask) = blocks else {
            return vec![self];
        };
        let ranks = (0..u16::BITS).filter(|rank| mask >> rank & 1 == 1);
        let find = |rank| match self.peer(rank) {
            Some(peer) => {
                self.check_running(thread, peer, "a multicast to", site);
                peer
            }
            None => {
                let blocks = self.cluster_blocks();
                let message = format!("a multicast to block {rank} of a cluster of {blocks}");
                self.fail(thread, DefectKind::InvalidArgument, message, site)
            }
        };
        let targets: Vec<&Self> = ranks.map(find).collect();
        if targets.is_empty() {
            let message = "a multicast to no block".to_owned();
            self.fail(thread, DefectKind::InvalidArgument, message, site);
        }
        targets
    }

    /// The agent of the copies that count on an mbarrier, which must be visible to the engine.
    fn check_barrier(
        &self,
        thread: &Thread,
        target: &Self,
        offset: usize,
        site: CallSite,
    ) -> Agent {
        let barrier = self.mbarrier_of(thread, (target, offset), site);
        if !barrier.is_fenced {
            let message = format!(
                "a bulk copy counts on the mbarrier at byte {offset}, whose initialisation the engine \
                 does not see; missing: `fence.mbarrier_init` or `fence.proxy.async` by the thread \
                 that initialises it"
            );
            self.fail_at_mbarrier(thread, message, (offset, &barrier), site);
        }
        Agent::Barrier(barrier.number)
    }

    /// Issues the part of a copy for this block. The checks see the source once, with the first
    /// block.
    fn note_load(
        &self,
        issue: &Issue<'_>,
        copy: &BulkCopy,
        agent: Agent,
        is_first: bool,
    ) -> Result<(), Box<Finding>> {
        let Some(check) = &self.check else {
            return Ok(());
        };
        if is_first {
            let moment = check.moment();
            for (start, bytes) in Piece::global_runs(&copy.pieces) {
                let run = Extent { start, bytes };
                check.begin_global(issue, (copy.view, run), (agent, moment), &self.shared)?;
            }
        }
        check.begin_write(issue, &self.shared, copy.shared, agent)?;
        check.note_layout(copy.shared, copy.swizzle, issue.site);
        Ok(())
    }

    /// Issues a copy to global memory.
    pub(super) fn issue_store(&self, thread: &Thread, copy: BulkCopy, site: CallSite) {
        self.check_has_waited(thread, "bulk copy", site);
        self.before_visible_step(thread, ATOMIC_WEIGHT);
        let moment = match self.active_check() {
            Some(check) => {
                let issue = check.issue(&thread.position, site);
                let moment = check.moment();
                self.end_on(thread, self.note_store(&issue, &copy, moment));
                moment
            }
            None => 0,
        };
        self.count_store(thread, &copy, site);
        let store = Store {
            pieces: copy.pieces,
            data: None,
        };
        let number = self.engine.issue(Job::Store(store));
        thread.machine.bulk.borrow_mut().issue(IssuedStore {
            number,
            moment,
            site,
        });
        self.note_in_flight();
    }

    fn note_store(
        &self,
        issue: &Issue<'_>,
        copy: &BulkCopy,
        moment: u32,
    ) -> Result<(), Box<Finding>> {
        let Some(check) = &self.check else {
            return Ok(());
        };
        let thread = issue.position.thread();
        if let Some(swizzle) = copy.swizzle {
            check.check_layout(issue, copy.shared, swizzle)?;
        }
        for piece in copy.pieces.iter().filter(|piece| piece.inside != 0) {
            let read = Extent {
                start: piece.shared,
                bytes: piece.inside,
            };
            let agent = (Agent::StoreReads(thread), moment);
            check.begin_read(issue, &self.shared, read, agent)?;
        }
        for (start, bytes) in Piece::global_runs(&copy.pieces) {
            let run = Extent { start, bytes };
            let agent = (Agent::StoreWrites(thread), moment);
            check.begin_global(issue, (copy.view, run), agent, &self.shared)?;
        }
        Ok(())
    }

    /// Orders these stores, up to the given moments of `agents`, before the thread that has waited
    /// for them.
    pub(super) fn acquire_stores(
        &self,
        thread: &Thread,
        stores: &[IssuedStore],
        agents: &[fn(u32) -> Agent],
    ) {
        let (Some(check), Some(last)) = (self.active_check(), stores.last()) else {
            return;
        };
        let number = thread.position.thread();
        let agents = agents.iter().map(|agent| (agent(number), last.moment));
        check.acquire_agents(number..number + 1, agents);
    }

    /// Reads the source of a store, unless that has happened.
    pub(super) fn read(&self, store: &mut Store) {
        // SAFETY: the pieces are in shared memory, which was checked at the issue.
        unsafe { store.read(self.shared.start_pointer()) };
    }

    /// Writes the bytes that a store has read.
    pub(super) fn write(&self, store: &mut Store) {
        self.read(store);
        // SAFETY: the global sides are valid for writes: the contract of the store's caller.
        unsafe { store.write() };
    }
}
